"""Which texts the grammar of a schema accepts, and what the report says about it."""

import json

import pytest

from eris.grammar import (
    Enforcement,
    Form,
    MalformedSchema,
    Options,
    SchemaTooLarge,
    UnsatisfiableSchema,
    compile_schema,
)
from tests.grammar_acceptor import acceptor

OPEN = Options(closed=False)


def obj(required=(), **properties):
    return {"type": "object", "properties": properties, "required": list(required)}


INT = {"type": "integer"}
TEXT = {"type": "string"}
TREE = {
    "$defs": {"node": obj(["v"], v=INT, next={"$ref": "#/$defs/node"})},
    "$ref": "#/$defs/node",
}


@pytest.mark.parametrize(
    ("schema", "accepted", "refused"),
    [
        pytest.param(
            obj(["b"], a=INT, b=INT, c=INT),
            ['{"b": 1}', '{"a": 1, "b": 1}', '{"b": 1, "c": 1}', '{"a": 1, "b": 1, "c": 1}'],
            ["{}", '{"a": 1}', '{, "b": 1}', '{"b": 1,}', '{"b": 1, "a": 1}', '{"b":1}'],
            id="optional before and after required",
        ),
        pytest.param(
            {**obj(a=INT, b=INT, c=INT), "minProperties": 2},
            ['{"a": 1, "b": 1}', '{"b": 1, "c": 1}', '{"a": 1, "b": 1, "c": 1}'],
            ["{}", '{"a": 1}', '{"c": 1}'],
            id="at least two properties",
        ),
        pytest.param(
            {**obj(a=INT, b=INT, c=INT), "maxProperties": 1},
            ["{}", '{"a": 1}', '{"c": 1}'],
            ['{"a": 1, "b": 1}'],
            id="at most one property",
        ),
        pytest.param(obj(), ["{}"], ['{"a": 1}'], id="no arguments"),
        pytest.param({"type": "object"}, ["{}", '{"a": [1, {}]}'], ["[]"], id="any object"),
        pytest.param(
            {**obj(["abc"], abc=INT), "additionalProperties": TEXT},
            ['{"abc": 1}', '{"abc": 1, "ab": "x", "abcd": "x", "": "x"}'],
            ['{"abc": 1, "abc": "x"}', '{"abc": 1, "ab": 1}', '{"ab": "x"}'],
            id="further properties never repeat a declared one",
        ),
        pytest.param(
            {"patternProperties": {"^n_": INT}, "additionalProperties": TEXT, "type": "object"},
            ['{"n_a": 1, "a": "x"}', '{"a": "x", "n_": 2}'],
            ['{"n_a": "x"}', '{"a": 1}'],
            id="properties by pattern and the others",
        ),
        pytest.param(
            {"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}, "minProperties": 1},
            ['{"ab": 1}'],
            ['{"A": 1}', "{}"],
            id="names by pattern",
        ),
        pytest.param(
            {**obj(a=INT, b=INT), "dependentRequired": {"a": ["b"]}},
            ["{}", '{"b": 1}', '{"a": 1, "b": 1}'],
            ['{"a": 1}'],
            id="a property that needs another",
        ),
        pytest.param(
            {"type": "array", "items": INT, "minItems": 1, "maxItems": 3},
            ["[1]", "[1, 2, 3]"],
            ["[]", "[1,2]", "[1, 2, 3, 4]", "[1, ]"],
            id="bounded list",
        ),
        pytest.param(
            {"type": "array", "items": INT, "minItems": 1500, "maxItems": 2500},
            [json.dumps([1] * 1500), json.dumps([1] * 2500)],
            [json.dumps([1] * 1499), json.dumps([1] * 2501)],
            id="list bounded in thousands",
        ),
        pytest.param(
            {"type": "array", "prefixItems": [INT, TEXT], "items": False, "minItems": 1},
            ["[1]", '[1, "x"]'],
            ["[]", '["x"]', '[1, "x", 1]'],
            id="tuple",
        ),
        pytest.param(
            {"type": "array", "items": [INT], "additionalItems": TEXT},
            ["[]", "[1]", '[1, "x", "y"]'],
            ["[1, 1]"],
            id="tuple as older drafts write it",
        ),
        pytest.param(
            {"anyOf": [obj(["a"], a=INT), obj(["b"], b=TEXT)], "properties": {"a": {"minimum": 5}}},
            ['{"a": 5}', '{"a": 5, "b": "x"}', '{"b": "x"}'],
            ['{"a": 4}', "{}"],
            id="anyOf together with its siblings",
        ),
        pytest.param(
            {"anyOf": [obj(["k"], k={"const": "x"}), obj(["k"], k={"type": "string"})]},
            ['{"k": "x"}', '{"k": "xy"}', '{"k": ""}'],
            ['{"k": 1}'],
            id="options that begin alike",
        ),
        pytest.param(
            {"anyOf": [{"enum": [[1, 2], {"a": 1}]}, {"type": ["array", "object"]}]},
            ["[1, 2]", "[1, 3]", '{"a": 1}', '{"ab": 1}', '{"a": 2}'],
            ["1"],
            id="constants beside free values",
        ),
        pytest.param(
            {"allOf": [obj(["a"], a=INT), obj(["b"], b={"minimum": 3})], "properties": {"b": INT}},
            ['{"b": 3, "a": 1}'],
            ['{"b": 3}', '{"b": 2, "a": 1}'],
            id="allOf merges objects",
        ),
        pytest.param(
            {"anyOf": [obj(["a"], a=INT), {"type": "object"}]},
            ['{"a": 1}', '{"a": 1, "b": {"c": [2]}}', '{"ab": 1}', '{"a": "x"}'],
            ["[]"],
            id="a closed object beside a free one",
        ),
        pytest.param(
            {"anyOf": [obj(["x"], x=obj(["a"], a=INT), y={}), {"type": "object"}]},
            ['{"x": {"a": 1}}', '{"x": {"a": 1, "b": 2}}', '{"x": {"a": 1}, "y": [[1]]}'],
            ["[]"],
            id="a nested closed object beside a free one",
        ),
        pytest.param(
            TREE,
            ['{"v": 1}', '{"v": 1, "next": {"v": 2, "next": {"v": 3}}}'],
            ['{"next": {"v": 1}}', '{"v": 1, "next": {}}'],
            id="recursion",
        ),
        pytest.param(
            {"type": "array", "items": {"$ref": "#"}},
            ["[]", "[[], [[]]]"],
            ["[1]"],
            id="reference to the whole",
        ),
        pytest.param(
            {"$defs": {"a/b~c": INT}, "$ref": "#/$defs/a~1b~0c"},
            ["1"],
            ['"x"'],
            id="pointer escapes",
        ),
        pytest.param(
            {"type": ["string", "null"], "maxLength": 2, "enum": ["ab", "abc", None]},
            ['"ab"', "null"],
            ['"abc"'],
            id="enum filtered by its siblings",
        ),
        pytest.param({"type": "string", "nullable": True}, ['"x"', "null"], ["1"], id="nullable"),
        pytest.param({"type": "integer", "multipleOf": 5, "minimum": 1, "maximum": 12},
                     ["5", "10"], ["0", "6", "15"], id="multiples within bounds"),
        pytest.param({"type": "number", "multipleOf": 0.01}, ["1", "1.25"], ["1.255"], id="cents"),
        pytest.param({"type": "string", "pattern": "b", "maxLength": 3},
                     ['"b"', '"abc"'], ['"abcd"', '"aaa"'], id="pattern and length"),
        pytest.param({"not": {"type": ["string", "number"]}}, ["null", "[]"], ['"x"', "1", "1.5"],
                     id="not of types"),
        pytest.param(
            {"if": {"properties": {"k": {"const": 1}}, "required": ["k"]},
             "then": {"required": ["x"]}, "type": "object", "properties": {"k": INT, "x": INT}},
            ['{"k": 1, "x": 2}', '{"k": 2}'], ['{"k": "a"}', '{"k": 1}'], id="if and then",
        ),
    ],
)  # fmt: skip
def test_the_grammar_accepts_what_the_schema_means(schema, accepted, refused):
    accepts = acceptor(compile_schema(schema).text)
    assert [text for text in accepted if not accepts(text)] == []
    assert [text for text in refused if accepts(text)] == []


@pytest.mark.parametrize(
    ("schema", "keyword", "path"),
    [
        ({"type": "array", "uniqueItems": True}, "uniqueItems", "#"),
        (obj(a={"type": "string", "pattern": "(?<=a)"}), "pattern", "#/properties/a"),
        (obj(a={"type": "string", "pattern": "("}), "pattern", "#/properties/a"),
        (obj(a={"type": "string", "maxLength": 10_000_000}), "maxLength", "#/properties/a"),
        ({"type": "array", "maxItems": 10_000_000}, "maxItems", "#"),
        ({"type": "integer", "multipleOf": 1009}, "multipleOf", "#"),
        ({"type": "string", "format": "regex"}, "format", "#"),
        ({"$ref": "https://example.com/schema.json"}, "$ref", "#"),
        ({"type": "dict"}, "type", "#"),
        ({"type": "string", "minLength": "a"}, "minLength", "#"),
        ({"type": "object", "properties": []}, "properties", "#"),
        ({"not": {"uniqueItems": True}}, "uniqueItems", "#/not"),
        ({"type": "array", "contains": INT, "maxItems": 9}, "contains", "#"),
        ({"not": {"additionalProperties": False}}, "additionalProperties", "#/not"),
    ],
)
def test_what_isnt_enforced_is_reported_with_its_place(schema, keyword, path):
    report = compile_schema(schema).report
    assert not report.exact
    later = report.of(Enforcement.CHECKED_AFTERWARDS)
    assert (keyword, path) in [(finding.keyword, finding.path) for finding in later]


@pytest.mark.parametrize(
    ("schema", "keyword"),
    [({"type": "string", "frobnicate": 1}, "frobnicate"), ({"format": "shoe-size"}, "format")],
)
def test_what_nobody_defined_asserts_nothing_and_is_noted(schema, keyword):
    report = compile_schema(schema).report
    assert report.exact
    assert [finding.keyword for finding in report.of(Enforcement.IGNORED)] == [keyword]


@pytest.mark.parametrize(
    "schema",
    [
        obj(["a"], a=TEXT, b={"type": "integer", "minimum": 1}),
        {"oneOf": [{"type": "string"}, {"type": "null"}]},
        {"oneOf": [obj(["t"], t={"const": "a"}), obj(["t"], t={"const": "b"})]},
        TREE,
    ],
)
def test_an_exact_grammar_needs_no_check_afterwards(schema):
    assert compile_schema(schema).report.exact


def test_an_object_that_says_nothing_about_others_is_closed_and_says_so():
    schema = obj(a=INT)
    narrowed = compile_schema(schema).report.of(Enforcement.NARROWED)
    assert [finding.keyword for finding in narrowed] == ["additionalProperties"]
    assert acceptor(compile_schema(schema, OPEN).text)('{"a": 1, "b": 2}')


def test_an_impossible_optional_property_is_left_out_and_reported():
    compiled = compile_schema(obj(a=INT, b={"type": "string", "minLength": 3, "maxLength": 2}))
    assert [f.path for f in compiled.report.of(Enforcement.UNSATISFIABLE)] == ["#/properties/b"]
    assert acceptor(compiled.text)('{"a": 1}')


@pytest.mark.parametrize(
    ("schema", "error"),
    [
        (False, UnsatisfiableSchema),
        ({"type": "integer", "minimum": 2, "maximum": 1}, UnsatisfiableSchema),
        ({"enum": []}, UnsatisfiableSchema),
        ({"type": "string", "enum": [1]}, UnsatisfiableSchema),
        ({"allOf": [{"type": "string"}, {"type": "null"}]}, UnsatisfiableSchema),
        (obj(["a"], a=False), UnsatisfiableSchema),
        (obj(["a"], a={"$ref": "#"}), UnsatisfiableSchema),
        ({"type": "string", "minLength": 10_000_000}, SchemaTooLarge),
        ({"type": "array", "minItems": 10_000_000}, SchemaTooLarge),
        (5, MalformedSchema),
        (obj(["a"], a=[1]), MalformedSchema),
    ],
)
def test_a_schema_that_cant_be_compiled_raises_and_never_gives_a_grammar(schema, error):
    with pytest.raises(error) as caught:
        compile_schema(schema)
    assert caught.value.path.startswith("#")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": "(a*)*b"},
        {"type": "string", "pattern": "(" * 200 + "a" + ")" * 200},
        {"type": "string", "pattern": "((a{900}){900}){900}"},
        {"type": "string", "pattern": "a{99999}"},
        {"type": "string", "pattern": "^(a{1,500}){1,3}b", "maxLength": 700},
        {"type": "string", "pattern": "(a|b)*a(a|b){14}", "maxLength": 50},
        {"allOf": [{"anyOf": [{"minimum": i}, {"maxLength": i}]} for i in range(12)]},
        {"type": "object", "minProperties": 4_000},
        {"$ref": "#"},
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
        {"anyOf": [{"$ref": "#"}, TEXT]},
        obj(**{f"p{i}": {"type": "integer", "minimum": i} for i in range(300)}),
        {"enum": [f"value {i}" for i in range(2_000)]},
        {"type": "string", "maxLength": 100_000},
        {"type": "number", "minimum": 1e-300, "maximum": 1e300},
        {"type": "integer", "minimum": -(10**40), "maximum": 10**40},
    ],
)
def test_a_hostile_schema_gives_a_grammar_that_engines_load(schema):
    acceptor(compile_schema(schema).text)


