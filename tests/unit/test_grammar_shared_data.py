"""Schemas that nobody here wrote, judged by an engine that isn't ours."""

import gzip
import json
from collections import Counter

import pytest

from eris.grammar import UnsatisfiableSchema, compile_schema
from tests.bench.grammar import COMPACT, SUITE, WILD, instances, nested, suite_verdicts, verdict
from tests.grammar_acceptor import (
    SHARED_DATA,
    acceptor,
    shared_data,
    shared_lines,
)


def test_every_trap_is_judged_right():
    wrong = []
    for case in shared_lines("schema-traps.jsonl"):
        # Of one trap only the name is there: "deep nesting 12".
        trap = case if case["schema"] is not None else nested(int(str(case["name"]).split()[-1]))
        accepts = acceptor(compile_schema(trap["schema"], COMPACT).text)
        wrong += [(case["name"], text) for text in trap["accept"] if not accepts(text)]
        wrong += [(case["name"], text) for text in trap["reject"] if accepts(text)]
    assert wrong == []


def suite_files():
    folder = SHARED_DATA / SUITE
    return sorted(path.name for path in folder.glob("*.json")) or ["(the suite)"]


@pytest.mark.parametrize("name", suite_files())
def test_the_official_suite_is_judged_right_or_left_to_the_check_afterwards(name):
    wrong = [
        (group["description"], case)
        for group in json.loads(shared_data(f"{SUITE}/{name}").read_text())
        for case, judged in suite_verdicts(group)
        if judged == "wrong"
    ]
    assert wrong == []


def test_schemas_from_the_wild_are_judged_right_or_left_to_the_check_afterwards():
    lines = gzip.decompress(shared_data("maskbench-dev.jsonl.gz").read_bytes()).splitlines()
    counts: Counter[str] = Counter()
    wrong = []
    for row in map(json.loads, lines[::24]):
        compiled, accepts = None, None
        try:
            compiled = compile_schema(row["schema"], WILD)
            accepts = acceptor(compiled.text)
        except UnsatisfiableSchema:
            pass
        for case, texts in zip(row["tests"], instances(row), strict=True):
            accepted = accepts is not None and any(map(accepts, texts))
            judged = verdict(compiled, accepted=accepted, valid=case["valid"])
            counts[judged] += 1
            if judged == "wrong":
                wrong.append((row["id"], texts))
    assert wrong == []
    assert counts["exact"] >= 0.86 * counts.total()
