"""One tool call from the model's words to its outcome, in stages.

Refuse, normalise, validate, journal the intent, carry out, journal the outcome. The first three
are pure; every failure is an outcome in plain words that the model can act on.
"""

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from actors.gatekeeper.ledger import CallLedger, digest_of
from actors.gatekeeper.normalisation import normalise
from actors.gatekeeper.offer import example_call
from actors.gatekeeper.permissions import why_not
from actors.gatekeeper.registry import RegisteredTool, Registry
from actors.gatekeeper.schemas import Validators, nearest
from eris.errors import ErisError, InvalidError, RemoteError, StorageError
from proto.errors import ErrorCode
from proto.gatekeeper import Invoke, Invoked
from proto.tools import CallTool, ToolResult

MOST_CONTENT = 256 * 1024
"""Characters of a result that are kept and passed on; the rest is reachable by the tool itself."""

UNSETTLED = frozenset(
    {
        ErrorCode.UNREACHABLE,
        ErrorCode.PEER_RESTARTED,
        ErrorCode.EXPIRED,
        ErrorCode.DRAINING,
        ErrorCode.LOADING,
        ErrorCode.BUSY,
        ErrorCode.OVERRUN,
    }
)
"""Errors after which it isn't known whether the call was carried out, or after which it can be
tried again: the ledger keeps the intent open, and the same call id goes to the owner again."""

Execute = Callable[[str, CallTool], ToolResult]
"""Has a call carried out by the named owner; raises `RemoteError`."""


@dataclass(frozen=True)
class Refusal:
    """Why a call isn't carried out."""

    code: str
    content: str


@dataclass(frozen=True)
class Approved:
    """A call that may be carried out, with its arguments as the tool wants them."""

    tool: RegisteredTool
    arguments: Mapping[str, Any]


def approve(
    invoke: Invoke, registry: Registry, denied: Collection[str], validators: Validators
) -> Approved | Refusal:
    """Decide about a call."""
    found = authorise(invoke, registry, denied)
    if isinstance(found, Refusal):
        return found
    return fit(invoke, found, validators)


def authorise(
    invoke: Invoke, registry: Registry, denied: Collection[str]
) -> RegisteredTool | Refusal:
    """Check that the tool exists, was offered, and may be used by who started the turn.

    The permission is looked up here again although the offer was made by it: settings and registry
    may have changed since, and an offer is no permission.
    """
    tool = registry.get(invoke.tool)
    if tool is None or invoke.tool not in invoke.offered:
        choice = ", ".join(name for name in invoke.offered if registry.get(name)) or "none"
        near = nearest(invoke.tool, invoke.offered)
        asked = f"Did you mean {near}? " if near else ""
        problem = "There is no tool" if tool is None else "This turn has no tool"
        return Refusal(
            ErrorCode.NOT_FOUND if tool is None else ErrorCode.DENIED,
            f"{problem} {invoke.tool[:80]}. {asked}Tools you can call: {choice}.",
        )
    reason = why_not(tool.name, tool.declaration.effect, invoke.origin, denied)
    if reason:
        return Refusal(
            ErrorCode.DENIED,
            f"{tool.name} isn't permitted here: {reason}. Don't call it again; tell the user.",
        )
    return tool


def fit(invoke: Invoke, tool: RegisteredTool, validators: Validators) -> Approved | Refusal:
    """Bring the arguments into the tool's own form and check them."""
    example = f"Call it like this: {example_call(tool.name, tool.schema)}"
    try:
        arguments = normalise(invoke.arguments.encode(), tool.schema, tool.declaration.aliases)
    except InvalidError as error:
        problem = f"{tool.name} wasn't called: {error.message}. {error.hint}".strip()
        return Refusal(ErrorCode.INVALID, f"{problem} {example}")
    problems = validators.problems(tool.schema, arguments)
    if problems:
        return Refusal(
            ErrorCode.INVALID, f"{tool.name} wasn't called: {'; '.join(problems)}. {example}"
        )
    return Approved(tool, arguments)


