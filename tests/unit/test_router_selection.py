"""From vectors and evidence to the tools that are offered."""

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.router.selection import NEAR_THE_BEST, select, vector_index
from actors.router.vectors import centroid, pack, similarity, unit, unpack
from eris.errors import ProtocolError

numbers = st.lists(st.floats(-10, 10, width=32), min_size=3, max_size=3)


def chosen(similar: dict[str, float], literal: dict[str, float], limit: int = 5) -> list[str]:
    return [hit.tool for hit in select(similar, literal, threshold=0.35, limit=limit)]


@pytest.mark.parametrize(
    ("similar", "literal", "tools"),
    [
        ({}, {}, []),
        ({"a": 0.34}, {}, []),
        ({"a": 0.35}, {}, ["a"]),
        ({"a": 0.5, "b": 0.7}, {}, ["b", "a"]),
        ({"a": 0.4, "b": 0.7}, {}, ["b"]),
        ({"a": 0.1}, {"a": 0.9}, ["a"]),
        ({"a": 0.5, "b": 0.1}, {"b": 0.9}, ["b"]),
        ({"a": 0.6, "b": 0.1}, {"b": 0.9}, ["b", "a"]),
        ({"a": 0.2, "b": 0.3}, {"a": 0.8, "b": 0.8}, ["b", "a"]),
        ({"b": 0.5, "a": 0.5}, {}, ["a", "b"]),
    ],
)
def test_tools_near_the_best_are_offered_in_order(
    similar: dict[str, float], literal: dict[str, float], tools: list[str]
) -> None:
    assert chosen(similar, literal) == tools


@pytest.mark.parametrize(("limit", "count"), [(0, 0), (1, 1), (2, 2), (9, 3), (-1, 0)])
def test_no_more_tools_are_offered_than_allowed(limit: int, count: int) -> None:
    assert len(chosen({"a": 0.5, "b": 0.5, "c": 0.5}, {}, limit)) == count


@given(st.dictionaries(st.text(max_size=3), st.floats(0, 1)))
def test_every_offered_tool_is_above_the_threshold_and_near_the_best(
    similar: dict[str, float],
) -> None:
    hits = select(similar, {}, threshold=0.35, limit=100)
    assert all(similar[hit.tool] >= 0.35 for hit in hits)
    assert all(similar[hit.tool] >= NEAR_THE_BEST * max(similar.values()) for hit in hits)


def test_a_tool_is_represented_by_the_middle_of_its_texts() -> None:
    vectors = {"up": array("f", [0, 1]), "right": array("f", [1, 0])}
    index = vector_index("model", {"a:b": ("up", "right"), "c:d": ("up",), "e:f": ()}, vectors)
    scores = index.scores(unit([1, 1]))
    assert scores == {"a:b": pytest.approx(1), "c:d": pytest.approx(0.7071, abs=1e-4)}


@given(numbers, numbers)
def test_vectors_survive_packing(first: list[float], second: list[float]) -> None:
    rows = [array("f", first), array("f", second)]
    assert unpack(b"".join(map(pack, rows)), 3, 2) == rows


@pytest.mark.parametrize(("data", "dimensions", "count"), [(b"1234", 2, 1), (b"", 0, 0)])
def test_a_block_of_the_wrong_size_is_refused(data: bytes, dimensions: int, count: int) -> None:
    with pytest.raises(ProtocolError):
        unpack(data, dimensions, count)


def test_vectors_of_different_lengths_have_nothing_in_common() -> None:
    assert similarity(array("f", [1]), array("f", [1, 0])) == 0


def test_a_zero_vector_has_no_direction() -> None:
    assert list(unit([0, 0])) == [0, 0]
    assert list(centroid([array("f", [1, 0]), array("f", [-1, 0])])) == [0, 0]
