"""Fast draws: the same laws as the slow way."""

from fractions import Fraction

import numpy as np
import pytest

import discreet.local.draws as draws
from chance import fits, frequency_fits
from discreet.noise.bits import SystemBits


@pytest.mark.statistical
@pytest.mark.parametrize("bound", [1, 2, 3, 99, 4095, 4097, 10_000])
def test_integers_are_even(bound):
    drawn = draws.evenly(bound, 200_000, SystemBits()).astype(np.int64)
    assert drawn.min() >= 0
    assert drawn.max() < bound
    assert fits(drawn, lambda x: np.where((x >= 0) & (x < bound), 1 / bound, 0))
    if bound > 2:
        tilted = lambda x: np.where((x >= 0) & (x < bound), (1.1 - 0.2 * (x >= bound / 2)) / bound, 0)  # noqa: E731
        assert not fits(drawn, tilted)


class Scripted:
    """Bits that are all ones or all zeros first, then real ones."""

    def __init__(self, first):
        self.first = list(first)

    def read(self, count):
        if self.first:
            return np.full(count, self.first.pop(0), dtype=np.uint8)
        return SystemBits().read(count)


@pytest.mark.statistical
@pytest.mark.parametrize("bound", [3, 1000, 5000, 3 << 30])
def test_words_that_would_bias_are_drawn_again(bound):
    """All-zero words leave a remainder of zero, which is too small wherever the bound does not divide the words."""
    seen = [int(draws.evenly(bound, 1, Scripted([0]))[0]) for _ in range(300)]
    if bound < 1 << 24:
        assert len(set(seen)) > 2  # drawn again, not always the same
    for large in (1 << 40, (1 << 62) + 3):
        drawn = draws.evenly(large, 20_000, SystemBits())
        assert int(drawn.max()) < large
        assert frequency_fits(int((drawn < np.uint64(large // 2)).sum()), 20_000, 0.5)


@pytest.mark.statistical
@pytest.mark.parametrize("rounds", [1, 3, 11])
@pytest.mark.parametrize("probability", [Fraction(1, 3), Fraction(7, 32), Fraction(1, 2), Fraction(999, 1000)])
def test_packed_coins_are_exact(rounds, probability, monkeypatch):
    monkeypatch.setattr(draws, "_ROUNDS", rounds)  # few rounds leave many coins to the exact path
    coins = np.unpackbits(draws.packed_flips(probability, 40_000, SystemBits()))
    for place in range(8):
        heads = int(coins[place::8].sum())
        assert frequency_fits(heads, 40_000, float(probability))
        assert not frequency_fits(heads, 40_000, float(probability) * 0.75)
    pairs = coins[::2] + 2 * coins[1::2]
    p = float(probability)
    law = np.array([(1 - p) ** 2, p * (1 - p), p * (1 - p), p * p, 0])
    assert fits(pairs, lambda x: law[np.clip(x, -1, 4)])


def test_certain_coins_are_certain():
    assert (draws.packed_flips(Fraction(0), 5, SystemBits()) == 0).all()
    assert (draws.packed_flips(Fraction(1), 5, SystemBits()) == 255).all()
    assert draws.flips(Fraction(1), 3, SystemBits()).all()
