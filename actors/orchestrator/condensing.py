"""Makes a conversation fit the context, deterministically and without a model; pure.

The latest turns are sent in full, older ones as one line each, the oldest not at all. It shrinks
in large steps and the result is kept with the session: the prompt then stays the same for many
turns, and the KV cache with it. Nothing is lost: the journal keeps every turn.
"""

from collections.abc import Sequence

import msgspec

from actors.orchestrator.steps import Step

MOST_LINES = 24
"""Condensed turns that still get a line."""

LINE_CHARACTERS = 80
"""Characters kept of what was said on each side."""

SMALLEST_RESULT = 200
"""Characters below which the results of the running turn aren't shortened further."""


class PastTurn(msgspec.Struct, frozen=True, kw_only=True):
    """An ended turn, as a later prompt tells of it."""

    sequence: int
    text: str
    """What the user said."""
    answer: str
    """What the user was told at last."""
    steps: tuple[Step, ...]


class Condensing(msgspec.Struct, frozen=True, kw_only=True):
    """How much of a session is still sent to the model, by turn sequence numbers."""

    full_from: int = 0
    """Turns from here on are sent in full."""
    lines_from: int = 0
    """Turns from here up to ``full_from`` shrink to a line each; earlier ones are left out."""


def tighten(condensing: Condensing, past: Sequence[int]) -> Condensing | None:
    """Return the next stronger condensing for these turns; None if there's nothing to drop.

    Args:
        condensing: What was tried and didn't fit.
        past: Sequence numbers of all ended turns of the session, ascending.
    """
    full = [sequence for sequence in past if sequence >= condensing.full_from]
    lines = [one for one in past if condensing.lines_from <= one < condensing.full_from]
    if full:
        kept = full[len(full) - len(full) // 2 :]
        full_from = kept[0] if kept else full[-1] + 1
        lines += [sequence for sequence in full if sequence < full_from]
        return Condensing(full_from=full_from, lines_from=lines[-MOST_LINES:][0])
    if lines:
        kept = lines[len(lines) - len(lines) // 2 :]
        lines_from = kept[0] if kept else condensing.full_from
        return Condensing(full_from=condensing.full_from, lines_from=lines_from)
    return None


def shorter_results(limit: int, longest: int) -> int | None:
    """Return the next smaller limit for results of the running turn; None if there's none.

    Args:
        limit: Characters of each result that were sent; 0 for all.
        longest: Characters of the longest result.
    """
    shorter = (min(limit, longest) if limit else longest) // 2
    return shorter if shorter >= SMALLEST_RESULT else None


def condensed_lines(left_out: int, condensed: Sequence[PastTurn]) -> str:
    """Return what is still said of condensed turns; empty if there is none."""
    if not left_out and not condensed:
        return ""
    lines = ["Earlier in this conversation:"]
    if left_out:
        lines.append(f"({left_out} older {'turn is' if left_out == 1 else 'turns are'} left out)")
    lines += [f'- user: "{_short(turn.text)}" you: "{_short(turn.answer)}"' for turn in condensed]
    return "\n".join(lines)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LINE_CHARACTERS else f"{line[: LINE_CHARACTERS - 1]}…"
