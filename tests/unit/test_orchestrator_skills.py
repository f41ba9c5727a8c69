"""The texts of skills: read as the turn may read, in so many characters, or left out."""

from types import SimpleNamespace

import msgspec
import pytest
import structlog

from actors.orchestrator.cancellation import Cancellation
from actors.orchestrator.journal import TurnRecord
from actors.orchestrator.tool_calls import ToolCalls
from eris.errors import RemoteError
from proto.errors import ErrorBody, ErrorCode
from proto.gatekeeper import Invoked
from proto.orchestrator import TurnState
from proto.tools import Origin

TEXTS = {"minutes": "1. List who was there.", "review": "Look back first.", "long": "line\n" * 999}


class GatekeeperStandIn:
    """Stands at the other end of the bus, with a tool that knows some skills."""

    log = structlog.get_logger()

    def __init__(self, away: bool = False) -> None:
        self.away = away
        self.asked = []

    def ask(self, receiver, request, reply, **_waiting):
        """Answer a call as the gatekeeper does."""
        assert (receiver, reply) == ("gatekeeper", Invoked)
        self.asked.append(request)
        if self.away:
            error = ErrorBody(code=ErrorCode.UNREACHABLE, message="Away.", retryable=True)
            raise RemoteError(error, receiver)
        name = msgspec.json.decode(request.arguments)["name"]
        return Invoked(
            call_id=request.call_id,
            tool=request.tool,
            arguments=request.arguments,
            ok=name in TEXTS,
            content=TEXTS.get(name, "There is no such skill."),
            code="" if name in TEXTS else ErrorCode.NOT_FOUND,
        )


RECORD = TurnRecord(
    turn="t1",
    session="main",
    sequence=0,
    idem="i",
    text="write the minutes",
    origin=Origin.REMINDER,
    surface="console.1",
    accepted=0,
    state=TurnState.RUNNING,
)


def read(names, characters=1000, *, away=False):
    gatekeeper = GatekeeperStandIn(away)
    calls = ToolCalls(RECORD, gatekeeper, Cancellation(), lambda seconds: seconds)
    return SimpleNamespace(text=calls.skills(names, characters), asked=gatekeeper.asked)


def test_skills_are_read_by_the_tool_for_whoever_began_the_turn():
    got = read(["minutes", "review"])
    assert got.text == (
        "[skill minutes]\n1. List who was there.\n[skill review]\nLook back first.\n"
    )
    assert [call.call_id for call in got.asked] == ["t1.skill.0", "t1.skill.1"]
    assert {call.tool for call in got.asked} == {"skills:read"}
    assert {call.offered for call in got.asked} == {("skills:read",)}
    assert {call.origin for call in got.asked} == {Origin.REMINDER}


@pytest.mark.parametrize("names", [["gone", "minutes"], ["minutes", "gone"]])
def test_a_skill_that_cannot_be_read_is_left_out(names):
    assert read(names).text == "[skill minutes]\n1. List who was there.\n"


def test_a_turn_goes_on_without_skills_while_the_gatekeeper_is_away():
    assert read(["minutes"], away=True).text == ""


def test_a_long_skill_gets_the_characters_that_there_are():
    assert 400 < len(read(["long"], 500).text) <= 500
    assert read(["long"], 50).text == ""
