"""Files that come from a repository of the model hub.

`huggingface_hub` is imported when it's needed: it is slow to import and most commands of Eris
never go there.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eris.errors import DeniedError, StorageError, UnavailableError
from eris.models.catalogue import Hub

_SHA256_LENGTH = 64


@dataclass(frozen=True)
class HubFile:
    """What the hub says about a file."""

    bytes: int | None
    sha256: str | None
    """Set for large files only; small ones carry another kind of digest."""
    commit: str | None
    """The commit that the revision points to now."""


def describe(source: Hub, endpoint: str | None = None) -> HubFile:
    """Ask the hub for size and digest.

    Raises:
        UnavailableError: The hub can't be reached, or has no such file.
        DeniedError: The repository wants an account.
    """
    from huggingface_hub import get_hf_file_metadata, hf_hub_url  # noqa: PLC0415  (slow import)

    url = hf_hub_url(source.repository, source.file, revision=source.revision, endpoint=endpoint)
    try:
        found = get_hf_file_metadata(url, endpoint=endpoint)
    except Exception as error:
        raise _translated(error, source) from error
    digest = found.etag if found.etag and len(found.etag) == _SHA256_LENGTH else None
    return HubFile(bytes=found.size, sha256=digest, commit=found.commit_hash)


def fetch(
    source: Hub, staging: Path, report: Callable[[int], None], endpoint: str | None = None
) -> Path:
    """Download the file into ``staging``; a partial download there goes on where it stopped.

    Args:
        source: The file.
        staging: Folder on the same file system as the models, kept between attempts.
        report: Called with the bytes that are here so far.
        endpoint: Address of the hub; the library's own default if ``None``.

    Raises:
        UnavailableError: The hub can't be reached, or has no such file.
        DeniedError: The repository wants an account.
        StorageError: The disk is full or can't be written.
    """
    from huggingface_hub import hf_hub_download  # noqa: PLC0415  (slow import)

    try:
        arrived = hf_hub_download(
            source.repository,
            source.file,
            revision=source.revision,
            local_dir=staging / "hub",
            endpoint=endpoint,
            tqdm_class=_progress_class(report),
        )
    except Exception as error:
        raise _translated(error, source) from error
    return Path(str(arrived))


def _progress_class(report: Callable[[int], None]) -> Any:
    from tqdm.std import tqdm  # noqa: PLC0415  (comes with the hub library)

    class Progress(tqdm):  # type: ignore[type-arg,unused-ignore]
        """Reports to the caller instead of drawing a bar."""

        def __init__(self, *args: Any, **options: Any) -> None:
            options.pop("name", None)
            options["disable"] = True
            super().__init__(*args, **options)
            self.here = int(options.get("initial") or 0)
            report(self.here)

        def update(self, n: float | None = 1) -> bool | None:
            self.here += int(n or 0)
            report(self.here)
            return None

    return Progress


def _translated(error: Exception, source: Hub) -> Exception:
    from huggingface_hub import errors  # noqa: PLC0415  (slow import)

    what = f"{source.file} of {source.repository}"
    match error:
        case errors.GatedRepoError():
            return DeniedError(
                f"The hub wants an account for {what}.",
                hint="Accept the licence on the model's page, then set HF_TOKEN.",
            )
        case errors.RepositoryNotFoundError() | errors.EntryNotFoundError() if not isinstance(
            error, errors.LocalEntryNotFoundError
        ):
            return UnavailableError(
                f"The hub has no {what}.",
                hint="It may have moved; give the path of a GGUF file instead.",
                retryable=False,
            )
        case errors.HfHubHTTPError():
            return UnavailableError(
                f"The hub refused {what}: {_first_line(error)}", hint="Try again later."
            )
        case OSError() if error.errno is not None and not isinstance(error, ConnectionError):
            return StorageError(
                f"{what} can't be stored: {error.strerror}.", hint="Check the free space."
            )
        case _:
            return UnavailableError(
                f"The hub can't be reached for {what}: {_first_line(error)}",
                hint="Check the connection; what has arrived is kept.",
            )


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
