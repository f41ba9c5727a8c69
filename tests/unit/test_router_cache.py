"""Tool vectors on disk."""

from array import array
from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.router.cache import VectorCache

ONE, TWO = array("f", [1, 0]), array("f", [0, 1])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "router" / "vectors.sqlite"


@pytest.fixture
def cache(path: Path) -> Iterator[VectorCache]:
    opened = VectorCache(path, limit=3)
    yield opened
    opened.close()


def test_vectors_are_found_again_by_model_and_text(cache: VectorCache, path: Path) -> None:
    cache.store("m1", {"one": ONE, "two": TWO})
    cache.close()
    again = VectorCache(path)
    assert again.find("m1", ["one", "two", "three"]) == {"one": ONE, "two": TWO}
    assert again.find("m2", ["one"]) == {}
    assert again.model == "m1"
    again.close()


def test_a_new_cache_knows_no_model(cache: VectorCache) -> None:
    assert cache.model == ""


def test_the_vectors_stored_longest_ago_are_forgotten(cache: VectorCache) -> None:
    cache.store("m", {"a": ONE, "b": ONE, "c": ONE})
    cache.store("m", {"a": TWO})
    cache.store("m", {"d": ONE})
    assert set(cache.find("m", "abcd")) == {"a", "c", "d"}


@pytest.mark.parametrize("rubbish", [b"", b"no database at all, and long enough to tell" * 50])
def test_a_broken_file_is_replaced(path: Path, rubbish: bytes) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(rubbish)
    cache = VectorCache(path)
    cache.store("m", {"one": ONE})
    assert cache.find("m", ["one"]) == {"one": ONE}
    cache.close()


def test_a_file_that_breaks_while_it_is_used_is_replaced(cache: VectorCache, path: Path) -> None:
    cache.store("m", {"one": ONE})
    size = path.stat().st_size
    path.write_bytes(b"x" * size)
    assert cache.find("m", ["one"]) in ({}, {"one": ONE})
    cache.store("m", {"two": TWO})
    assert cache.find("m", ["two"]) == {"two": TWO}
