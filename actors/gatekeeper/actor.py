"""The gatekeeper's process: the registry, offers, and calls that are carried out once."""

import time
from functools import partial
from typing import ClassVar

import msgspec

from actors.gatekeeper.inflight import InFlight
from actors.gatekeeper.ledger import CallLedger, digest_of
from actors.gatekeeper.offer import offer, offered_set
from actors.gatekeeper.permissions import is_denied
from actors.gatekeeper.pipeline import UNSETTLED, Pipeline
from actors.gatekeeper.registry import Registry, recall, remember
from eris.actor import Actor, Deferred, Port, Request, Topic
from eris.config import SCHEMA_ENGINES
from eris.errors import CancelledWorkError, ConflictError, ErisError, InvalidError
from eris.grammar import FORMS, EnvelopeLimits, SubsetCache
from proto.control import Done
from proto.gatekeeper import (
    Invoke,
    Invoked,
    Ledger,
    LedgerEntries,
    ListTools,
    Offer,
    RegisterTools,
    RegistryChanged,
    ToolList,
)
from proto.tools import CallTool, Effect, ToolResult

TOPIC = "tools"
"""Subscription that tells of every change of the registry."""

MOST_CALLS = 2
"""Calls of one answer. A small model that finds no end writes the same call again and again; what
needs more of them has more rounds."""

_MARGIN_SECONDS = 0.25
"""Kept of a request's time for sending the outcome back."""


