"""`eris agenda`: what commands do with a real agenda on a turned clock, and how they read."""

import json
import subprocess
import sys
from pathlib import Path

import click
import msgspec
import pytest

from eris.cli.agenda import agenda as group
from eris.cli.invocation import Invocation
from eris.cli.looks import Look
from eris.cli.main import run
from eris.errors import ErisError, RemoteError
from proto.agenda import AgendaRequest
from proto.rights import RIGHTS
from tests.reminding import Reminding

PIPE = Look()
CALENDARS = Path(__file__).parents[1] / "data" / "calendars"


class Asked:
    """Runs a command as it's written against the parts of an agenda; stands in for the bus."""

    def __init__(self, folder):
        self.folder = folder
        self.vault = folder / "vault"
        self.vault.mkdir()
        self.agenda = Reminding(folder)

    def __call__(self, *words):
        invocation = Invocation(environ={"ERIS_VAULT": str(self.vault)}, cwd=self.folder)
        outer = click.Context(group, obj=invocation)
        name, command, rest = group.resolve_command(outer, list(words))
        with command.make_context(name, rest, parent=outer) as context:
            options = ("start", "as_json", "only_total")
            said = {key: each for key, each in context.params.items() if key not in options}
            # Below what gives every command its connection and prints its answer.
            return command.callback.__wrapped__.__wrapped__(self.ask, **said)

    def ask(self, body, expect):
        try:
            reply = self.agenda.ask(body)
        except ErisError as error:
            raise RemoteError(error.body(), "agenda") from error
        assert isinstance(reply, expect)
        return msgspec.msgpack.decode(msgspec.msgpack.encode(reply), type=type(reply))

    def text(self, *words):
        return self(*words).text(PIPE)


@pytest.fixture
def eris(tmp_path):
    asked = Asked(tmp_path)
    yield asked
    asked.agenda.close()


def test_what_is_added_is_listed_told_of_put_off_done_and_explained(eris):
    added = eris("add", "call Tom", "--at", "tomorrow at half past nine")
    assert added.text(PIPE).startswith("Set reminder a1 for Friday 4 December 2026, 09:30")
    assert eris.text("list") == "a1  2026-12-04 09:30  call Tom\n"
    eris.agenda.look(24 * 3600)
    assert "(waits: a1.1)" in eris.text("list")
    eris.agenda.report("a1.1")
    assert eris.text("snooze", "a1.1", "in", "2", "hours").startswith("Snoozed a1 until")
    eris.agenda.look(3 * 3600)
    assert eris.text("done", "a1.2", "--result", "he was out") == "Completed a1: call Tom.\n"
    assert eris("list").remark == "Nothing is open."
    assert "done" in eris.text("list", "--all")
    told = eris.text("why", "a1")
    for part in ("said    tomorrow at half past nine", "added", "fired", "snoozed", "he was out"):
        assert part in told
    assert "on console.1" in told


def test_kinds_and_rules_are_said_in_options(eris):
    eris("add", "stand-up", "--at", "every weekday at 9", "--missed", "skip", "--grace", "5")
    eris("add", "buy milk", "--kind", "task")
    eris("add", "water", "--at", "Sunday at 10", "--plan", "Look", "--step", "one", "--step", "two")
    rule, own, task = eris("list").document["items"]
    assert (rule["schedule"]["rule"], rule["missed"], rule["grace_s"]) == (
        "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
        "skip",
        300,
    )
    assert (task["kind"], own["kind"], len(own["checklist"])) == ("task", "self", 2)
    assert eris("list", "milk").count == 1
    assert "[ ] buy milk" in eris.text("list", "--kind", "task")
    eris("change", "a2", "--text", "buy oat milk", "--at", "Friday")
    assert "oat milk" in eris.text("list", "oat")
    assert eris.text("rm", "a1") == "Removed reminder a1: stand-up.\n"
    assert "removed" in eris.text("why", "a1")


def test_simulate_shows_what_would_fire_and_changes_nothing(eris):
    eris("add", "stand-up", "--at", "every weekday at 9")
    result = eris("simulate", "--until", "in two weeks")
    assert result.count == 10
    assert result.text(PIPE).splitlines()[0] == (
        "a1  Friday 4 December 2026, 09:00 (Europe/Berlin)  stand-up"
    )
    assert result.remark.startswith("10 times until Thursday 17 December 2026")
    assert eris.agenda.told.fired() == []


def test_a_pause_is_told_and_ended(eris):
    assert "paused           until `eris agenda resume`" in eris.text("pause")
    assert "paused           until Monday 7 December" in eris.text(
        "pause", "--until", "Monday at 8"
    )
    assert "paused           no" in eris.text("resume")
    assert "now " in eris.text("status")


def test_a_calendar_comes_in_once_is_changed_when_it_changes_and_goes_out(eris, tmp_path):
    for name in ("google", "apple", "outlook"):
        (tmp_path / f"{name}.ics").write_bytes((CALENDARS / f"{name}.ics").read_bytes())
        first = eris("import", f"{name}.ics")
        assert first.document["skipped"] == ()
        assert first.document["added"]
        again = eris("import", f"{name}.ics")
        assert again.document["added"] == again.document["changed"] == ()
        assert again.document["unchanged"] == len(first.document["added"])
    items = {item["text"]: item for item in eris("list").document["items"]}
    assert items["Stand-up, short (09:30)"]["schedule"]["start"] == "2027-01-04T09:20:00"
    assert items["Someday: learn to sail"]["schedule"] is None
    assert "Renew the passport" not in items
    changed = (CALENDARS / "google.ics").read_bytes().replace(b"Call with Tom", b"Call with Ann")
    (tmp_path / "google.ics").write_bytes(changed)
    assert len(eris("import", "google.ics").document["changed"]) == 1
    eris("export", "all.ics")
    back = eris("import", "all.ics")
    assert back.document["unchanged"] == len(items)
    assert (back.document["added"], back.document["changed"]) == ((), ())


