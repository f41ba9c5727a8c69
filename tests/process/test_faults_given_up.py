"""A process that the supervisor has given up: whoever needs it says so at once."""

import json
from collections.abc import Iterator

import pytest

from proto.orchestrator import TurnState
from tests.process.faults_support import Talk, by_the_model
from tests.supervised import Supervised, supervised

pytestmark = [pytest.mark.process, pytest.mark.model]

NEVER_AGAIN = "\n".join(
    f'[actor.{name}]\nrestart = "temporary"' for name in ("router", "gatekeeper", "orchestrator")
)


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Supervised]:
    extra = {
        "ERIS_MODEL_CHAT": "smollm2-135m",
        "ERIS_GENERATION_MAX_TOKENS": "60",
        "ERIS_TURN_RECOVERY_ATTEMPTS": "0",
    }
    with supervised(tmp_path_factory.mktemp("given-up"), NEVER_AGAIN, extra) as started:
        assert started.start(within=120).state == "ready"
        yield started


def give_up(system: Supervised, name: str) -> None:
    system.kill(name)
    system.wait_state(name, "failed")
    said = system.eris("status")
    assert said.returncode == 1
    assert f"{name} (failed): was killed by SIGKILL" in said.stderr


@pytest.mark.parametrize("name", ["orchestrator", "gatekeeper"])
def test_a_question_is_answered_with_the_process_that_cant_run_and_what_to_do(
    system: Supervised, name: str
) -> None:
    give_up(system, name)
    # Far less than the minute for which one that may come back is waited for.
    refused = system.eris("ask", "--json", "Hello", within=30)
    error = json.loads(refused.stdout)["error"]
    assert (refused.returncode != 0, error["type"]) == (True, "unavailable")
    assert f"The process {name} can't run: was killed by SIGKILL" in error["message"]
    assert f"eris restart {name}" in error["message"] + error["hint"]
    assert system.restart(name).state == "ready"
    assert by_the_model(Talk(system.connect("console")).say("Hello"))


def test_without_a_router_the_model_answers_without_tools_and_nobody_waits(
    system: Supervised,
) -> None:
    talk = Talk(system.connect("console"))
    give_up(system, "router")
    view = talk.say("read ideas.md")
    assert (by_the_model(view), view.offered) == (True, ())
    assert view.usage.route_ms < 9000
    assert system.restart("router").state == "ready"
    assert view.state in {TurnState.DONE, TurnState.FAILED}
