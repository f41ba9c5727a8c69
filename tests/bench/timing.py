"""Seconds and milliseconds of what is measured many times."""

import statistics
import time
from collections.abc import Callable, Sequence


def seconds(action: Callable[[], object]) -> float:
    """Return how long something takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def p95_ms(times: Sequence[float]) -> float:
    """Return the 95th percentile of some seconds, in milliseconds."""
    return round(sorted(times)[int(len(times) * 0.95)] * 1000, 1)


def median_ms(times: Sequence[float]) -> float:
    """Return the median of some seconds, in milliseconds."""
    return round(statistics.median(times) * 1000, 2)
