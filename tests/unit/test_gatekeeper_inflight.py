"""Whoever asks for a call that is being carried out waits for its outcome."""

import threading

from actors.gatekeeper.inflight import InFlight


def test_the_first_asker_is_told_to_start_and_later_ones_join_it() -> None:
    calls: InFlight[str] = InFlight()
    assert calls.join("c", "one") == "one"
    assert calls.join("c", "two") == "one"
    assert calls.join("d", "three") == "three"
    assert calls.finish("c") == ["one", "two"]
    assert calls.join("c", "four") == "four"


def test_the_next_asker_takes_the_place_of_one_who_leaves() -> None:
    calls: InFlight[str] = InFlight()
    calls.join("c", "one")
    calls.join("c", "two")
    calls.leave("c", "one")
    assert calls.first("c") == "two"
    calls.leave("c", "two")
    assert calls.first("c") is None
    assert calls.finish("c") == []


def test_somebody_can_wait_until_the_calls_of_a_turn_are_done() -> None:
    calls: InFlight[str] = InFlight()
    calls.join("c", "turn 1")
    assert calls.wait_for_none(lambda asker: asker == "turn 2", within=0)
    assert not calls.wait_for_none(lambda asker: asker == "turn 1", within=0.01)
    finisher = threading.Thread(target=lambda: calls.finish("c"))
    finisher.start()
    assert calls.wait_for_none(lambda asker: asker == "turn 1", within=5)
    finisher.join()
