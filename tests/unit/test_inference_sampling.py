"""Picking tokens from logits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.inference.sampling import Sampler, Sampling, likeliest

LOGITS = np.array([1.0, 3.0, 2.0, -1.0], dtype=np.float32)
WIDE = np.random.default_rng(3).normal(0, 2, 3000).astype(np.float32)
EVERYTHING = Sampling(temperature=1, top_k=0, top_p=1, min_p=0)


class Some:
    """A grammar that allows these tokens; counts how often it had to mask."""

    def __init__(self, flags):
        self.flags = np.array(flags, dtype=bool)
        self.masks = 0

    def allows(self, token):
        return bool(self.flags[token])

    def mask(self):
        self.masks += 1
        return self.flags


def picks(sampling: Sampling, count: int = 200, allowed: list[bool] | None = None) -> set[int]:
    sampler = Sampler(sampling)
    grammar = None if allowed is None else Some(allowed)
    return {sampler.pick(LOGITS, grammar) for _ in range(count)}


@pytest.mark.parametrize(
    ("sampling", "possible"),
    [
        (Sampling(temperature=0), {1}),
        (Sampling(temperature=5, top_k=0, top_p=1, min_p=0), {0, 1, 2, 3}),
        (Sampling(temperature=5, top_k=2, top_p=1, min_p=0), {1, 2}),
        (Sampling(temperature=1, top_k=0, top_p=0.6, min_p=0), {1}),
        (Sampling(temperature=1, top_k=0, top_p=0.7, min_p=0), {1, 2}),
        (Sampling(temperature=1, top_k=0, top_p=1, min_p=0.3), {1, 2}),
        (Sampling(temperature=9, top_k=0, top_p=0.7, min_p=0), {1, 2}),
        (Sampling(temperature=0.001, top_k=0, top_p=1, min_p=0), {1}),
    ],
)
def test_the_tail_is_cut_as_asked(sampling: Sampling, possible: set[int]) -> None:
    assert picks(sampling) == possible


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_only_allowed_tokens_are_picked(temperature: float) -> None:
    sampling = Sampling(temperature=temperature, top_k=3, top_p=1, min_p=0)
    assert picks(sampling, allowed=[False, False, False, True]) == {3}
    assert picks(sampling, allowed=[False] * 4) == {None}


def test_the_same_seed_gives_the_same_tokens() -> None:
    sampling = Sampling(temperature=2, seed=7)
    first, second = Sampler(sampling), Sampler(sampling)
    assert [first.pick(LOGITS) for _ in range(50)] == [second.pick(LOGITS) for _ in range(50)]


def test_sampling_follows_the_softmax() -> None:
    sampler = Sampler(EVERYTHING)
    counts = np.bincount([sampler.pick(LOGITS) for _ in range(20_000)], minlength=4) / 20_000
    expected = np.exp(LOGITS) / np.exp(LOGITS).sum()
    assert np.abs(counts - expected).max() < 0.02


SAMPLINGS = st.builds(
    Sampling,
    temperature=st.sampled_from([0.4, 1.0, 1.7]),
    top_k=st.sampled_from([0, 2, 5, 40]),
    top_p=st.sampled_from([1.0, 0.9, 0.5]),
    min_p=st.sampled_from([0.0, 0.05, 0.4]),
)


def masked_first(logits, flags, sampling: Sampling):
    """The distribution as llama.cpp's chain has it: mask everything, then cut, then soften."""
    order = np.argsort(-np.where(flags, logits, -np.inf), kind="stable")[: flags.sum()]
    order = order[: sampling.top_k or order.size]
    weights = np.exp(logits[order].astype(np.float64))
    weights /= weights.sum()
    inside = np.array([weights[:place].sum() < sampling.top_p for place in range(order.size)])
    inside &= weights >= sampling.min_p * weights[0]
    final = np.where(inside, weights ** (1 / sampling.temperature), 0)
    expected = np.zeros(logits.size)
    expected[order] = final / final.sum()
    return expected


@settings(max_examples=25, deadline=None, derandomize=True)
@given(SAMPLINGS, st.integers(0, 1000), st.floats(0.05, 0.95))
def test_picking_first_gives_the_distribution_of_masking_first(sampling, seed, share):
    random = np.random.default_rng(seed)
    logits = random.normal(0, 2, 40).astype(np.float32)
    flags = random.random(40) < share
    flags[random.integers(40)] = True
    expected = masked_first(logits, flags, sampling)
    sampler, draws = Sampler(sampling), 4000
    grammar = Some(flags)
    counts = np.bincount([sampler.pick(logits, grammar) for _ in range(draws)], minlength=40)
    assert not counts[expected == 0].any()
    # Six standard deviations of each count: one false alarm in a hundred million.
    spread = np.sqrt(draws * expected * (1 - expected))
    assert (np.abs(counts - draws * expected) <= 6 * spread + 1e-9).all()


@pytest.mark.parametrize("count", [1, 2, 40])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 1.0])
def test_the_likeliest_allowed_are_those_of_the_whole_mask(count: int, share: float) -> None:
    flags = np.random.default_rng(1).random(WIDE.size) < share
    expected = [token for token in np.argsort(-WIDE, kind="stable") if flags[token]][:count]
    assert likeliest(WIDE, count, Some(flags)).tolist() == expected


def test_the_vocabulary_is_masked_only_if_the_likeliest_are_refused() -> None:
    best = np.argsort(-WIDE)
    flags = np.ones(WIDE.size, dtype=bool)
    flags[best[:5]] = False
    easy, hard = Some(flags), Some(~flags)
    assert Sampler(Sampling(temperature=1)).pick(WIDE, easy) in best[5:50]
    assert Sampler(Sampling(temperature=1)).pick(WIDE, hard) in best[:5]
    assert (easy.masks, hard.masks) == (0, 1)


def test_repetition_is_penalised_for_tokens_of_the_answer_only() -> None:
    sampler = Sampler(Sampling(repeat_penalty=2.0))
    assert sampler.pick(LOGITS) == 1
    sampler.saw(1)
    assert sampler.pick(LOGITS) == 2
    assert LOGITS[1] == 3.0


def dry(answer: list[int], breaks=lambda _token: False) -> int | None:
    sampler = Sampler(Sampling(dry_multiplier=1.0, dry_base=2.0, dry_allowed_length=2), breaks)
    for token in answer:
        sampler.saw(token)
    return sampler.pick(LOGITS)


def test_dry_penalises_what_would_lengthen_a_repetition() -> None:
    assert dry([3, 0, 1, 2, 0]) == 1  # one token repeated is allowed
    assert dry([3, 0, 1, 2, 3, 0]) == 1  # two cost 1: 3 - 1 is still the best (equal to 2's)
    assert dry([2, 3, 0, 1, 0, 2, 3, 0]) == 2  # three cost 2
    assert dry([2, 3, 0, 1, 0, 2, 3, 0], breaks=lambda token: token == 3) == 1


def test_dry_rules_out_a_long_repetition_without_overflow() -> None:
    assert dry([0, 1] * 2000 + [0]) == 2
