"""Whether a server's answers keep to the form that it was told: some say yes and don't."""

import json
from functools import lru_cache
from typing import Final

import llguidance
from jsonschema import Draft202012Validator
from llguidance import LLMatcher, LLTokenizer

_BYTES: Final = LLTokenizer("byte")


def keeps_to_grammar(grammar: str, text: str) -> bool:
    """Whether a whole text is a sentence of a grammar (GBNF)."""
    matcher = _compiled(grammar).deep_copy()
    tokens = list(text.strip().encode())
    return bool(matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting())


def keeps_to_schema(schema: str, text: str) -> bool:
    """Whether a whole text is JSON that fits a schema."""
    try:
        value = json.loads(text)
        return bool(_validator(schema).is_valid(value))
    except (ValueError, RecursionError):
        return False


@lru_cache(maxsize=16)
def _compiled(grammar: str) -> LLMatcher:
    matcher = LLMatcher(_BYTES, llguidance.grammar_from("gbnf", grammar))
    if matcher.is_error():
        raise ValueError(matcher.get_error())
    return matcher


@lru_cache(maxsize=16)
def _validator(schema: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads(schema))
