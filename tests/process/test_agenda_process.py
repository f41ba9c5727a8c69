"""The agenda's process over the real bus: fires, is killed, tells surfaces, acts by itself."""

import functools
import json
import os
import signal
import time

import pytest

from eris.errors import RemoteError
from proto.agenda import (
    AddItem,
    AgendaChanged,
    AgendaReport,
    DeliveryNoted,
    DeliveryStep,
    DescribeAgenda,
    ExplainItem,
    ItemChanged,
    ItemHistory,
    ItemKind,
    ItemState,
    OccurrenceState,
    PauseAgenda,
    ReminderChanged,
    ReminderFired,
    ReportDelivery,
    ResolveItem,
    ResolveKind,
    ResumeAgenda,
    WaitingReminders,
)
from proto.orchestrator import SubmitTurn, TurnAccepted
from proto.tools import CallTool, Origin, ToolResult
from tests.process.orchestrator_support import Talk, calls, says, scripted, start_system
from tests.support import processes, wait_until

pytestmark = pytest.mark.process

REMINDERS = WaitingReminders | ReminderFired | ReminderChanged
ITEMS = AgendaReport | ItemChanged


def key():
    return os.urandom(8).hex()


class Reminded:
    """An agenda's process, and a person who asks it."""

    def __init__(self, group):
        self.group = group
        self.cli = group.connect("cli")

    def ask(self, body, expect, port=None):
        return (port or self.cli).ask("agenda", body, expect, within=20, retry=True)

    def add(self, text, kind=ItemKind.REMINDER, **more):
        return self.ask(AddItem(key=key(), kind=kind, text=text, **more), AgendaChanged)

    def resolve(self, item, action, **more):
        return self.ask(ResolveItem(key=key(), item=item, action=action, **more), AgendaChanged)

    def report(self, occurrence, step, surface="console.1"):
        body = ReportDelivery(occurrence=occurrence, surface=surface, step=step)
        return self.ask(body, DeliveryNoted)

    def follow(self):
        return self.group.connect("console").subscribe("agenda", "reminders", item=REMINDERS)

    def call(self, tool, call_id="", said="", **arguments):
        request = CallTool(
            call_id=call_id or key(),
            tool=tool,
            arguments=json.dumps(arguments),
            origin=Origin.USER,
            session="main",
            said=said,
        )
        return self.ask(request, ToolResult, self.gatekeeper)

    @functools.cached_property
    def gatekeeper(self):
        """Takes the real one's place."""
        return self.group.connect("gatekeeper")

    def events(self, item):
        return [entry.event for entry in self.ask(ExplainItem(item=item), ItemHistory).entries]