def test_an_exported_agenda_is_the_same_in_an_empty_one(eris, tmp_path_factory):
    eris("add", "stand-up", "--at", "every weekday at 9", "--missed", "each")
    eris("add", "buy milk on Friday", "--kind", "task")
    eris("add", "tea", "--kind", "timer", "--at", "in 5 minutes")
    eris("add", "review", "--at", "Sunday at 10", "--plan", "Read.\nWrite.", "--step", "one")
    calendar = eris("export").document["calendar"]
    other = Asked(tmp_path_factory.mktemp("other"))
    try:
        (other.folder / "a.ics").write_text(calendar)
        assert len(other("import", "a.ics").document["added"]) == 4
        kept = ("kind", "text", "schedule", "missed", "grace_s", "plan", "checklist", "next_due")
        mine, theirs = (
            [{name: item[name] for name in kept} for item in each("list").document["items"]]
            for each in (eris, other)
        )
        assert mine == theirs
    finally:
        other.agenda.close()


def test_words_about_time_in_the_title_of_a_task_without_one_stay_words(eris, tmp_path):
    lines = ("BEGIN:VCALENDAR", "BEGIN:VTODO", "UID:1", "SUMMARY:Plan tomorrow at 9", "END:VTODO")
    (tmp_path / "a.ics").write_text("\n".join((*lines, "END:VCALENDAR")))
    eris("import", "a.ics")
    (item,) = eris("list").document["items"]
    assert (item["text"], item["schedule"]) == ("Plan tomorrow at 9", None)


def test_what_a_calendar_has_that_cannot_be_taken_is_told(eris, tmp_path):
    entry = "BEGIN:VEVENT\nUID:{}\nDTSTART:{}\n{}END:VEVENT\n"
    broken = entry.format(1, "soon", "")
    never = entry.format(2, "20270101T090000", "RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30\n")
    past = entry.format(3, "20200101T090000", "")
    good = entry.format(4, "20270101T090000Z", "SUMMARY:Good\n")
    (tmp_path / "a.ics").write_text(f"BEGIN:VCALENDAR\n{broken}{never}{past}{good}END:VCALENDAR")
    assert eris("import", "a.ics", "--dry-run").text(PIPE).startswith("1 would be added")
    assert eris("list").count == 0
    result = eris("import", "a.ics")
    assert result.text(PIPE) == (
        "1 added, 0 changed; 1 is over and was left out (--past takes it).\n"
    )
    assert "not taken: line 2 (UID 1): its DTSTART can't be read" in result.remark
    assert "not taken: line 6 (UID 2): " in result.remark


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("import", "missing.ics"), "There is no file"),
        (("import", "."), "can't be read"),
        (("import", "note.md"), "isn't an iCalendar file"),
        (("export", "nowhere/a.ics"), "can't be written"),
        (("done", "a9"), "There is no item a9"),
        (("add", "call Tom", "--at", "whenever"), "whenever"),
        (("simulate", "--until", "every day"), "repeats"),
    ],
)
def test_what_makes_no_sense_is_told_with_what_to_do(eris, tmp_path, words, part):
    (tmp_path / "note.md").write_text("# A note\n")
    with pytest.raises(ErisError, match=part) as caught:
        eris(*words)
    assert caught.value.hint


SLIPS = [
    (["agenda", "add"], "Missing argument 'TEXT...'"),
    (["agenda", "add", "x", "--kind", "letter"], "'reminder'"),
    (["agenda", "add", "x", "--grace", "-1"], "0<=x<="),
    (["agenda", "add", "caf\udce9"], "no UTF-8 text"),
    (["agenda", "change", "a1"], "Say what is to be changed"),
    (["agenda", "simulate"], "--until"),
    (["agenda", "why"], "Missing argument 'ITEM'"),
    (["agenda", "import"], "Missing argument 'FILE'"),
]


@pytest.mark.parametrize(("words", "part"), SLIPS, ids=lambda each: str(each).replace("\udce9", ""))
def test_a_slip_is_told_before_anything_is_asked_for(words, part, capsys, monkeypatch, tmp_path):
    # No system runs there: whoever asks it anything gets another error than one of usage.
    monkeypatch.setenv("ERIS_VAULT", str(tmp_path))
    assert run([*words, "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["type"] == "usage"
    assert part in error["message"]


def test_whoever_is_at_the_machine_may_ask_all_of_it():
    tags = {message.__struct_config__.tag for message in AgendaRequest.__args__}
    for role in ("cli", "console"):
        assert tags <= set(RIGHTS[role]["agenda"])


def test_help_imports_nothing_that_is_slow():
    code = (
        "import sys; from eris.cli.main import run; run(['agenda', '-h']);"
        "heavy = {'rich', 'zmq', 'pykka', 'icalendar', 'dateutil', 'eris.actor', 'eris.surface'};"
        "print('IMPORTED', sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert "IMPORTED []" in done.stdout
    for name in group.commands:
        assert f"\n  {name} " in done.stdout


def test_every_command_can_answer_as_json_and_start_the_system():
    for name, command in group.commands.items():
        options = {option for parameter in command.params for option in parameter.opts}
        assert {"--json", "--up", "--vault"} <= options, name
