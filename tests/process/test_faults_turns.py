"""Faults around real turns: a whole system, the network cut, its vault at an unusual path.

One system serves the whole module; every test leaves it as it found it, all processes up.
"""

import json
import os
import signal
import sqlite3
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from eris.locks import holder
from proto.control import Done
from proto.orchestrator import CancelTurn, TurnState
from proto.supervisor import StatusReport
from tests.process.faults_support import Talk, by_the_model
from tests.supervised import Supervised, supervised
from tests.support import wait_until

pytestmark = [pytest.mark.process, pytest.mark.model]

STORY = "Tell me a long story about a lighthouse."
ENVIRONMENT = {
    "ERIS_MODEL_CHAT": "smollm2-135m",
    # Short turns whatever the model writes, and nothing to wait for but its writing.
    "ERIS_GENERATION_MAX_TOKENS": "120",
    "ERIS_TURN_RECOVERY_ATTEMPTS": "0",
    "ERIS_TURN_TOOL_ROUNDS": "1",
}


def without_network(system: Supervised) -> list[str]:
    """A prefix of commands that cuts them off from every network, the loopback included."""
    for prefix in (["unshare", "--net"], ["unshare", "--user", "--map-root-user", "--net"]):
        if not subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode:
            return prefix
    return []


def up(system: Supervised, prefix: Sequence[str] = ()) -> None:
    done = subprocess.run(
        [*prefix, system.python, "-m", "eris", "up", "--vault", str(system.vault)],
        env=system.environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stderr + system.log()


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Supervised]:
    folder = tmp_path_factory.mktemp("turns") / ("deep/" * 40 + "my notes 🍋")
    with supervised(folder, "", ENVIRONMENT) as started:
        up(started, without_network(started))
        assert started.status().state == "ready"
        yield started


@pytest.fixture
def talk(system: Supervised) -> Talk:
    return Talk(system.connect("console"))


def pids(report: StatusReport) -> dict[str, int]:
    return {actor.name: actor.pid for actor in report.actors}


def texts(talk: Talk) -> list[str]:
    """What the user said in the session, as a surface is told."""
    return next(
        [view.text for view in seen.turns] for seen in talk.follow() if seen.turns is not None
    )


def test_everything_starts_and_a_turn_is_answered_with_the_network_cut(
    system: Supervised, talk: Talk
) -> None:
    if not without_network(system):
        pytest.skip("may not make a network of its own here")
    for pid in (system.pid("erisd"), *pids(system.status()).values()):
        assert Path(f"/proc/{pid}/ns/net").readlink() != Path("/proc/self/ns/net").readlink()
    assert all(not actor.detail for actor in system.status().actors)
    assert by_the_model(talk.say("What does my note ideas.md say?"))


def test_the_vaults_tools_work_in_a_turn_at_such_a_path(system: Supervised, talk: Talk) -> None:
    (system.vault / "ideas.md").write_text("Plant a lemon tree.\n")
    view = talk.say("read ideas.md")
    assert "vault:read" in view.offered


def test_a_router_restarted_while_an_answer_streams_costs_nothing(
    system: Supervised, talk: Talk
) -> None:
    before = pids(system.status())
    turn = talk.submit(STORY)
    assert talk.written(turn, 20).state is TurnState.RUNNING
    after = pids(system.restart("router"))
    assert by_the_model(talk.end_of(turn))
    changed = {name for name in before if after[name] != before[name]}
    assert changed == {"router"}


def test_after_the_death_of_the_supervisor_the_same_processes_hold_the_same_conversation(
    system: Supervised, talk: Talk
) -> None:
    before = system.status()
    first = talk.submit(STORY)
    assert talk.written(first).state is TurnState.RUNNING
    system.kill_supervisor()
    assert by_the_model(talk.end_of(first))
    second = talk.submit("Go on.")
    up(system)
    report = system.status()
    assert (report.state, pids(report)) == ("ready", pids(before))
    assert report.pid != before.pid
    assert by_the_model(talk.end_of(second))
    assert texts(talk) == [STORY, "Go on."]


def test_messages_during_an_answer_are_all_answered_in_order(
    system: Supervised, talk: Talk
) -> None:
    turns = [talk.submit(text) for text in (STORY, "Who are you?", "And where?")]
    ended: list[str] = []
    for seen in talk.follow():
        running = [view.turn for view in seen.turns if view.state is TurnState.RUNNING]
        assert len(running) <= 1
        for view in seen.turns:
            if view.state not in {TurnState.RUNNING, TurnState.QUEUED} and view.turn not in ended:
                ended.append(view.turn)
                assert by_the_model(view)
        if len(ended) == len(turns):
            break
    assert ended == turns


