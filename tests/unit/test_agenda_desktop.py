"""The desktop as the surface of last resort: notified once of what no other surface shows."""

import pytest

from actors.agenda.desktop import DesktopSurface
from eris.desktop import Notified, Outcome
from eris.logs import SilentLogger
from proto.agenda import DeliveryStep
from tests.reminding import Reminding
from tests.support import wait_until


class Notifications:
    """Keeps what is shown; takes it or not."""

    def __init__(self, outcome=Outcome.SHOWN):
        self.outcome = outcome
        self.shown = []
        self.closed = False

    def show(self, title, text=""):
        self.shown.append((title, text))
        return Notified(self.outcome, "" if self.outcome is Outcome.SHOWN else "No desktop.")

    def close(self):
        self.closed = True


@pytest.fixture
def agenda(tmp_path):
    agenda = Reminding(tmp_path)
    yield agenda
    agenda.close()


def fire(agenda, late=0):
    agenda.add("stretch", when="in 20 minutes")
    agenda.look(20 * 60 + late)


def surface(agenda, notifications, patience=0.05):
    return DesktopSurface(agenda.service, notifications, SilentLogger(), patience)


def test_it_is_notified_once_and_the_reminder_still_waits(agenda):
    fire(agenda, late=3600)
    notifications = Notifications()
    for _ in range(3):
        surface(agenda, notifications).notify("a1.1")
        agenda.start()
    ((title, text),) = notifications.shown
    assert title == "stretch"
    assert "Thursday 3 December 2026, 14:20" in text
    assert "1 hour late" in text
    (waiting,) = agenda.waiting()
    assert (waiting.state, waiting.deliveries) == ("waiting", {"desktop": DeliveryStep.SHOWN})
    assert ("shown", "on desktop") in agenda.history("a1")
    # The first surface that comes shows it.
    assert agenda.report("a1.1", DeliveryStep.BEGAN).granted
    assert agenda.report("a1.1").reminder.state == "shown"


def test_what_another_surface_took_is_not_notified(agenda):
    fire(agenda)
    agenda.report("a1.1", DeliveryStep.BEGAN)
    notifications = Notifications()
    surface(agenda, notifications).notify("a1.1")
    assert notifications.shown == []


@pytest.mark.parametrize(
    ("outcome", "step", "told"),
    [
        (Outcome.NOT_SHOWN, DeliveryStep.FAILED, [("not shown", "on desktop: No desktop.")]),
        # Perhaps it was seen: it isn't repeated.
        (Outcome.UNKNOWN, DeliveryStep.BEGAN, []),
    ],
)
def test_where_there_is_no_desktop_the_history_says_so_and_it_waits(agenda, outcome, step, told):
    fire(agenda)
    notifications = Notifications(outcome)
    for _ in range(2):
        surface(agenda, notifications).notify("a1.1")
    assert len(notifications.shown) == 1
    (waiting,) = agenda.waiting()
    assert (waiting.state, waiting.deliveries) == ("waiting", {"desktop": step})
    assert [each for each in agenda.history("a1") if each[0] == "not shown"] == told


def test_what_was_fired_before_it_started_is_taken_up(agenda):
    fire(agenda)
    notifications = Notifications()
    desktop = surface(agenda, notifications)
    desktop.start()
    wait_until(lambda: notifications.shown)
    agenda.add("tea", when="in 20 minutes")
    agenda.look(20 * 60)
    desktop.fired(agenda.waiting()[-1])
    wait_until(lambda: len(notifications.shown) == 2)
    desktop.stop()
    assert notifications.closed
    assert [title for title, _ in notifications.shown] == ["stretch", "tea"]


def test_one_that_was_answered_meanwhile_is_not_notified(agenda):
    fire(agenda)
    agenda.report("a1.1")
    agenda.done("a1.1")
    notifications = Notifications()
    surface(agenda, notifications).notify("a1.1")
    assert notifications.shown == []
