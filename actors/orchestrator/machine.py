"""What a turn does next, decided from the steps it has made; pure.

The whole control flow of a turn is `decide`: no clock, no message, no state but the steps. That a
turn goes on correctly after a crash is therefore no special case, and a test can walk it.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from actors.orchestrator.answers import Answered, arguments_text, read_answer
from actors.orchestrator.claims import (
    NOTHING_CHANGED,
    asks_about_the_past,
    claimed,
    only_looked,
    without_claims,
)
from actors.orchestrator.prompt import INSTRUCTIONS
from actors.orchestrator.recovery import attempts, correct, give_up
from actors.orchestrator.steps import (
    AnswerStep,
    CallStep,
    CorrectionStep,
    Fault,
    FinishedStep,
    OfferStep,
    ResultStep,
    Step,
    is_repeat,
    looked_up,
)
from eris.envelope import ToolCall
from eris.grammar import with_thought
from proto.orchestrator import TurnState

CALLS_PER_ANSWER = 8
"""Calls of one answer that are carried out; a model that asks for more is looping."""

READING = "The result says"
"""How a thought begins after something was looked up.

Left to begin it as it likes, a model of 0.5B parameters takes every second reading for a change:
of 11 questions for what a note says it answered 4 from the note, and "I added ..." to most others.
With these words it was 8.
"""

PARROTED_WORDS = 7
"""So many words in a row that the model was told are no answer of its own."""

REPEATS_TOLD = 3
"""The same call with the same result for the third time: the model is told."""

REPEATS_STOPPED = 5
"""For the fifth time: no more tools, answer with what is known."""


_WORD = re.compile(r"\w+")


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of a turn."""

    tool_rounds: int = 5
    """Answers with tool calls; after them the model has to answer without tools."""
    recovery_attempts: int = 3
    """Attempts of the recovery loop, not refilled by a success."""


class Prepare(msgspec.Struct, frozen=True, tag="prepare"):
    """Find out what to offer: the tools that fit, or none if ``final``. Yields an `OfferStep`."""

    final: bool


class Ask(msgspec.Struct, frozen=True, tag="ask"):
    """Let the model answer. Yields an `AnswerStep`."""

    round: int
    grammar: str
    """GBNF that the answer must follow."""
    room: int
    """Multiple of the usual token limit."""
    vary: bool = False
    """An answer went round in circles: make repetition unlikely."""
    call_bias: float = 0.0
    """Added to the model's log-odds of a first call."""
    schema: str = ""
    """What the grammar says, as JSON Schema, where that is needed."""


class Run(msgspec.Struct, frozen=True, tag="run"):
    """Carry out a call. Yields a `CallStep`, unless it's there already, and a `ResultStep`."""

    call: CallStep
    journalled: bool
    """The intent is written down already; the turn was interrupted in the call."""


class Record(msgspec.Struct, frozen=True, tag="record"):
    """Add this step and decide again."""

    step: CorrectionStep | ResultStep


class Close(msgspec.Struct, frozen=True, tag="close"):
    """The turn is over."""

    step: FinishedStep


