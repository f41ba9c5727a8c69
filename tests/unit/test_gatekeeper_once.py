"""Whatever is asked, dies or stays away: a call acts at most once, and receipts tell the truth."""

import json
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from actors.gatekeeper.ledger import CallLedger
from actors.gatekeeper.pipeline import Pipeline
from actors.gatekeeper.registry import Registry
from eris.errors import RemoteError
from proto.errors import ErrorBody, ErrorCode
from proto.gatekeeper import Invoke, Invoked
from proto.tools import CallTool, Effect, Origin, ToolDeclaration, ToolResult

TOOL = ToolDeclaration(
    name="vault:write",
    description="Write.",
    hints=(),
    parameters=json.dumps(
        {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    ),
    effect=Effect.WRITE,
)
REGISTRY = Registry().with_tools("vault", [TOOL])
CALL_IDS = st.sampled_from(["t1.1.0", "t1.1.1", "t2.1.0"])
ARGUMENTS = st.sampled_from(['{"text": "a"}', '{"text": "b"}', '{"txt": "a"}', "oops"])


class Calls(RuleBasedStateMachine):
    """Asks, crashes and an owner that answers, refuses, or is lost before or after it acted."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "gatekeeper.sqlite"
        self.effects: list[tuple[str, str]] = []
        self.receipts: dict[str, str] = {}
        self.seen: dict[str, Invoked] = {}
        self.fate = "answers"
        self.start()

    def start(self) -> None:
        self.ledger = CallLedger(self.path, lambda: 0.0)
        self.pipeline = Pipeline(self.ledger, (), lambda: 0.0)

    def owner(self, _name: str, call: CallTool) -> ToolResult:
        """Keeps the contract of owners: the first result for a call id that it knows."""
        if self.fate == "lost before":
            raise RemoteError(ErrorBody(code=ErrorCode.UNREACHABLE, message="Away."), "vault")
        if self.fate == "refuses" and call.call_id not in self.receipts:
            return ToolResult(ok=False, content="Disk full.", code=ErrorCode.STORAGE)
        if call.call_id not in self.receipts:
            self.effects.append((call.call_id, call.arguments))
            self.receipts[call.call_id] = f"wrote {call.arguments}"
        if self.fate == "lost after":
            raise RemoteError(ErrorBody(code=ErrorCode.EXPIRED, message="Late."), "vault")
        return ToolResult(ok=True, content="Done.", receipt=self.receipts[call.call_id])

    @rule(fate=st.sampled_from(["answers", "refuses", "lost before", "lost after"]))
    def the_owner_changes(self, fate: str) -> None:
        self.fate = fate

    @rule()
    def the_gatekeeper_dies_and_is_started_again(self) -> None:
        self.ledger.close()
        self.start()

    @rule(call_id=CALL_IDS, arguments=ARGUMENTS)
    def somebody_asks(self, call_id: str, arguments: str) -> None:
        invoke = Invoke(
            call_id=call_id,
            tool="vault:write",
            arguments=arguments,
            origin=Origin.USER,
            offered=("vault:write",),
            session="main",
            turn=call_id.partition(".")[0],
        )
        outcome = self.pipeline.run(invoke, REGISTRY, self.owner)
        assert outcome.call_id == call_id
        assert outcome.ok == bool(outcome.receipt)
        if outcome.ok:
            assert outcome.receipt == self.receipts[call_id]
            first = self.seen.setdefault(call_id, outcome)
            assert (outcome.arguments, outcome.content) == (first.arguments, first.content)
            assert outcome.repeated == (outcome is not first)

    @invariant()
    def a_call_acts_at_most_once(self) -> None:
        acted = [call_id for call_id, _ in self.effects]
        assert len(acted) == len(set(acted))

    @invariant()
    def the_ledger_has_every_receipt_that_was_given_and_no_other(self) -> None:
        entries = [entry for turn in ("t1", "t2") for entry in self.ledger.entries(turn)]
        given = {entry.call_id: entry.receipt for entry in entries if entry.ok}
        assert given == {call_id: outcome.receipt for call_id, outcome in self.seen.items()}

    def teardown(self) -> None:
        self.ledger.close()
        self.folder.cleanup()


TestCalls = Calls.TestCase
TestCalls.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
