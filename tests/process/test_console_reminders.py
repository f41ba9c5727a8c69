"""Reminders on consoles: the real agenda, a real bus, terminals; killed and started at will."""

import datetime as dt
import secrets
import shutil
import subprocess
import sys

import pytest

from eris.errors import RemoteError
from proto.agenda import (
    AddItem,
    AgendaChanged,
    ExplainItem,
    ItemHistory,
    ItemKind,
    Items,
    ListItems,
    ResolveItem,
    ResolveKind,
    Schedule,
)
from tests.notification_service import Session
from tests.process.terminal import Terminal
from tests.support import processes, wait_until

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux for a terminal"),
]
SCRIPTED = "tests.problem_actors.scripted_orchestrator"
MODULES = {"bus": "eris.bus", "orchestrator": SCRIPTED, "agenda": "actors.agenda"}


class System:
    """Bus, agenda and a scripted orchestrator, and what a test does with them."""

    def __init__(self, group):
        self.group = group
        self.terminals = []
        for name, module in MODULES.items():
            group.start(name, module)
        self.port = group.connect("cli")

    def console(self, *arguments):
        terminal = Terminal(self.group.environ, *arguments)
        self.terminals.append(terminal)
        terminal.sees("· supervisor away ·", not_=("reconnecting",))
        return terminal

    def ask(self, body, expect):
        """Ask the agenda; again and again, for what a dying bus had in its hands is lost."""
        for _ in range(10):
            try:
                return self.port.ask("agenda", body, expect, within=3, retry=True)
            except RemoteError as error:
                if not error.retryable:
                    raise
        raise AssertionError("the agenda didn't answer")

    def remind(self, text, seconds=1, kind=ItemKind.REMINDER):
        """Have something told of at the whole second after so many; returns its item's id."""
        due = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=seconds + 1)
        start = due.replace(tzinfo=None, microsecond=0).isoformat()
        schedule = Schedule(start=start, zone="UTC")
        body = AddItem(key=secrets.token_hex(8), kind=kind, text=text, schedule=schedule)
        return self.ask(body, AgendaChanged).item.id

    def resolve(self, item, action=ResolveKind.DONE):
        body = ResolveItem(key=secrets.token_hex(8), item=item, action=action)
        return self.ask(body, AgendaChanged)

    def events(self, item):
        return [entry.event for entry in self.ask(ExplainItem(item=item), ItemHistory).entries]

    def fired(self, item):
        wait_until(lambda: "fired" in self.events(item), 20)

    def shown(self, item, times):
        wait_until(lambda: self.events(item).count("shown") == times, 20)

    def restart(self, *names):
        for name in names:
            self.group.kill(name)
        for name in names:
            self.group.start(name, MODULES[name], ready=False)

    def close(self):
        for terminal in self.terminals:
            terminal.close()


@pytest.fixture
def system(tmp_path):
    with processes(tmp_path) as group:
        system = System(group)
        try:
            yield system
        finally:
            system.close()


def times_shown(terminal, text):
    return terminal.screen().count(f"⏰ {text}")


def test_it_shows_once_on_each_console_and_an_answer_shows_on_all(system):
    first, second = system.console(), system.console("--session", "other")
    item = system.remind("stretch")
    for console in (first, second):
        console.sees("⏰ stretch", f"{item}.1 · ", f"/done {item}.1")
    system.shown(item, 2)
    first.type("/done", "Enter")
    first.sees(f"Completed {item}: stretch.", "done", not_=(f"/done {item}.1 ·",))
    second.sees("done", not_=(f"/done {item}.1",))
    assert [times_shown(each, "stretch") for each in (first, second)] == [1, 1]
    assert system.ask(ListItems(), Items).total == 0


def test_a_restart_of_agenda_or_bus_repeats_nothing_and_loses_nothing(system):
    console = system.console()
    item = system.remind("stretch")
    console.sees("⏰ stretch")
    system.shown(item, 1)
    for names in (("agenda",), ("bus",), ("agenda", "bus")):
        system.restart(*names)
        later = system.remind(f"after the {' and the '.join(names)}")
        console.sees(f"⏰ after the {' and the '.join(names)}")
        system.shown(later, 1)
    assert console.screen().count("⏰") == 4
    console.type(f"/snooze {item}.1 in 1 second", "Enter")
    console.sees(f"Snoozed {item} until", f"{item}.2 · ")
    assert times_shown(console, "stretch") == 2


