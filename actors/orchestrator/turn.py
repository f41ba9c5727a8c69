"""Runs one turn to its end: does what the machine decides, and writes down what came of it.

Everything here is about the world outside: asking the other actors, waiting, telling the surfaces.
What comes next is decided in `actors.orchestrator.machine`.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from actors.orchestrator.cancellation import Cancellation
from actors.orchestrator.conversation import Conversation
from actors.orchestrator.generation import AWAY_SECONDS, Generator, ModelFacts, form_name
from actors.orchestrator.journal import Journal, TurnRecord
from actors.orchestrator.machine import Ask, Close, Limits, Prepare, Record, Run, Turn, decide
from actors.orchestrator.prompt import ROOM_FOR_EXAMPLES, core_of, form_of, local_time
from actors.orchestrator.recalled import fitting, place, told, untrusted
from actors.orchestrator.recalling import CoreMemory, Recalling
from actors.orchestrator.steps import (
    AnswerStep,
    CallStep,
    CorrectionStep,
    FinishedStep,
    OfferStep,
    Step,
    untrusted_in,
)
from actors.orchestrator.telling import Telling
from actors.orchestrator.tool_calls import ToolCalls
from actors.orchestrator.views import Timings, calls_of, view_of
from eris.absence import ask_while_it_lives
from eris.actor import Port
from eris.envelope_ending import envelope_ending
from eris.errors import (
    CancelledWorkError,
    ErisError,
    RemoteError,
    StorageError,
    UnavailableError,
)
from eris.grammar import FORMS
from proto.errors import ErrorCode
from proto.gatekeeper import Offer, Offered
from proto.inference import CountTokens, Generate, TokenCounts
from proto.memory import Recall, Recalled
from proto.orchestrator import TurnState
from proto.router import Route, Routed
from proto.tools import Origin

ROUTE_SECONDS = 10.0
"""How long a turn waits for a router that's away; then it goes on without tools and says so."""

ROUTE_CHARACTERS = 2000
"""What the router sees of a long message."""

GATEKEEPER_SECONDS = 60.0
"""How long a turn waits for a gatekeeper that's away: without it there's no grammar."""

OWNER_SECONDS = 5.0
"""How long a turn waits for the owner of a fitting tool to register it again."""

_OWNER_POLL_SECONDS = 0.2

_NOTHING = Routed(hits=(), mode="", elapsed_ms=0)
"""What is known without a router."""

_AGAINST_CIRCLES = 0.8
"""DRY multiplier after an answer that went round in circles; what its author recommends."""


@dataclass(frozen=True)
class Surroundings:
    """What turns need of the process they run in."""

    port: Port
    journal: Journal
    facts: ModelFacts
    core: CoreMemory
    clock: Callable[[], float]
    """Seconds since the epoch."""
    local_now: Callable[[], datetime]
    """The user's local time."""

    @property
    def limits(self) -> Limits:
        """Bounds of a turn."""
        turn = self.port.settings.turn
        return Limits(tool_rounds=turn.tool_rounds, recovery_attempts=turn.recovery_attempts)


