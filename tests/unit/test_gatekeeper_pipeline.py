"""One call from the model's words to its outcome, carried out once."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from actors.gatekeeper.ledger import CallLedger
from actors.gatekeeper.pipeline import MOST_CONTENT, UNSETTLED, Approved, Pipeline, approve
from actors.gatekeeper.registry import Registry
from actors.gatekeeper.schemas import Validators
from eris.errors import CancelledWorkError, RemoteError
from proto.errors import ErrorBody, ErrorCode
from proto.gatekeeper import Invoke, Invoked
from proto.tools import CallTool, Effect, Origin, ToolDeclaration, ToolResult

PARAMETERS = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "content": {"type": "string"},
        "mode": {"enum": ["append", "overwrite"]},
    },
    "required": ["path", "content"],
    "additionalProperties": False,
}
NO_PARAMETERS = {"type": "object", "properties": {}, "additionalProperties": False}


def declared(name: str, schema: object, effect: Effect) -> ToolDeclaration:
    return ToolDeclaration(
        name=name,
        description="A tool.",
        hints=(),
        parameters=json.dumps(schema),
        aliases={"file": "path"} if schema is PARAMETERS else {},
        effect=effect,
    )


REGISTRY = (
    Registry()
    .with_tools("vault", [declared("vault:write", PARAMETERS, Effect.WRITE)])
    .with_tools("agenda", [declared("clock:now", NO_PARAMETERS, Effect.READ)])
)
WRITE = '{"path": "a.md", "content": "milk"}'


def call(tool: str = "vault:write", arguments: str = WRITE, **fields: object) -> Invoke:
    base = Invoke(
        call_id="t1.1.0",
        tool=tool,
        arguments=arguments,
        origin=Origin.USER,
        offered=("vault:write", "clock:now"),
        session="main",
        turn="t1",
    )
    return msgspec.structs.replace(base, **fields)


class Owner:
    """Stands for the actors that own tools: answers, and counts what reaches it."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, CallTool]] = []
        self.answer: Callable[[], ToolResult] = lambda: ToolResult(
            ok=True, content="Saved.", receipt="saved a.md", data={"bytes": 4}
        )

    def __call__(self, owner: str, request: CallTool) -> ToolResult:
        self.calls.append((owner, request))
        return self.answer()

    def fail(self, code: str) -> None:
        def answer() -> ToolResult:
            raise RemoteError(ErrorBody(code=code, message="It failed.", hint="Wait."), "vault")

        self.answer = answer


class Desk:
    """A pipeline over a ledger, with an owner."""

    def __init__(self, path: Path, denied: tuple[str, ...] = ()) -> None:
        self.path = path
        self.owner = Owner()
        self.ledger = CallLedger(path, lambda: 0.0)
        self.pipeline = Pipeline(self.ledger, denied, lambda: 0.0)

    def run(self, invoke: Invoke) -> Invoked:
        return self.pipeline.run(invoke, REGISTRY, self.owner)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    opened = Desk(tmp_path / "gatekeeper.sqlite")
    yield opened
    opened.ledger.close()


@pytest.mark.parametrize(
    ("invoke", "denied", "code", "words"),
    [
        (call("vault:wrte"), (), "not-found", "Did you mean vault:write?"),
        (call("x:y"), (), "not-found", "Tools you can call: vault:write, clock:now"),
        (call(offered=("clock:now",)), (), "denied", "This turn has no tool vault:write"),
        (call(offered=()), (), "denied", "Tools you can call: none"),
        (call(origin=Origin.CHANNEL), (), "denied", "a message from outside may not change"),
        (call(), ("vault:write",), "denied", "switched off in the settings"),
        (call(), ("vault:*",), "denied", "switched off in the settings"),
        (call(arguments="{oops"), (), "invalid", "aren't valid JSON"),
        (call(arguments='{"path": "a.md"}'), (), "invalid", "content is missing"),
        (call(arguments='{"pth": "a", "content": "b"}'), (), "invalid", "did you mean path?"),
        (call(arguments='{"path": "a", "content": "b", "mode": 1}'), (), "invalid", "mode must be"),
        (call("clock:now", '{"zone": "UTC"}'), (), "invalid", "it takes no arguments"),
    ],
)
def test_a_call_that_must_not_be_made_is_refused_in_plain_words(
    invoke: Invoke, denied: tuple[str, ...], code: str, words: str
) -> None:
    decision = approve(invoke, REGISTRY, denied, Validators())
    assert not isinstance(decision, Approved)
    assert decision.code == code
    assert words in decision.content


@pytest.mark.parametrize("arguments", ["", '""', "null", "{}", '{"zone": null}'])
def test_a_tool_without_arguments_takes_nothing_in_every_form(arguments: str) -> None:
    decision = approve(call("clock:now", arguments), REGISTRY, (), Validators())
    assert isinstance(decision, Approved)
    assert decision.arguments == {}


