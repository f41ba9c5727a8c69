"""What `eris doctor` looks at: a table of small functions that only read.

A finding may carry a repair; it's made with ``--fix`` only, and only what can do no harm has one.
"""

import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, partial
from pathlib import Path

import msgspec

from eris.config import LoadedSettings, Settings, VaultSettings, load_settings
from eris.errors import ConfigurationError, ErisError
from eris.locks import holder
from eris.paths import SETTINGS_FOLDER, Paths, models_folder, paths_for
from eris.vault.names import folded

OLDEST_PYTHON = (3, 11)
LONGEST_SOCKET_PATH = 100
LITTLE_SPACE = 500 * 1024**2
NO_SPACE = 50 * 1024**2

_STATUS_SECONDS = 5.0


class Severity(StrEnum):
    """How bad a finding is. An ``info`` isn't a problem and doesn't change the exit code."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Finding(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Something that isn't as it should be."""

    check_id: str
    severity: Severity
    message: str
    path: str = ""
    fix_hint: str


@dataclass(frozen=True)
class Complaint:
    """A finding as a check yields it, without the check's id."""

    severity: Severity
    message: str
    hint: str
    path: str = ""
    repair: Callable[[], object] | None = None
    """Puts it right; harmless to what runs and to what the user owns."""


@dataclass(frozen=True)
class Subject:
    """What is examined."""

    environ: Mapping[str, str]
    overrides: Mapping[str, str]
    vault: Path | None
    """The vault, if one was found."""

    @cached_property
    def loaded(self) -> LoadedSettings | None:
        """Settings, or None if they're broken: that is the finding of one check, not of all."""
        try:
            return load_settings(self.vault, self.environ, self.overrides)
        except ConfigurationError:
            return None

    @property
    def settings(self) -> Settings:
        """Settings, the defaults if they're broken."""
        return self.loaded.settings if self.loaded is not None else Settings()

    @cached_property
    def paths(self) -> Paths | None:
        """The vault's places; None without a vault. Doesn't make an id for a folder without one."""
        if self.vault is None or not self.vault.is_dir():
            return None
        has_id = (self.vault / SETTINGS_FOLDER / "id").is_file()
        if not has_id and os.access(self.vault, os.W_OK):
            return None
        return paths_for(self.vault, self.environ)


Check = Callable[[Subject], Iterator[Complaint]]


def check_python(_subject: Subject) -> Iterator[Complaint]:
    """Python is new enough."""
    if sys.version_info < OLDEST_PYTHON:
        version = ".".join(map(str, sys.version_info[:3]))
        wanted = ".".join(map(str, OLDEST_PYTHON))
        yield Complaint(
            Severity.ERROR,
            f"This is Python {version}; Eris needs {wanted} or newer.",
            f"Install Python {wanted} and Eris in it.",
            sys.executable,
        )


def check_llama(_subject: Subject) -> Iterator[Complaint]:
    """llama.cpp is built for this processor: tried in a process of its own."""
    from eris.llama_build import try_installed  # noqa: PLC0415 - not for the other checks

    trial = try_installed()
    if trial.runs:
        return
    rebuild = f"{sys.executable} -m eris.llama_build --rebuild"
    if trial.illegal_instruction:
        words = "llama.cpp is built for another processor"
    else:
        words = "llama.cpp doesn't run"
    yield Complaint(
        Severity.ERROR, f"{words}: {trial.problem}.", f"Build it for this one: {rebuild}"
    )


def check_models(subject: Subject) -> Iterator[Complaint]:
    """The models that the settings name are here, whole and unchanged."""
    from eris.models import ModelStore  # noqa: PLC0415 - not for the other checks
    from eris.models.gguf import read_header  # noqa: PLC0415

    store = ModelStore(models_folder(subject.environ), environ=subject.environ)
    model = subject.settings.model
    named = {entry.name for entry in store.entries}
    for name, severity in ((model.chat, Severity.ERROR), (model.embedding, Severity.WARNING)):
        if not name:
            continue
        try:
            path = store.path(name)
            if path.is_file():
                read_header(path)
            verdicts = store.verify(name) if name in named else ()
        except ErisError as error:
            yield Complaint(severity, error.message, error.hint or "See: eris models list")
            continue
        for verdict in verdicts:
            if not verdict.ok:
                yield Complaint(
                    severity,
                    f"The model {name} is damaged: {verdict.file}: {verdict.problem}.",
                    f"Get it anew: eris models rm {name} && eris models pull {name}",
                    str(path),
                )


