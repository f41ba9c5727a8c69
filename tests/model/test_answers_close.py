"""Random tools, random limits, a small model at a high temperature: every answer is whole."""

import pytest

from tests.closing import closing

pytestmark = pytest.mark.model


def test_every_answer_closes() -> None:
    outcome = closing(25, seed=3)
    assert outcome.failures == []
    assert outcome.share == 1.0
    # Both ways of ending were seen, and calls too.
    assert min(outcome.ended_early, outcome.finishes["stop"], outcome.calls) > 0
