"""Files that come from a repository of the model hub.

`huggingface_hub` is imported when it's needed: it is slow to import and most commands of Eris
never go there.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from eris.errors import DeniedError, StorageError, UnavailableError
from eris.models.catalogue import Hub

_SHA256_LENGTH = 64
_CHUNK = 1 << 20
_TRIES = 5
"""In a row, each without having brought a megabyte."""
_TIMEOUT_SECONDS = 30.0
"""Of silence."""


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

    The hub library's own download starts from the beginning in each process, which is no good for
    many gigabytes. So it tells where the file is and with which headers to ask, and the bytes are
    fetched here.

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
    from huggingface_hub import hf_hub_url  # noqa: PLC0415  (slow import)

    told = describe(source, endpoint)
    # The commit, so that a change in between can't mix two files.
    revision = told.commit or source.revision
    url = hf_hub_url(source.repository, source.file, revision=revision, endpoint=endpoint)
    partial = staging / f"{(told.sha256 or revision)[:16]}.partial"
    failures = 0
    while told.bytes is None or _length(partial) < told.bytes:
        before = _length(partial)
        report(before)
        try:
            _append(url, partial, report)
        except Exception as error:
            brought = _length(partial) - before
            failures = 1 if brought >= _CHUNK else failures + 1
            if failures == _TRIES or not _can_be_repeated(error):
                raise _translated(error, source) from error
            time.sleep(failures)
        else:
            break
    return partial


def _append(url: str, partial: Path, report: Callable[[int], None]) -> None:
    """Ask for what is missing of the file and write it to the end of ``partial``."""
    from huggingface_hub import get_session, get_token, hf_raise_for_status  # noqa: PLC0415

    here = _length(partial)
    headers = {"Accept-Encoding": "identity"}
    if token := get_token():
        headers["Authorization"] = f"Bearer {token}"
    if here:
        headers["Range"] = f"bytes={here}-"
    with get_session().stream(
        "GET", url, headers=headers, follow_redirects=True, timeout=_TIMEOUT_SECONDS
    ) as response:
        hf_raise_for_status(response)
        going_on = response.status_code == HTTPStatus.PARTIAL_CONTENT
        with partial.open("ab" if going_on else "wb") as out:
            # Unbuffered pieces as they come: what arrived is kept when the connection breaks.
            for piece in response.iter_raw():
                out.write(piece)
                report(out.tell())


def _can_be_repeated(error: Exception) -> bool:
    import httpx  # noqa: PLC0415  (slow import)

    return isinstance(error, httpx.TransportError) and not isinstance(error, httpx.ConnectError)


def _length(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


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
