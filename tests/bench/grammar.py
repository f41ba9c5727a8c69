"""How right and how fast the grammar compiler is, on schemas that nobody here wrote.

Two engines that aren't ours judge the grammars: llguidance, and llama.cpp through its vocabulary.
An instance is written in the fixed form, its keys in the order of the schema.
"""

import gzip
import json
import os
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eris.grammar import (
    Compiled,
    Enforcement,
    Form,
    GrammarError,
    Options,
    SubsetCache,
    ToolSchema,
    UnsatisfiableSchema,
    compile_schema,
    dump,
    envelope_grammar,
)
from eris.models.store import ModelStore
from eris.paths import models_folder
from tests.eval.questions import schema as json_schema
from tests.grammar_acceptor import SHARED_DATA, acceptor, canonical, orders
from tests.instance_order import Arranger
from tests.llama_acceptor import Failure, Job, judge

SUITE = "json-schema-test-suite-2020-12"
VOCABULARY = "smollm2-135m"
WILD = Options(closed=False)
PLAIN = Options(closed=False, formats=False)
"""JSON Schema by itself: open objects, formats as remarks."""
COMPACT = Options(form=Form(":", ","))
TOOLS = 60


@dataclass
class _Tally:
    """What became of the schemas of MaskBench."""

    counts: Counter[str] = field(default_factory=Counter)
    times: list[float] = field(default_factory=list)
    jobs: list[Job] = field(default_factory=list)
    verdicts: list[list[bool]] = field(default_factory=list)

    def add(self, row: dict[str, Any]) -> None:
        """Compile one schema and judge its instances."""
        valid = [case["valid"] for case in row["tests"]]
        start = time.perf_counter()
        try:
            compiled = compile_schema(row["schema"], WILD)
        except UnsatisfiableSchema:
            self.counts["unsatisfiable"] += 1
            self.counts["wrong_reject"] += sum(valid)
            self.counts["exact"] += not any(valid)
            return
        except GrammarError:
            self.counts["failed"] += 1
            return
        finally:
            self.times.append((time.perf_counter() - start) * 1000)
        self.counts["compiled"] += 1
        texts = instances(row)
        accepts = acceptor(compiled.text)
        accepted = [any(map(accepts, orders_)) for orders_ in texts]
        self._judge(compiled, valid, accepted)
        self.jobs.append((compiled.text, [orders_[0] for orders_ in texts]))
        self.verdicts.append([accepts(orders_[0]) for orders_ in texts])

    def _judge(self, compiled: Compiled, valid: list[bool], accepted: list[bool]) -> None:
        exact = compiled.report.exact
        rejects = sum(v and not a for v, a in zip(valid, accepted, strict=True))
        accepts = sum(a and not v for v, a in zip(valid, accepted, strict=True))
        self.counts["wrong_reject"] += rejects
        self.counts["wrong_accept" if exact else "wider_accept"] += accepts
        self.counts["exact" if exact and not rejects and not accepts else "wider"] += 1


def instances(row: dict[str, Any]) -> list[list[str]]:
    """Write the instances of a schema, each in the orders that its options ask for."""
    arranger = Arranger(row["schema"])
    return [
        [dump(value) for value in arranger.orders(canonical(case["data"]))] for case in row["tests"]
    ]


