"""How fast the memory's index is: 20,000 points of 384 dimensions, with words and filters.

``python -m tests.bench memory`` measures in a process of its own, so that its memory is the
index's. The texts are made of words as frequent as words are, the vectors lie in heaps as those of
an embedder do; how good what is found is, is another matter: see ``make eval``.
"""

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from actors.memory.index import EdgeBackend
from actors.memory.index.edge import EdgeIndex
from actors.memory.points import Point, Wanted
from proto.memory import Kind

POINTS = int(os.environ.get("ERIS_BENCH_CHUNKS", "20000"))
DIMENSIONS = 384
IDENTITY = "bench@1"
SEARCHES = 200
LOCAL_SEARCHES = 20
"""Of the other side, which takes a tenth of a second for each."""
BATCH = 200
LIMIT = 20

_HEAPS, _WORDS, _WORDS_OF_A_TEXT = 200, 40_000, 110
_KINDS = (Kind.NOTE, Kind.NOTE, Kind.NOTE, Kind.DOCUMENT, Kind.SESSION, Kind.MEMORY)

WANTED = {
    "all": Wanted(),
    "kinds": Wanted(kinds=(Kind.NOTE, Kind.MEMORY, Kind.DOCUMENT)),  # What is asked by default.
    "folder": Wanted(kinds=(Kind.NOTE,), folder="folder 3"),
    "days": Wanted(kinds=(Kind.NOTE, Kind.DOCUMENT), first_day=20_000),
}


def measure() -> dict[str, Any]:
    """Measure everything, each part in a new process."""
    with tempfile.TemporaryDirectory(prefix="eris-bench-memory-") as folder:
        found: dict[str, Any] = {}
        # What is built in one process is opened by another, as after a restart.
        for part in ("build", "search", "local"):
            done = subprocess.run(
                [sys.executable, "-m", "tests.bench.memory", part, folder],
                stdout=subprocess.PIPE,
                check=True,
            )
            found |= json.loads(done.stdout)
        ours, theirs = found["ours"], found["local"]
        build = found["build"]
        return {
            "memory": {
                "search_ms": {"value": max(found["p95_ms"].values()), **found["p95_ms"]},
                "edge_vs_local": {
                    "value": round(ours["hybrid_ms"] / theirs["hybrid_ms"], 3),
                    "dense": round(ours["dense_ms"] / theirs["dense_ms"], 3),
                    "edge_ms": ours["hybrid_ms"],
                    "local_ms": theirs["hybrid_ms"],
                },
                "reopen_s": found["reopen_s"],
                "rss_mb": {**found["rss_mb"], "while_building": build["rss_mb"]},
                "index_points_per_s": {"value": build["points_per_s"], "tidy_s": build["tidy_s"]},
                "graph_recall": {"value": found["graph_recall"]},
            }
        }


def _build(folder: Path) -> dict[str, Any]:
    index = EdgeBackend(folder).create(1, IDENTITY, DIMENSIONS)
    seconds = 0.0
    for start in range(0, POINTS, BATCH):
        seconds += _seconds(partial(index.put, _points(range(start, start + BATCH))))
    rest = index.words("w1", Wanted(), 1)
    tidy = _seconds(index.tidy)
    index.close()
    peak = psutil.Process().memory_info().rss
    return {
        "build": {
            "points_per_s": round(POINTS / seconds),
            "tidy_s": round(tidy, 1),
            "rss_mb": round(peak / 1e6),
            "found": len(rest),
        }
    }


def _search(folder: Path) -> dict[str, Any]:
    begun = time.perf_counter()
    index = EdgeBackend(folder).open(1, IDENTITY, DIMENSIONS)
    index.hybrid(_vectors([0])[0], "w1 w2", Wanted(), LIMIT)
    reopened = time.perf_counter() - begun
    result = {
        "reopen_s": {"value": round(reopened, 2)},
        "p95_ms": {name: _p95_ms(_searched(index, wanted)) for name, wanted in WANTED.items()},
        # The other side has no filter here: the same question for both.
        "ours": {
            "hybrid_ms": _median_ms(_searched(index, Wanted(), LOCAL_SEARCHES)),
            "dense_ms": _median_ms(_dense(index)),
        },
    }
    now = psutil.Process().memory_full_info()
    result["rss_mb"] = {"value": round(now.rss / 1e6), "own": round(now.uss / 1e6)}
    result["graph_recall"] = _graph_recall(index)  # Holds all vectors once more.
    index.close()
    return result


