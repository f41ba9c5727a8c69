"""The supervisor and children that behave, and children that don't."""

import contextlib
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from eris.errors import RemoteError
from eris.supervisor.process import start_ticks
from eris.supervisor.table import OUTPUT_LIMIT
from proto.supervisor import Status, StatusReport
from tests.supervised import Supervised, supervised
from tests.support import wait_until

pytestmark = pytest.mark.process


def configuration(fault: str = "", **agenda: object) -> str:
    """A bus, a well-behaved vault, and an agenda with a fault."""
    keys = "".join(f"{key} = {value!r}\n" for key, value in agenda.items())
    return f"""
[supervisor]
actors = ["bus", "vault", "agenda"]
ping_s = 0.2
[defaults]
intensity = 2
backoff_max_s = 0.2
[actor.vault]
command = ["{{python}}", "-m", "tests.problem_actors.faulty"]
[actor.agenda]
command = ["{{python}}", "-m", "tests.problem_actors.faulty"]
{keys}
[actor.agenda.environment]
FAULT = "{fault}"
"""


@contextlib.contextmanager
def system(folder: Path, fault: str = "", **agenda: object) -> Iterator[Supervised]:
    with supervised(folder, configuration(fault, **agenda)) as started:
        started.start()
        yield started


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Supervised]:
    with system(tmp_path_factory.mktemp("healthy")) as started:
        yield started


def pids(report: StatusReport, *, but: str = "") -> dict[str, int]:
    return {actor.name: actor.pid for actor in report.actors if actor.name != but}


def test_a_report_says_how_everybody_is(healthy: Supervised) -> None:
    report = healthy.status()
    assert report.state == "ready"
    assert report.vault == str(healthy.vault)
    assert [actor.name for actor in report.actors] == ["bus", "vault", "agenda"]
    for actor in report.actors:
        assert actor.state == "ready"
        assert start_ticks(actor.pid) is not None
        assert actor.rss_bytes > 1 << 20
        assert 0 <= actor.uptime_seconds < 600
        assert not actor.adopted


def test_surfaces_reach_the_supervisor_through_the_bus(healthy: Supervised) -> None:
    report = healthy.connect("cli").ask("erisd", Status(), StatusReport, within=10, retry=True)
    assert pids(report) == pids(healthy.status())


def test_a_killed_child_comes_back_and_the_others_never_notice(healthy: Supervised) -> None:
    before = healthy.status()
    killed = healthy.kill("agenda")
    healthy.wait_for(lambda r: r.state == "ready" and pids(r)["agenda"] not in {0, killed})
    after = healthy.status()
    assert pids(after, but="agenda") == pids(before, but="agenda")
    assert healthy.events("exited", "agenda")[-1]["words"] == "was killed by SIGKILL"


def test_a_killed_bus_comes_back_and_the_others_keep_running(healthy: Supervised) -> None:
    before = healthy.status()
    killed = healthy.kill("bus")
    healthy.wait_for(lambda r: r.state == "ready" and pids(r)["bus"] not in {0, killed})
    assert pids(healthy.status(), but="bus") == pids(before, but="bus")
    report = healthy.connect("cli").ask("erisd", Status(), StatusReport, within=10, retry=True)
    assert report.state == "ready"


def test_a_restart_is_answered_when_the_child_is_ready_again(healthy: Supervised) -> None:
    before = healthy.status()
    report = healthy.restart("agenda")
    assert pids(report, but="agenda") == pids(before, but="agenda")
    (agenda,) = [actor for actor in report.actors if actor.name == "agenda"]
    (earlier,) = [actor for actor in before.actors if actor.name == "agenda"]
    assert agenda.state == "ready"
    assert agenda.pid not in {0, earlier.pid}
    assert agenda.restarts == earlier.restarts + 1


def test_a_restart_of_nobody_names_those_there_are(healthy: Supervised) -> None:
    with pytest.raises(RemoteError, match="no actor 'nobody'") as caught:
        healthy.restart("nobody")
    assert caught.value.code == "not-found"
    assert "bus, vault, agenda" in caught.value.hint


@pytest.mark.parametrize(
    ("fault", "number"),
    [
        ("wedges_when_told", signal.SIGUSR1),
        ("stops_answering", signal.SIGUSR1),
        ("", signal.SIGSTOP),
    ],
)
def test_a_wedged_child_is_killed_and_replaced(tmp_path: Path, fault: str, number: int) -> None:
    with system(tmp_path, fault) as started:
        before = started.status()
        wedged = started.kill("agenda", number)
        started.wait_for(lambda r: r.state == "ready" and pids(r)["agenda"] not in {0, wedged})
        assert "pings unanswered" in str(started.events("hung", "agenda")[0]["words"])
        assert pids(started.status(), but="agenda") == pids(before, but="agenda")
        assert start_ticks(wedged) is None


def test_a_busy_child_is_left_alone_until_its_patience_ends(tmp_path: Path) -> None:
    with system(tmp_path, "gets_busy", busy_s=3) as started:
        busy = started.kill("agenda", signal.SIGUSR1)
        assert started.wait_state("agenda", "busy").detail == "prefill"
        started.wait_for(lambda r: r.state == "ready" and pids(r)["agenda"] not in {0, busy})
        assert started.events("hung", "agenda")[0]["words"] == "busy with prefill for 3 s"


