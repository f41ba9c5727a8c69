"""The form of answers that the settings choose, from the prompt to the journal."""

import time

import pytest

from actors.orchestrator.journal import Journal
from actors.orchestrator.steps import AnswerStep, OfferStep
from eris.envelope import parse_envelope, render_envelope
from eris.grammar import FORMS
from proto.orchestrator import TurnState
from tests.process.orchestrator_support import Talk

pytestmark = [pytest.mark.process, pytest.mark.model, pytest.mark.timeout(900)]

ACTORS = ["bus", "inference", "memory", "router", "gatekeeper", "vault", "agenda", "orchestrator"]
LONG = 400.0


def test_answers_are_written_in_the_chosen_form_and_their_kv_state_is_reused(system, tmp_path):
    form = "indented"  # The one that differs most from the usual one.
    eris = system(actors=ACTORS, extra={"ERIS_GENERATION_FORM": form})
    talk = Talk(eris, tmp_path)
    ended = [talk.say(text, within=LONG) for text in ("Hello!", "What time is it?", "Thank you.")]
    assert all(view.state in {TurnState.DONE, TurnState.FAILED} for view in ended)
    usage = ended[-1].usage
    assert usage.prefilled / usage.prompt <= 0.35
    journal = Journal(eris.paths.state / "orchestrator.sqlite", time.time)
    steps = [step for view in ended for step in journal.steps(view.turn)]
    assert {step.form for step in steps if isinstance(step, OfferStep)} == {form}
    written = [step.text for step in steps if isinstance(step, AnswerStep) and not step.cut]
    assert written
    for text in written:
        assert text == render_envelope(parse_envelope(text), FORMS[form])
