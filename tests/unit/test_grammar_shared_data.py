"""Schemas that nobody here wrote, judged by an engine that isn't ours."""

import gzip
import json
from collections import Counter

import pytest

from eris.grammar import Form, GrammarError, Options, UnsatisfiableSchema, compile_schema, dump
from tests.grammar_acceptor import (
    SHARED_DATA,
    acceptor,
    canonical,
    orders,
    shared_data,
    shared_lines,
)

COMPACT = Options(form=Form(":", ","))
SUITE = "json-schema-test-suite-2020-12"
# JSON Schema by itself: open objects, formats as remarks.
PLAIN = Options(closed=False, formats=False)
# Its metaschema, elsewhere on the network, takes the meaning from `minimum`.
UNKNOWABLE = {"schema that uses custom metaschema with with no validation vocabulary"}


def test_every_trap_is_judged_right():
    wrong = []
    for case in shared_lines("schema-traps.jsonl"):
        if case["schema"] is None:
            continue
        accepts = acceptor(compile_schema(case["schema"], COMPACT).text)
        wrong += [(case["name"], text) for text in case["accept"] if not accepts(text)]
        wrong += [(case["name"], text) for text in case["reject"] if accepts(text)]
    assert wrong == []


def suite_files():
    folder = SHARED_DATA / SUITE
    return sorted(path.name for path in folder.glob("*.json")) or ["(the suite)"]


@pytest.mark.parametrize("name", suite_files())
def test_the_official_suite_is_judged_right_or_left_to_the_check_afterwards(name):
    wrong = []
    for group in json.loads(shared_data(f"{SUITE}/{name}").read_text()):
        if group["description"] in UNKNOWABLE:
            continue
        accepts, exact = None, True
        try:
            compiled = compile_schema(group["schema"], PLAIN)
            accepts, exact = acceptor(compiled.text), compiled.report.exact
        except UnsatisfiableSchema:
            pass
        for case in group["tests"]:
            texts = (dump(value) for value in orders(canonical(case["data"])))
            accepted = accepts is not None and any(map(accepts, texts))
            if accepted != case["valid"] and (exact or not accepted):
                wrong.append((group["description"], case["description"]))
    assert wrong == []


def test_schemas_from_the_wild_compile_and_are_never_too_wide_without_saying_so():
    lines = gzip.decompress(shared_data("maskbench-dev.jsonl.gz").read_bytes()).splitlines()
    counts: Counter[str] = Counter()
    too_wide = []
    for row in map(json.loads, lines[::24]):
        try:
            compiled = compile_schema(row["schema"], Options(closed=False))
        except GrammarError:
            counts["refused"] += 1
            continue
        accepts = acceptor(compiled.text)
        counts["compiled"] += 1
        invalid = [case["data"] for case in row["tests"] if not case["valid"]]
        if compiled.report.exact and any(accepts(dump(canonical(value))) for value in invalid):
            too_wide.append(row["id"])
    assert too_wide == []
    assert counts["refused"] <= 0.03 * sum(counts.values())