class Gatekeeper(Actor):
    """Answers everything of `proto.gatekeeper` that is asked."""

    ACCEPTS: ClassVar[object] = RegisterTools | ListTools | Offer | Invoke | Ledger

    _ledger: CallLedger
    _pipeline: Pipeline
    _topic: Topic

    def __init__(self, port: Port) -> None:
        super().__init__(port)
        self._registry = Registry()
        self._remembered = port.paths.state / "gatekeeper-tools.json"
        self._denied = port.settings.tools.denied
        limits = EnvelopeLimits(
            max_calls=MOST_CALLS, thought_max=port.settings.generation.thought_characters
        )
        self._grammars = {
            name: SubsetCache(form=form, limits=limits) for name, form in FORMS.items()
        }
        self._in_flight: InFlight[Request] = InFlight()

    def started(self) -> None:
        """Open the ledger and remember the tools of the last run.

        Raises:
            StorageError: The ledger can't be opened.
        """
        self._ledger = CallLedger(self.port.paths.state / "gatekeeper.sqlite", time.time)
        if self._ledger.set_aside is not None:
            self.port.log.error("ledger-damaged", set_aside=str(self._ledger.set_aside))
        self._ledger.prune()
        self._pipeline = Pipeline(self._ledger, self._denied, time.monotonic)
        self._registry = recall(self._remembered)
        self._topic = self.port.topic(
            TOPIC, snapshot=lambda: RegistryChanged(revision=self._registry.revision)
        )

    def receive(self, request: Request) -> msgspec.Struct | Deferred:
        """Answer at once from memory; calls and the ledger go to a worker thread."""
        match request.body:
            case RegisterTools():
                return self._register(request)
            case ListTools():
                return self._list()
            case Offer():
                chosen = offered_set(
                    request.body.tools, request.body.origin, self._registry, self._denied
                )
                needed = self.port.settings.model.engine in SCHEMA_ENGINES
                return offer(chosen, self._in_form(request.body.form), with_schema=needed)
            case Ledger():
                self.port.submit(self._answer_ledger, request)
                return request.defer()
            case Invoke():
                return self._invoke(request)
            case _:
                raise TypeError(f"unexpected {type(request.body).__name__}")

    def drain(self) -> None:
        """Nothing to do: every intent and outcome is on disk when it's known."""

    def _in_form(self, form: str) -> SubsetCache:
        if form not in self._grammars:
            raise InvalidError(
                f"There is no form {form!r} of answers.", hint=f"There are {', '.join(FORMS)}."
            )
        return self._grammars[form]

    # The registry.

    def _register(self, request: Request) -> Done:
        registry = self._registry.with_tools(request.sender, request.body.tools)
        changed = registry.revision != self._registry.revision
        with self._topic.lock:
            self._registry = registry
            if changed:
                self._topic.publish(RegistryChanged(revision=registry.revision))
        if changed:
            self.port.log.info("registered", owner=request.sender, tools=registry.names)
            for declaration in request.body.tools:
                tool = registry.get(declaration.name)
                if tool is not None and tool.notes:
                    self.port.log.warning("schema-not-enforced", tool=tool.name, notes=tool.notes)
            try:
                remember(registry, self._remembered)
            except OSError as error:
                # It only bridges the time until the owners register again.
                self.port.log.warning("not-remembered", error=str(error))
        return Done()

    def _list(self) -> ToolList:
        """List what can be used at all: a tool that is switched off isn't there for anybody."""
        listed = self._registry.listed()
        return msgspec.structs.replace(
            listed,
            tools=tuple(
                tool for tool in listed.tools if not is_denied(tool.declaration.name, self._denied)
            ),
        )

    # Calls.

    def _invoke(self, request: Request) -> Deferred:
        invoke: Invoke = request.body
        first = self._in_flight.join(invoke.call_id, request)
        if first is request:
            try:
                self.port.submit(self._run, invoke.call_id)
            except ErisError:
                self._in_flight.leave(invoke.call_id, request)
                raise
        elif digest_of(first.body) != digest_of(invoke):
            self._in_flight.leave(invoke.call_id, request)
            raise ConflictError(
                f"The call id {invoke.call_id} is being used for another call.",
                hint="Give every call an id of its own.",
            )
        return request.defer()

    def _run(self, call_id: str) -> None:
        """Carry out a call for whoever waits for it, one asker's time after another's."""
        while (asker := self._in_flight.first(call_id)) is not None:
            try:
                outcome = self._pipeline.run(
                    asker.body, self._registry, partial(self._execute, asker)
                )
            except CancelledWorkError as error:
                self._in_flight.leave(call_id, asker)
                asker.fail(error)
            except Exception as error:
                for waiting in self._in_flight.finish(call_id):
                    waiting.fail(error)
                raise
            else:
                self._tell(call_id, asker, outcome)

    def _tell(self, call_id: str, asker: Request, outcome: Invoked) -> None:
        self.port.log.info(
            "invoked",
            trace=asker.trace,
            call=call_id,
            tool=outcome.tool,
            ok=outcome.ok,
            code=outcome.code,
            elapsed_ms=outcome.elapsed_ms,
            repeated=outcome.repeated,
        )
        if not outcome.ok and outcome.code in UNSETTLED:
            # Its time is up; somebody who asked later may have some left.
            self._in_flight.leave(call_id, asker)
            asker.reply(outcome)
            return
        for waiting in self._in_flight.finish(call_id):
            late = waiting is not asker
            waiting.reply(msgspec.structs.replace(outcome, repeated=True) if late else outcome)

    def _execute(self, asker: Request, owner: str, call: CallTool) -> ToolResult:
        if asker.cancelled.is_set():
            raise CancelledWorkError(f"{call.tool} was cancelled before it began.")
        tool = self._registry.get(call.tool)
        reads = tool is not None and tool.declaration.effect is Effect.READ
        return self.port.ask(
            owner,
            call,
            ToolResult,
            within=max(0.0, asker.remaining - _MARGIN_SECONDS),
            trace=asker.trace,
            # The owner knows the call id and returns what it did the first time.
            retry=True,
            # What changes something is brought to its end, so that the ledger can say what became
            # of it.
            cancelled=asker.cancelled if reads else None,
        )

    def _answer_ledger(self, request: Request) -> None:
        turn = request.body.turn
        try:
            # Whoever asks wants to know what became of a call, not that it's being carried out.
            self._in_flight.wait_for_none(
                lambda asker: bool(asker.body.turn == turn), request.remaining - _MARGIN_SECONDS
            )
            request.reply(LedgerEntries(entries=self._ledger.entries(turn)))
        except Exception as error:
            request.fail(error)
            raise
