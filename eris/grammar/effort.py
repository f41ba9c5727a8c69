"""Counts the work of one compilation, so that a hostile schema can't keep a process busy.

Where a loop may go far beyond the size of the schema, it says with `spend` how much it does. That
costs nothing but a look-up unless somebody set a limit with `bounded`. Steps are counted and time
isn't measured, so that a schema is judged alike on every machine, idle or not.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from eris.grammar.errors import SchemaTooLarge

MOST_STEPS = 1_000_000
"""For one tool: one to two seconds on a slow core."""

_LEFT: ContextVar[list[int] | None] = ContextVar("left", default=None)


@contextmanager
def bounded(steps: int = MOST_STEPS) -> Iterator[None]:
    """Let what runs inside do so many steps."""
    token = _LEFT.set([steps])
    try:
        yield
    finally:
        _LEFT.reset(token)


def spend(steps: int) -> None:
    """Say that so many steps are about to be done, each worth a microsecond or a few.

    Raises:
        SchemaTooLarge: They are more than what is left.
    """
    left = _LEFT.get()
    if left is not None:
        left[0] -= steps
        if left[0] < 0:
            raise SchemaTooLarge("#", "compiling it takes too many steps")