def test_deep_nesting_becomes_any_value_at_the_bottom():
    schema = INT
    for _ in range(3_000):
        schema = obj(["a"], a=schema)
    compiled = compile_schema(schema)
    acceptor(compiled.text)
    assert not compiled.report.exact


@pytest.mark.parametrize(
    "name", ["any", "any-object", "root", "start", "string", "char", "a_b", "é"]
)
def test_property_names_never_collide_with_rules(name):
    schema = obj([name, "x"], **{name: INT, "x": {}})
    accepts = acceptor(compile_schema(schema).text)
    key = json.dumps(name, ensure_ascii=False)
    assert accepts(f'{{{key}: 1, "x": {{"y": [null]}}}}')
    assert not accepts(f'{{{key}: "a", "x": 1}}')


def test_the_form_decides_the_text_between_values():
    schema = obj(["a", "b"], a=INT, b={"type": "array", "items": INT})
    accepts = acceptor(compile_schema(schema, Options(form=Form(":", ","))).text)
    assert accepts('{"a":1,"b":[1,2]}')
    assert not accepts('{"a": 1, "b": [1, 2]}')


def test_equal_schemas_give_equal_text_and_key():
    schema = obj(["a"], a=TEXT, b={"anyOf": [INT, TEXT]})
    one, other = compile_schema(schema), compile_schema(json.loads(json.dumps(schema)))
    assert (one.text, one.key) == (other.text, other.key)
    assert one.key != compile_schema(obj()).key


@pytest.mark.timeout(20)
def test_a_pattern_that_python_would_run_away_on_filters_an_enum():
    schema = {"enum": ["a" * 60 + "!", "aa"], "pattern": "^(a+)+$"}
    accepts = acceptor(compile_schema(schema).text)
    assert accepts('"aa"')
    assert not accepts(f'"{"a" * 60}!"')
