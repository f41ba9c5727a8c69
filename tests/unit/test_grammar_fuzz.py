"""Random schemas and values: the grammar agrees with `jsonschema`, whatever the mixture.

The texts go through an engine that isn't ours, in the order of keys that the grammar writes.
"""

import json
import re
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from eris.grammar import Options, SchemaNotUsable, UnsatisfiableSchema, compile_schema, dump
from tests.grammar_acceptor import acceptor, canonical
from tests.grammar_walk import Walker
from tests.instance_order import Arranger

OPEN = Options(closed=False)
SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
FUZZ = settings(
    max_examples=4 * settings().max_examples,
    derandomize=True,
    deadline=None,
    suppress_health_check=SLOW,
)

NAMES = st.sampled_from(["a", "b", "ab", "c"])
TEXTS = st.sampled_from(["", "a", "b", "ab", "abc", "c", "x1", "1", 'q"', "é", "2024-02-29"])
NUMBERS = st.integers(-4, 12) | st.sampled_from([0.5, -1.5, 2.25, 3.0, 7.5])
SCALARS = st.none() | st.booleans() | NUMBERS | TEXTS


def values(depth=2):
    if depth == 0:
        return SCALARS
    inner = values(depth - 1)
    members = st.dictionaries(NAMES, inner, max_size=3)
    return SCALARS | st.lists(inner, max_size=3) | members


def some(**keywords):
    """Any selection of keywords."""
    return st.fixed_dictionaries({}, optional=keywords)


COUNTS = st.integers(0, 3)
STRINGS = some(
    minLength=COUNTS,
    maxLength=COUNTS,
    pattern=st.sampled_from(["^a", "b$", "^[a-c]*$", "a|1", "^(ab)+$", "[0-9]", "^x?[^1]$", "é"]),
    format=st.sampled_from(["date", "ipv4", "uuid", "shoe-size"]),
)
RANGES = some(
    minimum=NUMBERS,
    maximum=NUMBERS,
    exclusiveMinimum=NUMBERS,
    exclusiveMaximum=NUMBERS,
    multipleOf=st.sampled_from([1, 2, 3, 5, 0.5, 0.01, 2.5]),
)
TYPES = st.sampled_from(["object", "array", "string", "number", "integer", "boolean", "null"])


X, Y = {"$ref": "#/$defs/x"}, {"$ref": "#/$defs/y"}


def schemas(depth, here, inside=(X, Y)):
    """Schemas with some references at their own level, and some in their parts' schemas."""
    leaves = [
        st.booleans(),
        TYPES.map(lambda name: {"type": name}),
        st.lists(TYPES, min_size=1, max_size=3, unique=True).map(lambda names: {"type": names}),
        st.tuples(STRINGS, st.booleans()).map(
            lambda p: p[0] | ({"type": "string"} if p[1] else {})
        ),
        st.tuples(RANGES, st.sampled_from([None, "number", "integer"])).map(
            lambda p: p[0] | ({"type": p[1]} if p[1] else {})
        ),
        st.lists(values(1), min_size=1, max_size=4).map(lambda listed: {"enum": listed}),
        values(1).map(lambda value: {"const": value}),
        *map(st.just, here),
    ]
    if depth == 0:
        return st.one_of(leaves)
    inner, beside = schemas(depth - 1, inside), schemas(depth - 1, here)
    several = st.lists(beside, min_size=1, max_size=3)
    objects = some(
        properties=st.dictionaries(NAMES, inner, max_size=3),
        required=st.lists(NAMES, max_size=2, unique=True),
        additionalProperties=inner,
        patternProperties=st.dictionaries(st.sampled_from(["^a", "b", "c"]), inner, max_size=2),
        propertyNames=some(pattern=st.sampled_from(["^a", "b"]), maxLength=COUNTS),
        minProperties=COUNTS,
        maxProperties=COUNTS,
        dependentRequired=st.dictionaries(NAMES, st.lists(NAMES, max_size=2), max_size=2),
        dependentSchemas=st.dictionaries(NAMES, beside, max_size=1),
    )
    arrays = some(
        items=inner,
        prefixItems=st.lists(inner, min_size=1, max_size=3),
        minItems=COUNTS,
        maxItems=COUNTS,
        contains=inner,
        uniqueItems=st.booleans(),
    )
    logic = some(allOf=several, anyOf=several, oneOf=several) | st.fixed_dictionaries(
        {"not": inner}
    )
    branching = st.fixed_dictionaries({"if": beside}, optional={"then": beside, "else": beside})
    typed = [
        st.tuples(objects, st.booleans()).map(
            lambda p: p[0] | ({"type": "object"} if p[1] else {})
        ),
        st.tuples(arrays, st.booleans()).map(lambda p: p[0] | ({"type": "array"} if p[1] else {})),
    ]
    both = st.tuples(st.one_of(typed), logic).map(lambda pair: pair[0] | pair[1])
    return st.one_of(*leaves, *typed, logic, branching, both)


@st.composite
def documents(draw):
    schema = draw(schemas(2, (X, Y)))
    if not isinstance(schema, dict):
        return schema
    return schema | {"$defs": {"x": draw(schemas(1, (Y,))), "y": draw(schemas(0, ()))}}


def by_whole_lines(_validator, pattern, value, _schema):
    """What `$` means by ECMA 262: the end, not also the place before a last line break."""
    if isinstance(value, str) and not re.search(pattern.replace("$", r"\Z"), value):
        yield ValidationError("no match")


CHECKED = extend(Draft202012Validator, {"pattern": by_whole_lines})


def valid(schema, value):
    return CHECKED(schema, format_checker=CHECKED.FORMAT_CHECKER).is_valid(value)


def compiled(schema):
    """Compile, or say whether no value should fit; None if the schema is refused as too large."""
    try:
        return compile_schema(schema, OPEN)
    except UnsatisfiableSchema:
        return False
    except SchemaNotUsable:
        return None


@FUZZ
@given(documents(), st.lists(values(), min_size=4, max_size=8))
def test_values_are_accepted_as_jsonschema_says(schema, instances):
    found = compiled(schema)
    if found is None:
        return
    fitting = [valid(schema, value) for value in instances]
    accepts = acceptor(found.text) if found else lambda _: False
    arranger = Arranger(schema)
    for value, fits in zip(instances, fitting, strict=True):
        texts = [dump(one) for one in arranger.orders(canonical(value))]
        accepted = any(map(accepts, texts))
        if fits:
            assert accepted, texts
        elif not found or found.report.exact:
            assert not accepted, texts


@FUZZ
@given(documents(), st.integers(0, 2**32))
def test_texts_of_an_exact_grammar_are_valid(schema, seed):
    found = compiled(schema)
    if not found:
        return
    accepts = acceptor(found.text)
    walker = Walker(found.grammar, Random(seed))
    for _ in range(4):
        text = walker.text()
        value = json.loads(text)
        assert accepts(text), text
        if found.report.exact:
            assert valid(schema, value), text


@pytest.mark.parametrize("schema", [{"type": "object", "maxProperties": 3}, True])
def test_a_walk_ends(schema):
    grammar = compile_schema(schema, OPEN).grammar
    assert all(len(Walker(grammar, Random(seed)).text()) < 20_000 for seed in range(50))
