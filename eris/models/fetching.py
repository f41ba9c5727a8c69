"""Getting one file of a model: source after source until one delivers what was promised.

Knows nothing of the store's layout; works in a staging folder that it's given.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from eris.errors import ErisError, ModelError, StorageError, UnavailableError
from eris.models import hub, registry
from eris.models.catalogue import Hub, ModelEntry, ModelFile, Registry, Source
from eris.models.sizes import bytes_below, digest, megabytes

_SPARE_BYTES = 32 * 1024 * 1024
"""Kept free on the disk besides what a download needs."""


@dataclass(frozen=True)
class Progress:
    """One step of a pull."""

    model: str
    file: str
    done: int
    """Bytes of the file that are here."""
    total: int | None
    note: str = ""
    """A sentence, where there is more to say than numbers."""


@dataclass(frozen=True)
class Means:
    """What a download uses of the world around."""

    environ: Mapping[str, str]
    """Environment of pip."""
    hub_endpoint: str | None
    """Address of the hub; the hub library's default if ``None``."""
    free_bytes: Callable[[Path], int]
    """Tells the free space of a folder's file system."""


def fetch_file(
    entry: ModelEntry,
    file: ModelFile,
    staging: Path,
    progress: Callable[[Progress], None],
    means: Means,
) -> tuple[Path, str]:
    """Download and verify one file.

    Returns:
        The file in ``staging``, and the name of the source that delivered it.

    Raises:
        UnavailableError: No source could deliver; each one's reason is in the sentence.
        ModelError: Whatever was delivered isn't what the catalogue promises.
        StorageError: The disk is full or can't be written.
    """
    refusals: list[ErisError] = []
    for source in file.sources:
        _check_space(entry, file, source, staging, means)

        def report(done: int) -> None:
            progress(Progress(entry.name, file.name, done, file.bytes))

        try:
            match source:
                case Registry():
                    arrived = registry.fetch(source, file, staging, report, means.environ)
                case Hub():
                    arrived = hub.fetch(source, staging, report, means.hub_endpoint)
            _check_content(arrived, file, source, staging)
        except StorageError:
            raise
        except ErisError as error:
            refusals.append(error)
            progress(Progress(entry.name, file.name, 0, file.bytes, note=error.message))
            continue
        return arrived, _source_name(source)
    raise _nobody_delivered(entry, file, refusals)


def _check_space(
    entry: ModelEntry, file: ModelFile, source: Source, staging: Path, means: Means
) -> None:
    # Wheels lie beside the file that is put together from them.
    copies = 2 if isinstance(source, Registry) else 1
    needed = (file.bytes or 0) * copies - bytes_below(staging) + _SPARE_BYTES
    free = means.free_bytes(staging)
    if free < needed:
        raise StorageError(
            f"The model {entry.name} needs {megabytes(needed)} free in {staging}, "
            f"there are {megabytes(free)}.",
            hint="Free some space, or move the store by setting XDG_DATA_HOME.",
            details={"needed": needed, "free": free},
        )


def _check_content(arrived: Path, file: ModelFile, source: Source, staging: Path) -> None:
    size = arrived.stat().st_size
    right_size = file.bytes is None or size == file.bytes
    if right_size and (file.sha256 is None or digest(arrived) == file.sha256):
        return
    arrived.unlink()
    if isinstance(source, Registry):
        registry.discard(source, staging)
    wrong = "has another content than" if right_size else f"has {size} bytes, not the"
    promised = "" if right_size else f" {file.bytes}"
    raise ModelError(
        f"{file.name} from {_source_name(source)} {wrong}{promised} the catalogue promises.",
        hint="Try again; if it happens twice, that copy was changed and can't be trusted.",
        retryable=True,
    )


def _source_name(source: Source) -> str:
    match source:
        case Registry(parts):
            return f"the package registry ({parts[0].package} {parts[0].version})"
        case Hub(repository):
            return f"the hub ({repository})"


def _nobody_delivered(
    entry: ModelEntry, file: ModelFile, refusals: Sequence[ErisError]
) -> ErisError:
    if len(refusals) == 1:
        return refusals[0]
    reasons = " ".join(f"({index}) {error.message}" for index, error in enumerate(refusals, 1))
    damaged = bool(refusals) and all(isinstance(error, ModelError) for error in refusals)
    kind = ModelError if damaged else UnavailableError
    return kind(
        f"No source could deliver {file.name} of {entry.name}. {reasons}",
        hint=refusals[0].hint if refusals else "The catalogue names no source for it.",
        retryable=any(error.retryable for error in refusals),
        details={"model": entry.name, "file": file.name},
    )
