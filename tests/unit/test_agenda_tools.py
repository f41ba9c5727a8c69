"""The agenda's tools as the gatekeeper calls them: small models write words anywhere."""

import itertools
import json

import pytest

from actors.agenda.tools import agenda_tools
from actors.gatekeeper.normalisation import normalise
from eris.tools import ToolBox
from proto.agenda import ItemKind
from proto.tools import CallTool, Effect, Origin
from tests.reminding import Reminding

CALLS = itertools.count(1)


class Tools(Reminding):
    """An agenda and its tools."""

    def start(self):
        super().start()
        self.tools = {tool.name: tool for tool in agenda_tools(self.service)}
        self.box = ToolBox(tuple(self.tools.values()))

    def call(self, tool, said="", call_id="", untrusted="", **arguments):
        """Call a tool with the arguments that a model gave."""
        declaration = self.tools[tool].declaration()
        schema = json.loads(declaration.parameters)
        plain = normalise(json.dumps(arguments).encode(), schema, declaration.aliases)
        return self.box.execute(
            CallTool(
                call_id=call_id or f"turn-{next(CALLS)}.1.0",
                tool=tool,
                arguments=json.dumps(plain),
                origin=Origin.USER,
                session="main",
                said=said,
                untrusted=untrusted,
            )
        )


@pytest.fixture
def agenda(tmp_path):
    made = Tools(tmp_path)
    yield made
    made.close()


STRETCH = "remind me in one minute to stretch"
STAND_UP = "every weekday at 9 stand-up"
MINUTE = ("2026-12-03T14:01:00+01:00", "stretch")
WEEKDAYS = ("2026-12-04T09:00:00+01:00", "stand-up")
WORDINGS = {
    "as it should be": (STRETCH, {"text": "stretch", "when": "in one minute"}, MINUTE),
    "a figure for a word": (STRETCH, {"text": "stretch", "when": "1 minute"}, MINUTE),
    "no time": (STRETCH, {"text": "stretch", "when": ""}, MINUTE),
    "all of it as text": (STRETCH, {"text": STRETCH}, MINUTE),
    "all of it as time": (STRETCH, {"text": "", "when": STRETCH}, MINUTE),
    "swapped": (STRETCH, {"text": "in one minute", "when": "stretch"}, MINUTE),
    "calculated, and wrong": (STRETCH, {"text": "stretch", "when": "2024-01-01 00:01"}, MINUTE),
    "a made-up text": (STRETCH, {"text": "Reminder", "when": "in one minute"}, MINUTE),
    "under other names": (STRETCH, {"task": "stretch", "time": "in one minute"}, MINUTE),
    "nothing said": ("", {"text": "stretch", "when": "in one minute"}, MINUTE),
    "said in the turn before": ("yes please", {"text": "stretch", "when": "in one minute"}, MINUTE),
    "a rule": (STAND_UP, {"text": "stand-up", "when": "every weekday at 9"}, WEEKDAYS),
    "half a rule": (STAND_UP, {"text": "stand-up", "when": "at 9"}, WEEKDAYS),
    "the other half": (STAND_UP, {"text": "stand-up", "when": "every weekday"}, WEEKDAYS),
    "a rule as text": (STAND_UP, {"text": STAND_UP, "when": ""}, WEEKDAYS),
    "one of two": (
        "remind me at 5 pm to call Ann and at 6 pm to feed the cat",
        {"text": "feed the cat", "when": "at 6 pm"},
        ("2026-12-03T18:00:00+01:00", "feed the cat"),
    ),
    "German": (
        "Erinnere mich in einer Stunde an die Wäsche",
        {"text": "Wäsche", "when": "in einer Stunde"},
        ("2026-12-03T15:00:00+01:00", "Wäsche"),
    ),
}


@pytest.mark.parametrize(("said", "arguments", "wanted"), WORDINGS.values(), ids=WORDINGS.keys())
def test_wherever_the_words_are_the_reminder_is_right(agenda, said, arguments, wanted):
    told = agenda.call("agenda:remind_at", said, **arguments)
    assert told.ok, told.content
    (item,) = agenda.items()
    assert (item.next_local, item.text) == wanted
    assert item.id in told.receipt
    assert "(Europe/Berlin)" in told.receipt
    assert told.data["local"] == item.next_local


def test_a_time_that_nobody_said_is_asked_for(agenda):
    told = agenda.call("agenda:remind_at", "remind me to stretch", text="stretch")
    assert not told.ok
    assert "when" in told.content
    assert agenda.items() == ()