def test_wrong_arguments_are_answered_with_a_right_call(desk: Desk) -> None:
    refused = desk.run(call(arguments="{}"))
    assert 'Call it like this: {"name": "vault:write", "args": {"path": ' in refused.content
    assert desk.owner.calls == []


def test_the_owner_gets_the_arguments_in_its_own_form(desk: Desk) -> None:
    done = desk.run(call(arguments='{"file": "a.md", "content": "milk", "mode": null}'))
    ((owner, request),) = desk.owner.calls
    assert owner == "vault"
    assert json.loads(request.arguments) == {"path": "a.md", "content": "milk"}
    assert request.call_id == "t1.1.0"
    assert json.loads(done.arguments) == {"path": "a.md", "content": "milk"}
    assert (done.ok, done.content, done.receipt) == (True, "Saved.", "saved a.md")
    assert done.data == {"bytes": 4}


def test_asking_again_returns_the_first_outcome_and_does_nothing(desk: Desk) -> None:
    first = desk.run(call())
    desk.owner.fail(ErrorCode.STORAGE)
    again = desk.run(call())
    assert again == msgspec.structs.replace(first, repeated=True)
    assert len(desk.owner.calls) == 1
    assert desk.ledger.entries("t1") == (first,)


def test_after_a_crash_the_owner_is_asked_again_under_the_same_id(desk: Desk) -> None:
    desk.ledger.intend(call())
    desk.ledger.close()
    restarted = Desk(desk.path)
    outcome = restarted.run(call())
    assert outcome.ok
    assert [request.call_id for _, request in restarted.owner.calls] == ["t1.1.0"]
    restarted.ledger.close()


@pytest.mark.parametrize("code", sorted(UNSETTLED))
def test_an_owner_that_is_away_leaves_the_intent_open(desk: Desk, code: str) -> None:
    desk.owner.fail(code)
    missing = desk.run(call())
    assert not missing.ok
    assert "isn't known whether vault:write was carried out" in missing.content
    assert desk.ledger.entries("t1") == ()
    desk.owner = Owner()
    assert desk.run(call()).ok
    assert len(desk.ledger.entries("t1")) == 1


def test_an_error_of_the_owner_is_a_final_outcome(desk: Desk) -> None:
    desk.owner.fail(ErrorCode.INTERNAL)
    failed = desk.run(call())
    assert (failed.ok, failed.code) == (False, "internal")
    assert failed.content == "vault:write failed: It failed. Wait."
    assert desk.run(call()).repeated


def test_a_failed_call_has_no_receipt(desk: Desk) -> None:
    desk.owner.answer = lambda: ToolResult(ok=False, content="Disk full.", receipt="saved a.md")
    failed = desk.run(call())
    assert (failed.receipt, failed.content) == ("", "Disk full.")
    assert failed.code


def test_a_refused_call_is_recorded_and_can_be_corrected_under_its_id(desk: Desk) -> None:
    assert desk.run(call(arguments="{}")).code == "invalid"
    assert desk.run(call(arguments="{}")).repeated
    assert desk.run(call()).ok
    assert [entry.ok for entry in desk.ledger.entries("t1")] == [True]


def test_a_used_call_id_cannot_be_used_for_another_call(desk: Desk) -> None:
    desk.run(call())
    other = desk.run(call(arguments='{"path": "b.md", "content": "eggs"}'))
    assert (other.ok, other.code) == (False, "conflict")
    assert len(desk.owner.calls) == 1


def test_an_interrupted_call_that_is_refused_now_stays_open(desk: Desk) -> None:
    desk.ledger.intend(call())
    strict = Pipeline(desk.ledger, ("vault:write",), lambda: 0.0)
    assert strict.run(call(), REGISTRY, desk.owner).code == "denied"
    assert desk.ledger.entries("t1") == ()


def test_a_cancelled_call_stays_open(desk: Desk) -> None:
    def cancelled() -> ToolResult:
        raise CancelledWorkError("Cancelled.")

    desk.owner.answer = cancelled
    with pytest.raises(CancelledWorkError):
        desk.run(call())
    entry = desk.ledger.find("t1.1.0")
    assert entry is not None
    assert entry.outcome is None


def test_without_a_written_intent_nothing_is_done(desk: Desk) -> None:
    lock = sqlite3.connect(desk.path, isolation_level=None)
    desk.ledger._connection.execute("PRAGMA busy_timeout = 0")
    lock.execute("BEGIN IMMEDIATE")
    refused = desk.run(call())
    lock.close()
    assert (refused.ok, refused.code) == (False, "storage")
    assert "Nothing was done" in refused.content
    assert desk.owner.calls == []
    assert desk.run(call()).ok


def test_a_huge_result_is_cut_and_stays_the_same(desk: Desk) -> None:
    desk.owner.answer = lambda: ToolResult(ok=True, content="x" * (MOST_CONTENT + 5))
    done = desk.run(call())
    assert done.content.endswith("[5 more characters aren't shown]")
    assert desk.run(call()).content == done.content
