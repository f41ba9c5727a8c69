"""Bad settings and a second start, as they meet a user of `eris up`."""

import json
import os
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from eris.remote import load_keys
from eris.supervisor.process import boot_id
from tests.process.faults_support import actors
from tests.supervised import Supervised, supervised

pytestmark = pytest.mark.process

LIGHT = actors("bus", "vault")
LINES = LIGHT.count("\n")
SETTINGS = ".eris/config.toml"


@pytest.mark.parametrize(
    ("supervisor", "settings", "named"),
    [
        ("[actor.vault]\nstop_sec = 3\n", "", f"line {LINES + 2}: the key actor.vault.stop_sec"),
        ("[supervisr]\nping_s = 1\n", "", "[supervisr]"),
        ("", "[model]\ncontext_lenght = 9\n", "line 2: the setting model.context_lenght"),
    ],
)
def test_an_unknown_key_is_named_by_every_command_and_does_not_keep_it_from_starting(
    tmp_path: Path, supervisor: str, settings: str, named: str
) -> None:
    with supervised(tmp_path, LIGHT + supervisor) as system:
        (system.vault / SETTINGS).write_text(settings)
        validated, doctor = system.eris("config", "validate"), system.eris("doctor")
        up = system.eris("up")
        assert (up.returncode, system.status().state) == (0, "ready")
        assert (validated.returncode, doctor.returncode) == (1, 1)
        for said in (validated.stderr, doctor.stdout, up.stderr):
            assert named in said


@pytest.mark.parametrize(
    ("supervisor", "settings", "named"),
    [
        ('[actor.vault]\nstop_s = "long"\n', "", f"line {LINES + 2}: actor.vault.stop_s"),
        ("[actor.vault\n", "", f"line {LINES + 1}"),
        ("", '[model]\ncontext_length = "long"\n', "line 2: model.context_length"),
        ("", "[model\n", "line 1"),
    ],
)
def test_a_bad_value_is_refused_by_every_command_with_its_place(
    tmp_path: Path, supervisor: str, settings: str, named: str
) -> None:
    with supervised(tmp_path, LIGHT + supervisor) as system:
        (system.vault / SETTINGS).write_text(settings)
        for command in (("config", "validate"), ("up",)):
            refused = system.eris(*command, "--json")
            assert refused.returncode == 78, command
            assert named in json.loads(refused.stdout)["error"]["message"]
        doctor = system.eris("doctor")
        assert (doctor.returncode, named in doctor.stdout) == (1, True)
        assert not system.paths.lock("erisd").exists()


def test_settings_that_go_bad_while_it_runs_cost_nothing_but_the_restart(tmp_path: Path) -> None:
    with supervised(tmp_path, LIGHT) as system:
        assert system.eris("up").returncode == 0
        (system.vault / SETTINGS).write_text('[model]\ncontext_length = "long"\n')
        bus = system.pid("bus")
        restarted = system.eris("restart", "vault")
        assert restarted.returncode != 0
        assert "line 2: model.context_length" in restarted.stderr
        assert (system.actor("vault").state, system.pid("bus")) == ("failed", bus)
        assert len(system.events("spawned", "vault")) == 2
        (system.vault / SETTINGS).write_text("")
        assert system.eris("restart", "vault").returncode == 0
        assert system.status().state == "ready"


def test_a_taken_port_is_told_at_once_and_mended_by_a_restart(tmp_path: Path) -> None:
    with supervised(tmp_path, LIGHT) as system, socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        endpoint = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        key = load_keys(tmp_path / "laptop.json").public
        assert (
            system.eris("peer", "add", "laptop", "--role", "console", "--key", key).returncode == 0
        )
        (system.vault / SETTINGS).write_text(f'[bus]\ntcp = "{endpoint}"\n')
        up = system.eris("up", within=60)
        assert up.returncode == 1
        assert "bus (failed)" in up.stderr
        assert endpoint in up.stderr
        assert len(system.events("spawned", "bus")) == 1
        (system.vault / SETTINGS).write_text("")
        assert system.eris("restart", "bus").returncode == 0
        system.wait_for(lambda report: report.state == "ready", 60, "everybody up")
        assert len(system.events("spawned", "vault")) == 1


def second_start(system: Supervised, place: Path) -> tuple[int, str]:
    other = system.erisd("--vault", str(place), stderr=-1)
    _, words = other.communicate(timeout=60)
    return other.returncode, words.decode()


def test_many_who_start_a_vault_at_once_get_one_system(tmp_path: Path) -> None:
    with supervised(tmp_path, LIGHT) as system, ThreadPoolExecutor(4) as together:
        results = list(together.map(lambda _: system.eris("up"), range(4)))
        assert [result.returncode for result in results] == [0] * 4, results
        assert system.status().state == "ready"
        assert len(system.events("spawned", "bus")) == 1
        assert all(f"pid {system.pid('erisd')}" in result.stdout for result in results)


def test_rubbish_in_the_runtime_directory_does_not_keep_it_from_starting(tmp_path: Path) -> None:
    with supervised(tmp_path, LIGHT) as system:
        system.paths.create()
        stranger = os.getppid()
        for name in ("erisd", "bus", "vault"):
            system.paths.lock(name).write_text(f"{stranger}\n")
            (system.paths.runtime / f"{name}.sock").write_text("no socket")
            (system.paths.runtime / f"exit-{name}.json").write_bytes(b"\xff{")
        (system.paths.runtime / "state.json").write_text(
            json.dumps({"boot_id": boot_id(), "children": {"vault": {"pid": "x"}}})
        )
        assert system.eris("up").returncode == 0
        report = system.status()
        assert report.state == "ready"
        assert stranger not in [report.pid, *(actor.pid for actor in report.actors)]
        assert system.eris("down").returncode == 0
        assert not system.paths.runtime.exists()


def test_whoever_starts_a_vault_again_is_told_who_serves_it(tmp_path: Path) -> None:
    with supervised(tmp_path, LIGHT) as system:
        assert system.eris("up").returncode == 0
        served_by = system.pid("erisd")
        link = tmp_path / "the same vault"
        link.symlink_to(system.vault)
        for place in (system.vault, link):
            code, words = second_start(system, place)
            assert code == 78
            assert f"held by pid {served_by}" in words
            assert "eris down" in words
        again = system.eris("up")
        assert (again.returncode, "Already up" in again.stdout) == (0, True)
        assert system.pid("erisd") == served_by
