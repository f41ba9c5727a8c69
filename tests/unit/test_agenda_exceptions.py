"""Single times of a schedule that a rule doesn't know: exceptions from it, and more of them."""

import datetime as dt
from zoneinfo import ZoneInfo

import pytest

from eris.errors import InvalidError
from proto.agenda import Schedule, SimulateAgenda
from tests.reminding import Reminding

DAILY = Schedule(
    start="2026-12-04T09:00:00",
    zone="Europe/Berlin",
    rule="FREQ=DAILY;COUNT=6",
    excluded=("2026-12-05T09:00:00", "2026-12-06T09:00:00", "2027-01-01T09:00:00"),
    also=("2026-12-05T18:00:00", "2026-12-20T07:00:00"),
)


@pytest.fixture
def agenda(tmp_path):
    agenda = Reminding(tmp_path)
    yield agenda
    agenda.close()


def times(agenda, until="2027-02-01", zone="Europe/Berlin"):
    firings = agenda.ask(SimulateAgenda(until=until)).firings
    local = (dt.datetime.fromtimestamp(each.due, ZoneInfo(zone)) for each in firings)
    return [f"{moment:%d %H:%M}" for moment in local]


def test_exceptions_do_not_fire_and_single_times_do(agenda):
    agenda.add("stand-up", schedule=DAILY)
    assert times(agenda) == ["04 09:00", "05 18:00", "07 09:00", "08 09:00", "09 09:00", "20 07:00"]
    for _ in range(20):
        agenda.look(24 * 3600)
    assert len(agenda.told.fired()) == 6


def test_single_times_without_a_rule_follow_the_start(agenda):
    schedule = Schedule(start="2026-12-04", all_day=True, also=("2026-12-08", "2026-12-06"))
    agenda.add("bins", schedule=schedule)
    assert times(agenda) == ["04 09:00", "06 09:00", "08 09:00"]


@pytest.mark.parametrize(
    "schedule",
    [
        Schedule(start="2026-12-04T09:00:00", rule="FREQ=DAILY", excluded=("soon",)),
        Schedule(start="2026-12-04T09:00:00", also=("2026-12-05T09:00:00+01:00",)),
        Schedule(start="2026-12-04", all_day=True, also=("2026-12-05",) * 1001),
    ],
)
def test_single_times_that_are_none_are_refused(agenda, schedule):
    with pytest.raises(InvalidError) as caught:
        agenda.add("bins", schedule=schedule)
    assert caught.value.hint