def test_a_cancel_frees_the_model_and_the_next_turn_runs(system: Supervised, talk: Talk) -> None:
    turn = talk.submit(STORY)
    assert talk.written(turn, 20).state is TurnState.RUNNING
    body = CancelTurn(session=talk.session, turn=turn)
    talk.port.ask("orchestrator", body, Done, within=10)
    assert talk.end_of(turn).state is TurnState.CANCELLED
    wait_until(lambda: system.actor("inference").streams == 0, 10, "the model is free")
    other = Talk(system.connect("console"))
    assert by_the_model(other.say("Hello!"))
    assert by_the_model(talk.say("Hello again!"))


def test_twenty_turns_need_one_load_of_the_model_and_read_only_what_is_new(
    system: Supervised, talk: Talk
) -> None:
    before = system.actor("inference")
    views = [talk.say(f"What is {number} and {number}?") for number in range(20)]
    after = system.actor("inference")
    assert (after.pid, after.restarts) == (before.pid, before.restarts)
    log = (system.paths.logs / "inference.log").read_text()
    assert sum(json.loads(line)["event"] == "loaded" for line in log.splitlines()) == 1
    assert all(by_the_model(view) for view in views)
    # The first words of all prompts are the same: only the new message is computed.
    assert all(view.usage.prefilled < view.usage.prompt / 2 for view in views[5:])


def databases(system: Supervised) -> dict[Path, set[int]]:
    """Which processes have each database open."""
    found: dict[Path, set[int]] = defaultdict(set)
    for process in Path("/proc").glob("[0-9]*"):
        try:
            files = [link.readlink() for link in (process / "fd").iterdir()]
        except OSError:
            continue  # it has ended, or is somebody else's
        for file in files:
            if file.suffix == ".sqlite" and file.is_relative_to(system.paths.state):
                found[file].add(int(process.name))
    return found


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_each_database_is_open_in_one_process_whoever_else_looks_on(
    system: Supervised, talk: Talk
) -> None:
    owners = {pid: name for name, pid in pids(system.status()).items()}
    looking_on = [
        subprocess.Popen(
            [system.python, "-m", "eris", *arguments, "--vault", str(system.vault)],
            env=system.environ,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for arguments in (["doctor"], ["status"], ["ask", "hello"])
    ]
    try:
        while any(process.poll() is None for process in looking_on):
            for file, holders in databases(system).items():
                assert len(holders) == 1, file
                assert holders <= set(owners), file
    finally:
        for process in looking_on:
            process.kill()
            process.wait()
    names = {owners[next(iter(holders))] for holders in databases(system).values()}
    assert names >= {"orchestrator", "gatekeeper", "vault", "router"}
    for file in databases(system):
        with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
            assert database.execute("PRAGMA quick_check").fetchone() == ("ok",)


def test_after_everything_was_killed_the_next_start_goes_on_with_the_conversation(
    system: Supervised, talk: Talk
) -> None:
    talk.say("My name is Ada.")
    turn = talk.submit(STORY)
    assert talk.written(turn).state is TurnState.RUNNING
    killed = [system.pid("erisd"), *pids(system.status()).values()]
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not holder(system.paths.lock("erisd")), 20, "erisd gone")
    wait_until(lambda: not system.survivors(), 20, "everybody gone")
    left = {file.name for file in system.paths.runtime.iterdir()}
    assert left >= {"bus.sock", "erisd.sock", "erisd.lock", "inference.lock", "state.json"}
    up(system)
    assert system.status().state == "ready"
    assert not set(pids(system.status()).values()) & set(killed)
    assert by_the_model(talk.end_of(turn))
    assert texts(talk) == ["My name is Ada.", STORY]
    assert by_the_model(talk.say("What is my name?"))


def test_at_the_end_nothing_of_it_is_left(system: Supervised) -> None:
    system.status()
    assert system.eris("down").returncode == 0
    assert system.survivors() == []
    assert not system.paths.runtime.exists()
    # The small model may have written notes of its own, in folders too; anything else is ours.
    ours = (path.relative_to(system.vault) for path in system.vault.rglob("*") if path.is_file())
    assert [path for path in ours if path.parts[0] != ".eris" and path.suffix != ".md"] == []
