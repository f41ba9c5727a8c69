"""Lengths of time in words."""

_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


def span_told(seconds: float) -> str:
    """Return a length of time in words, with its two largest units: ``2 hours 5 minutes``."""
    left = max(0, round(seconds))
    parts: list[str] = []
    for size, name in _UNITS:
        number, left = divmod(left, size)
        if number:
            parts.append(f"{number} {name}{'' if number == 1 else 's'}")
        elif parts:
            break
    return " ".join(parts[:2]) or "0 seconds"


def ahead_told(seconds: float) -> str:
    """Return how far away a time is: ``in 5 minutes``, or ``2 hours ago``."""
    return f"in {span_told(seconds)}" if seconds >= 0 else f"{span_told(-seconds)} ago"
