"""The supervisor with Eris's own actors, those that need no model."""

import signal
import subprocess

import pytest

from eris.supervisor import specification
from eris.supervisor.process import resident_bytes
from tests.process.conftest import StartSystem
from tests.support import REPOSITORY, wait_until

pytestmark = pytest.mark.process

LIGHT = ("bus", "vault", "agenda", "gatekeeper", "orchestrator")


def test_restarting_one_actor_leaves_the_others_alone(system: StartSystem) -> None:
    started = system(actors=LIGHT)
    before = {actor.name: actor.pid for actor in started.status().actors}
    for name in LIGHT[1:]:
        report = started.restart(name)
        after = {actor.name: actor.pid for actor in report.actors}
        assert report.state == "ready"
        assert {other for other in LIGHT if after[other] != before[other]} == {name}
        before = after


def test_killing_each_process_in_turn_ends_with_everybody_up(system: StartSystem) -> None:
    started = system(actors=LIGHT)
    for name in LIGHT:
        killed = started.kill(name)
        started.wait_for(
            lambda r, name=name, killed=killed: (
                r.state == "ready"
                and all(a.pid != killed for a in r.actors)
                and all(a.pid for a in r.actors if a.name == name)
            )
        )
    started.kill_supervisor(signal.SIGTERM)
    assert started.survivors() == []
    assert not started.paths.runtime.exists()


def test_two_vaults_run_side_by_side(system: StartSystem) -> None:
    one, other = system(actors=["bus", "vault"]), system(actors=["bus", "vault"])
    one.kill_supervisor(signal.SIGTERM)
    assert other.status().state == "ready"


def test_a_stray_that_was_never_recorded_is_found_and_adopted(system: StartSystem) -> None:
    """As after a supervisor that died between starting a child and writing it down."""
    started = system(actors=["bus"])
    environ = started.environ | started.paths.environment() | {"ERIS_ACTOR": "agenda"}
    child = subprocess.Popen([started.python, "-m", "actors.agenda"], env=environ)
    wait_until(lambda: started.paths.lock("agenda").exists(), what="agenda runs")
    try:
        started.kill_supervisor()
        started.configuration.write_text('[supervisor]\nactors = ["bus", "agenda"]\n')
        report = started.start()
        assert {a.name: a.pid for a in report.actors}["agenda"] == child.pid
        assert report.state == "ready"
        started.kill_supervisor(signal.SIGTERM)
    finally:
        child.terminate()
        assert child.wait(20) == 0


def test_every_actor_in_the_packaged_file_exists() -> None:
    loaded = specification.load(None, {"HOME": "/nonexistent"})
    for name, child in loaded.children.items():
        module = child.command[-1].replace(".", "/")
        places = [REPOSITORY / f"{module}.py", REPOSITORY / module / "__main__.py"]
        assert any(place.is_file() for place in places), name


def test_the_supervisor_itself_is_small(system: StartSystem) -> None:
    started = system(actors=["bus"])
    assert resident_bytes(started.pid("erisd")) < 60 << 20
