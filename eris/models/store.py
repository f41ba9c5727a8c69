"""The model store: model files on this machine, one folder per model, shared by all vaults.

A model is either there as a whole or not there: files arrive in a staging folder, are verified
and are renamed into place, the record of their digests last. Staging survives a failed download,
so that the next attempt goes on. A lock per model keeps two processes from fetching the same one.
"""

import contextlib
import errno
import fcntl
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import msgspec

from eris.errors import ConflictError, NotFoundError, StorageError, UnavailableError
from eris.models import hub
from eris.models.catalogue import Hub, ModelEntry, ModelFile, Use, catalogue, find
from eris.models.fetching import Means, Progress, fetch_file
from eris.models.sizes import bytes_below, digest, megabytes

_RECORD = "record.json"
_STAGING = ".staging"
_LOCKS = ".locks"


class Presence(StrEnum):
    """How much of a model is on this machine."""

    ABSENT = "absent"
    PARTIAL = "partial"
    """Some files, or a download that can go on."""
    PRESENT = "present"


@dataclass(frozen=True)
class ModelStatus:
    """A model of the catalogue and whether it is here."""

    entry: ModelEntry
    presence: Presence
    folder: Path
    bytes_here: int


@dataclass(frozen=True)
class Plan:
    """What a pull would do, for showing before it's done."""

    entry: ModelEntry
    folder: Path
    missing: tuple[ModelFile, ...]
    """With length and digest filled in as far as they are known."""
    bytes_missing: int | None
    """``None`` if even the hub doesn't tell."""

    @property
    def sentence(self) -> str:
        """Licence and size for people."""
        if not self.missing:
            return f"{self.entry.name} is here already: {self.folder}"
        size = "unknown size" if self.bytes_missing is None else megabytes(self.bytes_missing)
        return f"{self.entry.name}: {size} to download, licence {self.entry.licence}"


@dataclass(frozen=True)
class Verdict:
    """Result of checking one file against its digest."""

    file: str
    ok: bool
    problem: str = ""


class _RecordedFile(msgspec.Struct, frozen=True):
    name: str
    bytes: int
    sha256: str
    source: str


class _Record(msgspec.Struct, frozen=True):
    """What was verified when the model arrived."""

    model: str
    licence: str
    files: tuple[_RecordedFile, ...]


def _free_bytes(folder: Path) -> int:
    return shutil.disk_usage(folder).free


def _silent(_progress: Progress) -> None:
    pass


