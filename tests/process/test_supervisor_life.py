"""The supervisor's own life and death: adoption, locks, faults on disk, the ordered end."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import zmq

from eris.codec import encode
from eris.locks import holder
from eris.supervisor import control, record
from eris.supervisor.process import boot_id, start_ticks
from proto.control import Done
from proto.supervisor import Shutdown, Status, StatusReport
from tests.supervised import Supervised, supervised
from tests.support import wait_until

pytestmark = pytest.mark.process

CONFIGURATION = """
[supervisor]
actors = ["bus", "vault", "agenda"]
ping_s = 0.2
[defaults]
backoff_max_s = 0.2
[actor.vault]
command = ["{python}", "-m", "tests.problem_actors.echo"]
[actor.agenda]
command = ["{python}", "-m", "tests.problem_actors.echo"]
"""


@contextlib.contextmanager
def system(folder: Path, extra: dict[str, str] | None = None) -> Iterator[Supervised]:
    with supervised(folder, CONFIGURATION, extra) as started:
        started.start()
        yield started


def pids(report: StatusReport) -> dict[str, int]:
    return {actor.name: actor.pid for actor in report.actors}


def assert_nothing_remains(stopped: Supervised) -> None:
    assert stopped.survivors() == []
    assert not stopped.paths.runtime.exists()


# Adoption.


def test_a_new_supervisor_adopts_what_the_killed_one_left(tmp_path: Path) -> None:
    with system(tmp_path) as started:
        started.restart("agenda")
        before = started.status()
        started.kill_supervisor()
        assert sorted(started.survivors()) == sorted(pids(before).values())
        after = started.start()
        assert pids(after) == pids(before)
        assert all(actor.adopted for actor in after.actors)
        assert started.actor("agenda").restarts == 1
        assert started.events("spawned", "vault")[1:] == []


def test_adopted_children_are_looked_after_like_any_other(tmp_path: Path) -> None:
    with system(tmp_path) as started:
        started.kill_supervisor()
        before = started.start()
        killed = started.kill("vault")
        started.wait_for(lambda r: r.state == "ready" and pids(r)["vault"] not in {0, killed})
        wedged = started.kill("agenda", signal.SIGSTOP)
        started.wait_for(lambda r: r.state == "ready" and pids(r)["agenda"] not in {0, wedged})
        started.restart("bus")
        assert not set(pids(before).values()) & set(pids(started.status()).values())
        control.request(started.paths, Shutdown(), Done, within=5)
        wait_until(lambda: not holder(started.paths.lock("erisd")), 20)
        assert_nothing_remains(started)


@pytest.mark.parametrize("damage", ["remove", "garbage", "another boot", "empty"])
def test_a_lost_record_is_made_up_for_by_the_locks(tmp_path: Path, damage: str) -> None:
    with system(tmp_path) as started:
        before = started.status()
        started.kill_supervisor()
        file = started.paths.runtime / "state.json"
        match damage:
            case "remove":
                file.unlink()
            case "garbage":
                file.write_bytes(b'{"boot_id": "\xff')
            case "another boot":
                known = json.loads(file.read_bytes()) | {"boot_id": "another"}
                file.write_text(json.dumps(known))
            case "empty":
                file.write_bytes(b"")
        assert pids(started.start()) == pids(before)


def test_a_stranger_with_a_childs_old_pid_is_left_alone(tmp_path: Path) -> None:
    stranger = subprocess.Popen(["sleep", "100"], start_new_session=True)
    try:
        with system(tmp_path) as started:
            started.kill("agenda")
            started.kill_supervisor()
            file = started.paths.runtime / "state.json"
            known = record.read(file)
            assert known is not None
            ticks = start_ticks(stranger.pid)
            assert ticks is not None
            entry = record.ChildRecord(pid=stranger.pid, start_ticks=ticks - 1, digest="")
            record.write(
                file,
                record.Record(boot_id=boot_id(), children={**known.children, "agenda": entry}),
            )
            report = started.start()
            assert report.state == "ready"
            assert pids(report)["agenda"] != stranger.pid
            started.kill_supervisor(signal.SIGTERM)
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_a_changed_specification_is_pointed_out_but_not_applied(tmp_path: Path) -> None:
    with system(tmp_path) as started:
        before = started.status()
        started.kill_supervisor()
        started.configuration.write_text(CONFIGURATION + "stop_s = 3\n")
        assert pids(started.start()) == pids(before)
        assert "`eris restart agenda` applies it" in started.actor("agenda").detail
        started.restart("agenda")
        assert started.actor("agenda").detail == ""


def test_an_actor_that_is_no_longer_configured_is_sent_away(tmp_path: Path) -> None:
    with system(tmp_path) as started:
        agenda = started.pid("agenda")
        started.kill_supervisor()
        started.configuration.write_text(CONFIGURATION + "enabled = false\n")
        assert list(pids(started.start())) == ["bus", "vault"]
        wait_until(lambda: start_ticks(agenda) is None, what="agenda gone")


def test_children_that_nobody_adopts_save_their_state_and_leave(tmp_path: Path) -> None:
    with system(tmp_path, {"ERIS_ORPHAN_GRACE": "1"}) as started:
        started.kill_supervisor()
        wait_until(lambda: not started.survivors(), 20, "orphans gone")
        for name in ("bus", "vault", "agenda"):
            note = json.loads((started.paths.runtime / f"exit-{name}.json").read_bytes())
            assert note["code"] == 0
            assert note["reason"] == "no supervisor"
        assert started.start().state == "ready"


def test_after_everything_was_killed_the_next_start_just_works(tmp_path: Path) -> None:
    with system(tmp_path) as started:
        report = started.status()
        started.kill_supervisor()
        for pid in pids(report).values():
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not started.survivors(), what="all gone")
        assert {file.suffix for file in started.paths.runtime.iterdir()} >= {".sock", ".lock"}
        after = started.start()
        assert after.state == "ready"
        assert not set(pids(after).values()) & set(pids(report).values())


def test_kill_after_kill_the_children_stay_the_same(tmp_path: Path) -> None:
    with system(tmp_path) as started:
        before = started.status()
        for _ in range(5):
            started.kill_supervisor()
            assert pids(started.start()) == pids(before)


# One supervisor for a vault.


def test_a_second_supervisor_is_told_who_the_first_is(tmp_path: Path) -> None:
    with system(tmp_path) as started:
        second = started.erisd(stderr=subprocess.PIPE)
        _, words = second.communicate(timeout=30)
        assert second.returncode == 78
        assert f"held by pid {started.pid('erisd')}" in words.decode()
        assert started.status().state == "ready"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[actor.vault]\nstop_s = "long"\n', ("line 2", "actor.vault.stop_s")),
        ("[actor.vault\n", ("line 1", "isn't valid TOML")),
    ],
)
def test_a_bad_configuration_ends_it_with_78(
    tmp_path: Path, text: str, words: tuple[str, ...]
) -> None:
    with supervised(tmp_path, text) as refused:
        process = refused.erisd(stderr=subprocess.PIPE)
        _, said = process.communicate(timeout=30)
        assert process.returncode == 78
        for word in words:
            assert word in said.decode()
        assert not refused.paths.lock("erisd").exists()


def test_an_unknown_key_is_a_warning_and_it_starts_all_the_same(tmp_path: Path) -> None:
    with supervised(tmp_path, CONFIGURATION + "colour = 1\n") as started:
        assert started.start().state == "ready"
        (warning,) = started.events("configuration")
        assert "actor.agenda.colour" in str(warning["words"])


def test_a_vault_that_is_not_there_ends_it_with_78(tmp_path: Path) -> None:
    with supervised(tmp_path) as refused:
        (refused.vault / ".eris").rename(tmp_path / "moved")
        for file in refused.vault.iterdir():
            file.unlink()
        refused.vault.rmdir()
        process = refused.erisd(stderr=subprocess.PIPE)
        _, said = process.communicate(timeout=30)
        assert process.returncode == 78
        assert "is not a folder" in said.decode()


# The end.


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_it_stops_its_children_in_order_and_leaves_nothing(tmp_path: Path, number: int) -> None:
    with system(tmp_path) as started:
        started.status()
        started.kill_supervisor(number)
        exits = [event["actor"] for event in started.events("exited")]
        assert exits == ["agenda", "vault", "bus"]
        assert_nothing_remains(started)


def test_it_can_be_stopped_while_it_starts(tmp_path: Path) -> None:
    with supervised(tmp_path, CONFIGURATION) as started:
        process = started.erisd()
        wait_until(lambda: started.events("spawned", "bus"), what="bus spawned")
        process.terminate()
        assert process.wait(30) == 0
        assert_nothing_remains(started)


def test_it_ends_when_its_runtime_directory_is_taken_away(tmp_path: Path) -> None:
    with system(tmp_path) as started:
        process = started.supervisors[-1]
        started.status()
        shutil.rmtree(started.paths.runtime)
        assert process.wait(30) == 0
        assert started.survivors() == []
        assert started.start().state == "ready"


# Talking to it.


def test_garbage_on_the_control_socket_is_refused_and_nothing_more(tmp_path: Path) -> None:
    with system(tmp_path) as started, zmq.Context() as context:
        stranger = context.socket(zmq.DEALER)
        stranger.setsockopt(zmq.LINGER, 0)
        stranger.connect(started.paths.supervisor_socket)
        for frames in (
            [b"one"],
            [b"a", b"b"],
            [b"", b"", b""],
            [b"x" * 2000, b""],
            [encode(Status()), encode(Status())],
        ):
            stranger.send_multipart(frames)
            assert stranger.poll(5000), frames
            assert b"error.1" in stranger.recv_multipart()[1]
        stranger.close()
        assert started.status().state == "ready"


def test_systemd_is_told_when_everybody_is_ready(tmp_path: Path) -> None:
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    address = tmp_path / "notify"
    channel.bind(str(address))
    channel.settimeout(30)
    with supervised(tmp_path, CONFIGURATION, {"NOTIFY_SOCKET": str(address)}) as started:
        started.erisd()
        assert channel.recv(100) == b"READY=1"
        assert started.status().state == "ready"
        started.kill_supervisor(signal.SIGTERM)
        assert channel.recv(100) == b"STOPPING=1"
    channel.close()


# The command line.


def test_the_command_line_walks_through_a_whole_life(tmp_path: Path) -> None:
    with supervised(tmp_path, CONFIGURATION) as system:
        refused = system.eris("status", "--json")
        assert refused.returncode == 2
        assert "isn't running" in json.loads(refused.stdout)["error"]["message"]

        assert "Up: 3 processes" in system.eris("up").stdout
        before = system.status()
        assert "Already up" in system.eris("up").stdout
        shown = json.loads(system.eris("status", "--json").stdout)
        assert shown["state"] == "ready"
        assert {a["name"]: a["pid"] for a in shown["actors"]} == pids(before)
        assert "agenda" in system.eris("status").stdout

        assert "agenda is ready again" in system.eris("restart", "agenda").stdout
        unknown = system.eris("restart", "nobody")
        assert unknown.returncode == 1
        assert "bus, vault, agenda" in unknown.stderr
        assert "started" in system.eris("logs", "agenda", "-n", "5").stdout

        kept = system.status()
        system.kill_supervisor()
        assert "agenda, bus, vault still run" in system.eris("status").stderr
        assert "3 of them kept running" in system.eris("up").stdout
        assert pids(system.status()) == pids(kept)

        assert "Stopped" in system.eris("down").stdout
        assert_nothing_remains(system)
        again = system.eris("down", "--json")
        assert (again.returncode, json.loads(again.stdout)["stopped"]) == (0, False)


def test_down_also_ends_what_a_killed_supervisor_left(tmp_path: Path) -> None:
    with system(tmp_path) as started:
        started.status()
        started.kill_supervisor()
        assert started.eris("down").returncode == 0
        assert_nothing_remains(started)


def test_up_passes_on_what_is_odd_about_the_configuration(tmp_path: Path) -> None:
    with supervised(tmp_path, CONFIGURATION + "colour = 1\n") as started:
        result = started.eris("up", "--json")
        assert result.returncode == 0
        assert "actor.agenda.colour is unknown" in result.stderr
        assert json.loads(result.stdout)["state"] == "ready"


def test_what_reaches_other_machines_stays_off_when_offline(tmp_path: Path) -> None:
    with supervised(tmp_path, CONFIGURATION + "network = true\n") as started:
        assert list(pids(started.start("--offline"))) == ["bus", "vault"]


def test_up_says_what_is_wrong_with_the_configuration(tmp_path: Path) -> None:
    with supervised(tmp_path, "[actor.vault]\nstop_s = -1\n") as refused:
        result = refused.eris("up")
        assert result.returncode == 78
        assert "line 2: actor.vault.stop_s" in result.stderr


def test_a_log_is_followed(tmp_path: Path) -> None:
    with system(tmp_path) as started:
        follower = subprocess.Popen(
            [started.python, "-m", "eris", "logs", "erisd", "-f", "--vault", str(started.vault)],
            env=started.environ,
            cwd=Path(__file__).parents[2],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert follower.stdout is not None
        started.restart("agenda")
        began = time.monotonic()
        lines = iter(follower.stdout.readline, "")
        assert any("restart-requested" in line for line in lines if time.monotonic() - began < 30)
        follower.kill()
        follower.wait()
        follower.stdout.close()