def test_a_stopped_bus_is_replaced_and_nobody_else_is_blamed(tmp_path: Path) -> None:
    with system(tmp_path) as started:
        before = started.status()
        stopped = started.kill("bus", signal.SIGSTOP)
        started.wait_for(lambda r: r.state == "ready" and pids(r)["bus"] not in {0, stopped})
        assert [event["actor"] for event in started.events("hung")] == ["bus"]
        assert pids(started.status(), but="bus") == pids(before, but="bus")


@pytest.mark.parametrize(
    ("fault", "words", "starts"),
    [
        ("dies_while_loading", "more than 2 in 60 s", 3),
        ("dies_while_loading", "ended with exit code 3: the disk of dreams is full", 3),
        ("segfaults", "was killed by SIGSEGV", 3),
        ("meets_an_unknown_instruction", "built for another processor", 1),
        (
            "is_configured_wrongly",
            "model.chat names no file. Set it with: eris config edit",
            1,
        ),
    ],
)
def test_a_hopeless_child_is_given_up_with_a_reason_and_the_rest_stays_up(
    tmp_path: Path, fault: str, words: str, starts: int
) -> None:
    with system(tmp_path, fault) as started:
        report = started.status()
        assert report.state == "degraded"
        agenda = started.actor("agenda")
        assert agenda.state == "failed"
        assert words in agenda.detail
        assert len(started.events("spawned", "agenda")) == starts
        assert len(started.events("given up", "agenda")) == 1
        assert started.actor("vault").state == "ready"


def test_a_child_that_was_cured_is_revived_by_a_restart(tmp_path: Path) -> None:
    ill = tmp_path / "ill"
    ill.touch()
    with supervised(tmp_path, configuration("is_configured_wrongly"), {"ILL": str(ill)}) as started:
        started.start()
        with pytest.raises(
            RemoteError, match=r"agenda didn't come back: model\.chat names no file"
        ):
            started.restart("agenda")
        ill.unlink()
        assert started.restart("agenda").state == "ready"


def test_a_program_that_is_not_there_is_reported_once(tmp_path: Path) -> None:
    with supervised(tmp_path, configuration()) as started:
        started.configuration.write_text(
            configuration().replace(
                '[actor.agenda]\ncommand = ["{python}", "-m", "tests.problem_actors.faulty"]',
                '[actor.agenda]\ncommand = ["no-such-program"]',
            )
        )
        started.start()
        assert "can't be started" in started.actor("agenda").detail
        assert "no-such-program" in started.actor("agenda").detail


def test_a_child_that_never_gets_ready_is_killed(tmp_path: Path) -> None:
    with system(tmp_path, "never_connects", ready_s=0.5) as started:
        assert "wasn't ready 0.5 s after its start" in started.actor("agenda").detail
        assert started.survivors() == [a.pid for a in started.status().actors if a.pid]


def test_a_child_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    with system(tmp_path, "ignores_sigterm", stop_s=0.5) as started:
        stubborn = started.pid("agenda")
        started.restart("agenda")
        assert start_ticks(stubborn) is None
        assert "didn't leave 0.5 s after SIGTERM" in str(
            started.events("killed", "agenda")[0]["words"]
        )


def test_what_a_child_started_dies_with_it(tmp_path: Path) -> None:
    with system(tmp_path, "forks") as started:
        output = (started.paths.logs / "agenda.out").read_text()
        (grandchild,) = re.findall(r"grandchild (\d+)", output)
        assert start_ticks(int(grandchild)) is not None
        killed = started.kill("agenda")
        started.wait_for(lambda r: pids(r)["agenda"] not in {0, killed})
        wait_until(lambda: start_ticks(int(grandchild)) is None, what="grandchild gone")


def test_a_flood_of_output_is_cut(tmp_path: Path) -> None:
    with system(tmp_path, "floods") as started:
        output = started.paths.logs / "agenda.out"
        wait_until(lambda: started.events("output-cut", "agenda"), what="output cut")
        assert output.stat().st_size < OUTPUT_LIMIT
        assert started.actor("agenda").state == "ready"


def test_a_child_that_outgrows_its_memory_is_replaced(tmp_path: Path) -> None:
    with system(tmp_path, memory_max="1 MiB", intensity=1) as started:
        agenda = started.wait_state("agenda", "failed")
        assert "more than its memory_max of 1 MiB" in agenda.detail


def test_a_second_copy_started_by_hand_leads_to_the_first(tmp_path: Path) -> None:
    with system(tmp_path) as started:
        environ = started.environ | started.paths.environment() | {"ERIS_ACTOR": "agenda"}
        copy = subprocess.run(
            [started.python, "-m", "tests.problem_actors.faulty"], env=environ, check=False
        )
        assert copy.returncode == 75
        assert started.actor("agenda").state == "ready"
        assert started.paths.lock("agenda").exists()