def check_config(subject: Subject) -> Iterator[Complaint]:
    """Settings can be read and every value is valid."""
    try:
        loaded = load_settings(subject.vault, subject.environ, subject.overrides)
    except ConfigurationError as error:
        path = str(error.details.get("path", ""))
        yield Complaint(Severity.ERROR, error.message, error.hint, path)
        return
    for warning in loaded.warnings:
        yield Complaint(Severity.WARNING, warning.message, warning.hint, warning.path)


def check_supervisor(subject: Subject) -> Iterator[Complaint]:
    """``supervisor.toml`` can be read and every value is valid."""
    from eris.supervisor import specification  # noqa: PLC0415 - not for the other checks

    named = subject.environ.get("ERIS_CONFIG")
    try:
        loaded = specification.load(Path(named) if named else None, subject.environ)
    except ConfigurationError as error:
        path = str(error.details.get("path", ""))
        yield Complaint(Severity.ERROR, error.message, error.hint, path)
        return
    for warning in loaded.warnings:
        yield Complaint(Severity.WARNING, warning, "Correct or remove it: docs/supervision.md")


def check_vault(subject: Subject) -> Iterator[Complaint]:
    """There is a vault, and it can be written to."""
    vault = subject.vault
    if vault is None:
        yield Complaint(
            Severity.INFO,
            "No vault is named, and there is none around this folder: nothing of one is checked.",
            "Name one with --vault or ERIS_VAULT, or make one: eris init PATH",
        )
    elif not vault.is_dir():
        message = f"The vault {vault} isn't a folder."
        yield Complaint(Severity.ERROR, message, f"Make it: eris init {vault}", str(vault))
    elif not os.access(vault, os.R_OK | os.W_OK | os.X_OK):
        message = f"The vault {vault} can't be read and written."
        yield Complaint(Severity.ERROR, message, "Change its permissions.", str(vault))
    elif not (vault / SETTINGS_FOLDER / "id").is_file():
        message = f"The folder {vault} isn't a vault yet."
        yield Complaint(Severity.WARNING, message, f"Make it one: eris init {vault}", str(vault))
    yield from _shut_folders(subject.settings.vault)


def _shut_folders(settings: VaultSettings) -> Iterator[Complaint]:
    """Complain of folders that Eris is to write its own notes to and may not."""
    own = {"vault.agent_folder": (settings.agent_folder,), "vault.skills": settings.skills}
    for name, folders in own.items():
        for folder in folders:
            for shut in settings.read_only:
                if f"{folded(folder)}/".startswith(f"{folded(shut)}/"):
                    message = f"The folder {folder} ({name}) is in {shut} (vault.read_only)."
                    hint = f"Change {name}, or leave {shut} out of vault.read_only."
                    yield Complaint(Severity.WARNING, message, hint, folder)


def check_runtime(subject: Subject) -> Iterator[Complaint]:
    """The folder of the sockets is private and its path short enough."""
    if subject.paths is None:
        return
    runtime = subject.paths.runtime
    longest = len(os.fsencode(runtime / "orchestrator.sock"))
    if longest > LONGEST_SOCKET_PATH:
        yield Complaint(
            Severity.ERROR,
            f"The path of the sockets is too long: {longest} bytes, {LONGEST_SOCKET_PATH} may be.",
            "Set XDG_RUNTIME_DIR to a shorter folder of your own.",
            str(runtime),
        )
    yield from _private(runtime)


