"""The console in a real terminal, attached to a real bus, driven by keys and read as a screen."""

import secrets
import shutil
import subprocess
import sys

import pytest

from tests.process.terminal import Terminal
from tests.support import processes

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux for a terminal"),
]
SCRIPTED = "tests.problem_actors.scripted_orchestrator"


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    with processes(tmp_path_factory.mktemp("console")) as group:
        group.start("bus")
        group.start("orchestrator", SCRIPTED)
        yield group


@pytest.fixture
def console(system, request):
    """A console in a session of its own."""
    terminal = Terminal(system.environ, "--session", f"s{secrets.token_hex(3)}")
    try:
        terminal.sees("Say something, or /help.", "supervisor away")
        yield terminal
    finally:
        terminal.close()


def restart(system, name):
    system.kill(name)
    system.start(name, "eris.bus" if name == "bus" else SCRIPTED)


def test_an_answer_streams_and_its_receipt_is_shown(console):
    console.type("save it", "Enter")
    console.sees("> save it", "✓ vault:write", "saved today.md (4 bytes)", "Saved it.")
    console.type("count 500 0.02", "Enter")
    console.sees("n1 n2 n3", "writing", "12.5 tok/s", "…")
    console.press("Escape")
    console.sees("cancelled", not_=("writing",))


def test_messages_typed_meanwhile_are_queued_and_answered_in_order(console):
    console.type("wait", "Enter")
    console.sees("> wait", "…")
    console.type("say first", "Enter")
    console.type("say second", "Tab")
    console.sees("queued, 1 in front", "queued, 2 in front", "queue 2")
    console.press("Escape")
    console.sees("cancelled", "  first", "  second", "queue 0")


def test_the_thought_unfolds(console):
    console.type("say x", "Enter")
    console.sees("thought, 17 characters", not_=("I think about it.",))
    console.press("C-t")
    console.sees("I think about it.")


@pytest.mark.parametrize("newline", [("C-j",), ("M-Enter",)])
def test_a_message_can_have_several_lines(console, newline):
    console.type("say one", *newline)
    console.type("two", "Enter")
    console.sees("> say one", "two\n")


def test_a_paste_never_sends(console):
    console.tmux("set-buffer", "say pasted\nsay again\n")
    console.tmux("paste-buffer", "-p")
    console.sees("> say pasted", "say again", "queue 0", "Say something")
    console.press("Enter")
    console.sees("> say pasted", not_=("Say something",))


def test_what_was_said_before_comes_back_with_the_arrow(console):
    console.type("say remember this", "Enter")
    console.sees("  remember this")
    console.press("Up")
    console.sees("─\n> say remember this")


def test_control_sequences_of_an_answer_are_shown_and_not_obeyed(console):
    console.type("say \\e[2J\\e]0;owned\\e\\\\still here", "Enter")
    console.sees("␛[2J␛]0;owned", "still here", "> say")


def test_commands_answer_and_a_mistyped_one_is_answered_with_the_nearest(console):
    console.type("/context", "Enter")
    console.sees("120 of 2048 tokens", "identity", "free")
    console.type("/statsu", "Enter")
    console.sees("There is no command /statsu. Did you mean /status?")
    console.type("/new other", "Enter")
    console.sees("This is the session other.", " vault · other · ")
    console.type("/sessions", "Enter")
    console.sees("* other", "main")


def test_commands_complete(console):
    console.type("/cont")
    console.sees("What fills the context")
    console.press("Tab", "Enter")
    console.sees("120 of 2048 tokens")


def test_two_consoles_on_one_session_see_the_same(system, console):
    session = console.screen().splitlines()[-1].split(" · ")[1]
    other = Terminal(system.environ, "--session", session)
    try:
        other.sees("Say something")
        console.type("say from the first", "Enter")
        other.sees("> say from the first", "  from the first")
        other.type("save it", "Enter")
        console.sees("> save it", "saved today.md")
    finally:
        other.close()


@pytest.mark.parametrize("victim", ["orchestrator", "bus"])
def test_it_goes_on_after_the_death_of(system, console, victim):
    console.type("say before", "Enter")
    console.sees("  before")
    console.type("count 200 0.03", "Enter")
    console.sees("n3 n4")
    restart(system, victim)
    console.sees("n199 n200", "queue 0", not_=("reconnecting", "writing"))
    console.type("say after", "Enter")
    console.sees("  before", "  after")


def test_while_the_bus_is_away_it_says_reconnecting(system, console):
    system.kill("bus")
    console.sees("reconnecting")
    system.start("bus")
    console.sees(not_=("reconnecting",))


@pytest.mark.parametrize(
    "leave", [("C-d",), ("C-c", "C-c"), ("/quit",)], ids=["ctrl-d", "ctrl-c twice", "quit"]
)
def test_it_leaves_with_a_clean_terminal(console, leave):
    if leave == ("/quit",):
        console.type("/quit", "Enter")
    elif leave == ("C-d",):
        console.press("C-d")
    else:
        console.type("some text")
        console.press("C-c")
        console.sees(not_=("some text",))
        console.press("C-c")
        console.sees("Ctrl+C again to leave")
        console.press("C-c")
    console.sees("LEFT WITH 0", not_=("queue",))


def test_ask_streams_to_a_terminal_and_ctrl_c_cancels(system):
    terminal = Terminal(system.environ, "ask", "--session", "ask", "count 500 0.02", module="eris")
    try:
        terminal.sees("n1 n2 n3")
        terminal.press("C-c")
        terminal.sees("The turn was cancelled.", "LEFT WITH 130")
    finally:
        terminal.close()


def plain(system, lines):
    done = subprocess.run(
        [sys.executable, "-m", "actors.console", "--session", f"p{secrets.token_hex(3)}"],
        env=system.environ,
        input=lines,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_without_a_terminal_it_answers_line_by_line(system):
    code, out, err = plain(system, "say one\n\nsave it\n/context\nsay two\n")
    assert code == 0
    assert out.startswith("one\nSaved it.\n")
    assert "120 of 2048 tokens" in out
    assert out.endswith("two\n")
    assert err == "[vault:write] saved today.md (4 bytes)\n"


def test_without_a_terminal_a_failure_is_told_and_exits_1(system):
    code, out, err = plain(system, "fail\n/nonsense\n/quit\nsay never\n")
    assert (code, out) == (1, "")
    assert "no usable answer" in err
    assert "/nonsense" in err
