"""Notes as text: from bytes and to bytes."""

import codecs

from eris.errors import InvalidError

_ENCODED_ELSE = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
_CONVERT = "Save it as UTF-8 in a text editor, then it can be used."


def decode(data: bytes, path: str) -> str:
    """Return a note's text, without a byte order mark.

    Args:
        data: The whole file.
        path: The note, for the sentence.

    Raises:
        InvalidError: It's binary, or text in another encoding than UTF-8.
    """
    for mark, encoding in _ENCODED_ELSE.items():
        if data.startswith(mark):
            raise InvalidError(f"{path} is {encoding} text, not UTF-8.", hint=_CONVERT)
    refuse_binary(data, path)
    try:
        return data.removeprefix(codecs.BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        raise InvalidError(
            f"{path} isn't UTF-8 text: byte {error.start} is 0x{data[error.start]:02x}.",
            hint=_CONVERT,
        ) from error


def refuse_binary(data: bytes, path: str) -> None:
    """Refuse a file that isn't text in any encoding that spares the NUL byte.

    Raises:
        InvalidError: It isn't.
    """
    if b"\0" in data:
        raise InvalidError(
            f"{path} is a binary file, not text.", hint="Only text notes can be read or written."
        )


def encode(content: str, path: str) -> bytes:
    """Return the bytes of a text to be written, exactly as given.

    Raises:
        InvalidError: It has characters that no text file can hold.
    """
    if "\0" in content:
        raise InvalidError(f"The content for {path} has a NUL character.", hint="Leave it out.")
    try:
        return content.encode()
    except UnicodeEncodeError as error:
        raise InvalidError(
            f"The content for {path} has half a character at position {error.start}.",
            hint="Leave that character out.",
        ) from error


def told_size(size: int) -> str:
    """Return a number of bytes, for people."""
    return f"{size:d} byte{'' if size == 1 else 's'}"
