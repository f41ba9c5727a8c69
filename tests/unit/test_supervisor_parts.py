"""The supervisor's small parts: locks, records, requests, notifications, units, tables."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from eris.cli.main import cli
from eris.cli.service import unit_for
from eris.cli.system_view import duration, log_line, show_status
from eris.errors import ConflictError, UnavailableError
from eris.locks import HeldLock, holder
from eris.paths import Paths
from eris.supervisor import control, record
from eris.supervisor.child import describe_exit, hopeless
from eris.supervisor.notify import notify
from eris.supervisor.process import Process, import_environment, start_ticks
from eris.supervisor.requests import REMEMBERED_S, RestartRequests
from proto.control import Done, Ping
from proto.supervisor import ActorStatus, Status, StatusReport
from tests.support import wait_until


def places(folder: Path, vault: str = "vault") -> Paths:
    return Paths(
        vault=folder / vault,
        vault_id="0123456789ab",
        runtime=folder / "run",
        state=folder / "state",
        cache=folder / "cache",
        models=folder / "models",
    )


# Locks.


def test_a_lock_says_who_holds_it(tmp_path: Path) -> None:
    path = tmp_path / "vault.lock"
    assert holder(path) == 0
    with HeldLock.acquire(path):
        assert holder(path) == os.getpid()
        with pytest.raises(ConflictError, match=f"held by pid {os.getpid()}") as caught:
            HeldLock.acquire(path)
        assert caught.value.details["pid"] == os.getpid()
    assert not path.exists()


@pytest.mark.parametrize("text", ["", "123\n", "nonsense"])
def test_a_lock_file_that_lies_about_holds_nobody_up(tmp_path: Path, text: str) -> None:
    path = tmp_path / "vault.lock"
    path.write_text(text)
    assert holder(path) == 0
    with HeldLock.acquire(path):
        assert path.read_text() == f"{os.getpid()}\n"


def test_the_kernel_gives_up_the_lock_of_a_killed_process(tmp_path: Path) -> None:
    path = tmp_path / "vault.lock"
    program = (
        "import sys, pathlib, time\n"
        "from eris.locks import HeldLock\n"
        "lock = HeldLock.acquire(pathlib.Path(sys.argv[1]))\n"
        "time.sleep(100)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program, str(path)])
    wait_until(lambda: holder(path) == process.pid)
    process.kill()
    process.wait()
    assert holder(path) == 0


# Processes.


def test_a_process_is_known_by_pid_and_start_time() -> None:
    process = subprocess.Popen(["sleep", "100"])
    try:
        ticks = start_ticks(process.pid)
        assert ticks is not None
        assert Process.adopt(process.pid, ticks - 1) is None
        adopted = Process.adopt(process.pid, ticks)
        assert adopted is not None
        assert not adopted.ended()
        adopted.terminate()
        wait_until(adopted.ended)
        assert adopted.collect() is None
        adopted.terminate()
        adopted.kill()
    finally:
        process.kill()
        process.wait()
    assert Process.adopt(process.pid, ticks) is None


@pytest.mark.parametrize(
    ("program", "code"),
    [("pass", 0), ("raise SystemExit(78)", 78), ("import os; os.kill(os.getpid(), 4)", -4)],
)
def test_an_exit_code_is_collected(tmp_path: Path, program: str, code: int) -> None:
    process = Process.spawn(
        [sys.executable, "-c", program], dict(os.environ), tmp_path / "out", tmp_path
    )
    wait_until(process.ended)
    assert process.collect() == code


def test_a_process_has_a_session_of_its_own_and_no_input(tmp_path: Path) -> None:
    program = "import os, sys; print(os.getsid(0) == os.getpid(), repr(sys.stdin.read()))"
    output = tmp_path / "out"
    process = Process.spawn([sys.executable, "-c", program], dict(os.environ), output, tmp_path)
    wait_until(process.ended)
    process.collect()
    assert output.read_text() == "True ''\n"
    assert output.stat().st_mode & 0o777 == 0o600


def test_a_checkout_is_searched_and_the_working_directory_is_not() -> None:
    found = import_environment({"PYTHONPATH": "/mine"})
    root = str(Path(__file__).parents[2])
    assert found == {"PYTHONPATH": f"{root}:/mine", "PYTHONSAFEPATH": "1"}
    assert import_environment(found) == found


# The record.


def test_a_record_comes_back_as_it_was_written(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    child = record.ChildRecord(pid=1, start_ticks=2, digest="d", restarts=3)
    written = record.Record(boot_id="b", children={"vault": child})
    record.write(file, written)
    assert record.read(file) == written
    assert file.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"boot_id": 1}', b"\xff"])
def test_a_damaged_record_is_none(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "state.json"
    file.write_bytes(data)
    assert record.read(file) is None


# Words.


@pytest.mark.parametrize(
    ("code", "words", "sentence"),
    [
        (0, "", "ended with exit code 0"),
        (3, "disk full", "ended with exit code 3: disk full"),
        (-9, "", "was killed by SIGKILL"),
        (-99, "", "was killed by signal 99"),
        (None, "", "ended"),
    ],
)
def test_an_end_in_words(code: int | None, words: str, sentence: str) -> None:
    assert describe_exit(code, words) == sentence


@pytest.mark.parametrize(
    ("name", "code", "word"),
    [
        ("inference", -signal.SIGILL, "make llama"),
        ("memory", -signal.SIGILL, "onnxruntime"),
        ("vault", -signal.SIGILL, "eris doctor"),
        ("vault", 78, "configuration"),
    ],
)
def test_a_hopeless_end_says_what_helps(name: str, code: int, word: str) -> None:
    assert word in hopeless(name, code, "")
    assert hopeless(name, 1, "") == ""


# Requests.


def test_a_repeated_restart_is_done_once_and_answered_every_time() -> None:
    requests = RestartRequests()
    answers: list[object] = []
    ticket = requests.add("key", answers.append, 0)
    assert ticket is not None
    assert requests.add("key", answers.append, 1) is None
    other = requests.add("other", answers.append, 1)
    assert other not in {None, ticket}
    requests.answer(ticket, Done())
    assert answers == [Done(), Done()]
    assert requests.add("key", answers.append, 2) is None
    assert answers == [Done(), Done(), Done()]
    assert requests.add("key", answers.append, REMEMBERED_S + 2) is not None


def test_asking_where_nobody_serves_says_how_to_start(tmp_path: Path) -> None:
    paths = places(tmp_path)
    with pytest.raises(UnavailableError, match="isn't running") as caught:
        control.request(paths, Status(), StatusReport, within=1)
    assert f"eris up --vault {paths.vault}" in caught.value.hint


def test_a_supervisor_that_hangs_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    paths = places(tmp_path)
    paths.runtime.mkdir()
    with (
        HeldLock.acquire(paths.lock("erisd")),
        pytest.raises(UnavailableError, match=f"pid {os.getpid()}"),
    ):
        control.request(paths, Ping(), Done, within=0.1)


@pytest.mark.parametrize("address", ["", "relative", "/nowhere/at/all"])
def test_a_service_manager_that_does_not_listen_is_no_matter(address: str) -> None:
    notify({"NOTIFY_SOCKET": address}, "READY=1")


# The service unit.


def test_a_systemd_unit_keeps_the_children_alive(tmp_path: Path) -> None:
    paths = places(tmp_path, 'my "notes" 100%')
    environ = {"HOME": str(tmp_path), "XDG_DATA_HOME": "/data", "PATH": "/bin"}
    unit = unit_for(paths, "/py/bin/python", environ, macos=False)
    lines = unit.text.splitlines()
    for line in (
        "Type=notify",
        "Restart=always",
        "RestartPreventExitStatus=78",
        "KillMode=process",
        'Environment="XDG_DATA_HOME=/data"',
        "WantedBy=default.target",
    ):
        assert line in lines
    (start,) = [line for line in lines if line.startswith("ExecStart=")]
    assert start.endswith(f'"--vault" "{tmp_path}/my \\"notes\\" 100%%"')
    assert unit.path == tmp_path / ".config/systemd/user/eris-0123456789ab.service"
    assert "PATH=/bin" not in unit.text


def test_a_launch_agent_is_well_formed(tmp_path: Path) -> None:
    import plistlib  # noqa: PLC0415 - this test only

    paths = places(tmp_path, "notes & <more>")
    unit = unit_for(paths, "/py/bin/python", {"HOME": str(tmp_path)}, macos=True)
    loaded = plistlib.loads(unit.text.encode())
    assert loaded["ProgramArguments"][-1] == str(paths.vault)
    assert loaded["RunAtLoad"]
    assert unit.path.parent == tmp_path / "Library" / "LaunchAgents"


def test_a_dry_run_prints_the_unit_and_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "vault" / ".eris").mkdir(parents=True)
    environ = {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path), "XDG_CONFIG_HOME": ""}
    vault = str(tmp_path / "vault")
    runner = CliRunner(env=environ)
    shown = runner.invoke(cli, ["install-service", "--dry-run", "--vault", vault])
    assert "KillMode=process" in shown.output
    assert not (tmp_path / ".config").exists()
    written = runner.invoke(cli, ["install-service", "--json", "--vault", vault])
    assert Path(json.loads(written.output)["path"]).is_file()


@pytest.mark.parametrize("command", ["up", "down", "status", "restart", "logs", "install-service"])
def test_every_help_shows_an_example(command: str) -> None:
    shown = CliRunner().invoke(cli, [command, "--help"]).output
    assert "Example" in shown
    assert f"eris {command}" in shown


# What people see.


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (59.9, "59s"), (61, "1m 1s"), (3600, "1h 0m"), (90000, "1d 1h")],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("plain text", "plain text"),
        ("[1]", "[1]"),
        (
            (
                '{"timestamp": "2026-01-02T03:04:05.678901", "level": "info", "event": "ready",'
                ' "process": "erisd", "actor": "vault", "n": 3}'
            ),
            "2026-01-02 03:04:05.678 info    ready actor=vault n=3",
        ),
        (
            '{"event": "oops", "level": "error", "exception": "Traceback"}',
            "error   oops\nTraceback",
        ),
    ],
)
def test_a_log_line_for_people(line: str, shown: str) -> None:
    assert log_line(line).strip() == shown


def test_the_table_shows_what_was_dropped_and_why_somebody_failed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    actor = ActorStatus(
        name="vault",
        state="failed",
        pid=0,
        restarts=3,
        uptime_seconds=0,
        rss_bytes=0,
        adopted=False,
        mailbox=2,
        streams=0,
        handled=0,
        failed=0,
        dropped={"expired": 4},
        detail="the disk is full",
    )
    report = StatusReport(
        version="1",
        vault="/notes",
        vault_id="x",
        pid=9,
        uptime_seconds=61,
        state="degraded",
        actors=(actor,),
    )
    show_status(report)
    said = capsys.readouterr()
    assert "/notes: degraded, up 1m 1s, erisd pid 9" in said.out
    assert said.out.splitlines()[-1].split() == [
        "vault",
        "-",
        "failed",
        "3",
        "-",
        "-",
        "2",
        *["expired", "4"],
    ]
    assert "vault (failed): the disk is full" in said.err
