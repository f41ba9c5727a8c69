"""Tool results are capped, and the rest can be reached."""

import pytest

from actors.orchestrator.results import cap, surely_fits

NOTE = "".join(f"{number:04}\n" for number in range(400))


def page(start):
    heading = f"notes/long.md:\n(from character {start})\n" if start else "notes/long.md:\n"
    return heading + NOTE[start:]


@pytest.mark.parametrize("start", [0, 500])
def test_reading_on_from_the_told_offset_misses_nothing(start):
    capped = cap(page(start), 300, "vault:read", start, {"next_offset": len(NOTE)})
    shown = page(start)[:300].split("\n", 2 if start else 1)[-1]
    offset = int(capped.rpartition("offset ")[2].rstrip(".)"))
    assert NOTE[start:offset] == shown


def test_a_short_result_is_left_as_it_is():
    assert cap("short", 5, "vault:read", 0, {"next_offset": 9}) == "short"


def test_a_result_that_cannot_be_read_on_says_how_much_there_was():
    capped = cap("x" * 1000, 100, "vault:list", 0, {})
    assert capped.startswith("x" * 100)
    assert "100 of 1000 characters" in capped
    assert "offset" not in capped


@pytest.mark.parametrize(
    ("content", "tokens", "sure"),
    [("abc", 3, True), ("abcd", 3, False), ("äb", 3, True), ("äöü", 5, False)],
)
def test_a_token_is_at_least_a_byte(content, tokens, sure):
    assert surely_fits(content, tokens) is sure
