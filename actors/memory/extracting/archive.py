"""Archives whose parts are unpacked no further than allowed."""

import zipfile
from typing import BinaryIO

from actors.memory.extracting.document import UnreadableError
from actors.memory.extracting.report import Limits

_MOST_PARTS = 20_000


def check_size(stream: BinaryIO, limits: Limits) -> None:
    """Check what an archive says that its parts are; afterwards it's at its start again.

    A part that is larger than it says can't be unpacked any further than that.

    Raises:
        UnreadableError: They're larger than allowed.
        zipfile.BadZipFile: It's no archive.
    """
    with zipfile.ZipFile(stream) as archive:
        check_archive(archive, limits)
    stream.seek(0)


def check_archive(archive: zipfile.ZipFile, limits: Limits) -> None:
    """Check an archive that is open already, in the same way."""
    parts = archive.infolist()
    size = sum(each.file_size for each in parts)
    if size > limits.unpacked_bytes or len(parts) > _MOST_PARTS:
        raise UnreadableError(
            f"unpacks to {size / 1e6:,.0f} MB in {len(parts):,} parts; at most "
            f"{limits.unpacked_bytes / 1e6:,.0f} MB in {_MOST_PARTS:,} parts are unpacked",
            "Remove its pictures, or part it.",
        )