class Pipeline:
    """Carries out calls, each once. Its methods may be called from any thread."""

    def __init__(
        self, ledger: CallLedger, denied: Collection[str], clock: Callable[[], float]
    ) -> None:
        """Create the pipeline.

        Args:
            ledger: Where intents and outcomes are committed.
            denied: The deny list of the settings.
            clock: A clock that only goes forward, in seconds.
        """
        self._ledger = ledger
        self._denied = denied
        self._clock = clock
        self._validators = Validators()

    def run(self, invoke: Invoke, registry: Registry, execute: Execute) -> Invoked:
        """Return the outcome of a call: the recorded one if there is one.

        Raises:
            CancelledWorkError: ``execute`` was cancelled; what came of it isn't known.
        """
        try:
            entry = self._ledger.find(invoke.call_id)
        except StorageError as error:
            return _refused(invoke, Refusal(error.code, f"Nothing was done: {error.message}"))
        same = entry is None or entry.request == digest_of(invoke)
        if entry is not None and same and entry.outcome is not None:
            return msgspec.structs.replace(entry.outcome, repeated=True)
        if entry is not None and not same and entry.executed:
            used = f"The call id {invoke.call_id} was used for another call already."
            return _refused(invoke, Refusal(ErrorCode.CONFLICT, used))
        decision = approve(invoke, registry, self._denied, self._validators)
        if isinstance(decision, Refusal):
            return self._record_refusal(invoke, decision, interrupted=entry is not None and same)
        return self._carry_out(invoke, decision, execute)

    def _record_refusal(self, invoke: Invoke, refusal: Refusal, *, interrupted: bool) -> Invoked:
        outcome = _refused(invoke, refusal)
        if interrupted:
            # It may have been carried out before: what is recorded must not say that it wasn't.
            return outcome
        try:
            self._ledger.intend(invoke, executed=False)
            self._ledger.finish(outcome)
        except StorageError:
            pass  # Nothing was done, so there is nothing to be remembered for.
        return outcome

    def _carry_out(self, invoke: Invoke, approved: Approved, execute: Execute) -> Invoked:
        arguments = msgspec.json.encode(approved.arguments).decode()
        try:
            self._ledger.intend(invoke)
        except StorageError as error:
            return _refused(invoke, Refusal(error.code, f"Nothing was done: {error.message}"))
        call = CallTool(
            call_id=invoke.call_id,
            tool=invoke.tool,
            arguments=arguments,
            origin=invoke.origin,
            session=invoke.session,
            turn=invoke.turn,
            said=invoke.said,
            untrusted=invoke.untrusted,
        )
        begun = self._clock()
        try:
            result = execute(approved.tool.owner, call)
        except RemoteError as error:
            result = _failed(approved.tool, error)
            settled = error.code not in UNSETTLED
        else:
            settled = True
        outcome = Invoked(
            call_id=invoke.call_id,
            tool=invoke.tool,
            arguments=arguments,
            ok=result.ok,
            content=shortened(result.content),
            code="" if result.ok else result.code or ErrorCode.INTERNAL,
            receipt=result.receipt if result.ok else "",
            data=result.data,
            elapsed_ms=round((self._clock() - begun) * 1000),
            untrusted=result.untrusted,
        )
        if settled:
            self._record(outcome)
        return outcome

    def _record(self, outcome: Invoked) -> None:
        for _ in range(2):
            try:
                self._ledger.finish(outcome)
            except StorageError:
                time.sleep(0.05)
            else:
                return
        # The intent stays open; a repetition asks the owner, who knows what it did.


def shortened(content: str) -> str:
    """Return a result that can be kept."""
    if len(content) <= MOST_CONTENT:
        return content
    left_out = len(content) - MOST_CONTENT
    return f"{content[:MOST_CONTENT]}\n[{left_out} more characters aren't shown]"


def _refused(invoke: Invoke, refusal: Refusal) -> Invoked:
    return Invoked(
        call_id=invoke.call_id,
        tool=invoke.tool,
        arguments=invoke.arguments,
        ok=False,
        content=refusal.content,
        code=refusal.code,
    )


def _failed(tool: RegisteredTool, error: ErisError) -> ToolResult:
    if error.code in UNSETTLED:
        content = (
            f"{tool.owner} didn't answer ({error.code}): it isn't known whether {tool.name} was "
            "carried out. Tell the user so."
        )
    else:
        content = f"{tool.name} failed: {error.message} {error.hint}".strip()
    return ToolResult(ok=False, content=content, code=error.code)
