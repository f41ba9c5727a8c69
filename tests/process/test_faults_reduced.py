"""A whole system that has to do without something: its embedder, its supervisor, much context."""

import contextlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from proto.inference import DescribeModel, ModelDescription
from proto.orchestrator import ContextReport, DescribeContext
from proto.router import Route, Routed
from tests.embedding import embedding_folder
from tests.process.faults_support import Talk, actors, by_the_model, mounted
from tests.supervised import Supervised, supervised
from tests.support import wait_until

pytestmark = pytest.mark.process

FINDING = actors("bus", "memory", "vault", "agenda", "gatekeeper", "router")


# Without the embedder's files.


def offers(system: Supervised, text: str) -> Routed:
    """What the router finds, asked as the orchestrator asks."""
    port = system.connect("orchestrator")
    return port.ask("router", Route(text=text), Routed, within=30, retry=True)


def test_without_the_embedders_files_words_find_the_tools_and_status_says_so(
    tmp_path: Path,
) -> None:
    with supervised(tmp_path, FINDING, {"XDG_DATA_HOME": str(tmp_path / "data")}) as system:
        up = system.eris("up")
        assert (up.returncode, system.status().state) == (0, "ready")
        wait_until(lambda: system.actor("memory").detail, 20, "memory says what it lacks")
        for said in (system.actor("memory").detail, system.eris("status").stderr):
            assert "eris models pull minilm-l6-v2-int8" in said
            assert "found by keywords" in said
        for text, tool in (("read ideas.md", "vault:read"), ("What time is it?", "clock:now")):
            routed = offers(system, text)
            assert routed.mode == "keywords"
            assert tool in [hit.tool for hit in routed.hits]
        assert offers(system, "Thank you!").hits == ()
        assert system.actor("memory").restarts == 0


@pytest.mark.model
def test_when_the_embedders_files_arrive_it_is_used_and_status_falls_silent(
    tmp_path: Path,
) -> None:
    with supervised(tmp_path, FINDING, {"XDG_DATA_HOME": str(tmp_path / "data")}) as system:
        assert system.eris("up").returncode == 0
        assert offers(system, "read ideas.md").mode == "keywords"
        there = embedding_folder()
        shutil.copytree(there, tmp_path / "data" / "eris" / "models" / there.name)
        wait_until(lambda: offers(system, "read ideas.md").mode == "semantic", 60, "vectors")
        wait_until(lambda: not system.actor("memory").detail, 20, "status is silent")
        assert system.actor("memory").restarts == 0


# Without a supervisor for good.


@pytest.mark.model
def test_real_actors_that_nobody_adopts_save_their_state_and_leave(tmp_path: Path) -> None:
    extra = {
        "ERIS_ORPHAN_GRACE": "1",
        "ERIS_MODEL_CHAT": "smollm2-135m",
        "ERIS_GENERATION_MAX_TOKENS": "60",
    }
    with supervised(tmp_path, "", extra) as system:
        assert system.start(within=120).state == "ready"
        names = [actor.name for actor in system.status().actors]
        talk = Talk(system.connect("console"))
        turn = talk.submit("Tell me a long story.")
        talk.written(turn)
        system.kill_supervisor()
        wait_until(lambda: not system.survivors(), 40, "orphans gone")
        for name in names:
            note = json.loads((system.paths.runtime / f"exit-{name}.json").read_bytes())
            assert (note["code"], note["reason"]) == (0, "no supervisor"), name
        assert list((system.paths.state / "kv").glob("*.bin"))
        assert system.start(within=120).state == "ready"
        assert by_the_model(talk.end_of(turn))


# Without room on the disk of its state.


def fill(folder: Path) -> Path:
    """Take up all the space there is; returns the file to remove."""
    file = folder / "filler"
    for size in (1 << 20, 1 << 12, 1 << 9):
        with contextlib.suppress(OSError), file.open("ab", buffering=0) as opened:
            while opened.write(b"x" * size):
                pass
    return file


@pytest.mark.model
def test_with_a_full_disk_no_turn_is_accepted_that_could_be_lost(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir()
    extra = {
        "ERIS_MODEL_CHAT": "smollm2-135m",
        "ERIS_GENERATION_MAX_TOKENS": "60",
        "ERIS_TURN_RECOVERY_ATTEMPTS": "0",
    }
    with (
        mounted(state, "-t", "tmpfs", "-o", "size=40m", "none"),
        supervised(tmp_path, "", extra) as system,
    ):
        before = system.start(within=120)
        assert before.state == "ready"
        talk = Talk(system.connect("console"))
        first = talk.say("Hello")
        assert by_the_model(first)
        # The journal can still use the room that it has on the disk already, and a replaced KV
        # state gives some back. Then it refuses.
        for number in range(15):
            filler = fill(state)
            text = f"Are you there? {number} {'so much to say ' * 200}"
            answer = json.loads(system.eris("ask", "--json", text).stdout)
            if answer.get("error", {}).get("type") == "storage":
                break
        assert answer.get("error", {}).get("type") == "storage"
        assert "is full" in answer["error"]["message"]
        # Logs can't be written either; that costs no process its life.
        after = system.status()
        assert [actor.pid for actor in after.actors] == [actor.pid for actor in before.actors]
        assert after.state == "ready"
        filler.unlink()
        assert by_the_model(talk.say("And now?"))
        seen = next(seen for seen in talk.follow() if seen.turns)
        assert [view.text for view in seen.turns] == ["Hello", "And now?"]


# With little context.


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Supervised]:
    extra = {
        "ERIS_MODEL_CHAT": "smollm2-135m",
        "ERIS_MODEL_CONTEXT_LENGTH": "1024",
        "ERIS_GENERATION_MAX_TOKENS": "120",
        "ERIS_TURN_RECOVERY_ATTEMPTS": "0",
    }
    with supervised(tmp_path_factory.mktemp("narrow"), "", extra) as system:
        assert system.start(within=120).state == "ready"
        yield system


@pytest.mark.model
def test_a_conversation_longer_than_the_context_goes_on(narrow: Supervised) -> None:
    talk = Talk(narrow.connect("console"))
    told = [talk.say(f"Number {number}: {'so much to say ' * 20}") for number in range(6)]
    assert all(by_the_model(view) for view in told)
    assert all(view.usage.prompt < 1024 for view in told)
    body = DescribeContext(session=talk.session)
    report = talk.port.ask("orchestrator", body, ContextReport, within=30)
    # What the settings ask for, what the model's process has, and what is reported are the same.
    described = talk.port.ask("inference", DescribeModel(), ModelDescription, within=10)
    assert described.context_length == report.context_length == 1024
    assert report.condensed_turns > 0
    assert report.total + report.reserved <= 1024


@pytest.mark.model
def test_what_can_never_fit_is_refused_with_the_numbers_and_the_session_goes_on(
    narrow: Supervised,
) -> None:
    said = "The key word is lighthouse. " + "Some more words to read. " * 2000
    refused = narrow.eris("ask", "--json", "--session", "long", said)
    document = json.loads(refused.stdout)
    assert (refused.returncode, document["error"]["type"]) == (1, "context-full")
    assert "the context has 1024" in document["message"]
    tokens = int(document["message"].split("(")[1].split(" tokens")[0])
    assert tokens > 8000
    assert by_the_model(Talk(narrow.connect("console"), "long").say("Hello"))
