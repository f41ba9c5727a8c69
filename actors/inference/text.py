"""Bytes of tokens to whole characters."""

import codecs


class CharacterStream:
    """Turns the bytes of successive tokens into text, holding back an incomplete character."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, data: bytes) -> str:
        """Return the characters that are complete now; bytes that can't be UTF-8 become U+FFFD."""
        return self._decoder.decode(data)