Action = Prepare | Ask | Run | Record | Close


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn as far as it has come."""

    turn: str
    """Its id, from which call ids are made."""
    text: str
    """What the user said."""
    steps: Sequence[Step]
    saved_before: bool = False
    """An earlier turn of the session changed something, of which an answer may speak."""


def decide(turn: Turn, limits: Limits) -> Action:
    """Return what a turn does next.

    Raises:
        ValueError: The turn is over.
    """
    action: Action
    match turn.steps[-1] if turn.steps else None:
        case None:
            action = Prepare(final=limits.tool_rounds == 0)
        case OfferStep():
            action = _ask(turn.steps)
        case AnswerStep() as answer:
            action = _after_answer(turn, answer, limits)
        case CallStep() as call:
            action = Run(call=call, journalled=True)
        case ResultStep():
            action = _after_result(turn, limits)
        case CorrectionStep():
            action = _ask(turn.steps)
        case FinishedStep():
            raise ValueError(f"the turn {turn.turn} is over")
    return action


def _ask(steps: Sequence[Step]) -> Ask:
    rounds = sum(isinstance(step, AnswerStep) for step in steps)
    room = 1 + sum(isinstance(step, CorrectionStep) and step.more_room for step in steps)
    offer = _offer(steps)
    must = _must_call(steps, offer)
    grammar = offer.calling_grammar if must else offer.grammar
    schema = offer.calling_schema if must else offer.schema
    if looked_up(_results(steps)):
        grammar = with_thought(grammar, READING)
    circles = any(isinstance(step, AnswerStep) and step.repeating for step in steps)
    bias = 0.0 if _results(steps) else offer.call_odds
    return Ask(
        round=rounds, grammar=grammar, room=room, vary=circles, call_bias=bias, schema=schema
    )


def _must_call(steps: Sequence[Step], offer: OfferStep) -> bool:
    """Whether the next answer has to call a tool instead of claiming to have used it.

    A small model likes to say "I saved it" without calling anything. Where a tool is certainly
    needed, or where it has just claimed that, the grammar leaves it no other way.
    """
    if not offer.calling_grammar or _results(steps):
        return False
    last = steps[-1]
    claims = isinstance(last, CorrectionStep) and last.fault is Fault.UNBACKED
    return offer.evident or claims


def _after_answer(turn: Turn, answer: AnswerStep, limits: Limits) -> Action:
    offered = _offer(turn.steps).tools
    reading = read_answer(answer, offered)
    answered = reading.answered
    if answered is None:
        return _recover(reading.fault or Fault.SCHEMA, turn.steps, limits)
    unknown = [call.name for call in answered.calls if call.name not in offered]
    if unknown:
        return _recover(Fault.UNKNOWN_TOOL, turn.steps, limits, unknown[0])
    if answered.calls and not (answered.message and _all_done(answered, turn.steps)):
        return _next_call(turn, answer, answered)
    if answer.cut and (not answered.message or _may_shorten(turn.steps, limits)):
        return _recover(Fault.TRUNCATED, turn.steps, limits)
    if not answered.message or _parroted(answered.message, turn):
        return _without_message(answered, turn.steps, limits)
    return _with_message(turn, answered.message, limits, cut=answer.cut)


def _without_message(answered: Answered, steps: Sequence[Step], limits: Limits) -> Action:
    """What follows an answer that says nothing, or only what the model was told."""
    last = next(iter(_results(steps)[-1:]), None)
    if answered.message and last is not None and not last.ok:
        # It has nothing to say about the failure; the tool itself has.
        return Close(_give_up_on(last, steps))
    if not answered.message and _offer(steps).tools:
        # It wants to call nothing, so nothing is offered any more: then it has to say something.
        return Prepare(final=True)
    return _recover(Fault.EMPTY, steps, limits)


def _with_message(turn: Turn, message: str, limits: Limits, *, cut: bool) -> Action:
    """The end of a turn, unless its message only speaks of looking or claims an untrue change."""
    steps = turn.steps
    found = _found(steps)
    if found is not None and only_looked(message, _asked(turn, found)):
        return _show(found)
    quoted = [result.content for result in _results(steps)]
    language = claimed(message, quoted)
    # What takes the place of a false claim, said by the model itself: it learned that from an
    # earlier turn, and hasn't tried anything.
    idle = not quoted and message in NOTHING_CHANGED.values() and bool(_offer(steps).tools)
    backed = any(result.ok and result.receipt for result in _results(steps))
    if (language is not None or idle) and not backed and not _speaks_of_earlier(turn):
        warned = _told_already(Fault.UNBACKED, steps)
        if not warned and attempts(steps) < limits.recovery_attempts:
            return Record(correct(Fault.UNBACKED))
        if language is not None:
            message = without_claims(message, language, quoted)
    return Close(FinishedStep(state=TurnState.DONE, message=message, truncated=cut))


def _may_shorten(steps: Sequence[Step], limits: Limits) -> bool:
    """Whether a cut answer is asked for again; half an answer is better than none."""
    told = _told_already(Fault.TRUNCATED, steps)
    return not told and attempts(steps) < limits.recovery_attempts


def _told_already(fault: Fault, steps: Sequence[Step]) -> bool:
    return any(isinstance(step, CorrectionStep) and step.fault is fault for step in steps)


def _parroted(message: str, turn: Turn) -> bool:
    """Whether a message only says what the model has just been told itself."""
    if message in NOTHING_CHANGED.values():
        return False
    said = _words(message)
    if _results(turn.steps) and said == _words(turn.text):
        return True
    corrections = [_words(step.text) for step in _corrections(turn.steps)]
    if any(_within(words, said) for words in corrections):
        return True
    told = [*corrections, *(_words(text) for text in INSTRUCTIONS)]
    runs = [said[start : start + PARROTED_WORDS] for start in range(len(said))]
    return any(len(run) == PARROTED_WORDS and _within(run, words) for run in runs for words in told)


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.casefold()))


def _corrections(steps: Sequence[Step]) -> list[CorrectionStep]:
    return [step for step in steps if isinstance(step, CorrectionStep)]


def _within(part: Sequence[str], whole: Sequence[str]) -> bool:
    """Whether words stand in a row in others."""
    return any(
        tuple(whole[start : start + len(part)]) == tuple(part)
        for start in range(len(whole) - len(part) + 1)
    )


def _speaks_of_earlier(turn: Turn) -> bool:
    return turn.saved_before and asks_about_the_past(turn.text)


def _next_call(turn: Turn, answer: AnswerStep, answered: Answered) -> Action:
    """The next call of the latest answer, or the result of one that isn't carried out."""
    results = _results_since(turn.steps, answer)
    position = len(results)
    wanted = answered.calls[position]
    call = CallStep(
        call_id=f"{turn.turn}.{answer.round}.{position}",
        tool=wanted.name,
        arguments=arguments_text(wanted),
    )
    done = _done_before(wanted, turn.steps)
    if position >= CALLS_PER_ANSWER:
        return Record(_not_run(call, f"Not carried out: at most {CALLS_PER_ANSWER} calls at once."))
    if results and not results[-1].ok:
        return Record(_not_run(call, "Not carried out, because the call before it failed."))
    if done is not None:
        what = f"done in this turn: {done.receipt}" if done.receipt else "looked up in this turn"
        return Record(_not_run(call, f"Already {what}. It was not done again.", ok=True))
    return Run(call=call, journalled=False)


