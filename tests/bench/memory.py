"""How fast the memory is: its index alone, and all of it (`tests.bench.memory_recall`).

20,000 chunks of 384 dimensions, with words and filters: ``python -m tests.bench memory`` measures
in processes of their own, so that their memory is what is measured. How good what is found is, is
another matter: see ``make eval``.
"""

import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from actors.memory.index import EdgeBackend
from actors.memory.index.edge import EdgeIndex
from actors.memory.points import Wanted
from proto.memory import Kind
from tests.bench import memory_recall
from tests.bench.memory_corpus import DIMENSIONS, IDENTITY, POINTS, points, questions, vectors
from tests.bench.timing import median_ms, p95_ms, seconds

SEARCHES = 200
LOCAL_SEARCHES = 20
"""Of the other side, which takes a tenth of a second for each."""
BATCH = 200
LIMIT = 20

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
        for part in PARTS:
            done = subprocess.run(
                [sys.executable, "-m", "tests.bench.memory", part, folder],
                stdout=subprocess.PIPE,
                check=True,
            )
            found |= json.loads(done.stdout)
    index, ours, theirs = found["index"], found["index"]["ours"], found["local"]
    recall = found["recall_ms"]
    return {
        "memory": {
            "search_ms": {
                "value": max(recall["without"].values()),
                **recall["without"],
                "p50": recall["without_p50"],
                "index_alone": max(index["p95_ms"].values()),
                "embedded": recall["embedded"],
                "embedded_p50": recall["embedded_p50"],
                "embedder_alone": recall["embedder_p95"],
            },
            "edge_vs_local": {
                "value": round(ours["hybrid_ms"] / theirs["hybrid_ms"], 3),
                "dense": round(ours["dense_ms"] / theirs["dense_ms"], 3),
                "edge_ms": ours["hybrid_ms"],
                "local_ms": theirs["hybrid_ms"],
            },
            "ingest_chunks_per_s": found["ingest_chunks_per_s"],
            "prefetch_ms": found["prefetch_ms"],
            "reopen_s": found["reopen_s"] | {"index_alone": index["reopen_s"]},
            "rss_mb": found["rss_mb"] | {"index_alone": index["rss_mb"]},
            "index_points_per_s": found["build"],
            "graph_recall": {"value": index["graph_recall"]},
        }
    }


def _build(folder: Path) -> dict[str, Any]:
    index = EdgeBackend(folder).create(1, IDENTITY, DIMENSIONS)
    taken = 0.0
    for start in range(0, POINTS, BATCH):
        taken += seconds(partial(index.put, points(range(start, start + BATCH))))
    rest = index.words("w1", Wanted(), 1)
    tidy = seconds(index.tidy)
    index.close()
    peak = psutil.Process().memory_info().rss
    return {
        "build": {
            "value": round(POINTS / taken),
            "tidy_s": round(tidy, 1),
            "rss_mb": round(peak / 1e6),
            "found": len(rest),
        }
    }


def _search(folder: Path) -> dict[str, Any]:
    begun = time.perf_counter()
    index = EdgeBackend(folder).open(1, IDENTITY, DIMENSIONS)
    index.hybrid(vectors([0])[0], "w1 w2", Wanted(), LIMIT)
    reopened = time.perf_counter() - begun
    result = {
        "reopen_s": round(reopened, 2),
        "p95_ms": {name: p95_ms(_searched(index, wanted)) for name, wanted in WANTED.items()},
        # The other side has no filter here: the same question for both.
        "ours": {
            "hybrid_ms": median_ms(_searched(index, Wanted(), LOCAL_SEARCHES)),
            "dense_ms": median_ms(_dense(index)),
        },
        "rss_mb": round(psutil.Process().memory_info().rss / 1e6),
    }
    result["graph_recall"] = _graph_recall(index)  # Holds all vectors once more.
    index.close()
    return {"index": result}


def _searched(index: EdgeIndex, wanted: Wanted, number: int = SEARCHES) -> list[float]:
    return [
        seconds(partial(index.hybrid, vector, text, wanted, LIMIT))
        for vector, text in questions(number)
    ]


def _dense(index: EdgeIndex) -> list[float]:
    return [
        seconds(partial(index.dense, vector, Wanted(), LIMIT))
        for vector, _ in questions(LOCAL_SEARCHES)
    ]


def _graph_recall(index: EdgeIndex) -> float:
    """What share of the nearest the graph finds, against comparing with all."""
    matrix = np.frombuffer(b"".join(vectors(range(POINTS))), "<f4").reshape(POINTS, DIMENSIONS)
    right = 0
    asked = questions(50)
    for vector, _ in asked:
        scores = matrix @ np.frombuffer(vector, "<f4")
        best = {int(each) + 1 for each in np.argpartition(-scores, LIMIT)[:LIMIT]}
        right += len(best & {each.id for each in index.dense(vector, Wanted(), LIMIT)})
    return round(right / LIMIT / len(asked), 3)


def _local(folder: Path) -> dict[str, Any]:
    """Qdrant's client with a folder of its own: the same points, the same kind of question."""
    from qdrant_client import QdrantClient  # noqa: PLC0415 - takes 120 MB

    from actors.memory.index.server import ServerBackend  # noqa: PLC0415

    warnings.simplefilter("ignore")
    client = QdrantClient(path=str(folder / "local"))
    index = ServerBackend(client, "local", "bench").create(1, IDENTITY, DIMENSIONS)
    for start in range(0, POINTS, BATCH):
        index.put(points(range(start, start + BATCH)))
    hybrid, dense = [], []
    for vector, text in questions(LOCAL_SEARCHES):
        dense.append(seconds(partial(index.dense, vector, Wanted(), LIMIT)))
        hybrid.append(seconds(partial(index.hybrid, vector, text, Wanted(), LIMIT)))
    client.close()
    return {"local": {"hybrid_ms": median_ms(hybrid), "dense_ms": median_ms(dense)}}


PARTS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "build": _build,
    "search": _search,
    "local": _local,
    "fill": memory_recall.fill,
    "recall": memory_recall.recall,
    "ingest": memory_recall.ingest_rate,
}

if __name__ == "__main__":
    print(json.dumps(PARTS[sys.argv[1]](Path(sys.argv[2]))))
