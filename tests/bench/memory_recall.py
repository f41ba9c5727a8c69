"""How fast the memory finds and takes in, through catalogue, index and embedder.

``python -m tests.bench memory`` runs each part in a process of its own: what is filled in one is
opened by another, as after a restart, and its memory is that of the parts that the actor has.
"""

import os
import random
import statistics
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from actors.memory.catalogue import Catalogue, Source, source_digest
from actors.memory.chunking import Chunk, chunk_note
from actors.memory.embedder import MiniLM
from actors.memory.index import EdgeBackend
from actors.memory.ingest import Embedding, Ingest, Numbered
from actors.memory.points import Point
from actors.memory.recall import Recaller
from actors.memory.work import batches
from eris.models.store import ModelStore
from eris.paths import models_folder
from proto.memory import Kind, Recall, SearchMemory
from tests.bench.memory_corpus import (
    CHUNKS_OF_A_SOURCE,
    DIMENSIONS,
    IDENTITY,
    POINTS,
    points,
    questions,
    text,
)
from tests.bench.timing import median_ms, p95_ms, seconds
from tests.eval.memory_search import TODAY, OneIndex
from tests.eval.recall_data import notes

MODEL = "minilm-l6-v2-int8"
SEARCHES = 200
EMBEDDED_SEARCHES = 60
LIMIT = 8
"""Hits of a search, as `eris memory search` asks for."""
TAKEN_IN = 240
"""Chunks of the notes that are taken in, and embedded without anything around it."""
ROUNDS = 2

REQUESTS: dict[str, dict[str, Any]] = {
    "all": {},
    "folder": {"kinds": (Kind.NOTE,), "folder": "folder 3"},
    "days": {"kinds": (Kind.NOTE, Kind.DOCUMENT), "since": "2024-10-05"},
}


def fill(folder: Path) -> dict[str, Any]:
    """Fill a catalogue and an index with the chunks, by what ingests."""
    catalogue = Catalogue.open(folder / "catalogue.sqlite")
    index = EdgeBackend(folder / "filled").create(1, IDENTITY, DIMENSIONS)
    ready: dict[str, bytes] = {}
    ingest = Ingest(
        catalogue,
        OneIndex(Numbered(1, index)),
        Embedding(IDENTITY, lambda texts: [ready[each] for each in texts]),
    )
    for start in range(0, POINTS, CHUNKS_OF_A_SOURCE):
        made = points(range(start, start + CHUNKS_OF_A_SOURCE))
        source, chunks = _source(made)
        vectors = (point.vector or b"" for point in made)
        ready |= zip((chunk.embedded for chunk in chunks), vectors, strict=True)
        catalogue.offer(source, chunks)
    while ingest.step():
        pass
    index.close()
    catalogue.close()
    return {}


def recall(folder: Path) -> dict[str, Any]:
    """Open what was filled, and look for things in it."""
    begun = time.perf_counter()
    catalogue = Catalogue.open(folder / "catalogue.sqlite")
    index = EdgeBackend(folder / "filled").open(1, IDENTITY, DIMENSIONS)
    indexes = OneIndex(Numbered(1, index))
    asked = questions(SEARCHES)
    at_hand = {words: vector for vector, words in asked}
    embedding = Embedding(IDENTITY, lambda texts: [at_hand[each] for each in texts])
    ingest = Ingest(catalogue, indexes, embedding)
    while ingest.step():  # Compares ids.
        pass
    finder = Recaller(catalogue, indexes, embedding, today=lambda: TODAY)
    finder.search(SearchMemory(text=asked[0][1], limit=LIMIT))
    reopened = time.perf_counter() - begun
    without = {
        name: [
            seconds(partial(finder.search, SearchMemory(text=words, limit=LIMIT, **wanted)))
            for _, words in asked
        ]
        for name, wanted in REQUESTS.items()
    }
    model = _model()
    finder.embedding = Embedding(IDENTITY, model.embed)
    embedded = [
        seconds(partial(finder.search, SearchMemory(text=_question(number), limit=LIMIT)))
        for number in range(EMBEDDED_SEARCHES)
    ]
    alone = [
        seconds(partial(model.embed, [_question(number + EMBEDDED_SEARCHES)]))
        for number in range(EMBEDDED_SEARCHES)
    ]
    prefetch = [
        seconds(partial(finder.recall, Recall(text=_question(number + 2 * EMBEDDED_SEARCHES))))
        for number in range(EMBEDDED_SEARCHES)
    ]
    memory = psutil.Process().memory_full_info()
    index.close()
    return {
        "recall_ms": {
            "without": {name: p95_ms(each) for name, each in without.items()},
            "without_p50": median_ms(without["all"]),
            "embedded": p95_ms(embedded),
            "embedded_p50": median_ms(embedded),
            "embedder_p95": p95_ms(alone),
        },
        "prefetch_ms": {"value": p95_ms(prefetch), "p50": median_ms(prefetch)},
        "reopen_s": {"value": round(reopened, 2)},
        "rss_mb": {"value": round(memory.rss / 1e6), "own": round(memory.uss / 1e6)},
    }