def _after_result(turn: Turn, limits: Limits) -> Action:
    steps = turn.steps
    answer = next(step for step in reversed(steps) if isinstance(step, AnswerStep))
    answered = read_answer(answer, _offer(steps).tools).answered
    results = _results_since(steps, answer)
    if answered is not None and len(results) < len(answered.calls):
        return _next_call(turn, answer, answered)
    failed = next((result for result in results if not result.ok), None)
    if failed is not None:
        return _after_failure(steps, failed, limits)
    return _after_success(steps, results, limits)


def _after_failure(steps: Sequence[Step], failed: ResultStep, limits: Limits) -> Action:
    if attempts(steps) >= limits.recovery_attempts or _times_seen(steps, failed) > 1:
        # Asked to explain a failure that it has just ignored, a small model makes something up.
        return Close(_give_up_on(failed, steps))
    if _rounds(steps) >= limits.tool_rounds:
        return Prepare(final=True)
    return Record(correct(Fault.TOOL_FAILED, failed.tool))


def _after_success(steps: Sequence[Step], results: Sequence[ResultStep], limits: Limits) -> Action:
    repeats = max(_times_seen(steps, result) for result in results)
    if _rounds(steps) >= limits.tool_rounds or repeats >= REPEATS_STOPPED:
        return Prepare(final=True)
    if any(is_repeat(result) for result in results):
        # What it wants is there: nothing but the answer is missing.
        return Prepare(final=True)
    if repeats < REPEATS_TOLD:
        return _ask(steps)
    if attempts(steps) >= limits.recovery_attempts:
        return Prepare(final=True)
    return Record(correct(Fault.REPEATED, results[-1].tool))


