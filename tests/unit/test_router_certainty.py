"""When a tool is certainly wanted, and how likely it is otherwise."""

import pytest

from actors.router.certainty import CALIBRATIONS, call_odds, is_evident
from proto.router import Hit


def hits(**scores: float) -> list[Hit]:
    return [Hit(tool=tool, score=score) for tool, score in scores.items()]


@pytest.mark.parametrize(
    ("found", "evident"),
    [
        (hits(), False),
        (hits(read=0.4), True),
        (hits(read=0.4, search=0.39), True),
        (hits(read=0.5, write=0.4), False),
        (hits(write=0.64), False),
        (hits(write=0.65), True),
        (hits(read=0.4, write=0.9), True),
    ],
)
def test_what_only_reads_is_called_where_it_is_offered_and_what_writes_if_surely_meant(
    found, evident
):
    assert is_evident(found, {"read", "search"}, 0.65) is evident


def test_the_best_score_says_how_likely_a_call_is():
    embedder, line = next(iter(CALIBRATIONS.items()))
    assert call_odds(embedder, hits(a=line.middle, b=0.1)) == 0
    assert call_odds(embedder, hits(a=0.4)) < 0 < call_odds(embedder, hits(b=0.1, a=0.5))


@pytest.mark.parametrize(("embedder", "found"), [("unheard-of", hits(a=0.9)), ("", hits())])
def test_nothing_is_weighed_where_nothing_is_known(embedder, found):
    assert call_odds(embedder, found) == 0.0
