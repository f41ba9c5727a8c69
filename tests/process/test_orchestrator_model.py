"""Turns with real models, through every real process."""

import os

import pytest

from eris.models.store import ModelStore, Presence
from eris.paths import models_folder
from proto.control import Done
from proto.orchestrator import CancelTurn, Progress, TurnState
from tests.process.orchestrator_support import Talk, running

pytestmark = [pytest.mark.process, pytest.mark.model, pytest.mark.timeout(900)]

ACTORS = ["bus", "inference", "memory", "router", "gatekeeper", "vault", "agenda", "orchestrator"]
LONG = 400.0


DEFAULT = "qwen2.5-coder-0.5b"


@pytest.fixture
def default_model():
    known = {status.entry.name: status for status in ModelStore(models_folder(os.environ)).list()}
    if known[DEFAULT].presence is not Presence.PRESENT:
        pytest.skip(f"needs the model {DEFAULT}: eris models pull {DEFAULT}")
    return DEFAULT


def test_buy_milk(system, tmp_path, default_model):
    """The small default model saves a note, says so, and reads it back."""
    eris = system(actors=ACTORS, model=default_model)
    talk = Talk(eris, tmp_path)
    saved = talk.say("Save a note in notes/today.md saying that I should buy milk.", within=LONG)
    assert saved.state is TurnState.DONE
    assert "milk" in (eris.vault / "notes/today.md").read_text()
    assert [call.receipt.split(" (")[0] for call in saved.calls] == ["created notes/today.md"]
    assert "notes/today.md" in saved.message
    told = talk.say("What does my note notes/today.md say?", within=LONG)
    assert "milk" in told.message
    assert told.calls[0].tool == "vault:read"


def test_later_turns_compute_little_of_their_prompt(system, tmp_path):
    """Whatever a tiny model answers: its turns end, and reuse what was computed before."""
    eris = system(actors=ACTORS)
    talk = Talk(eris, tmp_path)
    texts = ["Hello!", "What time is it?", "Thank you.", "Tell me a joke.", "Good night!"]
    ended = [talk.say(text, within=LONG) for text in texts]
    assert all(view.state in {TurnState.DONE, TurnState.FAILED} for view in ended)
    usage = ended[-1].usage
    assert usage.prefilled / usage.prompt <= 0.35
    assert sum(usage.segments.values()) == usage.prompt
    assert eris.status().state == "ready"


def test_cancel_stops_the_real_model(system, tmp_path):
    eris = system(actors=ACTORS)
    talk = Talk(eris, tmp_path)
    turn = talk.submit("Tell me a very long story.").turn
    talk.until(
        lambda event: (
            running(turn)(event) or (isinstance(event, Progress) and event.phase == "writing")
        ),
        within=LONG,
    )
    talk.port.ask("orchestrator", CancelTurn(session=talk.session, turn=turn), Done, within=5)
    assert talk.end_of(turn, within=5).state is TurnState.CANCELLED
