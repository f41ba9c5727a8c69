"""Picking tokens from logits."""

import numpy as np
import pytest

from actors.inference.sampling import Sampler, Sampling

LOGITS = np.array([1.0, 3.0, 2.0, -1.0], dtype=np.float32)


def picks(sampling: Sampling, count: int = 200, allowed: list[bool] | None = None) -> set[int]:
    sampler = Sampler(sampling)
    mask = None if allowed is None else np.array(allowed)
    return {sampler.pick(LOGITS, mask) for _ in range(count)}


@pytest.mark.parametrize(
    ("sampling", "possible"),
    [
        (Sampling(temperature=0), {1}),
        (Sampling(temperature=5, top_k=0, top_p=1, min_p=0), {0, 1, 2, 3}),
        (Sampling(temperature=5, top_k=2, top_p=1, min_p=0), {1, 2}),
        (Sampling(temperature=1, top_k=0, top_p=0.6, min_p=0), {1}),
        (Sampling(temperature=1, top_k=0, top_p=0.7, min_p=0), {1, 2}),
        (Sampling(temperature=1, top_k=0, top_p=1, min_p=0.3), {1, 2}),
        (Sampling(temperature=0.001, top_k=0, top_p=1, min_p=0), {1}),
    ],
)
def test_the_tail_is_cut_as_asked(sampling: Sampling, possible: set[int]) -> None:
    assert picks(sampling) == possible


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_only_allowed_tokens_are_picked(temperature: float) -> None:
    sampling = Sampling(temperature=temperature, top_k=3, top_p=1, min_p=0)
    assert picks(sampling, allowed=[False, False, False, True]) == {3}


def test_the_same_seed_gives_the_same_tokens() -> None:
    sampling = Sampling(temperature=2, seed=7)
    first, second = Sampler(sampling), Sampler(sampling)
    assert [first.pick(LOGITS) for _ in range(50)] == [second.pick(LOGITS) for _ in range(50)]


def test_sampling_follows_the_softmax() -> None:
    sampler = Sampler(Sampling(temperature=1, top_k=0, top_p=1, min_p=0))
    counts = np.bincount([sampler.pick(LOGITS) for _ in range(20_000)], minlength=4) / 20_000
    expected = np.exp(LOGITS) / np.exp(LOGITS).sum()
    assert np.abs(counts - expected).max() < 0.02


def test_repetition_is_penalised_for_tokens_of_the_answer_only() -> None:
    sampler = Sampler(Sampling(repeat_penalty=2.0))
    assert sampler.pick(LOGITS) == 1
    sampler.saw(1)
    assert sampler.pick(LOGITS) == 2
    assert LOGITS[1] == 3.0