class TurnRun:
    """One turn on one worker thread."""

    def __init__(
        self,
        record: TurnRecord,
        surroundings: Surroundings,
        cancellation: Cancellation,
        telling: Telling,
    ) -> None:
        self._record = record
        self._around = surroundings
        self._port = surroundings.port
        self._cancellation = cancellation
        self._telling = telling
        self._log = surroundings.port.log.bind(turn=record.turn, session=record.session)
        self._steps: list[Step] = []
        budget = surroundings.port.settings.turn.budget_seconds
        self._deadline = time.monotonic() + budget
        self._calls = ToolCalls(record, surroundings.port, cancellation, self._within)

    def run(self) -> None:
        """Bring the turn to its end; one that is suspended stays as it is in the journal."""
        try:
            self._steps = self._around.journal.steps(self._record.turn)
            self._around.journal.start(self._record.turn)
            self._tell()
            end = self._go_on()
        except CancelledWorkError:
            if self._cancellation.suspended:
                return
            self._settle()
            end = FinishedStep(
                state=TurnState.CANCELLED, message="Stopped.", error=ErrorCode.CANCELLED
            )
        except ErisError as error:
            self._log.warning("turn-failed", code=error.code, message=error.message)
            end = _failed(error)
        except Exception as error:
            # A defect must not cost the session: the turn ends with it, the next one begins.
            self._port.log.exception("turn-broke", turn=self._record.turn)
            end = FinishedStep(
                state=TurnState.FAILED,
                message=f"Something went wrong inside Eris ({type(error).__name__}). "
                "Look at `eris logs orchestrator` for details.",
                error=ErrorCode.INTERNAL,
            )
        self._finish(end)

    def _go_on(self) -> FinishedStep:
        conversation = Conversation(self._around.journal, self._record)
        while True:
            self._cancellation.check()
            if time.monotonic() > self._deadline:
                budget = self._port.settings.turn.budget_seconds
                raise ErisError(
                    f"This took longer than {budget} seconds and was stopped.",
                    hint="Ask for less at once, or raise turn.budget_seconds.",
                    code=ErrorCode.EXPIRED,
                )
            turn = Turn(
                turn=self._record.turn,
                text=self._record.text,
                steps=self._steps,
                saved_before=conversation.saved_before,
            )
            match decide(turn, self._around.limits):
                case Prepare(final):
                    self._append(self._prepare(conversation, final=final))
                    self._tell()
                case Ask() as ask:
                    self._append(self._ask(conversation, ask))
                case Run(call, journalled):
                    if not journalled:
                        self._append(call)
                    self._call(call, conversation.steps)
                case Record(step):
                    self._append(step)
                    if isinstance(step, CorrectionStep):
                        self._telling.phase("recovering", step.fault)
                case Close(step):
                    return step

    def _prepare(self, conversation: Conversation, *, final: bool) -> OfferStep:
        """Find the tools that fit, and get grammar and text for exactly those."""
        began = time.monotonic()
        recalling = None if final else self._recall(conversation.previous_text)
        routed, note = (_NOTHING, "") if final else self._route(conversation.previous_text)
        routed_at = time.monotonic()
        form = self._form()
        offered = self._offer(tuple(hit.tool for hit in routed.hits), form)
        skills = self._skills(routed.skills)
        asked_at = time.monotonic()
        found = Recalled() if recalling is None else recalling.result(self._cancellation.check)
        # A command is carried out by what it says itself.
        recalled = () if routed.evident or not found.hits else fitting(found.hits, self._room())
        core = core_of(self._steps) if final else self._around.core.text(self._within(AWAY_SECONDS))
        return OfferStep(
            tools=offered.tools,
            grammar=offered.grammar,
            text=offered.text,
            memory=told(recalled),
            recalled=tuple(place(hit) for hit in recalled),
            notice=found.notice,
            core=core,
            untrusted=untrusted(recalled),
            skills=skills,
            notes=routed.notes,
            local_time=local_time(self._around.local_now()),
            final=final,
            evident=routed.evident,
            call_odds=routed.call_odds,
            calling_grammar=offered.calling_grammar,
            form=form,
            schema=offered.schema,
            calling_schema=offered.calling_schema,
            note=note,
            route_ms=_milliseconds(routed_at - began),
            offer_ms=_milliseconds(asked_at - routed_at),
            recall_ms=_milliseconds(time.monotonic() - asked_at),
        )

    def _recall(self, before: str) -> Recalling | None:
        """Ask for what is known already; not for those who may not read the user's notes."""
        characters = self._port.settings.turn.recall_characters
        if not characters or self._record.origin is Origin.CHANNEL:
            return None
        request = Recall(
            text=self._record.text[:ROUTE_CHARACTERS],
            context=before[:ROUTE_CHARACTERS],
            session=self._record.session,
            characters=characters,
        )
        return Recalling(self._port, request, self._record.turn)

    def _room(self) -> int:
        """Characters of what isn't needed: a quarter as many as the context has tokens.

        There's nothing of it beside a message that fills the context itself.
        """
        facts = self._around.facts.describe(self._within(AWAY_SECONDS), self._cancellation)
        return max(0, facts.context_length - len(self._record.text)) // 4

    def _route(self, before: str) -> tuple[Routed, str]:
        self._telling.phase("routing")
        limit = self._port.settings.router.limit
        try:
            routed = ask_while_it_lives(
                self._port,
                "router",
                Route(
                    text=self._record.text[:ROUTE_CHARACTERS],
                    limit=limit,
                    context=before[:ROUTE_CHARACTERS],
                ),
                Routed,
                within=self._within(ROUTE_SECONDS),
                trace=self._record.turn,
                cancelled=self._cancellation.event,
            )
        except (RemoteError, UnavailableError) as error:
            note = "the router can't be reached: answering without tools"
            self._log.warning("no-routing", code=error.code, message=error.message)
            self._telling.phase("routing", note)
            return _NOTHING, note
        return routed, ""

    def _form(self) -> str:
        """How answers are written; a turn keeps to the form it began with."""
        begun = next((step for step in self._steps if isinstance(step, OfferStep)), None)
        if begun is not None:
            return begun.form
        return form_name(
            self._port.settings.generation.form,
            lambda: self._around.facts.describe(self._within(AWAY_SECONDS), self._cancellation),
        )

    def _offer(self, fitting: tuple[str, ...], form: str) -> Offered:
        """Ask for the offer; a tool whose owner has just been restarted is waited for."""
        patience = time.monotonic() + OWNER_SECONDS
        while True:
            offered = ask_while_it_lives(
                self._port,
                "gatekeeper",
                Offer(tools=fitting, origin=self._record.origin, form=form),
                Offered,
                within=self._within(GATEKEEPER_SECONDS),
                trace=self._record.turn,
                cancelled=self._cancellation.event,
            )
            nothing_wanted = not fitting or self._record.origin is Origin.CHANNEL
            if nothing_wanted or offered.tools or time.monotonic() > patience:
                return offered
            self._telling.phase("waiting", f"{', '.join(fitting)} can't be offered yet")
            self._cancellation.event.wait(_OWNER_POLL_SECONDS)
            self._cancellation.check()

    def _skills(self, names: tuple[str, ...]) -> str:
        """What the skills that fit say, in the room that the user's own words leave for it."""
        if not names or not self._port.settings.turn.skill_characters:
            return ""
        characters = min(self._room(), self._port.settings.turn.skill_characters)
        self._telling.phase("routing", f"reading the skills {', '.join(names)}")
        return self._calls.skills(names, characters) if characters > 0 else ""

    def _ask(self, conversation: Conversation, ask: Ask) -> AnswerStep:
        """Get an answer; while the prompt is too long, tell less of what was."""
        self._telling.again()
        generator = Generator(self._port, self._cancellation, self._telling)
        while True:
            request = self._request(conversation, ask)
            try:
                return generator.answer(request, ask.round, self._deadline, self._record.turn)
            except RemoteError as error:
                if error.code != ErrorCode.CONTEXT_FULL:
                    raise
                done = self._shrink(conversation)
                if not done:
                    raise _too_long(error) from error
                self._log.info("condensed", done=done, **error.details)
                self._telling.phase("reading", done)

    def _request(self, conversation: Conversation, ask: Ask) -> Generate:
        settings = self._port.settings.generation
        facts = self._around.facts.describe(self._within(AWAY_SECONDS), self._cancellation)
        conversation.examples = facts.context_length >= ROOM_FOR_EXAMPLES
        return Generate(
            messages=conversation.prompt(self._steps),
            session=self._record.session,
            grammar=ask.grammar,
            schema=ask.schema,
            max_tokens=min(settings.max_tokens * ask.room, facts.context_length // 2),
            min_answer_tokens=reserved_tokens(settings.max_tokens, facts.context_length),
            ending=envelope_ending(FORMS[form_of(self._steps)]),
            think_tokens=settings.think_tokens,
            call_bias=ask.call_bias,
            temperature=settings.temperature,
            top_k=settings.top_k,
            top_p=settings.top_p,
            min_p=settings.min_p,
            repeat_penalty=settings.repeat_penalty,
            dry_multiplier=max(settings.dry_multiplier, _AGAINST_CIRCLES if ask.vary else 0),
            seed=settings.seed,
        )

    def _shrink(self, conversation: Conversation) -> str:
        """Make the prompt shorter; history goes only if that can help."""
        facts = self._around.facts.describe(self._within(AWAY_SECONDS), self._cancellation)
        counts = self._port.ask(
            "inference",
            CountTokens(messages=conversation.without_history(self._steps)),
            TokenCounts,
            within=self._within(AWAY_SECONDS),
            trace=self._record.turn,
            retry=True,
            cancelled=self._cancellation.event,
        )
        reserved = reserved_tokens(self._port.settings.generation.max_tokens, facts.context_length)
        if counts.total + reserved <= facts.context_length and (done := conversation.condense()):
            return done
        return conversation.shorten_results(self._steps)

    def _call(self, call: CallStep, earlier: Sequence[Step]) -> None:
        self._telling.phase("calling", call.tool)
        self._telling.call(calls_of(self._steps)[-1])
        offer = next(step for step in reversed(self._steps) if isinstance(step, OfferStep))
        untrusted = untrusted_in([*earlier, *self._steps])
        self._append(self._calls.carry_out(call, offer.tools, untrusted))
        self._telling.call(calls_of(self._steps)[-1])

    def _settle(self) -> None:
        """Learn what became of the call in which the turn was cancelled; it may have been done."""
        call = self._steps[-1] if self._steps else None
        if isinstance(call, CallStep) and (result := self._calls.outcome(call)) is not None:
            self._append(result)

    def _finish(self, end: FinishedStep) -> None:
        steps = [*self._steps, end]
        view = view_of(self._record, steps, self._timings())
        try:
            self._around.journal.finish(self._record.turn, view, end)
        except StorageError as error:
            # The surfaces are told; the turn stays open in the journal and goes on after a restart.
            self._log.exception("turn-not-finished", message=error.message)
            view = view_of(self._record, [*self._steps, _failed(error)], self._timings())
        self._telling.view(view)
        self._log.info(
            "turn-ended",
            state=view.state,
            error=view.error,
            rounds=view.usage.rounds,
            calls=len(view.calls),
            total_ms=view.usage.total_ms,
        )

    def _append(self, step: Step) -> None:
        self._around.journal.append(self._record.turn, step)
        self._steps.append(step)

    def _tell(self) -> None:
        self._telling.view(view_of(self._record, self._steps, self._timings()))

    def _timings(self) -> Timings:
        accepted, first = self._record.accepted, self._telling.first_text_at
        return Timings(
            first_text_ms=_milliseconds(first - accepted) if first else 0,
            total_ms=_milliseconds(self._around.clock() - accepted),
        )

    def _within(self, seconds: float) -> float:
        """Seconds that a wait may take: never more than the turn has left."""
        return max(0.1, min(seconds, self._deadline - time.monotonic()))


def reserved_tokens(max_tokens: int, context_length: int) -> int:
    """Tokens that a prompt must leave free for the answer."""
    return min(max_tokens, context_length // 4)


def _too_long(error: RemoteError) -> ErisError:
    prompt, context = error.details.get("prompt_tokens"), error.details.get("context_length")
    numbers = f" ({prompt} tokens, and the context has {context})" if prompt and context else ""
    return ErisError(
        f"What you said doesn't fit into the model's context{numbers}.",
        hint="Shorten it or hand it over in parts, or raise model.context_length.",
        code=ErrorCode.CONTEXT_FULL,
        details=error.details,
    )


def _failed(error: ErisError) -> FinishedStep:
    return FinishedStep(
        state=TurnState.FAILED, message=f"{error.message} {error.hint}".strip(), error=error.code
    )


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 1)
