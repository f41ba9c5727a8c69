"""The router among the real actors: with the embedder, without it, and through restarts."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from eris.actor import Port
from proto.control import Done
from proto.router import RegisterSkills, Route, Routed, SkillSummary
from tests.embedding import embedding_folder
from tests.support import Processes, processes, wait_until

pytestmark = pytest.mark.process


def route(port: Port, text: str, context: str = "", limit: int = 5) -> Routed:
    return port.ask(
        "router", Route(text=text, context=context, limit=limit), Routed, within=20, retry=True
    )


def tools(port: Port, text: str, context: str = "") -> list[str]:
    return [hit.tool for hit in route(port, text, context).hits]


def start_tools(group: Processes) -> Port:
    group.start("bus")
    for name in ("gatekeeper", "vault", "agenda", "router"):
        group.start(name, ready=False)
    port = group.connect("orchestrator")
    wait_until(lambda: len(tools(port, "vault:read vault:write clock:now")) == 3, 30)
    return port


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Processes, Port]]:
    with processes(tmp_path_factory.mktemp("alone")) as group:
        yield group, start_tools(group)


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("What time is it", "clock:now"),
        ("read ideas.md", "vault:read"),
        ("Save a note in notes/today.md saying that I should buy milk", "vault:write"),
        ("list my notes", "vault:list"),
        ("search my notes for budget", "vault:search"),
    ],
)
def test_without_the_embedder_words_find_the_tool(
    alone: tuple[Processes, Port], text: str, tool: str
) -> None:
    routed = route(alone[1], text)
    assert routed.mode == "keywords"
    assert [hit.tool for hit in routed.hits][:1] == [tool]


@pytest.mark.parametrize("text", ["hello", "thanks!", "how are you?", "tell me a joke", "", " "])
def test_small_talk_has_no_tools(alone: tuple[Processes, Port], text: str) -> None:
    assert tools(alone[1], text) == []


def test_a_follow_up_finds_the_note_of_the_turn_before(alone: tuple[Processes, Port]) -> None:
    before = "Save a note in notes/today.md saying that I should buy milk"
    assert tools(alone[1], "and what does it say?", before)[0] == "vault:read"


def test_the_asker_limits_the_number_of_tools(alone: tuple[Processes, Port]) -> None:
    assert len(route(alone[1], "add eggs to shopping.md", limit=1).hits) == 1


def test_tools_stay_known_while_the_gatekeeper_is_away(alone: tuple[Processes, Port]) -> None:
    group, port = alone
    group.kill("gatekeeper")
    assert tools(port, "read ideas.md") == ["vault:read"]
    group.start("gatekeeper")


def test_a_restarted_router_knows_the_tools_at_once(alone: tuple[Processes, Port]) -> None:
    group, port = alone
    group.kill("router")
    group.start("router", ready=False)
    assert tools(port, "read ideas.md") == ["vault:read"]


def test_a_tool_that_is_registered_later_is_found_though_the_embedder_is_away(
    tmp_path: Path,
) -> None:
    with processes(tmp_path) as group:
        group.start("bus")
        for name in ("gatekeeper", "vault", "router"):
            group.start(name, ready=False)
        port = group.connect("orchestrator")
        wait_until(lambda: tools(port, "read ideas.md") == ["vault:read"], 30)
        assert tools(port, "what time is it") == []
        group.start("agenda")
        wait_until(lambda: tools(port, "what time is it") == ["clock:now"], 10)


def test_the_skills_that_the_vault_tells_of_are_found(tmp_path: Path) -> None:
    minutes = SkillSummary(name="meeting-minutes", description="Turns a transcript into minutes.")
    said = "turn this transcript into minutes"
    with processes(tmp_path) as group:
        group.start("bus")
        group.start("router")
        vault, port = group.connect("vault"), group.connect("orchestrator")
        for skills, names in (((minutes,), ("meeting-minutes",)), ((), ())):
            vault.ask("router", RegisterSkills(skills=skills), Done, within=20, retry=True)
            assert route(port, said).skills == names
            assert route(port, "tell me a joke").skills == ()


@pytest.mark.model
def test_the_embedder_is_used_when_it_comes_and_missed_when_it_goes(
    alone: tuple[Processes, Port],
) -> None:
    embedding_folder()
    group, port = alone
    group.start("memory", ready=False)
    wait_until(lambda: route(port, "how late is it").mode == "semantic", 40)
    assert tools(port, "do you happen to know the hour") == ["clock:now"]
    assert tools(port, "tell me a joke") == []
    assert (group.paths.state / "router" / "vectors.sqlite").is_file()
    group.kill("memory")
    routed = route(port, "what time is it")
    assert (routed.mode, [hit.tool for hit in routed.hits]) == ("keywords", ["clock:now"])
    group.start("memory", ready=False)
    wait_until(lambda: route(port, "how late is it").mode == "semantic", 40)
