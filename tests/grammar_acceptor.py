"""An engine that isn't ours says which texts a grammar accepts: llguidance, byte by byte."""

import json
from collections.abc import Callable
from itertools import islice, permutations, product
from pathlib import Path

import llguidance
import pytest
from llguidance import LLMatcher, LLTokenizer

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"
_TOKENIZER = LLTokenizer("byte")


def acceptor(gbnf: str) -> Callable[[str], bool]:
    """Load a grammar and give the function that says whether it accepts a whole text."""
    matcher = LLMatcher(_TOKENIZER, llguidance.grammar_from("gbnf", gbnf))
    assert not matcher.is_error(), matcher.get_error()

    def accepts(text: str) -> bool:
        matcher.reset()
        tokens = list(text.encode())
        return matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting()

    return accepts


def shared_data(name: str) -> Path:
    """Give a file of the shared test data, or skip the test and say so."""
    path = SHARED_DATA / name
    if not path.exists():
        pytest.skip(f"{name} isn't there (looked beside the repository, in shared/data)")
    return path


def shared_lines(name: str) -> list[dict[str, object]]:
    """Give the JSON lines of a file of the shared test data, or skip."""
    return [json.loads(line) for line in shared_data(name).read_text().splitlines()]


def canonical(value: object) -> object:
    """Write whole floats as integers, the way the grammar does."""
    match value:
        case float() if value.is_integer() and abs(value) < 1e16:
            return int(value)
        case list():
            return [canonical(item) for item in value]
        case dict():
            return {key: canonical(item) for key, item in value.items()}
        case _:
            return value


def orders(value: object, limit: int = 200) -> list[object]:
    """Give a value with the keys of its objects in different orders; the grammar fixes one."""
    match value:
        case dict():
            found: list[object] = []
            for items in permutations(value.items()):
                parts = [orders(item, 4) for _, item in items]
                for chosen in product(*parts):
                    keys = (key for key, _ in items)
                    found.append(dict(zip(keys, chosen, strict=True)))
                    if len(found) >= limit:
                        return found
            return found
        case list():
            return [
                list(chosen) for chosen in islice(product(*(orders(i, 4) for i in value)), limit)
            ]
        case _:
            return [value]
