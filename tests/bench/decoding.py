"""What decoding costs: under our grammar, free, under llama.cpp's own, and beside other work."""

import os
import statistics
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from actors.inference.actor import physical_cores
from actors.inference.measure import measure_file
from eris.actor import Port
from eris.models.store import ModelStore
from eris.paths import models_folder
from proto.inference import Chunk, Generate, Generated, Message, Part, Prefilled
from proto.memory import Embed, Embedded
from tests.closing import closing
from tests.support import processes

MODEL = "qwen2.5-coder-0.5b"
STORY = "Write a long story about a lighthouse keeper and the sea."
ITEM = Prefilled | Chunk
BATCH = tuple(
    f"Paragraph {n} of a note about gardens, boats and the weather. " * 12 for n in range(8)
)


def message(role: str, text: str, segment: str = "user") -> Message:
    """Return a message of one part."""
    return Message(role=role, parts=(Part(segment=segment, text=text),))


def story(seed: int = 0, tokens: int = 60) -> Generate:
    """A request that the model answers at length."""
    return Generate(
        messages=(message("user", f"{STORY} Variant {seed}."),),
        session=f"bench-{seed}",
        max_tokens=tokens,
    )


def grammar_speed() -> dict[str, dict[str, float]]:
    """Ours, free and llama.cpp's grammar in turn, on the same prompts in one process."""
    path = ModelStore(models_folder(os.environ)).path(MODEL)
    result = measure_file(path, threads=physical_cores())
    ours = {"constrained_tokens_per_s": result["constrained_tokens_per_s"]}
    return {
        "constrained_vs_free": {
            "value": result["constrained_vs_free"],
            **ours,
            "free_tokens_per_s": result["free_tokens_per_s"],
        },
        "constrained_vs_llama_gbnf": {
            "value": result["constrained_vs_llama_gbnf"],
            **ours,
            "llama_gbnf_tokens_per_s": result["llama_gbnf_tokens_per_s"],
        },
        "forced_share": {"value": result["forced_share"]},
        "tokens_per_pass": {"value": result["tokens_per_pass"]},
        "mask_us": {"value": result["mask_us"], "vocabulary": result["vocabulary"]},
        "whole_json_share": {"value": result["whole_json_share"]},
    }


def served() -> tuple[dict[str, Any], dict[str, Any]]:
    """Through the processes: decoding beside a busy embedder, and the time a cancel takes."""
    extra = {"ERIS_MODEL_CHAT": MODEL, "ERIS_MODEL_CONTEXT_LENGTH": "4096"}
    with tempfile.TemporaryDirectory() as folder, processes(Path(folder), extra) as group:
        group.start("bus")
        for name in ("memory", "inference"):
            group.start(name)
        port = group.connect("orchestrator")
        embedding = group.connect("router")
        generate(port, 0)
        alone, loaded = [], []
        for number in range(3):
            alone.append(generate(port, 2 * number + 1))
            with _busy_embedder(embedding):
                loaded.append(generate(port, 2 * number + 2))
        under_load = {
            "value": round(statistics.median(loaded) / statistics.median(alone), 3),
            "loaded_tokens_per_s": round(statistics.median(loaded), 1),
            "alone_tokens_per_s": round(statistics.median(alone), 1),
        }
        return under_load, cancels(port)


def generate(port: Port, seed: int) -> float:
    """Generate a story; returns tokens per second while decoding."""
    reader = port.open("inference", story(seed), item=ITEM, result=Generated)
    for _ in reader:
        pass
    return reader.result.generated_tokens / reader.result.decode_seconds


def closed(count: int = 200, seconds: float = 150) -> dict[str, Any]:
    """Share of answers that close; ``make closing`` asks for more of them."""
    outcome = closing(count, seed=7, seconds=seconds)
    return {
        "value": round(outcome.share, 4),
        "answers": outcome.count,
        "ended_early": outcome.ended_early,
        "calls": outcome.calls,
    }


class _busy_embedder:  # noqa: N801 - used like a function
    """Keeps the embedder working through batches."""

    def __init__(self, port: Port) -> None:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(port,))

    def _run(self, port: Port) -> None:
        number = 0
        while not self._stop.is_set():
            number += 1
            texts = tuple(f"{number} {text}" for text in BATCH)
            port.ask("memory", Embed(texts=texts, background=True), Embedded, within=60)

    def __enter__(self) -> None:
        self._thread.start()
        time.sleep(0.2)

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def cancels(port: Port, times: int = 20) -> dict[str, Any]:
    """Cancel in mid-answer: time until the generation has stopped, and tokens generated after."""
    waits, after = [], []
    for number in range(times):
        reader = port.open(
            "inference", story(100 + number % 2, tokens=400), item=ITEM, result=Generated
        )
        seen = 0
        while seen < 5 + number % 7:
            item = reader.next(60)
            seen = item.tokens if isinstance(item, Chunk) else seen
        start = time.perf_counter()
        reader.cancel()
        for item in reader:
            seen = max(seen, item.tokens if isinstance(item, Chunk) else 0)
        waits.append((time.perf_counter() - start) * 1000)
        after.append(reader.result.generated_tokens - seen)
    waits.sort()
    return {
        "value": round(waits[int(len(waits) * 0.95) - 1], 1),
        "p50": round(statistics.median(waits), 1),
        "tokens_after": max(after),
        "cancels": times,
    }
