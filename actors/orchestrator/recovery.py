"""The recovery loop's table: what each class of failure is answered with; pure.

A turn has a fixed number of attempts, which a success doesn't refill. When they're used up the
turn ends with a plain sentence that names what failed. Recovery never widens what may be done: it
changes the words of the prompt and the room for the answer, nothing else.
"""

from collections.abc import Mapping, Sequence

import msgspec

from actors.orchestrator.steps import CorrectionStep, Fault, FinishedStep, ResultStep, Step
from proto.errors import ErrorCode
from proto.orchestrator import TurnState


class Recovery(msgspec.Struct, frozen=True, kw_only=True):
    """What is done about one class of failure."""

    correction: str
    """What the model is told; ``{subject}`` is what the failure is about."""
    give_up: str
    """What the user is told when the attempts are used up."""
    more_room: bool = False
    """The next answer gets a higher token limit."""
    error: ErrorCode = ErrorCode.NO_ANSWER
    """Code of the failed turn."""


RECOVERIES: Mapping[Fault, Recovery] = {
    Fault.TRUNCATED: Recovery(
        correction="Answer in three sentences at most.",
        give_up="the answer didn't fit into the token limit. Ask for less at once, or raise "
        "generation.max_tokens",
        more_room=True,
    ),
    Fault.SCHEMA: Recovery(
        correction="Answer with one JSON object in exactly the form shown at the beginning.",
        give_up="the model's answer couldn't be read. Try other words, or a larger model",
    ),
    Fault.UNKNOWN_TOOL: Recovery(
        correction="There is no tool {subject} now. Use only the tools listed above, or answer "
        "in message_to_user.",
        give_up="the model asked for a tool that isn't available here ({subject})",
    ),
    Fault.TOOL_FAILED: Recovery(
        correction="{subject} failed. Call it again with other arguments, or tell the user in "
        "message_to_user what did not work. Do not say that it worked.",
        give_up="{subject} failed",
    ),
    Fault.EMPTY: Recovery(
        correction="The answer was empty. Write the answer for the user in message_to_user.",
        give_up="the model's answer was empty. Try other words, or a larger model",
    ),
    Fault.REPEATED: Recovery(
        correction="This call was made before in this turn, with the same result. Do not repeat "
        "it. Answer the user in message_to_user from the results above.",
        give_up="the model kept repeating {subject} with the same result",
    ),
    Fault.UNBACKED: Recovery(
        correction="Nothing has been saved or changed yet. Call the tool that does it, or tell "
        "the user in message_to_user that it was not done.",
        give_up="nothing has been saved or changed",
    ),
}
"""What is done about each class of failure."""


def attempts(steps: Sequence[Step]) -> int:
    """How many attempts of the recovery loop a turn has used."""
    return sum(isinstance(step, CorrectionStep) for step in steps)


def correct(fault: Fault, subject: str = "") -> CorrectionStep:
    """Return one attempt of the recovery loop; ``subject`` is the tool in question."""
    recovery = RECOVERIES[fault]
    return CorrectionStep(
        fault=fault,
        text=recovery.correction.format(subject=subject),
        more_room=recovery.more_room,
    )


def give_up(
    fault: Fault, steps: Sequence[Step], subject: str = "", *, code: str = "", detail: str = ""
) -> FinishedStep:
    """Return the end of a turn whose attempts are used up, in plain words.

    Args:
        fault: What failed last.
        steps: The turn so far; what it did get done is said.
        subject: The tool in question.
        code: The code of the failure itself, where it has one.
        detail: What the failed part said.
    """
    recovery = RECOVERIES[fault]
    sentence = f"I couldn't finish this: {recovery.give_up.format(subject=subject)}"
    if detail:
        sentence = f"{sentence}: {detail}"
    receipts = [step.receipt for step in steps if isinstance(step, ResultStep) and step.receipt]
    done = f" Done before that: {'; '.join(receipts)}." if receipts else ""
    return FinishedStep(
        state=TurnState.FAILED,
        message=f"{sentence.rstrip('. ')}.{done}",
        error=code or recovery.error,
    )
