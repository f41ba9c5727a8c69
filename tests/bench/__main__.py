"""Measures what the issues set goals for: ``python -m tests.bench [SECTION...]``.

Prints a table and writes ``bench.json``. Every ratio comes with its two sides, measured in turn in
the same run, for absolute figures on a shared machine say little.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.bench import agenda, bus, decoding, grammar, memory, system, vault

GOALS: dict[str, tuple[str, float]] = {
    "grammar.maskbench.compiled": (">=", 0.97),
    "grammar.maskbench.exact": (">=", 0.86),
    "grammar.maskbench.wrong_accept": ("<=", 0),
    "grammar.maskbench.wrong_reject": ("<=", 0),
    "grammar.suite.exact": (">=", 0.6),
    "grammar.suite.wrong": ("<=", 0),
    "grammar.traps": (">=", 1.0),
    "grammar.compile_ms.cold": ("<=", 60),
    "grammar.compile_ms.cached": ("<=", 0.5),
    "decode.constrained_vs_free": (">=", 1.5),
    "decode.constrained_vs_llama_gbnf": (">=", 3),
    "decode.mask_us": ("<=", 150),
    "decode.tokens_per_pass": (">=", 1.4),
    "decode.under_load": (">=", 0.5),
    "grammar.closed": (">=", 1.0),
    "bus.rtt_vs_raw": ("<=", 5),
    "bus.kill_resume_ms": ("<=", 500),
    "bus.tokens_lost": ("<=", 0),
    "turn.cancel_ms": ("<=", 50),
    "turn.prefill_ratio": ("<=", 0.35),
    "restart.actor_s": ("<=", 3),
    "restart.inference_ttft_ratio": ("<=", 0.2),
    "system.rss_total_mb": ("<=", 350),
    "cli.status_ms": ("<=", 300),
    "cli.help_ms": ("<=", 300),
    "vault.index_notes_per_s": (">=", 400),
    "vault.reindex_one_ms": ("<=", 500),
    "vault.search_ms": ("<=", 30),
    "vault.search_vs_rg": ("<=", 0.5),
    "vault.backlinks_ms": ("<=", 10),
    "vault.move_hub_s": ("<=", 5),
    "vault.open_s": ("<=", 1),
    "vault.rss_mb": ("<=", 200),
    "memory.search_ms": ("<=", 5),
    "memory.search_ms.embedded": ("<=", 60),
    "memory.edge_vs_local": ("<=", 0.1),
    "memory.ingest_chunks_per_s": (">=", 0.8),
    "memory.prefetch_ms": ("<=", 120),
    "memory.reopen_s": ("<=", 1),
    "memory.rss_mb": ("<=", 450),
    "agenda.lost": ("<=", 0),
    "agenda.doubled": ("<=", 0),
    "agenda.add_ms_p95": ("<=", 5),
    "agenda.next_due_ms": ("<=", 1),
    "agenda.idle_wakeups_per_min": ("<=", 1),
}


def _bus() -> dict[str, Any]:
    return {"bus": {"rtt_vs_raw": bus.round_trip(), **bus.kill_and_resume()}}


def _decode() -> dict[str, Any]:
    under_load, cancel = decoding.served()
    return {
        "decode": {**decoding.grammar_speed(), "under_load": under_load},
        "grammar": {"closed": decoding.closed()},
        "turn": {"cancel_ms": cancel},
    }


def _restart() -> dict[str, Any]:
    return {"restart": {"inference_ttft_ratio": system.inference_restart()}}


SECTIONS: dict[str, Callable[[], dict[str, Any]]] = {
    "grammar": grammar.measure,
    "bus": _bus,
    "system": system.running,
    "restart": _restart,
    "decode": _decode,
    "vault": vault.measure,
    "memory": memory.measure,
    "agenda": agenda.measure,
}


def merge(into: dict[str, Any], new: dict[str, Any]) -> None:
    """Merge nested results."""
    for key, value in new.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            merge(into[key], value)
        else:
            into[key] = value


def rows(results: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """Return key, value, goal and the rest of every measurement."""
    found = []
    for area, measures in results.items():
        for name, measure in measures.items():
            key = f"{area}.{name}"
            rest = "  ".join(f"{k}={v}" for k, v in measure.items() if k != "value")
            found.append((key, str(measure["value"]), judged(key, measure["value"]), rest))
            # A part of a measurement may have a goal of its own.
            parts = ((f"{key}.{part}", value) for part, value in measure.items())
            found += [(k, str(v), judged(k, v), "") for k, v in parts if k in GOALS]
    return found


def judged(key: str, value: float) -> str:
    """Say whether a value meets its goal; nothing if there is none."""
    if key not in GOALS:
        return ""
    sign, limit = GOALS[key]
    good = value >= limit if sign == ">=" else value <= limit
    return f"{sign} {limit} {'met' if good else 'MISSED'}"


def main() -> int:
    """Measure the named sections, or all."""
    names = sys.argv[1:] or list(SECTIONS)
    unknown = set(names) - set(SECTIONS)
    if unknown:
        print(f"no such section: {', '.join(sorted(unknown))}; there are: {', '.join(SECTIONS)}")
        return 2
    file = Path("bench.json")
    results: dict[str, Any] = {}
    if len(names) < len(SECTIONS) and file.exists():
        results = json.loads(file.read_text("utf-8"))
    for name in names:
        print(f"measuring: {name}", file=sys.stderr, flush=True)
        merge(results, SECTIONS[name]())
        file.write_text(json.dumps(results, indent=2) + "\n", "utf-8")
    for key, value, goal, rest in rows(results):
        print(f"{key:<34} {value:>8}  {goal:<16} {rest}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