def test_an_agenda_that_is_killed_before_the_time_tells_of_it_once(system):
    console = system.console()
    item = system.remind("stretch", seconds=1)
    system.group.kill("agenda")
    console.type("/reminders", "Enter")
    system.group.start("agenda")
    console.sees("⏰ stretch")
    system.shown(item, 1)
    system.restart("agenda")
    marker = system.remind("marker")
    console.sees("⏰ marker")
    system.shown(marker, 1)
    assert times_shown(console, "stretch") == 1
    assert system.events(item).count("fired") == 1


def test_with_no_surface_it_waits_and_is_then_shown_once(system):
    item = system.remind("stretch")
    system.fired(item)
    asked = subprocess.run(
        [sys.executable, "-m", "eris", "ask", "say hello"],
        env=system.group.environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "hello" in asked.stdout
    first = system.console()
    first.sees("⏰ stretch")
    system.shown(item, 1)
    # Seen already: the next one only hears that it waits.
    second = system.console()
    second.sees("1 reminder waits for an answer:", f"{item}.1  stretch", not_=("⏰",))
    second.type(f"/dismiss {item}.1", "Enter")
    second.sees("Dismissed")
    first.sees("dismissed")


def test_an_answer_without_an_id_never_goes_to_another_reminder(system):
    console = system.console()
    console.type("/done", "Enter")
    console.sees("No reminder waits for an answer here.")
    tea = system.remind("tea")
    console.sees("⏰ tea")
    # Answered elsewhere while another one comes: which one did the user mean?
    system.resolve(f"{tea}.1")
    bath = system.remind("bath")
    console.sees("⏰ bath")
    console.type("/done", "Enter")
    console.sees("It isn't clear which reminder is meant", f"{tea}.1 (tea)", f"{bath}.1 (bath)")
    console.type(f"/done {tea}.1", "Enter")
    console.sees(f"{tea} (tea) is done already.")
    assert system.ask(ListItems(), Items).items[0].id == bath
    console.type("/done", "Enter")
    console.sees(f"Completed {bath}: bath.")


def test_a_console_without_a_terminal_shows_it_and_takes_answers(system):
    plain = subprocess.Popen(
        [sys.executable, "-m", "actors.console"],
        env=system.group.environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        item = system.remind("stretch")
        assert plain.stderr.readline() == "⏰ stretch\n"
        assert plain.stderr.readline().startswith(f"  {item}.1 · ")
        assert plain.stderr.readline().startswith(f"  /done {item}.1 · ")
        # Nobody is known to have looked: a console that comes shows it.
        console = system.console()
        console.sees("⏰ stretch")
        system.shown(item, 1)
        out, _ = plain.communicate("/done\nsay hello\n", timeout=60)
    finally:
        plain.kill()
        plain.wait()
    assert out == f"Completed {item}: stretch.\nhello\n"
    console.sees("done")


def test_with_no_surface_the_desktop_is_notified_once_and_it_still_waits(tmp_path):
    session = Session()
    session.serve()
    try:
        with processes(tmp_path, {"DBUS_SESSION_BUS_ADDRESS": session.address}) as group:
            system = System(group)
            item = system.remind("stretch")
            wait_until(lambda: session.service.shown, 20)
            system.shown(item, 1)
            system.restart("agenda")
            marker = system.remind("marker")
            wait_until(lambda: len(session.service.shown) == 2, 20)
            assert [title for _, title, _ in session.service.shown] == ["stretch", "marker"]
            try:
                console = system.console()
                console.sees("⏰ stretch", "⏰ marker")
                # While a console is there the desktop is left alone.
                tea = system.remind("tea")
                console.sees("⏰ tea")
                system.shown(marker, 2)
                system.shown(tea, 1)
                system.remind("after that", seconds=4)  # longer than the desktop waits
                console.sees("⏰ after that")
            finally:
                system.close()
        assert len(session.service.shown) == 2
    finally:
        session.close()