class ModelStore:
    """Models under one folder.

    Args:
        root: The folder; see `eris.paths.models_folder`.
        entries: The models that have a name; the catalogue by default.
        environ: Environment for pip; ``ERIS_OFFLINE`` forbids downloads.
        hub_endpoint: Address of the hub; the hub library's default if ``None``.
        free_bytes: Tells the free space of a folder.
    """

    def __init__(
        self,
        root: Path,
        *,
        entries: Sequence[ModelEntry] | None = None,
        environ: Mapping[str, str] | None = None,
        hub_endpoint: str | None = None,
        free_bytes: Callable[[Path], int] = _free_bytes,
    ) -> None:
        self.root = root
        self.entries = catalogue() if entries is None else tuple(entries)
        self._means = Means(
            environ=dict(os.environ if environ is None else environ),
            hub_endpoint=hub_endpoint,
            free_bytes=free_bytes,
        )

    def list(self) -> tuple[ModelStatus, ...]:
        """Every model of the catalogue with its presence; opens no connection."""
        return tuple(self._status(entry) for entry in self.entries)

    def path(self, name_or_path: str | Path) -> Path:
        """Return where a model is: a chat model's GGUF file, an embedding model's folder.

        Args:
            name_or_path: A name of the catalogue, or the path of any GGUF file or model folder.

        Raises:
            NotFoundError: It isn't here; the hint says how to get it.
        """
        text = str(name_or_path)
        looks_like_path = os.sep in text or text.endswith(".gguf") or text.startswith("~")
        if looks_like_path:
            there = Path(text).expanduser().absolute()
            if there.exists():
                return there
            raise NotFoundError(
                f"There is no model file {there}.", hint="Check the path.", details={"path": text}
            )
        entry = find(text, self.entries)
        status = self._status(entry)
        if status.presence is not Presence.PRESENT:
            raise NotFoundError(
                f"The model {entry.name} isn't on this machine.",
                hint=f"Get it with: eris models pull {entry.name}",
                details={"model": entry.name},
            )
        return status.folder / entry.files[0].name if entry.use is Use.CHAT else status.folder

    def plan(self, name: str) -> Plan:
        """Say what pulling ``name`` would download, under which licence.

        Asks the hub for the size of files whose size the catalogue doesn't know.

        Raises:
            NotFoundError: The catalogue has no such model.
            UnavailableError: The hub had to be asked and can't be reached, or Eris is offline.
        """
        entry = find(name, self.entries)
        folder = self.root / entry.name
        missing = [
            file if file.text is not None else self._known_size(entry, file)
            for file in entry.files
            if not self._here(entry, file)
        ]
        sizes = [file.bytes for file in missing if file.text is None]
        known = [size for size in sizes if size is not None]
        total = sum(known) if len(known) == len(sizes) else None
        return Plan(entry=entry, folder=folder, missing=tuple(missing), bytes_missing=total)

    def pull(
        self,
        name: str,
        *,
        progress: Callable[[Progress], None] = _silent,
        plan: Plan | None = None,
        within: float = 3600.0,
    ) -> Path:
        """Make sure that a model is here, whole and verified.

        Args:
            name: A name of the catalogue.
            progress: Told of every step, in the calling thread.
            plan: What `plan` returned and the user agreed to; made anew if ``None``.
            within: Seconds to wait for another process that is fetching the same model.

        Returns:
            The same as `path`.

        Raises:
            NotFoundError: The catalogue has no such model.
            UnavailableError: No source could deliver, or Eris is offline; each source's reason.
            ModelError: What was delivered isn't what the catalogue promises.
            StorageError: The disk is full or can't be written.
            ConflictError: Another process was still fetching it after ``within`` seconds.
        """
        entry = find(name, self.entries)
        if self._status(entry).presence is Presence.PRESENT:
            return self.path(name)
        self._refuse_offline(entry)
        with self._storage_errors(entry), self._locked(entry, progress, within):
            if self._status(entry).presence is not Presence.PRESENT:
                agreed = plan or self.plan(name)
                self._fetch_missing(entry, agreed, progress)
        return self.path(name)

    def remove(self, name: str) -> int:
        """Delete a model and what is left of its downloads; returns the bytes freed.

        Raises:
            NotFoundError: The catalogue has no such model, or it isn't here.
            ConflictError: It's being downloaded right now.
        """
        entry = find(name, self.entries)
        status = self._status(entry)
        if status.presence is Presence.ABSENT:
            raise NotFoundError(f"The model {name} isn't on this machine.")
        with self._storage_errors(entry), self._locked(entry, _silent, 0.0):
            shutil.rmtree(status.folder, ignore_errors=True)
            shutil.rmtree(self._staging(entry), ignore_errors=True)
        return status.bytes_here

    def verify(self, name: str) -> tuple[Verdict, ...]:
        """Read every file of a model and compare it with its digest.

        Raises:
            NotFoundError: The catalogue has no such model, or it isn't here.
        """
        entry = find(name, self.entries)
        if self._status(entry).presence is Presence.ABSENT:
            raise NotFoundError(f"The model {name} isn't on this machine.")
        return tuple(self._verdict(entry, file) for file in entry.files)

    # What is here.

    def _status(self, entry: ModelEntry) -> ModelStatus:
        folder = self.root / entry.name
        here = [file for file in entry.files if self._here(entry, file)]
        size = bytes_below(folder) + bytes_below(self._staging(entry))
        if len(here) == len(entry.files):
            presence = Presence.PRESENT
        else:
            presence = Presence.PARTIAL if size else Presence.ABSENT
        return ModelStatus(entry=entry, presence=presence, folder=folder, bytes_here=size)

    def _here(self, entry: ModelEntry, file: ModelFile) -> bool:
        """Whether a file is in its place with its length; digests are checked on arrival."""
        path = self.root / entry.name / file.name
        try:
            size = path.stat().st_size
        except OSError:
            return False
        if file.text is not None:
            return size == len(file.text.encode())
        expected = file.bytes
        if expected is None:
            recorded = self._recorded(entry).get(file.name)
            expected = None if recorded is None else recorded.bytes
        return size == expected

    def _recorded(self, entry: ModelEntry) -> dict[str, _RecordedFile]:
        try:
            data = (self.root / entry.name / _RECORD).read_bytes()
            record = msgspec.json.decode(data, type=_Record)
        except (OSError, msgspec.DecodeError):
            return {}
        return {file.name: file for file in record.files}

    def _verdict(self, entry: ModelEntry, file: ModelFile) -> Verdict:
        path = self.root / entry.name / file.name
        if not path.is_file():
            return Verdict(file.name, ok=False, problem="missing")
        recorded = self._recorded(entry).get(file.name)
        expected = file.sha256
        if file.text is not None:
            expected = hashlib.sha256(file.text.encode()).hexdigest()
        elif expected is None and recorded is not None:
            expected = recorded.sha256
        if expected is None:
            return Verdict(file.name, ok=False, problem="no digest is known for it")
        if digest(path) != expected:
            return Verdict(file.name, ok=False, problem="its content has changed")
        return Verdict(file.name, ok=True)

    def _staging(self, entry: ModelEntry) -> Path:
        return self.root / _STAGING / entry.name

    # Fetching.

    def _refuse_offline(self, entry: ModelEntry) -> None:
        if self._means.environ.get("ERIS_OFFLINE", "") not in {"", "0", "false"}:
            raise UnavailableError(
                f"The model {entry.name} isn't on this machine and Eris is offline.",
                hint=f"Unset ERIS_OFFLINE and run: eris models pull {entry.name}",
                retryable=False,
                details={"model": entry.name},
            )

    def _known_size(self, entry: ModelEntry, file: ModelFile) -> ModelFile:
        if file.bytes is not None and file.sha256 is not None:
            return file
        for source in file.sources:
            if isinstance(source, Hub):
                self._refuse_offline(entry)
                told = hub.describe(source, self._means.hub_endpoint)
                return msgspec.structs.replace(
                    file, bytes=file.bytes or told.bytes, sha256=file.sha256 or told.sha256
                )
        return file

    def _fetch_missing(
        self, entry: ModelEntry, plan: Plan, progress: Callable[[Progress], None]
    ) -> None:
        staging = self._staging(entry)
        staging.mkdir(parents=True, exist_ok=True)
        plan.folder.mkdir(parents=True, exist_ok=True)
        recorded = self._recorded(entry)
        for file in plan.missing:
            if file.text is not None:
                arrived = staging / f"{file.name}.text"
                arrived.write_text(file.text, encoding="utf-8")
                source = "catalogue"
            else:
                arrived, source = fetch_file(entry, file, staging, progress, self._means)
            with arrived.open("rb") as handle:
                os.fsync(handle.fileno())
            recorded[file.name] = _RecordedFile(
                file.name, arrived.stat().st_size, digest(arrived), source
            )
            arrived.replace(plan.folder / file.name)
        record = _Record(entry.name, entry.licence, tuple(recorded.values()))
        written = staging / _RECORD
        written.write_bytes(msgspec.json.format(msgspec.json.encode(record)))
        written.replace(plan.folder / _RECORD)
        shutil.rmtree(staging, ignore_errors=True)

    @contextlib.contextmanager
    def _storage_errors(self, entry: ModelEntry) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            full = error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
            raise StorageError(
                f"The model {entry.name} can't be stored in {self.root}: "
                f"{error.strerror or error}.",
                hint="Free some space there." if full else "Check the folder's permissions.",
                details={"model": entry.name},
            ) from error

    @contextlib.contextmanager
    def _locked(
        self, entry: ModelEntry, progress: Callable[[Progress], None], within: float
    ) -> Iterator[None]:
        """Hold the model's lock; the kernel drops it when this process ends, however it ends."""
        locks = self.root / _LOCKS
        locks.mkdir(parents=True, exist_ok=True)
        until = time.monotonic() + within
        with (locks / f"{entry.name}.lock").open("a+") as lock:
            told = False
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() >= until:
                        raise ConflictError(
                            f"Another process is downloading {entry.name}.",
                            hint="Wait for it to finish, then try again.",
                            retryable=True,
                        ) from None
                if not told:
                    note = f"another process is downloading {entry.name}: waiting for it"
                    progress(Progress(entry.name, "", 0, None, note=note))
                    told = True
                time.sleep(0.1)
            yield
