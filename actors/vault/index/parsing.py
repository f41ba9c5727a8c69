"""Parsing many notes: in this process, or in one more when there are thousands.

Parsing is most of what an index costs, and it keeps Python busy: while this process did it, a tool
that somebody waits for would be answered at half the speed. So a first index is parsed by a worker
process, with a bounded number of notes under way; it gets bytes and gives rows, and never sees the
disk. It's started for the pass and ends with it. Measured on two cores, 10,000 notes of 6 kB: 470
notes/s without it, 740 with it, 570 with two of them.
"""

import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from dataclasses import dataclass

from actors.vault.index.extracting import Extract, Unfit, extract

LEAST_FILES = 1500
"""Below this number of files, a process takes longer to start than it saves."""

_UNDER_WAY = 3
"""Batches read ahead: one that is parsed, one that waits for it, one that's stored here."""

Batch = list["Job"]


@dataclass(frozen=True, slots=True)
class Job:
    """A file to parse."""

    path: str
    data: bytes


def parse_all(batch: Batch) -> list[Extract | Unfit]:
    """Parse the files of a batch, in order."""
    return [extract(job.path, job.data) for job in batch]


def parsed(batches: Iterable[Batch], files: int) -> Iterator[tuple[Batch, list[Extract | Unfit]]]:
    """Yield each batch with what its files are to the index.

    Args:
        batches: What to parse; read ahead only as far as the worker needs.
        files: About how many files there are in all, to choose whether a worker is worth it.
    """
    if files < LEAST_FILES:
        yield from ((batch, parse_all(batch)) for batch in batches)
        return
    # Not forked: this process has threads, whose locks a fork would copy as they are.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context, initializer=_end_with_parent) as pool:
        under_way: deque[tuple[Batch, Future[list[Extract | Unfit]]]] = deque()
        for batch in batches:
            under_way.append((batch, _submitted(pool, batch)))
            if len(under_way) == _UNDER_WAY:
                yield _finished(*under_way.popleft())
        while under_way:
            yield _finished(*under_way.popleft())


def _end_with_parent() -> None:
    """Let the worker end even if its parent is killed, which the pool doesn't provide for."""
    parent = multiprocessing.parent_process()

    def wait() -> None:
        if parent:
            parent.join()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def _submitted(pool: ProcessPoolExecutor, batch: Batch) -> Future[list[Extract | Unfit]]:
    try:
        return pool.submit(parse_all, batch)
    except BrokenExecutor as error:
        broken: Future[list[Extract | Unfit]] = Future()
        broken.set_exception(error)
        return broken


def _finished(
    batch: Batch, future: Future[list[Extract | Unfit]]
) -> tuple[Batch, list[Extract | Unfit]]:
    try:
        return batch, future.result()
    except BrokenExecutor:  # It was killed, perhaps for its memory; this process goes on.
        return batch, parse_all(batch)
