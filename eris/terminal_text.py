"""Making text from outside harmless for a terminal.

A model, a note or a file name may hold control sequences that move the cursor, change the window's
title or write to the clipboard, and marks that show text in another order than it has. They are
shown as visible symbols instead. Works character by character, so that text that arrives in
pieces comes out the same as in one.
"""

_FIRST_PICTURE = 0x2400
"""Unicode's pictures of the control characters, in their order."""

_DELETE = 0x7F

_KEPT = {ord("\n"), ord("\t")}

_REORDERING = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""Embeddings, overrides and isolates. The plain marks U+200E and U+200F change no order by force
and belong to ordinary Hebrew and Arabic text."""

_TABLE: dict[int, str | None] = {
    **{code: chr(_FIRST_PICTURE + code) for code in range(0x20) if code not in _KEPT},
    _DELETE: "\u2421",
    **dict.fromkeys(range(0x80, 0xA0), "\ufffd"),
    **dict.fromkeys(_REORDERING, "\ufffd"),
    0x0D: None,
    **dict.fromkeys((0x2028, 0x2029), "\n"),
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
}


def harmless(text: str) -> str:
    """Return ``text`` without anything that a terminal could take for a command.

    Newlines and tabs stay; carriage returns go; other control characters become symbols.
    """
    return text.translate(_TABLE)