def check_state(subject: Subject) -> Iterator[Complaint]:
    """Journals and logs are yours and nobody else can read them."""
    if subject.paths is not None:
        yield from _private(subject.paths.state)


def _private(folder: Path) -> Iterator[Complaint]:
    try:
        status = folder.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        yield Complaint(
            Severity.ERROR,
            f"{folder} isn't a folder of yours.",
            "Remove it, or set the XDG directories to folders of your own.",
            str(folder),
        )
    elif stat.S_IMODE(status.st_mode) & 0o077:
        yield Complaint(
            Severity.WARNING,
            f"Others can look into {folder} (mode {stat.S_IMODE(status.st_mode):04o}).",
            f"chmod 700 {folder}",
            str(folder),
            repair=lambda: folder.chmod(0o700),
        )


def check_sockets(subject: Subject) -> Iterator[Complaint]:
    """No socket is left behind, and no process runs without its supervisor."""
    if subject.paths is None or not subject.paths.runtime.is_dir():
        return
    locks = {lock.stem: holder(lock) for lock in sorted(subject.paths.runtime.glob("*.lock"))}
    for socket in sorted(subject.paths.runtime.glob("*.sock")):
        if not locks.get(socket.stem):
            yield Complaint(
                Severity.WARNING,
                f"The socket {socket.name} was left behind; nobody serves it.",
                "The next start replaces it; or: eris doctor --fix",
                str(socket),
                repair=partial(socket.unlink, missing_ok=True),
            )
    running = {name: pid for name, pid in locks.items() if pid and name != "erisd"}
    if running and not locks.get("erisd"):
        names = ", ".join(f"{name} (pid {pid})" for name, pid in running.items())
        yield Complaint(
            Severity.WARNING,
            f"These run without a supervisor: {names}.",
            f"Take them over: eris up --vault {subject.paths.vault}",
            str(subject.paths.runtime),
        )


def check_disk(subject: Subject) -> Iterator[Complaint]:
    """There is room where Eris writes."""
    places = [models_folder(subject.environ)]
    if subject.paths is not None:
        places += [subject.paths.vault, subject.paths.state]
    for place in dict.fromkeys(_existing(place) for place in places):
        free = shutil.disk_usage(place).free
        if free < LITTLE_SPACE:
            yield Complaint(
                Severity.ERROR if free < NO_SPACE else Severity.WARNING,
                f"Only {free // 1024**2} MB are free at {place}.",
                "Free some space; models can be removed with: eris models rm NAME",
                str(place),
            )


def _existing(place: Path) -> Path:
    return next(folder for folder in (place, *place.parents) if folder.exists())


def check_system(subject: Subject) -> Iterator[Complaint]:
    """If the system runs, every process of it is ready."""
    from eris.supervisor import control  # noqa: PLC0415 - not for the other checks
    from proto.supervisor import Status, StatusReport  # noqa: PLC0415

    paths = subject.paths
    if paths is None:
        return
    start = f"eris up --vault {paths.vault}"
    if not holder(paths.lock("erisd")):
        yield Complaint(Severity.INFO, "The system isn't running.", f"Start it: {start}")
        return
    try:
        report = control.request(paths, Status(), StatusReport, within=_STATUS_SECONDS)
    except ErisError as error:
        yield Complaint(Severity.ERROR, error.message, error.hint)
        return
    for actor in report.actors:
        if actor.state not in {"ready", "busy"}:
            words = f"{actor.name} is {actor.state}" + (f": {actor.detail}" if actor.detail else "")
            yield Complaint(
                Severity.ERROR,
                f"{words}.",
                f"See eris logs {actor.name}; eris restart {actor.name}",
            )


CHECKS: Mapping[str, Check] = {
    "python": check_python,
    "config": check_config,
    "supervisor": check_supervisor,
    "vault": check_vault,
    "state": check_state,
    "runtime": check_runtime,
    "sockets": check_sockets,
    "disk": check_disk,
    "models": check_models,
    "llama": check_llama,
    "system": check_system,
}
"""By id, in the order of running."""
