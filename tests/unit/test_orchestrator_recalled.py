"""What is recalled for a turn: told with its place, as one line each, and known as from outside."""

import pytest

from actors.orchestrator.recalled import fitting, place, told, untrusted
from actors.orchestrator.steps import OfferStep, ResultStep, untrusted_in
from proto.memory import HitView, Kind

_LONG = "long/" * 40 + "a.md"
NOTE = HitView(
    kind=Kind.NOTE, text="Ann likes\ntea.", score=0.9, path="people/ann.md", first_line=12
)
DATED = HitView(
    kind=Kind.MEMORY, text="The code is 17.", score=0.8, path="Eris/Memory/Code.md",
    first_line=9, date="2026-11-02",
)  # fmt: skip
STAGED = HitView(kind=Kind.MEMORY, text="The dog is Rex.", score=0.8, date="2026-12-01", id="m3")
PAGE = HitView(
    kind=Kind.DOCUMENT, text="Descale monthly.", score=0.7, path="manual.pdf", page=41
)  # fmt: skip
SAID = HitView(kind=Kind.SESSION, text="Buy oats", score=0.6, date="2026-11-30", id="main")
FROM_OUTSIDE = HitView(
    kind=Kind.MEMORY, text="Rule 9.", score=0.6, id="m4", origin="letter.docx, page 2"
)  # fmt: skip


@pytest.mark.parametrize(
    ("hit", "expected"),
    [
        (NOTE, "people/ann.md:12"),
        (DATED, "Eris/Memory/Code.md:9, 2026-11-02"),
        (STAGED, "remembered, 2026-12-01"),
        (PAGE, "manual.pdf, page 41"),
        (SAID, "said before, 2026-11-30"),
        (
            HitView(kind=Kind.NOTE, text="x", score=1, path=_LONG, first_line=3),
            f"…{f'{_LONG}:3'[-80:]}",
        ),
    ],
)
def test_the_place_of_a_piece_can_be_opened(hit, expected):
    assert place(hit) == expected


def test_a_piece_is_one_line_with_its_place_in_front():
    assert told((NOTE, STAGED)) == (
        "- (people/ann.md:12) Ann likes tea.\n- (remembered, 2026-12-01) The dog is Rex."
    )


def test_the_best_pieces_that_fit_are_kept():
    assert fitting((NOTE, DATED, STAGED), len(NOTE.text) + len(DATED.text)) == (NOTE, DATED)
    assert fitting((NOTE,), 5) == ()


def test_pages_and_memories_caused_by_them_are_from_outside_and_the_users_own_notes_are_not():
    assert untrusted((NOTE, DATED, STAGED, SAID)) == ""
    assert untrusted((NOTE, PAGE, FROM_OUTSIDE, PAGE)) == "manual.pdf, letter.docx, page 2"


def test_a_turn_knows_what_from_outside_it_has_been_told():
    steps = [
        OfferStep(tools=(), grammar="", untrusted="manual.pdf"),
        ResultStep(call_id="c", tool="vault:read", arguments="{}", ok=True, content="mine"),
        ResultStep(
            call_id="d", tool="doc:read", arguments="{}", ok=True, content="x", untrusted="b.html"
        ),
    ]
    assert untrusted_in(steps[1:2]) == ""
    assert untrusted_in(steps) == "manual.pdf, b.html"
