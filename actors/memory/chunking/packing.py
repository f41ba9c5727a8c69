"""Pieces joined to chunks: cut where they're joined the least, small neighbours put together."""

from collections.abc import Sequence
from itertools import accumulate, pairwise

from actors.memory.chunking.pieces import Joint, Piece

Run = tuple[int, int]
"""Pieces of one chunk: from the first number up to, not including, the second."""


def packed(pieces: Sequence[Piece], budgets: Sequence[int]) -> list[Run]:
    """Return which pieces make a chunk together.

    A run is cut at its weakest joints; of the parts, those that are small are put together again
    with their neighbours while they fit, and those that are large are cut in turn. Time grows with
    the pieces times the kinds of joints.

    Args:
        pieces: In the order of the text, none larger than its budget.
        budgets: Tokens that a chunk may have, by the number of its first piece's section.
    """
    sums = [0, *accumulate(each.tokens for each in pieces)]

    def fits(start: int, end: int) -> bool:
        return end - start == 1 or sums[end] - sums[start] <= budgets[pieces[start].section]

    def cut(start: int, end: int) -> list[Run]:
        if fits(start, end):
            return [(start, end)]
        weakest = min(pieces[number].joint for number in range(start + 1, end))
        borders = [
            start,
            *(each for each in range(start + 1, end) if pieces[each].joint == weakest),
            end,
        ]
        runs: list[Run] = []
        joinable = False
        for first, last in pairwise(borders):
            if joinable and fits(runs[-1][0], last):
                runs[-1] = (runs[-1][0], last)
                continue
            parts = cut(first, last)
            # What is left over of a large section doesn't mix with the next section.
            loose = weakest >= Joint.AFTER_RULE
            if joinable and loose and fits(runs[-1][0], parts[0][1]):
                parts[0] = (runs.pop()[0], parts[0][1])
            runs.extend(parts)
            joinable = loose or len(parts) == 1
        return runs

    return cut(0, len(pieces)) if pieces else []
