"""A whole system whose model file is bad, or goes away."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.process.faults_support import Talk, actors, by_the_model, model_file
from tests.supervised import Supervised, supervised

pytestmark = [pytest.mark.process, pytest.mark.model]

TALKING = actors("bus", "inference", "vault", "agenda", "gatekeeper", "router", "orchestrator")
SMALL = "smollm2-135m"


def truncated(source: Path, file: Path) -> str:
    with source.open("rb") as whole:
        file.write_bytes(whole.read(40_000_000))
    return "is truncated: it needs 98362432 bytes and has 40000000"


def no_gguf(source: Path, file: Path) -> str:
    file.write_text("just text")
    return "is not a GGUF file"


def empty(source: Path, file: Path) -> str:
    file.touch()
    return "is not a GGUF file"


def missing(source: Path, file: Path) -> str:
    return "There is no model file"


def choose(system: Supervised, model: str) -> None:
    """Write the model into the vault's settings, as a user would."""
    settings = system.vault / ".eris" / "config.toml"
    settings.write_text(f"[model]\nchat = {json.dumps(model)}\n")


def inference_starts(system: Supervised) -> int:
    return len(system.events("spawned", "inference"))


@pytest.mark.parametrize("spoil", [truncated, no_gguf, empty, missing])
def test_a_file_that_is_no_model_is_reported_once_in_its_own_words(
    tmp_path: Path, spoil: Callable[[Path, Path], str]
) -> None:
    with supervised(tmp_path, actors("bus", "inference")) as system:
        bad = tmp_path / "bad model.gguf"
        words = spoil(model_file(SMALL, system.environ), bad)
        choose(system, str(bad))
        up = system.eris("up")
        assert up.returncode == 1
        assert "inference (failed): " in up.stderr
        for told in (up.stderr, system.eris("status").stderr, system.actor("inference").detail):
            assert words in told
            assert str(bad) in told
        assert (system.status().state, inference_starts(system)) == ("degraded", 1)


def test_a_question_to_a_model_that_cannot_be_loaded_is_answered_with_what_to_do(
    tmp_path: Path,
) -> None:
    with supervised(tmp_path, TALKING) as system:
        bad = tmp_path / "bad.gguf"
        words = truncated(model_file(SMALL, system.environ), bad)
        choose(system, str(bad))
        assert system.eris("up").returncode == 1
        asked = system.eris("ask", "hello", within=60)
        assert (asked.returncode, asked.stdout) == (1, "")
        assert words in asked.stderr
        assert "eris restart inference" in asked.stderr
        document = json.loads(system.eris("ask", "--json", "hello", within=60).stdout)
        assert (document["ok"], document["error"]["type"]) == (False, "unavailable")
        assert words in document["error"]["message"]
        assert inference_starts(system) == 1

        choose(system, SMALL)
        assert system.eris("restart", "inference").returncode == 0
        assert system.status().state == "ready"
        assert by_the_model(Talk(system.connect("console")).say("hello"))


def test_a_model_file_that_vanishes_costs_nothing_until_the_next_start(tmp_path: Path) -> None:
    with supervised(tmp_path, TALKING) as system:
        file = tmp_path / "mine.gguf"
        shutil.copyfile(model_file(SMALL, system.environ), file)
        choose(system, str(file))
        assert system.start(within=120).state == "ready"
        talk = Talk(system.connect("console"))
        file.rename(tmp_path / "moved")
        assert by_the_model(talk.say("hello"))

        restarted = system.eris("restart", "inference")
        assert restarted.returncode != 0
        assert f"There is no model file {file}" in restarted.stderr
        assert system.actor("inference").state == "failed"
        lost = talk.say("are you there?")
        assert (lost.state, lost.error) == ("failed", "unavailable")
        assert str(file) in lost.message

        (tmp_path / "moved").rename(file)
        assert system.eris("restart", "inference").returncode == 0
        assert by_the_model(talk.say("and now?"))


def removed_and_killed(system: Supervised, file: Path) -> None:
    file.unlink()
    system.kill("inference")


def cut_off(system: Supervised, file: Path) -> None:
    """The next look at the missing part kills the process by SIGBUS."""
    os.truncate(file, 1_000_000)


@pytest.mark.parametrize("take_away", [removed_and_killed, cut_off])
def test_a_turn_ends_when_the_model_goes_for_good_while_it_answers(
    tmp_path: Path, take_away: Callable[[Supervised, Path], None]
) -> None:
    """Nobody waits for what can't come back."""
    with supervised(tmp_path, TALKING) as system:
        file = tmp_path / "mine.gguf"
        shutil.copyfile(model_file(SMALL, system.environ), file)
        choose(system, str(file))
        assert system.start(within=120).state == "ready"
        talk = Talk(system.connect("console"))
        turn = talk.submit("Tell me a long story.")
        assert talk.written(turn).state == "running"
        take_away(system, file)
        ended = talk.end_of(turn, within=60)
        assert (ended.state, ended.error) == ("failed", "unavailable")
        assert "eris restart inference" in ended.message
