"""A surface that follows reminders, against the agenda's own parts; only the way there is ours."""

import threading

import msgspec
import pytest

from actors.console.view import Acted, Reminded, ReminderGone, SessionJoined, empty, update
from eris.errors import ErisError, RemoteError
from eris.logs import SilentLogger
from eris.reminding import Reminders, Showing
from proto.agenda import DeliveryStep, ReminderChanged, ReminderFired, ResolveKind
from proto.errors import ErrorBody
from tests.reminding import Reminding


class Way:
    """Between a surface and the agenda: loses requests or their answers, as it's told."""

    log = SilentLogger()

    def __init__(self, agenda, name):
        self.agenda = agenda
        self.name = name
        self.lose = []
        """What happens to the next requests: `request` or `answer` is lost, or empty."""

    def ask(self, dst, body, expect, **options):
        assert (dst, options["retry"]) == ("agenda", True)
        lost = self.lose.pop(0) if self.lose else ""
        if lost == "request":
            raise RemoteError(ErrorBody(code="expired", message="Lost.", retryable=True), dst)
        try:
            reply = self.agenda.ask(body)
        except ErisError as error:
            raise RemoteError(error.body(), dst) from error
        if lost == "answer":
            raise RemoteError(ErrorBody(code="expired", message="Lost.", retryable=True), dst)
        assert isinstance(reply, expect)
        return reply


class Surface:
    """A surface, and what it showed."""

    def __init__(self, agenda, name="console.1", *, seen=True):
        self.agenda = agenda
        self.way = Way(agenda, name)
        self.shown, self.changed, self.gone, self.unanswered = [], [], [], []
        self.heard = 0
        showing = Showing(
            show=lambda each: self.shown.append(each.occurrence),
            changed=lambda each: self.changed.append((each.occurrence, str(each.state))),
            gone=self.gone.append,
            unanswered=lambda all_: self.unanswered.extend(each.occurrence for each in all_),
            seen=seen,
        )
        self.reminders = Reminders(self.way, showing)

    def attach(self):
        """Take a snapshot, as after every connection."""
        self.heard = len(self.agenda.told.events)
        self.reminders.take(self.agenda.service.waiting())
        self.reminders._work()

    def hear(self):
        """Take what was told since."""
        events = self.agenda.told.events[self.heard :]
        self.heard += len(events)
        for event in events:
            if isinstance(event, ReminderFired | ReminderChanged):
                self.reminders.take(event)
        self.reminders._work()


@pytest.fixture
def agenda(tmp_path):
    agenda = Reminding(tmp_path)
    yield agenda
    agenda.close()


def fire(agenda, text="stretch"):
    agenda.add(text, when="in 20 minutes")
    agenda.look(20 * 60)


@pytest.mark.parametrize(
    "lose",
    [
        [],
        ["request"],
        ["answer"],
        ["answer", "answer"],
        ["answer", "", "answer"],
        ["", "request"],
        ["", "answer"],
        ["request", "answer", "answer", "request", "answer"],
    ],
)
def test_whatever_is_lost_on_the_way_it_shows_once(agenda, lose):
    surface = Surface(agenda)
    surface.attach()
    fire(agenda)
    surface.way.lose = lose
    for _ in range(len(lose) + 1):
        surface.hear()
    surface.attach()
    assert surface.shown == ["a1.1"]
    assert agenda.waiting()[0].deliveries == {"console.1": DeliveryStep.SHOWN}
    agenda.start()
    surface.attach()
    assert surface.shown == ["a1.1"]


def test_what_was_seen_before_is_only_named_what_was_not_is_shown(agenda):
    first = Surface(agenda)
    first.attach()
    fire(agenda, "stretch")
    first.hear()
    fire(agenda, "tea")
    second = Surface(agenda, "console.2")
    second.attach()
    assert (second.unanswered, second.shown) == (["a1.1"], ["a2.1"])


def test_what_was_seen_elsewhere_while_this_one_was_away_is_shown_here_too(agenda):
    away, other = Surface(agenda), Surface(agenda, "console.2")
    away.attach()
    other.attach()
    fire(agenda)
    other.hear()
    away.attach()
    assert (away.shown, away.unanswered) == (["a1.1"], [])


def test_answers_given_elsewhere_are_heard_and_noticed_after_a_gap(agenda):
    surface = Surface(agenda)
    surface.attach()
    fire(agenda, "stretch")
    surface.hear()
    agenda.done("a1.1")
    surface.hear()
    assert surface.changed[-1] == ("a1.1", "done")
    fire(agenda, "tea")
    surface.hear()
    agenda.resolve("a2.1", ResolveKind.DISMISS)
    surface.attach()
    assert surface.gone == ["a2.1"]
    assert surface.shown == ["a1.1", "a2.1"]


def test_what_nobody_looked_at_still_waits(agenda):
    blind = Surface(agenda, seen=False)
    blind.attach()
    fire(agenda)
    blind.hear()
    assert blind.shown == ["a1.1"]
    assert agenda.waiting()[0].state == "waiting"
    eyes = Surface(agenda, "console.2")
    eyes.attach()
    assert eyes.shown == ["a1.1"]


def test_one_that_the_agenda_refuses_is_in_nobodys_way(agenda):
    surface = Surface(agenda)
    fire(agenda, "stretch")
    snapshot = agenda.service.waiting()
    unknown = msgspec.structs.replace(snapshot.reminders[0], occurrence="a9.1")
    surface.reminders.take(
        msgspec.structs.replace(snapshot, reminders=(unknown, *snapshot.reminders))
    )
    surface.reminders._work()
    assert surface.shown == ["a1.1"]


def reminded(agenda, text):
    fire(agenda, text)
    return Reminded(agenda.waiting()[-1])


def test_a_view_offers_what_came_and_was_answered_since_the_user_acted(agenda):
    view = update(empty("main"), reminded(agenda, "tea"))
    assert view.offered == ("a1.1",)
    view = update(view, ReminderGone("a1.1"))
    view = update(view, reminded(agenda, "bath"))
    assert view.offered == ("a1.1", "a2.1")
    assert [one.waits for one in view.reminders] == [False, True]
    view = update(view, Acted())
    assert view.offered == ("a2.1",)
    view = update(view, SessionJoined("other"))
    assert [one.reminder.occurrence for one in view.reminders] == ["a1.1", "a2.1"]
    assert view.offered == ("a2.1",)


def test_following_ends_when_it_is_told_to(agenda):
    stopped = threading.Event()
    stopped.set()
    Surface(agenda).reminders.follow(stopped)
