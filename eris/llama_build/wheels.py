"""Wheels of llama-cpp-python in the user's cache, and the one that is installed.

A wheel is kept under a digest of everything it was built for: version, source, flags, the
processor's instructions, Python and platform. pip's own cache knows none of that, so it isn't
used. `ensure` is the one entry; all else is there to be tested.
"""

import contextlib
import fcntl
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from eris.llama_build.processor import Processor, flag_sets, present_processor
from eris.llama_build.trial import Trial, try_installed, try_wheel

PACKAGE = "llama-cpp-python"
VERSION = "0.3.36"
SDIST_SHA256 = "832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e"

EXTRA_FLAGS_VARIABLE = "ERIS_LLAMA_CMAKE_ARGS"
"""Environment variable with more CMake flags, such as ``-DGGML_CUDA=ON``."""

_BUILD_WITHIN_SECONDS = 2 * 3600.0
_REFUSED = "refused.txt"
_LOG = "build.log"


class BuildError(Exception):
    """No working build could be made.

    Not one of `eris.errors`: this package may import the standard library only.
    """


@dataclass(frozen=True)
class Pin:
    """A source distribution, exactly."""

    package: str
    version: str
    sha256: str


PINNED = Pin(PACKAGE, VERSION, SDIST_SHA256)


@dataclass(frozen=True)
class Build:
    """A build that runs here."""

    flags: tuple[str, ...]
    key: str
    """Digest of what it was built for; empty if it was there before Eris looked."""
    changed: bool
    """Whether something was installed now."""


Builder = Callable[[Sequence[str], Path], Path]
"""Builds a wheel with these flags into this folder and returns it; raises `BuildError`."""