def maskbench() -> dict[str, Any]:
    """Compile the schemas of MaskBench and judge every instance."""
    tally = _Tally()
    file = SHARED_DATA / "maskbench-dev.jsonl.gz"
    for line in gzip.decompress(file.read_bytes()).splitlines():
        tally.add(json.loads(line))
    counts, total = tally.counts, len(tally.times)
    times = sorted(tally.times)
    usable = counts["compiled"] + counts["unsatisfiable"]
    return {
        "value": round(counts["exact"] / total, 3),
        "compiled": round(usable / total, 3),
        "exact": round(counts["exact"] / total, 3),
        "wrong_accept": counts["wrong_accept"],
        "wrong_reject": counts["wrong_reject"],
        "failed": counts["failed"],
        "wider": counts["wider"],
        "schemas": total,
        "counts": dict(sorted(counts.items())),
        "compile_ms_p50": round(times[total // 2], 1),
        "compile_ms_p99": round(times[int(total * 0.99)], 1),
        **_llama(tally),
    }


def _llama(tally: _Tally) -> dict[str, int]:
    """Let llama.cpp read all grammars, and compare its verdicts with llguidance's."""
    model = _vocabulary()
    if model is None:
        return {}
    found = judge(model, tally.jobs)
    both = [
        (a, b) for a, b in zip(found, tally.verdicts, strict=True) if not isinstance(a, Failure)
    ]
    return {
        "llama_parsed": len(both),
        "llama_failed": len(found) - len(both),
        "llama_texts": sum(len(theirs) for _, theirs in both),
        "llama_disagrees": sum(x != y for a, b in both for x, y in zip(a, b, strict=True)),
    }


def _vocabulary() -> Path | None:
    path = ModelStore(models_folder(os.environ)).path(VOCABULARY)
    return path if path.exists() else None


def suite() -> dict[str, Any]:
    """Judge the official test suite: right, or declared as wider, or wrong."""
    counts: Counter[str] = Counter()
    for path in sorted((SHARED_DATA / SUITE).glob("*.json")):
        for group in json.loads(path.read_text()):
            counts.update(judged for _, judged in suite_verdicts(group))
    total = counts.total()
    return {
        "value": round(counts["exact"] / total, 3),
        "exact": round(counts["exact"] / total, 3),
        "wrong": counts["wrong"],
        "cases": total,
        "counts": dict(sorted(counts.items())),
    }


def suite_verdicts(group: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Judge the cases of one schema of the official suite: description and `verdict` of each."""
    compiled, accepts = None, None
    try:
        compiled = compile_schema(group["schema"], PLAIN)
        accepts = acceptor(compiled.text)
    except UnsatisfiableSchema:
        pass
    for case in group["tests"]:
        texts = (dump(value) for value in orders(canonical(case["data"])))
        accepted = accepts is not None and any(map(accepts, texts))
        yield case["description"], verdict(compiled, accepted=accepted, valid=case["valid"])


def verdict(compiled: Compiled | None, *, accepted: bool, valid: bool) -> str:
    """Give "exact", "wider" (declared) or "wrong"; no grammar means that nothing fits."""
    exact = compiled is None or compiled.report.exact
    if accepted == valid:
        return "exact" if exact else "wider"
    if accepted:
        return "wrong" if exact else "wider"
    unknown = compiled is not None and any(
        finding.keyword == "$schema" for finding in compiled.report.of(Enforcement.NARROWED)
    )
    return "wider" if unknown else "wrong"


def traps() -> dict[str, Any]:
    """Judge every trap; a case is right if all its texts are."""
    right, wrong = 0, []
    for line in (SHARED_DATA / "schema-traps.jsonl").read_text().splitlines():
        case = json.loads(line)
        trap = case if case["schema"] is not None else nested(int(case["name"].split()[-1]))
        accepts = acceptor(compile_schema(trap["schema"], COMPACT).text)
        if all(map(accepts, trap["accept"])) and not any(map(accepts, trap["reject"])):
            right += 1
        else:
            wrong.append(case["name"])
    return {
        "value": round(right / (right + len(wrong)), 3),
        "cases": right + len(wrong),
        "wrong": wrong,
    }


def nested(depth: int) -> dict[str, Any]:
    """Give the trap of which the data has only the name: objects in objects."""
    schema: dict[str, Any] = {"type": "integer"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}, "required": ["a"]}

    def text(levels: int, inner: str) -> str:
        return '{"a":' * levels + inner + "}" * levels

    reject = [text(depth - 1, "1"), text(depth + 1, "1"), text(depth, '"x"'), text(depth, "1")[:-1]]
    return {"schema": schema, "accept": [text(depth, "1")], "reject": reject}


def compile_ms() -> dict[str, Any]:
    """Time the envelope grammar of 60 functions: compiled afresh, and out of the cache."""
    tools = functions(TOOLS)
    cold = [_timed(lambda: envelope_grammar(tools)) for _ in range(9)]
    cache = SubsetCache()
    cache.get(tools)
    cached = [_timed(lambda: cache.get(tools)) for _ in range(99)]
    compiled = cache.get(tools)
    return {
        "value": round(statistics.median(cold), 1),
        "cold": round(statistics.median(cold), 1),
        "first": round(cold[0], 1),
        "cached": round(statistics.median(cached), 3),
        "tools": len(tools),
        "bytes": len(compiled.text.encode()),
        "rules": len(compiled.grammar.rules),
    }


def _timed(work: Any) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def functions(count: int) -> list[ToolSchema]:
    """Give the first functions of the leaderboard's questions, with the types of JSON Schema."""
    found: dict[str, ToolSchema] = {}
    for line in (SHARED_DATA / "bfcl-dev.jsonl").read_text().splitlines():
        for function in json.loads(line)["function"]:
            schema = json_schema(function["parameters"])
            found.setdefault(function["name"], ToolSchema(function["name"], schema))
    return list(found.values())[:count]


def measure() -> dict[str, Any]:
    """Measure all of it."""
    return {
        "grammar": {
            "maskbench": maskbench(),
            "suite": suite(),
            "traps": traps(),
            "compile_ms": compile_ms(),
        }
    }