def fired(subscription, within=20):
    """The next reminder that is told of, as an event or as what waits."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        match subscription.next(0.5):
            case ReminderFired(reminder=reminder):
                return reminder
            case WaitingReminders(reminders=(*_, reminder)):
                return reminder
    raise AssertionError("nothing was told of")


@pytest.fixture
def agenda(tmp_path):
    with processes(tmp_path, {"TZ": "Europe/Berlin"}) as group:
        group.start("bus")
        group.start("agenda")
        yield Reminded(group)


def test_a_reminder_is_told_of_when_it_is_due_and_waits_for_its_answer(agenda):
    surface = agenda.follow()
    assert surface.next(10) == WaitingReminders(reminders=(), total=0)
    added = agenda.add("in one second to stretch")
    assert added.receipt.endswith("in 1 second: stretch")
    assert "(Europe/Berlin)" in added.receipt
    reminder = fired(surface)
    assert (reminder.occurrence, reminder.text) == ("a1.1", "stretch")
    assert reminder.fired >= reminder.due
    assert agenda.report("a1.1", DeliveryStep.BEGAN).granted
    assert not agenda.report("a1.1", DeliveryStep.BEGAN).granted
    assert agenda.report("a1.1", DeliveryStep.BEGAN, "desktop").granted
    agenda.report("a1.1", DeliveryStep.SHOWN)
    late_comer = agenda.follow().next(10)
    assert [each.state for each in late_comer.reminders] == [OccurrenceState.SHOWN]
    done = agenda.resolve("a1.1", ResolveKind.DONE)
    assert done.item.state is ItemState.DONE
    with pytest.raises(RemoteError, match="done already"):
        agenda.resolve("a1.1", ResolveKind.DONE)
    assert agenda.events("a1") == ["added", "fired", "shown", "done"]


def test_killed_before_its_time_it_fires_once_after_the_start(agenda):
    agenda.add("in two seconds to stretch")
    agenda.group.kill("agenda", signal.SIGKILL)
    time.sleep(2.5)  # the time itself has to pass
    started = time.monotonic()
    agenda.group.start("agenda")
    surface = agenda.follow()
    reminder = fired(surface)
    assert time.monotonic() - started < 20
    assert reminder.occurrence == "a1.1"
    for _ in range(2):
        agenda.group.kill("agenda", signal.SIGKILL)
        agenda.group.start("agenda")
    assert agenda.events("a1") == ["added", "fired"]
    assert agenda.ask(DescribeAgenda(), AgendaReport).waiting == 1


def test_a_subscriber_goes_on_after_the_agenda_was_killed(agenda):
    surface = agenda.follow()
    surface.next(10)
    agenda.group.kill("agenda", signal.SIGKILL)
    agenda.group.start("agenda")
    agenda.add("in one second to stretch")
    assert fired(surface).text == "stretch"


def test_who_mirrors_the_items_is_told_of_each_change(agenda):
    mirror = agenda.group.connect("cli").subscribe("agenda", "agenda", item=ITEMS)
    assert mirror.next(10).open == 0
    agenda.add("water the plants", ItemKind.TASK, source="note:Home.md#plants")
    added = mirror.next(10).item
    assert (added.source, added.state) == ("note:Home.md#plants", ItemState.OPEN)
    agenda.resolve(added.id, ResolveKind.DONE)
    assert mirror.next(10).item.state is ItemState.DONE


def test_a_repeated_call_adds_nothing_even_after_a_kill(agenda):
    asked = {"said": "remind me tomorrow at 9 to call Ann", "text": "call Ann", "when": "tomorrow"}
    first = agenda.call("agenda:remind_at", "turn-1.0.0", **asked)
    assert first.ok, first.content
    agenda.group.kill("agenda", signal.SIGKILL)
    agenda.group.start("agenda")
    assert agenda.call("agenda:remind_at", "turn-1.0.0", **asked) == first
    assert agenda.ask(DescribeAgenda(), AgendaReport).open == 1


def test_only_those_who_may_are_answered(agenda):
    for role in ("discord", "api", "vault"):
        with pytest.raises(RemoteError, match="may not"):
            agenda.ask(DescribeAgenda(), AgendaReport, agenda.group.connect(role))


# Turns of its own.


@pytest.fixture
def acting(tmp_path):
    script = scripted(tmp_path, TZ="Europe/Berlin")
    with processes(tmp_path, script) as group:
        start_system(group)
        talk = Talk(group, tmp_path / "script")
        talk.warm_up()
        yield Reminded(group), talk


def test_eris_does_by_itself_what_it_was_told_to_and_tells_of_it_once(acting):
    agenda, talk = acting
    talk.script(
        calls("vault:write", {"path": "Eris/Day.md", "content": "All quiet."}),
        says("I looked: all quiet. I propose to archive two notes."),
    )
    surface = agenda.follow()
    surface.next(10)
    agenda.add(
        "Save a note about the day",
        ItemKind.SELF,
        when="in one second",
        plan="Look at the notes first.",
    )
    reminder = fired(surface, within=60)
    assert reminder.kind is ItemKind.SELF
    assert reminder.answer == "I looked: all quiet. I propose to archive two notes."
    assert (agenda.group.vault / "Eris" / "Day.md").read_text() == "All quiet."
    assert agenda.events("a1") == ["added", "claimed", "submitted", "fired"]
    assert agenda.ask(DescribeAgenda(), AgendaReport).own_turns_today == 1
    (prompt, *_) = talk.prompts()
    assert "Look at the notes first." in str(prompt)


def test_beyond_its_own_folder_it_may_only_propose(acting):
    agenda, talk = acting
    (agenda.group.vault / "Diary.md").write_text("Mine.\n")
    talk.script(
        calls("vault:write", {"path": "Diary.md", "content": "Eris was here."}),
        says("I propose to add a line to your diary."),
    )
    surface = agenda.follow()
    surface.next(10)
    agenda.add("Save a note in Diary.md", ItemKind.SELF, when="in one second")
    assert "propose" in fired(surface, within=60).answer
    assert (agenda.group.vault / "Diary.md").read_text() == "Mine.\n"


def test_killed_in_its_own_turn_it_has_it_once(acting):
    agenda, talk = acting
    talk.script(says("Done it all.", pause=0.3))
    agenda.add("Think about the day", ItemKind.SELF, when="in one second")
    wait_until(lambda: "claimed" in agenda.events("a1"), 20)
    for name in ("agenda", "orchestrator", "agenda"):
        agenda.group.kill(name, signal.SIGKILL)
        agenda.group.start(name)
    assert fired(agenda.follow(), within=60).answer == "Done it all."
    assert agenda.events("a1").count("claimed") == 1
    assert agenda.events("a1").count("fired") == 1
    turns = {prompt.session for prompt in talk.prompts()}
    assert turns == {"reminders"}


def test_paused_it_does_nothing_by_itself_and_reminds_all_the_same(acting):
    agenda, talk = acting
    talk.script(says("Here I am."))
    assert agenda.ask(PauseAgenda(), AgendaReport).paused
    agenda.add("Think about the day", ItemKind.SELF, when="in one second")
    agenda.add("in two seconds to stretch")
    surface = agenda.follow()
    assert fired(surface).text == "stretch"
    wait_until(lambda: agenda.events("a1") == ["added", "held"], 10)
    assert not agenda.ask(ResumeAgenda(), AgendaReport).paused
    assert fired(surface, within=60).answer == "Here I am."


def test_a_turn_of_its_own_is_started_by_the_agenda_only(acting):
    agenda, talk = acting
    talk.script(says("Hello."))
    view = talk.say("Hello")
    assert view.surface.startswith("console")
    with pytest.raises(RemoteError, match="may not"):
        agenda.group.connect("vault").ask(
            "orchestrator", SubmitTurn(session="x", text="x", idem="x"), TurnAccepted, within=5
        )