def _recover(fault: Fault, steps: Sequence[Step], limits: Limits, subject: str = "") -> Action:
    if attempts(steps) < limits.recovery_attempts:
        return Record(correct(fault, subject))
    results = _results(steps)
    failed = next((result for result in reversed(results) if not result.ok), None)
    if failed is not None:
        return Close(_give_up_on(failed, steps))
    found = _found(steps)
    if fault is Fault.EMPTY and found is not None:
        return _show(found)
    return Close(give_up(fault, steps, subject))


def _found(steps: Sequence[Step]) -> ResultStep | None:
    """What was looked up last, if nothing was changed or failed after it."""
    last = next((result for result in reversed(_results(steps)) if not result.skipped), None)
    return last if last is not None and last.ok and not last.receipt else None


def _asked(turn: Turn, found: ResultStep) -> str:
    place, _, _ = found.content.partition("\n")
    return f"{turn.text} {found.arguments} {place}"


def _show(found: ResultStep) -> Close:
    """The end of a turn whose model has no words for what it found: the user sees it itself."""
    return Close(FinishedStep(state=TurnState.DONE, message=found.content))


def _give_up_on(failed: ResultStep, steps: Sequence[Step]) -> FinishedStep:
    """The end of a turn that couldn't do without a tool that failed."""
    return give_up(Fault.TOOL_FAILED, steps, failed.tool, code=failed.code, detail=failed.content)


def _offer(steps: Sequence[Step]) -> OfferStep:
    return next(step for step in reversed(steps) if isinstance(step, OfferStep))


def _rounds(steps: Sequence[Step]) -> int:
    """Answers of which a call came to a result."""
    return len({result.call_id.rpartition(".")[0] for result in _results(steps)})


def _results(steps: Sequence[Step]) -> list[ResultStep]:
    return [step for step in steps if isinstance(step, ResultStep)]


def _results_since(steps: Sequence[Step], answer: AnswerStep) -> list[ResultStep]:
    start = max(number for number, step in enumerate(steps) if step is answer)
    return _results(steps[start:])


def _all_done(answered: Answered, steps: Sequence[Step]) -> bool:
    """Whether an answer asks for nothing new: what it says beside the calls is the answer then."""
    return all(_done_before(call, steps) is not None for call in answered.calls)


def _done_before(call: ToolCall, steps: Sequence[Step]) -> ResultStep | None:
    """The result of this very call, if nothing was changed since: it would be the same again."""
    for result in reversed(_results(steps)):
        if result.ok and not result.skipped and _same_call(result, call, steps):
            return result
        if result.receipt:
            return None
    return None


def _not_run(call: CallStep, content: str, *, ok: bool = False) -> ResultStep:
    return ResultStep(
        call_id=call.call_id,
        tool=call.tool,
        arguments=call.arguments,
        ok=ok,
        content=content,
        skipped=True,
    )


def _same_call(done: ResultStep, call: ToolCall, steps: Sequence[Step]) -> bool:
    """Whether a call is the one done before, as it was written or as it was carried out."""
    forms = {_canonical(done.arguments)} | {
        _canonical(step.arguments)
        for step in steps
        if isinstance(step, CallStep) and step.call_id == done.call_id
    }
    return done.tool == call.name and _canonical(arguments_text(call)) in forms


def _times_seen(steps: Sequence[Step], result: ResultStep) -> int:
    """How often this very call gave this very result in the turn."""
    seen = Counter((one.tool, _canonical(one.arguments), one.content) for one in _results(steps))
    return seen[result.tool, _canonical(result.arguments), result.content]


def _canonical(arguments: str) -> str:
    """Arguments in one form, whatever the order of their names."""
    try:
        decoded = msgspec.json.decode(arguments)
    except msgspec.DecodeError:
        return arguments
    named: Mapping[str, object] = decoded if isinstance(decoded, dict) else {"": decoded}
    present = {name: value for name, value in named.items() if value is not None}
    return msgspec.json.encode(present, order="deterministic").decode()
