"""Whether a call is right, by the rules of the Berkeley Function Calling Leaderboard.

Each argument has a list of accepted values. An empty string among them means that it may be left
out; one that isn't listed at all mustn't be there. Strings are compared without case, spaces and
punctuation, numbers by value.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

_IGNORED = re.compile(r"[\s,./\-_*^'\"]")


def right_arguments(arguments: Mapping[str, object], accepted: Mapping[str, Any]) -> bool:
    """Return whether every argument has an accepted value and none is missing or superfluous."""
    if not set(arguments) <= set(accepted):
        return False
    return all(
        any(_equal(arguments[name], value) for value in values)
        if name in arguments
        else "" in values
        for name, values in accepted.items()
    )


def _equal(said: object, wanted: object) -> bool:
    match wanted:
        case bool():
            return said is wanted
        case int() | float():
            return isinstance(said, int | float) and not isinstance(said, bool) and said == wanted
        case str():
            return isinstance(said, str) and _plain(said) == _plain(wanted)
        case Mapping():
            # Within an object each value is a list of accepted ones again.
            return isinstance(said, Mapping) and right_arguments(said, _listed(wanted))
        case Sequence():
            return (
                isinstance(said, Sequence)
                and not isinstance(said, str)
                and len(said) == len(wanted)
                and all(map(_equal, said, wanted))
            )
        case _:
            return said is wanted


def _listed(wanted: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: values if isinstance(values, list) else [values] for name, values in wanted.items()
    }


def _plain(text: str) -> str:
    return _IGNORED.sub("", text).casefold()
