"""llama.cpp's own parser and sampler take the grammars.

In a process of its own: a grammar that llama.cpp can't read crashes the process that samples.
"""

import pytest

from eris.envelope import Envelope, ToolCall, render_envelope
from eris.grammar import Options, ToolSchema, compile_schema, dump, envelope_grammar
from tests.llama_acceptor import Failure, judge

pytestmark = pytest.mark.model

OBJECT = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "minLength": 1, "maxLength": 3_000},
        "n": {"type": "integer", "minimum": -5, "maximum": 120},
        "when": {"type": "string", "format": "date-time"},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2_500},
    },
    "required": ["path"],
}
VALUE = {"path": "é😀/\n", "n": 120, "when": "2024-02-28T10:00:00Z", "tags": ["a", "b"]}
TOOLS = [
    ToolSchema("t", OBJECT),
    ToolSchema("free", {"type": "object"}),
    ToolSchema('q"\\', {"type": "object", "properties": {}}),
]
CALLS = (ToolCall("t", VALUE), ToolCall("free", {"a": [1, {}]}), ToolCall('q"\\', {}))

CASES = [
    (envelope_grammar(TOOLS).text, render_envelope(Envelope(tool_calls=CALLS)), True),
    (envelope_grammar(TOOLS).text, render_envelope(Envelope(tool_calls=CALLS[:1]))[:-1], False),
    (envelope_grammar(()).text, render_envelope(Envelope(message_to_user="Hi")), True),
    (envelope_grammar(()).text, render_envelope(Envelope(tool_calls=CALLS[:1])), False),
    *(
        (compile_schema(schema, Options(closed=False)).text, dump(value), valid)
        for schema, value, valid in [
            (OBJECT, VALUE, True),
            (OBJECT, {**VALUE, "n": 121}, False),
            ({"type": "string", "maxLength": 5_500}, "a" * 5_500, True),
            ({"type": "string", "maxLength": 5_500}, "a" * 5_501, False),
            ({"type": "string", "pattern": "^(ab{2,3}){2,900}$"}, "abb" * 40, True),
            ({"type": "string", "pattern": '[\\]\\^"/\\\\.-]'}, 'x"', True),
            ({"type": "string", "format": "ipv6"}, "::1", True),
            ({"type": "number", "minimum": 0.1, "maximum": 2.55}, 2.56, False),
            ({"anyOf": [OBJECT, {"type": "object"}]}, {"path": "a", "x": 1}, True),
            ({"anyOf": [OBJECT, {"type": "array", "items": {"$ref": "#"}}]}, [[VALUE]], True),
            ({**OBJECT, "additionalProperties": {"type": "null"}}, {"path": "a", "n2": None}, True),
            ({"enum": [f"value {i}" for i in range(500)]}, "value 321", True),
        ]
    ),
]


def test_llama_cpp_reads_every_grammar_and_agrees_on_the_texts(smollm2):
    verdicts = judge(smollm2, [(gbnf, [text]) for gbnf, text, _ in CASES])
    assert verdicts == [[valid] for _, _, valid in CASES]


def test_a_grammar_that_llama_cpp_cant_read_or_crashes_on_is_told_from_the_others(smollm2):
    sound = ('root ::= "a"\n', ["a", "b"])
    broken = [("root ::= (\n", ["a"]), ("root ::= gone\n", ["a"]), ("root ::= root\n", ["a"])]
    first, *others, last = judge(smollm2, [sound, *broken, sound])
    assert first == last == [True, False]
    assert all(isinstance(other, Failure) for other in others)
