"""llama.cpp's own parser and sampler take the grammars.

In a process of its own: a grammar that llama.cpp can't read crashes the process that samples.
"""

import json
import subprocess
import sys

import pytest

from eris.envelope import Envelope, ToolCall, render_envelope
from eris.grammar import Options, ToolSchema, compile_schema, dump, envelope_grammar

pytestmark = pytest.mark.model

JUDGE = """
import json, sys
import llama_cpp as cpp

cpp.llama_backend_init()
parameters = cpp.llama_model_default_params()
parameters.vocab_only = True
model = cpp.llama_model_load_from_file(sys.argv[1].encode(), parameters)
vocabulary = cpp.llama_model_get_vocab(model)

def allowed(sampler, token):
    data = (cpp.llama_token_data * 1)(cpp.llama_token_data(token, 1.0, 0.0))
    array = cpp.llama_token_data_array(data, 1, -1, False)
    cpp.llama_sampler_apply(sampler, array)
    return data[0].logit > float("-inf")

def accepts(gbnf, text):
    sampler = cpp.llama_sampler_init_grammar(vocabulary, gbnf.encode(), b"root")
    if not sampler:
        return None
    raw = text.encode()
    tokens = (cpp.llama_token * (len(raw) + 8))()
    count = cpp.llama_tokenize(vocabulary, raw, len(raw), tokens, len(tokens), False, False)
    for token in [*tokens[:count], cpp.llama_vocab_eos(vocabulary)]:
        if not allowed(sampler, token):
            return False
        cpp.llama_sampler_accept(sampler, token)
    return True

print(json.dumps([accepts(gbnf, text) for gbnf, text in json.load(sys.stdin)]))
"""


def judge(model, pairs):
    command = [sys.executable, "-c", JUDGE, str(model)]
    done = subprocess.run(
        command, input=json.dumps(pairs), capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


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
    verdicts = judge(smollm2, [(gbnf, text) for gbnf, text, _ in CASES])
    assert verdicts == [valid for _, _, valid in CASES]
