"""`eris ask` against a real bus and an orchestrator that says what it's told."""

import json
import os
import signal
import subprocess
import sys
import threading

import pytest

from eris.conversation import SessionEvent
from proto.orchestrator import SessionSnapshot
from tests.support import processes, wait_until

pytestmark = pytest.mark.process
SCRIPTED = "tests.problem_actors.scripted_orchestrator"


@pytest.fixture
def system(tmp_path):
    with processes(tmp_path) as group:
        group.start("bus")
        group.start("orchestrator", SCRIPTED)
        yield group


def begin(system, *arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "eris", "ask", *arguments],
        env=system.environ,
        stdin=options.pop("stdin", subprocess.DEVNULL),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def ask(system, *arguments, said=None):
    child = begin(system, *arguments, stdin=subprocess.PIPE)
    out, err = child.communicate(said, timeout=60)
    return child.returncode, out, err


def turns(system):
    subscription = system.connect("console").subscribe(
        "orchestrator", "session:main", item=SessionEvent
    )
    snapshot = subscription.next(10)
    subscription.close()
    assert isinstance(snapshot, SessionSnapshot)
    return snapshot.turns


def test_the_answer_is_on_stdout_and_the_receipt_on_stderr(system):
    assert ask(system, "save", "it") == (
        0,
        "Saved it.\n",
        "[vault:write] saved today.md (4 bytes)\n",
    )


def test_with_json_everything_known_is_one_document(system):
    code, out, err = ask(system, "--json", "save it")
    document = json.loads(out)
    assert (code, err) == (0, "")
    assert document["ok"] is True
    assert document["state"] == "done"
    assert document["message"] == "Saved it."
    assert document["receipts"] == ["saved today.md (4 bytes)"]
    (call,) = document["tool_calls"]
    assert call["tool"] == "vault:write"
    assert call["arguments"] == {"path": "today.md", "content": "milk"}
    assert call["result"] == "Saved."
    assert document["tokens"]["prompt"] == 120
    assert document["timings_ms"]["decode"] == 1000


def test_bytes_that_are_no_text_are_said_as_replacement_characters(system):
    odd = os.fsdecode(b"caf\xe9")
    assert ask(system, "--session", odd, f"say {odd}") == (0, "caf\ufffd\n", "")


@pytest.mark.parametrize("arguments", [[], ["-"]])
def test_the_text_can_come_from_stdin(system, arguments):
    assert ask(system, *arguments, said="say hello\n")[:2] == (0, "hello\n")


def test_control_characters_of_an_answer_do_not_reach_the_terminal(system):
    code, out, _ = ask(system, "say \\e]0;title\\e[31mred")
    assert code == 0
    assert "\x1b" not in out
    assert "red" in out


def test_a_turn_that_failed_exits_1_and_says_why(system):
    assert ask(system, "fail") == (1, "", "The model gave no usable answer.\n")
    code, out, _ = ask(system, "--json", "fail")
    document = json.loads(out)
    assert code == 1
    assert document["ok"] is False
    assert document["error"]["type"] == "no-answer"


def test_ctrl_c_cancels_the_turn_and_exits_130(system):
    child = begin(system, "wait")
    wait_until(lambda: [turn.state for turn in turns(system)] == ["running"])
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=20)
    assert (child.returncode, out) == (130, "")
    assert "cancelled" in err
    wait_until(lambda: [turn.state for turn in turns(system)] == ["cancelled"])


def test_a_turn_that_takes_too_long_is_cancelled(system):
    code, _, err = ask(system, "--timeout", "1", "wait")
    assert code == 1
    assert "1.0 s" in err
    wait_until(lambda: [turn.state for turn in turns(system)] == ["cancelled"])


@pytest.mark.parametrize("victim", ["bus", "orchestrator"])
def test_it_waits_through_the_death_of(system, victim):
    child = begin(system, "count 100 0.02")
    wait_until(lambda: any(turn.message for turn in turns(system)))
    system.kill(victim)
    system.start(victim, "eris.bus" if victim == "bus" else SCRIPTED)
    out, err = child.communicate(timeout=60)
    assert (child.returncode, err) == (0, "")
    assert out.split() == [f"n{number}" for number in range(1, 101)]
    assert len(turns(system)) == 1


def test_it_waits_for_an_orchestrator_that_is_slow_to_start(system):
    child = begin(system, "count 50 0.02")
    wait_until(lambda: any(turn.message for turn in turns(system)))
    system.kill("orchestrator")
    system.environ["SCRIPTED_SLOW_SECONDS"] = "2"
    system.start("orchestrator", SCRIPTED)
    out, err = child.communicate(timeout=60)
    assert (child.returncode, err) == (0, "")
    assert out.split()[-1] == "n50"


def test_several_may_ask_at_once_and_each_gets_its_own_answer(system):
    answers = {}
    threads = [
        threading.Thread(
            target=lambda n=number: answers.update({n: ask(system, f"say answer {n}")[1]})
        )
        for number in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert answers == {number: f"answer {number}\n" for number in range(3)}


@pytest.mark.parametrize("as_json", [False, True])
def test_without_a_running_system_it_says_how_to_start_it(tmp_path, as_json):
    with processes(tmp_path) as group:
        code, out, err = ask(group, "hello", *(["--json"] if as_json else []))
        assert code == 2
        assert "eris up" in (json.loads(out)["error"]["hint"] if as_json else err)