def ensure(
    report: Callable[[str], None],
    *,
    environ: Mapping[str, str] | None = None,
    rebuild: bool = False,
) -> Build:
    """Make sure that a llama-cpp-python that runs on this processor is installed.

    Args:
        report: Told in sentences what is being done.
        environ: ``XDG_CACHE_HOME``, ``HOME`` and `EXTRA_FLAGS_VARIABLE` are read from it.
        rebuild: Forget what is installed and every cached wheel first.

    Raises:
        BuildError: A build failed, or none runs here.
    """
    environ = os.environ if environ is None else environ
    processor = present_processor()
    extra = tuple(shlex.split(environ.get(EXTRA_FLAGS_VARIABLE, "")))
    candidates = [(*flags, *extra) for flags in flag_sets(processor)]
    if rebuild:
        shutil.rmtree(cache_folder(environ), ignore_errors=True)
    elif installed_version() == VERSION and try_installed().runs:
        installed = Installed.read()
        if installed is None and not extra:
            # Somebody installed it another way, and it works: spend no minutes on another one.
            return Build((), "", changed=False)
        for flags in candidates:
            if installed is not None and installed.key == key(flags, processor):
                return Build(flags, installed.key, changed=False)
    cache = cache_folder(environ)
    cache.mkdir(parents=True, exist_ok=True)

    def build(flags: Sequence[str], folder: Path) -> Path:
        return build_wheel(flags, folder, environ)

    with locked(cache, report):
        flags, wheel = choose(
            candidates, processor, cache, report=report, build=build, trial=try_wheel
        )
    report(f"Installing {wheel.name}.")
    install(wheel)
    chosen = key(flags, processor)
    Installed.write(chosen)
    return Build(flags, chosen, changed=True)


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder of built wheels."""
    named = environ.get("XDG_CACHE_HOME", "")
    home = Path(environ.get("HOME") or Path.home())
    return (Path(named) if named.startswith("/") else home / ".cache") / "eris" / "wheels"


def key(flags: Sequence[str], processor: Processor) -> str:
    """Return the digest of all that a build depends on."""
    depends = [
        VERSION,
        SDIST_SHA256,
        list(flags),
        processor.system,
        processor.machine,
        sorted(processor.features),
        f"cp{sys.version_info.major}{sys.version_info.minor}",
        sysconfig.get_platform(),
    ]
    return hashlib.sha256(json.dumps(depends).encode()).hexdigest()[:16]


def choose(
    candidates: Sequence[tuple[str, ...]],
    processor: Processor,
    cache: Path,
    *,
    report: Callable[[str], None],
    build: Builder,
    trial: Callable[[Path], Trial],
) -> tuple[tuple[str, ...], Path]:
    """Return the first flags whose wheel runs here, and that wheel; builds what isn't cached.

    A cached wheel that doesn't run is built anew once. Flags whose fresh build dies of SIGILL are
    remembered as refused and the next are tried.

    Raises:
        BuildError: A fresh build fails in another way, or all are refused.
    """
    for flags in candidates:
        folder = cache / f"{VERSION}-{key(flags, processor)}"
        if (folder / _REFUSED).exists():
            continue
        for cached in sorted(folder.glob("*.whl")):
            outcome = trial(cached)
            if outcome.runs:
                return flags, cached
            report(f"The cached {cached.name} doesn't run here: {outcome.problem}.")
            cached.unlink()
        report(
            f"Building {PACKAGE} {VERSION} for this processor; about 6 minutes on two cores. "
            f"Log: {folder / _LOG}"
        )
        folder.mkdir(parents=True, exist_ok=True)
        wheel = build(flags, folder)
        outcome = trial(wheel)
        if outcome.runs:
            return flags, wheel
        wheel.unlink()
        if not outcome.illegal_instruction:
            raise BuildError(f"The new build of {PACKAGE} doesn't run: {outcome.problem}.")
        report(f"With {' '.join(flags)} it doesn't run: {outcome.problem}. Trying fewer.")
        (folder / _REFUSED).write_text(f"{' '.join(flags)}\n{outcome.problem}\n", encoding="utf-8")
    raise BuildError(
        f"No build of {PACKAGE} runs on this processor. Delete {cache} to try all of them again."
    )


def build_wheel(
    flags: Sequence[str], folder: Path, environ: Mapping[str, str], source: Pin = PINNED
) -> Path:
    """Build ``source`` with ``flags``; wheel and log go to ``folder``.

    Raises:
        BuildError: It failed; the sentence has the end of the log.
    """
    log = folder / _LOG
    with tempfile.TemporaryDirectory(dir=folder, prefix="new-") as new:
        requirement = Path(new) / "requirement.txt"
        requirement.write_text(
            f"{source.package}=={source.version} --hash=sha256:{source.sha256}\n"
        )
        with log.open("w", encoding="utf-8") as out:
            code = _pip(
                *("wheel", "--no-cache-dir", "--no-deps", "--no-binary", source.package),
                *("--require-hashes", "--wheel-dir", new, "--requirement", str(requirement)),
                environ={**environ, "CMAKE_ARGS": " ".join(flags)},
                stdout=out.fileno(),
            )
        wheels = sorted(Path(new).glob("*.whl"))
        if code != 0 or not wheels:
            text = log.read_text(encoding="utf-8", errors="replace").strip()
            tail = "\n".join(text.splitlines()[-15:])
            raise BuildError(
                f"Building {source.package} failed. It needs a C++ compiler (Debian: apt install "
                f"build-essential; macOS: xcode-select --install). Log: {log}\n{tail}"
            )
        return wheels[0].replace(folder / wheels[0].name)


def install(wheel: Path) -> None:
    """Install a wheel into this Python.

    Raises:
        BuildError: pip failed.
    """
    code = _pip(
        *("install", "--quiet", "--no-deps", "--no-index", "--force-reinstall", str(wheel)),
        environ=os.environ,
        stdout=sys.stderr.fileno(),
    )
    if code != 0:
        raise BuildError(f"{wheel} can't be installed into {sys.prefix}: pip ended with {code}.")


def installed_version() -> str:
    """Return the installed version of llama-cpp-python, or an empty text."""
    try:
        return importlib.metadata.version(PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        return ""


@dataclass(frozen=True)
class Installed:
    """What `ensure` installed into this Python."""

    key: str

    @classmethod
    def read(cls) -> "Installed | None":
        """Return the record, unless somebody has installed another build since."""
        try:
            record = json.loads(cls._file().read_text(encoding="utf-8"))
            same = record["files"] == cls._files_digest() and installed_version() == VERSION
            return cls(str(record["key"])) if same else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    @classmethod
    def write(cls, chosen: str) -> None:
        """Record that the build with this key was installed."""
        record = {"key": chosen, "files": cls._files_digest()}
        cls._file().write_text(json.dumps(record), encoding="utf-8")

    @staticmethod
    def _file() -> Path:
        return Path(sys.prefix) / "eris-llama-build.json"

    @staticmethod
    def _files_digest() -> str:
        """Digest of the list of installed files, which has each one's own digest."""
        try:
            listed = importlib.metadata.distribution(PACKAGE).read_text("RECORD") or ""
        except importlib.metadata.PackageNotFoundError:
            return ""
        return hashlib.sha256(listed.encode()).hexdigest()


@contextlib.contextmanager
def locked(cache: Path, report: Callable[[str], None]) -> Iterator[None]:
    """Let one build run at a time; the kernel drops the lock when this process ends."""
    with (cache / "lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report("Another process is building llama-cpp-python; waiting for it.")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _pip(*arguments: str, environ: Mapping[str, str], stdout: int) -> int:
    if importlib.util.find_spec("pip") is None:
        raise BuildError(f"This Python has no pip. Add it with: {sys.executable} -m ensurepip")
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]
    process = subprocess.Popen(
        [*command, *arguments],
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.STDOUT,
    )
    try:
        return process.wait(timeout=_BUILD_WITHIN_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise BuildError(
            f"pip {arguments[0]} took over {_BUILD_WITHIN_SECONDS:.0f} seconds."
        ) from error
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()