def _searched(index: EdgeIndex, wanted: Wanted, number: int = SEARCHES) -> list[float]:
    return [
        _seconds(partial(index.hybrid, vector, text, wanted, LIMIT))
        for vector, text in _questions(number)
    ]


def _dense(index: EdgeIndex) -> list[float]:
    return [
        _seconds(partial(index.dense, vector, Wanted(), LIMIT))
        for vector, _ in _questions(LOCAL_SEARCHES)
    ]


def _graph_recall(index: EdgeIndex) -> float:
    """What share of the nearest the graph finds, against comparing with all."""
    matrix = np.frombuffer(b"".join(_vectors(range(POINTS))), "<f4").reshape(POINTS, DIMENSIONS)
    right = 0
    questions = _questions(50)
    for vector, _ in questions:
        scores = matrix @ np.frombuffer(vector, "<f4")
        best = {int(each) + 1 for each in np.argpartition(-scores, LIMIT)[:LIMIT]}
        right += len(best & {each.id for each in index.dense(vector, Wanted(), LIMIT)})
    return round(right / LIMIT / len(questions), 3)


def _local(folder: Path) -> dict[str, Any]:
    """Qdrant's client with a folder of its own: the same points, the same kind of question."""
    from qdrant_client import QdrantClient  # noqa: PLC0415 - takes 120 MB

    from actors.memory.index.server import ServerBackend  # noqa: PLC0415

    warnings.simplefilter("ignore")
    client = QdrantClient(path=str(folder / "local"))
    index = ServerBackend(client, "local", "bench").create(1, IDENTITY, DIMENSIONS)
    for start in range(0, POINTS, BATCH):
        index.put(_points(range(start, start + BATCH)))
    hybrid, dense = [], []
    for vector, text in _questions(LOCAL_SEARCHES):
        dense.append(_seconds(partial(index.dense, vector, Wanted(), LIMIT)))
        hybrid.append(_seconds(partial(index.hybrid, vector, text, Wanted(), LIMIT)))
    client.close()
    return {"local": {"hybrid_ms": _median_ms(hybrid), "dense_ms": _median_ms(dense)}}


def _points(numbers: Sequence[int]) -> list[Point]:
    return [
        Point(
            id=number + 1,
            text=_text(random.Random(number), _WORDS_OF_A_TEXT),
            vector=vector,
            kind=_KINDS[number % len(_KINDS)],
            source=f"note:{number // 5}.md",
            folders=(f"folder {number % 40}",),
            tags=(f"tag{number % 30}",),
            day=19_000 + number % 1500,
        )
        for number, vector in zip(numbers, _vectors(numbers), strict=True)
    ]


def _questions(number: int) -> list[tuple[bytes, str]]:
    """Vectors near some point, and eight words."""
    rng = random.Random(5)
    near = _vectors([rng.randrange(POINTS) for _ in range(number)])
    noise = np.random.default_rng(5).normal(scale=0.02, size=(number, DIMENSIONS))
    return [
        (_unit(np.frombuffer(vector, "<f4") + moved), _text(rng, 8))
        for vector, moved in zip(near, noise, strict=True)
    ]


def _text(rng: random.Random, words: int) -> str:
    """Words by Zipf's law."""
    return " ".join(f"w{int(_WORDS ** rng.random())}" for _ in range(words))


def _vectors(numbers: Sequence[int]) -> list[bytes]:
    centres = np.random.default_rng(1).normal(size=(_HEAPS, DIMENSIONS))
    return [
        _unit(
            centres[number * 7919 % _HEAPS] + np.random.default_rng(number).normal(size=DIMENSIONS)
        )
        for number in numbers
    ]


def _unit(vector: np.ndarray) -> bytes:
    return bytes((vector / np.linalg.norm(vector)).astype("<f4").tobytes())


def _seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def _p95_ms(times: Sequence[float]) -> float:
    return round(sorted(times)[int(len(times) * 0.95)] * 1000, 1)


def _median_ms(times: Sequence[float]) -> float:
    return round(statistics.median(times) * 1000, 2)


if __name__ == "__main__":
    _PARTS = {"build": _build, "search": _search, "local": _local}
    print(json.dumps(_PARTS[sys.argv[1]](Path(sys.argv[2]))))
