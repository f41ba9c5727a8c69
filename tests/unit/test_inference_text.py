"""Bytes of tokens to whole characters."""

import pytest

from actors.inference.text import CharacterStream


@pytest.mark.parametrize(
    ("pieces", "texts"),
    [
        ([b"a", b"b"], ["a", "b"]),
        ([b"\xc3", b"\xa9"], ["", "é"]),
        ([b"x\xf0\x9f", b"\xa6", b"\x89y"], ["x", "", "🦉y"]),
        ([b"\xff", b"a"], ["\ufffd", "a"]),
        ([b"\xe6\x97", b"a"], ["", "\ufffda"]),
        ([b"\xf0\x9f"], [""]),
    ],
)
def test_only_whole_characters_come_out(pieces: list[bytes], texts: list[str]) -> None:
    stream = CharacterStream()
    assert [stream.feed(piece) for piece in pieces] == texts
