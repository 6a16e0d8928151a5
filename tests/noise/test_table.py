"""The one sampling algorithm: its cuts are exact, and every level of it is reached and right."""

from fractions import Fraction
from importlib import import_module

import mpmath
import numpy as np
import pytest

from chance import LEVEL, fit, fits, gaussian_pmf, laplace_pmf
from discreet.noise.bernoulli import Coin
from discreet.noise.bits import SystemBits
from discreet.noise.gaussian import GaussianBlocks
from discreet.noise.laplace import LowDigits, SignedHigh
from discreet.noise.table import Table, settle, zigzag

# The package exports functions under the names of their modules.
gaussian_module = import_module("discreet.noise.gaussian")
laplace_module = import_module("discreet.noise.laplace")

mpmath.mp.prec = 700


def real(value):
    return mpmath.mpf(value.numerator) / value.denominator


def signed_high_cdf(law, rows):
    r = mpmath.exp(-1 / real(law.scale))
    q = mpmath.exp(-(2**law.shift) / real(law.scale))
    weights = [q ** (i >> 1) * (r if i & 1 else 1) for i in range(rows)]
    return weights, (1 + r) / (1 - q)


def low_digits_cdf(law, rows):
    ratio = mpmath.exp(-(2**law.position) / real(law.scale))
    weights = [ratio**d for d in range(rows)]
    return weights, mpmath.fsum(ratio**d for d in range(2**law.width))


def gaussian_cdf(law, rows):
    step = 2**law.shift

    def weight(i):
        x = (i >> 1) * step + (i & 1)
        return mpmath.exp(-(mpmath.mpf(x) ** 2) / (2 * real(law.sigma) ** 2))

    return [weight(i) for i in range(rows)], mpmath.fsum(weight(i) for i in range(int(60 * law.sigma / step) + 50))


def coin_cdf(law, rows):
    return [mpmath.mpf(1)][:rows], 1 + real(law.tails) * mpmath.exp(-real(law.exponent))


LAWS = [
    (SignedHigh(Fraction(1, 50)), signed_high_cdf),
    (SignedHigh(Fraction(1)), signed_high_cdf),
    (SignedHigh(Fraction(10)), signed_high_cdf),
    (SignedHigh(Fraction(0.1)), signed_high_cdf),
    (SignedHigh(Fraction(1000), 6), signed_high_cdf),
    (SignedHigh(Fraction(2**40), 36), signed_high_cdf),
    (LowDigits(Fraction(1000), 0, 6), low_digits_cdf),
    (LowDigits(Fraction(2**40), 0, 10), low_digits_cdf),
    (LowDigits(Fraction(2**40), 26, 10), low_digits_cdf),
    (GaussianBlocks(Fraction(1, 20)), gaussian_cdf),
    (GaussianBlocks(Fraction(1)), gaussian_cdf),
    (GaussianBlocks(Fraction(7, 3)), gaussian_cdf),
    (GaussianBlocks(Fraction(30)), gaussian_cdf),
    (GaussianBlocks(Fraction(1000), 3), gaussian_cdf),
    (GaussianBlocks(Fraction(2**40), 33), gaussian_cdf),
    (Coin(Fraction(1, 3)), coin_cdf),
    (Coin(Fraction(99), Fraction(1)), coin_cdf),
    (Coin(Fraction(1), Fraction(300)), coin_cdf),
]


@pytest.mark.parametrize(("law", "reference"), LAWS, ids=[str(law) for law, _ in LAWS])
def test_every_cut_is_the_exact_floor_of_the_cdf(law, reference):
    cuts = Table(law).cuts
    weights, total = reference(law, len(cuts))
    running = mpmath.mpf(0)
    for cut, weight in zip(cuts.tolist(), weights, strict=True):
        running += weight
        assert 0 <= running / total * 2**64 - cut < 1


@pytest.mark.parametrize(("law", "reference"), LAWS, ids=[str(law) for law, _ in LAWS])
@pytest.mark.parametrize("bits", [64, 128, 192])
def test_bounds_on_the_cdf_are_true_and_tight(law, reference, bits):
    low, high = law.cdf(bits)
    weights, total = reference(law, min(len(low), 200))
    running = mpmath.mpf(0)
    for below, weight, above in zip(low, weights, high, strict=False):
        if below == above == 2**bits:
            break  # the end of a finite law
        running += weight
        assert below <= running / total * 2**bits <= above
        assert above - below <= 8
    assert list(low) == sorted(low)
    assert list(high) == sorted(high)


class TinyTable(Table):
    """Levels so shallow that all three are taken all the time."""

    quick, extra = 4, 2

    def __init__(self, law):
        super().__init__(law, quick=self.quick, depth=self.quick + self.extra)


class CarelessTable(TinyTable):
    """A mutant: what level 2 cannot settle is taken as it stands."""

    def _search(self, cell, bits):
        rest = self._depth - self._quick
        prefix = cell.astype(np.uint64) << np.uint64(rest)
        index = np.searchsorted(self._cuts, prefix, side="left")
        return self._values.take(index).astype(np.int64)


@pytest.mark.parametrize("quick", [4, 6, 9])
@pytest.mark.parametrize("scale", [0.7, 3, 100])
def test_forced_fallback_keeps_the_laplace_law(monkeypatch, quick, scale):
    tiny = type("Tiny", (TinyTable,), {"quick": quick})
    monkeypatch.setattr(laplace_module, "table", tiny)
    assert fits(laplace_module.laplace(scale, 20_000), laplace_pmf(scale))


@pytest.mark.parametrize("quick", [4, 6, 9])
@pytest.mark.parametrize("sigma", [0.7, 3, 200])
def test_forced_fallback_keeps_the_gaussian_law(monkeypatch, quick, sigma):
    tiny = type("Tiny", (TinyTable,), {"quick": quick})
    monkeypatch.setattr(gaussian_module, "table", tiny)
    assert fits(gaussian_module.gaussian(sigma, 20_000), gaussian_pmf(sigma))


def test_a_table_that_skips_the_fallback_is_caught(monkeypatch):
    monkeypatch.setattr(laplace_module, "table", CarelessTable)
    assert fit(laplace_module.laplace(3, 20_000), laplace_pmf(3)) < LEVEL


class ScriptedBits:
    """Hands out the bytes it was given, then stops."""

    def __init__(self, data):
        self.data = bytes(data)

    def read(self, count):
        if count > len(self.data):
            raise EOFError("the script is at its end")
        head, self.data = self.data[:count], self.data[count:]
        return np.frombuffer(bytearray(head), dtype=np.uint8)


def test_the_far_tail_is_reached_by_a_uniform_close_to_one():
    """All ones for 64 bits, then a zero word: beyond every row a 64-bit table holds, and still answered."""
    law = SignedHigh(Fraction(1))
    index = settle(law, 2**64 - 1, 64, ScriptedBits(bytes(8) + SystemBits().read(64).tobytes()))
    mass_beyond = mpmath.exp(-(index // 2))
    assert 44 <= index // 2 <= 46  # e^-44.4 = 2^-64
    assert mass_beyond < mpmath.mpf(2) ** -60


def test_level_one_reads_two_bytes_a_draw():
    script = ScriptedBits(np.full(100, 20_000, dtype=np.uint16).tobytes())
    drawn = Table(SignedHigh(Fraction(1))).draw(100, script)
    assert len(set(drawn.tolist())) == 1
    assert script.data == b""


def test_zigzag_lists_every_integer_once():
    assert zigzag(np.arange(7)).tolist() == [0, -1, 1, -2, 2, -3, 3]
