"""Turns through the real bus, orchestrator, gatekeeper, vault and router, with a scripted model."""

import pytest

from proto.orchestrator import (
    TurnState,
)
from tests.process.orchestrator_support import ACTORS, Talk, says, writes
from tests.support import processes

pytestmark = pytest.mark.process

SAVE = "Save a note in notes/today.md saying that I should buy milk."
SAVED = says("I saved it in notes/today.md.")


@pytest.fixture
def talk(tmp_path):
    script = tmp_path / "script"
    script.mkdir()
    with processes(tmp_path, {"ERIS_SCRIPT": str(script)}) as system:
        system.start("bus")
        system.start("inference", "tests.problem_actors.scripted_inference", ready=False)
        for name in ACTORS:
            system.start(name, ready=False)
        for name in ("inference", *ACTORS):
            system.wait_ready(name)
        yield Talk(system, script)


def note(talk, path="notes/today.md"):
    return (talk.system.vault / path).read_text()


def test_a_note_is_saved_and_the_answer_says_so(talk):
    talk.script(writes(), SAVED)
    view = talk.say(SAVE)
    assert view.state is TurnState.DONE
    assert view.message == "I saved it in notes/today.md."
    assert "buy milk" in note(talk)
    (call,) = view.calls
    assert (call.tool, call.state) == ("vault:write", "ok")
    assert call.receipt.startswith("created notes/today.md")
    assert "vault:write" in view.offered
    assert view.usage.rounds == 2
    assert view.usage.segments["identity"] > 0
