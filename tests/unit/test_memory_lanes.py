"""Somebody who waits overtakes bulk work."""

import threading

import pytest

from actors.memory.lanes import Lanes
from eris.errors import ErisError


def test_interactive_jobs_go_before_background_ones() -> None:
    lanes: Lanes[str] = Lanes()
    lanes.put("bulk 1", background=True)
    lanes.put("bulk 2", background=True)
    lanes.put("question 1", background=False)
    lanes.put("question 2", background=False)
    assert [lanes.take() for _ in range(4)] == ["question 1", "question 2", "bulk 1", "bulk 2"]


def test_a_job_that_is_put_back_is_the_next_of_its_lane() -> None:
    lanes: Lanes[str] = Lanes()
    lanes.put("bulk 1", background=True)
    lanes.put("bulk 2", background=True)
    first = lanes.take()
    assert first is not None
    lanes.put("question", background=False)
    lanes.put_back(first)
    assert [lanes.take() for _ in range(3)] == ["question", "bulk 1", "bulk 2"]


@pytest.mark.parametrize("background", [True, False])
def test_a_full_lane_refuses_and_says_that_it_passes(background: bool) -> None:
    lanes: Lanes[str] = Lanes(limit=1)
    lanes.put("job", background=background)
    with pytest.raises(ErisError) as refused:
        lanes.put("another", background=background)
    assert refused.value.code == "busy"
    assert refused.value.retryable
    lanes.put("other lane", background=not background)
    assert lanes.waiting() == 2


def test_closing_wakes_whoever_waits() -> None:
    lanes: Lanes[str] = Lanes()
    taken: list[str | None] = []
    worker = threading.Thread(target=lambda: taken.append(lanes.take()))
    worker.start()
    lanes.close()
    worker.join(5)
    assert taken == [None]