def ingest_rate(folder: Path) -> dict[str, Any]:
    """Take in notes, from text to the index, and embed the same chunks with nothing around it."""
    model = _model()
    taken: list[tuple[str, str]] = []
    chunks: list[Chunk] = []
    for path, note in notes():
        if len(chunks) >= TAKEN_IN:
            break
        taken.append((path, note))
        chunks += chunk_note(path, note, model.count).chunks
    texts = [chunk.embedded for chunk in chunks]
    model.embed(texts[:8])  # The first batch is slower.
    ours, bare = [], []
    for number in range(ROUNDS):
        place = folder / f"ingest-{number}"
        ours.append(len(texts) / seconds(partial(_take_in, place, taken, model)))
        bare.append(len(texts) / seconds(partial(_embed, texts, model)))
    rates = statistics.mean(ours), statistics.mean(bare)
    return {
        "ingest_chunks_per_s": {
            "value": round(rates[0] / rates[1], 2),
            "ours": round(rates[0], 1),
            "embedder": round(rates[1], 1),
            "chunks": len(texts),
        }
    }


def _take_in(folder: Path, taken: Sequence[tuple[str, str]], model: MiniLM) -> None:
    catalogue = Catalogue.open(folder / "catalogue.sqlite")
    index = EdgeBackend(folder / "index").create(1, IDENTITY, DIMENSIONS)
    embedding = Embedding(IDENTITY, model.embed)
    ingest = Ingest(catalogue, OneIndex(Numbered(1, index)), embedding)
    for path, note in taken:
        made = chunk_note(path, note, model.count)
        digest = source_digest(note.encode(), "bench")
        source = Source(
            key=f"note:{path}", kind=Kind.NOTE, path=path, title=made.title, digest=digest
        )
        catalogue.offer(source, made.chunks)
    while ingest.step():
        pass
    index.close()
    catalogue.close()


def _embed(texts: Sequence[str], model: MiniLM) -> None:
    for batch in batches(texts):
        model.embed([texts[number] for number in batch])


def _source(made: Sequence[Point]) -> tuple[Source, list[Chunk]]:
    first = made[0]
    name = first.source.partition(":")[2]
    source = Source(
        key=f"{first.kind}:{name}" if first.kind is Kind.NOTE else f"{first.kind}:{first.id}",
        kind=first.kind,
        path=f"{first.folders[0]}/{name}" if first.kind is Kind.NOTE else "",
        title=f"Note {name}",
        date=time.strftime("%Y-%m-%d", time.gmtime(first.day * 86_400)),
        digest=first.source,
    )
    chunks = [
        Chunk(text=each.text, header=f"{source.title} {each.id}", tags=each.tags) for each in made
    ]
    return source, chunks


def _model() -> MiniLM:
    return MiniLM(ModelStore(models_folder(os.environ)).path(MODEL), threads=2, environ={})


def _question(number: int) -> str:
    return text(random.Random(10_000 + number), 8)
