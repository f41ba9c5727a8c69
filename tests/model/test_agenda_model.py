"""What the small model makes of plain requests, and that a reminder fires through a kill."""

import json
import signal
import time

import pytest

from proto.agenda import (
    AgendaReport,
    DescribeAgenda,
    ItemKind,
    Items,
    ListItems,
    ReminderChanged,
    ReminderFired,
    SimulateAgenda,
    Simulated,
    WaitingReminders,
)
from tests.supervised import supervised

pytestmark = [pytest.mark.process, pytest.mark.model]

REMINDERS = WaitingReminders | ReminderFired | ReminderChanged
ACTORS = '["bus", "inference", "memory", "vault", "router", "gatekeeper", "agenda", "orchestrator"]'


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    folder = tmp_path_factory.mktemp("agenda-model")
    with supervised(folder, f"[supervisor]\nactors = {ACTORS}\n", {"TZ": "Europe/Berlin"}) as made:
        made.start(within=200)
        yield made


def asked(system, text):
    """Say something; returns the calls that succeeded."""
    done = system.eris("ask", "--json", text, within=280)
    assert done.returncode == 0, done.stderr
    calls = json.loads(done.stdout)["tool_calls"]
    return [call for call in calls if call["state"] == "ok"]


def test_remind_me_in_one_minute_fires_once_although_the_agenda_is_killed(system):
    (call,) = asked(system, "remind me in one minute to stretch")
    assert call["tool"] == "agenda:remind_at"
    assert call["receipt"].endswith(": stretch")
    port = system.connect("console")
    (item,) = port.ask("agenda", ListItems(), Items, within=30).items
    assert (item.kind, item.text) == (ItemKind.REMINDER, "stretch")
    assert 0 < item.next_due - time.time() <= 61
    system.kill("agenda", signal.SIGKILL)
    subscription = port.subscribe("agenda", "reminders", item=REMINDERS)
    told = []
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline and not told:
        event = subscription.next(1.0)
        told += [event.reminder] if isinstance(event, ReminderFired) else []
        told += event.reminders if isinstance(event, WaitingReminders) else []
    assert [each.occurrence for each in told] == ["a1.1"]
    assert told[0].fired - told[0].due < 5
    system.wait_state("agenda", "ready")
    system.kill("agenda", signal.SIGKILL)
    system.wait_for(lambda report: report.state == "ready", within=60)
    assert port.ask("agenda", DescribeAgenda(), AgendaReport, within=30, retry=True).waiting == 1


def test_every_weekday_at_nine_is_a_series(system):
    (call,) = asked(system, "every weekday at 9 stand-up")
    assert call["tool"] == "agenda:remind_at"
    assert "every weekday at 09:00 (Europe/Berlin)" in call["receipt"]
    port = system.connect("cli")
    items = port.ask("agenda", ListItems(query="stand-up"), Items, within=30).items
    firings = port.ask(
        "agenda", SimulateAgenda(until="in two weeks", item=items[0].id), Simulated, within=30
    ).firings
    assert len(firings) == 10
    assert {each.told.split()[0] for each in firings} == {
        "Monday",
        "Tuesday",
        "Wednesday",
        "Thursday",
        "Friday",
    }
    assert {each.local[11:16] for each in firings} == {"09:00"}
