"""What a turn's prompt tells of its session, and how that shrinks when the context is full."""

from collections.abc import Sequence

from actors.orchestrator.condensing import PastTurn, shorter_results, tighten
from actors.orchestrator.journal import Journal, TurnRecord
from actors.orchestrator.prompt import build_prompt
from actors.orchestrator.steps import ResultStep, Step
from proto.inference import Message


class Conversation:
    """The turns before one turn. Each session shrinks on its own; nobody else waits for it."""

    def __init__(self, journal: Journal, record: TurnRecord) -> None:
        self.examples = True
        """Whether the prompt begins with examples."""
        self._journal = journal
        self._record = record
        self._condensing = journal.condensing(record.session)
        self._past = tuple(
            PastTurn(
                sequence=earlier.sequence,
                text=earlier.text,
                answer=earlier.view.message if earlier.view is not None else "",
                steps=tuple(journal.steps(earlier.turn)),
            )
            for earlier in journal.before(record, self._condensing.lines_from)
        )
        self._result_characters = 0

    @property
    def saved_before(self) -> bool:
        """Whether an earlier turn that's still told of changed something."""
        return any(
            isinstance(step, ResultStep) and step.receipt
            for turn in self._past
            for step in turn.steps
        )

    @property
    def steps(self) -> list[Step]:
        """The steps of the turns that are told in full."""
        return [
            step
            for turn in self._past
            if turn.sequence >= self._condensing.full_from
            for step in turn.steps
        ]

    @property
    def previous_text(self) -> str:
        """What the user said in the turn before; empty if there was none."""
        return self._past[-1].text if self._past else ""

    def prompt(self, steps: Sequence[Step]) -> tuple[Message, ...]:
        """The prompt for the next answer of the turn."""
        return self._build(self._past, steps)

    def without_history(self, steps: Sequence[Step]) -> tuple[Message, ...]:
        """The smallest prompt that still says all that the user says now."""
        return self._build((), steps)

    def condense(self) -> str:
        """Tell less of the earlier turns, from now on.

        Returns:
            What was done, for people; empty if there is nothing to condense.
        """
        tighter = tighten(self._condensing, [turn.sequence for turn in self._past])
        if tighter is None:
            return ""
        self._journal.condense(self._record.session, tighter)
        self._condensing = tighter
        self._past = tuple(turn for turn in self._past if turn.sequence >= tighter.lines_from)
        full = sum(turn.sequence >= tighter.full_from for turn in self._past)
        return f"the context is full: only the last {full} turns are still told in full"

    def shorten_results(self, steps: Sequence[Step]) -> str:
        """Tell less of this turn's own tool results.

        Returns:
            What was done, for people; empty if they can't get shorter.
        """
        longest = max((len(one.content) for one in steps if isinstance(one, ResultStep)), default=0)
        shorter = shorter_results(self._result_characters, longest)
        if shorter is None:
            return ""
        self._result_characters = shorter
        return f"the context is full: tool results are cut to {shorter} characters"

    def _build(self, past: Sequence[PastTurn], steps: Sequence[Step]) -> tuple[Message, ...]:
        return build_prompt(
            past,
            self._condensing,
            self._record.text,
            steps,
            result_characters=self._result_characters,
            examples=self.examples,
        )