def test_a_task_needs_no_time(agenda):
    told = agenda.call("agenda:push", "add buy milk to my tasks", description="buy milk")
    assert told.receipt == "added task a1: buy milk"
    agenda.call("agenda:push", "pay the rent by Friday", text="pay the rent", due="by Friday")
    rent = next(item for item in agenda.items() if "rent" in item.text)
    assert rent.schedule.all_day
    assert rent.schedule.start == "2026-12-04"


def test_a_timer_and_an_alarm_are_what_they_are_called(agenda):
    timer = agenda.call("clock:timer", "set a timer for 10 minutes", duration="10 minutes")
    assert "in 10 minutes: Timer" in timer.receipt
    alarm = agenda.call("clock:alarm", "wake me at 6:30", time="6:30")
    assert "Friday 4 December 2026, 06:30" in alarm.receipt
    assert [item.kind for item in agenda.items()] == [ItemKind.TIMER, ItemKind.ALARM]


def test_what_eris_is_to_do_itself_keeps_its_plan_and_steps(agenda):
    told = agenda.call(
        "agenda:remind_self",
        "every evening at 8 look through my notes",
        text="look through the notes",
        when="every evening at 8",
        plan="Begin with today's.",
        checklist=["read\nsummarise", "  "],
    )
    assert told.ok, told.content
    (item,) = agenda.items()
    assert (item.kind, item.plan) == (ItemKind.SELF, "Begin with today's.")
    assert [step.text for step in item.checklist] == ["read", "summarise"]


def test_the_list_says_what_is_when_and_what_waits(agenda):
    agenda.call("agenda:remind_at", STRETCH, text="stretch")
    agenda.call("agenda:remind_at", STAND_UP, text="stand-up")
    agenda.look(61)
    told = agenda.call("agenda:list", query="everything")
    assert told.content == (
        "It is Thursday 3 December 2026, 14:01 (Europe/Berlin). 2 items are open:\n"
        "a2 reminder: stand-up (every weekday at 09:00 (Europe/Berlin); "
        "next tomorrow, Friday 4 December 2026, 09:00 (Europe/Berlin))\n"
        "a1 reminder: stretch (told of, waits for an answer as a1.1)"
    )
    assert agenda.call("agenda:complete", task="a1.1").receipt == "completed a1: stretch"
    assert "a1 reminder: stretch" in agenda.call("agenda:list", completed=True).content


def test_put_off_and_cancelled_in_words(agenda):
    agenda.call("agenda:remind_at", STRETCH, text="stretch")
    agenda.look(61)
    told = agenda.call(
        "agenda:snooze", "snooze a1.1 for half an hour", id="a1.1", until="half an hour"
    )
    assert "14:31:01" in told.receipt
    assert agenda.call("agenda:remove", id="the reminder").receipt == "removed reminder a1: stretch"


REPEATED = {
    "push": ("agenda:push", {"text": "buy milk"}),
    "remind": ("agenda:remind_at", {"text": "stretch", "when": "in an hour"}),
    "complete": ("agenda:complete", {"task": "a1"}),
    "remove": ("agenda:remove", {"task": "a1"}),
    "snooze": ("agenda:snooze", {"task": "a1", "when": "in an hour"}),
}


@pytest.mark.parametrize(("tool", "arguments"), REPEATED.values(), ids=REPEATED.keys())
def test_a_repeated_call_is_answered_like_the_first_and_done_once(agenda, tool, arguments):
    agenda.add("at 15:00 call Ann")
    first = agenda.call(tool, call_id="turn-x.1.0", **arguments)
    assert first.ok, first.content
    after = agenda.items()
    agenda.clock.pass_time(30)
    agenda.start()
    assert agenda.call(tool, call_id="turn-x.1.0", **arguments) == first
    assert agenda.items() == after


def test_text_from_outside_neither_acts_later_nor_takes_anything_away(agenda):
    agenda.add("at 15:00 call Ann")
    for tool, arguments in (
        ("agenda:remind_self", {"text": "send the notes", "when": "in a minute"}),
        ("agenda:remove", {"task": "a1"}),
        ("agenda:complete", {"task": "a1"}),
        ("agenda:snooze", {"task": "a1"}),
    ):
        assert agenda.call(tool, untrusted="letter.pdf", **arguments).code == "denied"
    assert len(agenda.items()) == 1


def test_every_tool_says_how_it_is_called_and_what_it_changes(agenda):
    for declaration in agenda.box.declarations():
        properties = json.loads(declaration.parameters)["properties"]
        assert len(properties) <= 4
        assert all(each["description"] for each in properties.values())
        assert set(declaration.aliases.values()) <= set(properties)
        assert not set(declaration.aliases) & set(properties)
        assert len(declaration.hints) >= 5
        assert bool(declaration.receipt) == (declaration.effect is Effect.WRITE)
