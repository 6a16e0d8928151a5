"""Quantiles by permute-and-flip: private on every small histogram, true to its law, never worse than by exponential."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from chance import at_most, fits
from discreet.accounting import pure, zcdp
from discreet.core.loss import Pure, Repeated
from discreet.errors import InputError
from discreet.mechanisms import QuantileExponential, QuantileFlip
from mechanisms.outputs import exponential_law, farthest, lookup, permute_and_flip_law

HISTOGRAMS = [np.array(h) for h in [*itertools.product(range(3), repeat=3), (400, 40, 0), (0, 40, 400)]]
CROWDS = [[8] + [0] * 100 + [2, 0, 0], [1] + [0] * 100 + [2, 0, 0]]  # many bins tie, and one row moves them all
CROWDS = [np.array(c) for c in [*CROWDS, *(c[::-1] for c in CROWDS)]]
POINTS, WEIGHTS = np.polynomial.legendre.leggauss(80)  # exact for polynomials of a degree below 160


def misses(counts, q, shift=0.0):
    """How far every bin is off the rank q n + shift, from the definition."""
    upto, last = np.cumsum(counts), len(counts) - 1
    target = float(q) * upto[-1] + shift
    high = [upto[j - 1] - target if j > 0 else 0 for j in range(len(counts))]
    low = [target - upto[j] if j < last else 0 for j in range(len(counts))]
    return np.maximum(np.maximum(high, low), 0)


def law(counts, q, rate, shift=0.0):
    """By the integral of docs/proofs/permute-and-flip.md: orders are too many to go through."""
    coins = np.exp(-float(rate) * misses(counts, q, shift))  # some bin is not off at all, so its coin is 1
    u = (POINTS + 1) / 2
    factors = 1 - coins[:, None] * u
    both = [np.vstack([np.ones_like(u), rows[:-1]]) for rows in (factors, factors[::-1])]
    before, after = (np.cumprod(rows, axis=0) for rows in both)
    others = before * after[::-1]  # the product of all but one
    return coins * (others @ WEIGHTS / 2)


def test_the_integral_is_the_definition():
    for counts in HISTOGRAMS[::5]:
        expected = permute_and_flip_law(-misses(counts, 0.3), 0.8)
        assert law(counts, 0.3, 0.8) == pytest.approx(expected, abs=1e-12)


def neighbours(counts, rows):
    """The histogram with up to `rows` rows more; of many bins, all of them in one."""
    many = len(counts) > 3
    every = np.eye(len(counts), dtype=int) * rows if many else itertools.product(range(rows + 1), repeat=len(counts))
    return [counts + np.array(added) for added in every if 0 < sum(added) <= rows]


def shown(q, rate, rows=1, shift=0.0):
    """The largest log-ratio over all small histograms, some long ones, and their neighbours."""
    return max(
        farthest(law(counts, q, rate, shift), law(other, q, rate, shift))
        for counts in [*HISTOGRAMS, *(rows * crowd for crowd in CROWDS)]
        for other in neighbours(counts, rows)
    )


@pytest.mark.parametrize("q", ["1/2", "1/10", "9/10"])
@pytest.mark.parametrize("rows", [1, 2])
def test_the_epsilon_holds_and_hardly_less_would_do(q, rows):
    mechanism = QuantileFlip(q, 1, bins=3, rows=rows)
    seen = shown(Fraction(q), mechanism.rate(Fraction(q)), rows)
    assert 0.9 < seen <= 1 + 1e-9
    assert mechanism.loss() == Repeated(Pure(1), 1)


@pytest.mark.parametrize("shift", [-3.2, -0.7, 1.3])
def test_it_holds_for_the_ends_of_an_interval(shift):
    q = Fraction(4, 5)
    assert shown(q, QuantileFlip(q, 1, bins=3).rate(q), shift=shift) <= 1 + 1e-9


def test_wrong_sensitivities_are_caught():
    q = Fraction(9, 10)
    honest = QuantileFlip(q, 1, bins=3).rate(q)
    assert shown(q, honest * 2 * max(q, 1 - q)) > 1.5
    assert shown(q, honest, rows=2) > 1.5
    assert shown(q, 2 * honest) > 1.5


def test_loss_is_shared_by_all_choices():
    nine = QuantileFlip([0.25, 0.5, 0.75], 1, bins=10, confidence=0.95)
    assert nine.loss() == Repeated(Pure(Fraction(1, 9)), 9)
    assert pure(nine.loss()).epsilon == 1
    other = QuantileExponential([0.25, 0.5, 0.75], 1, bins=10, confidence=0.95)
    assert zcdp(nine.loss()).rho > 3 * zcdp(other.loss()).rho  # why it is not used where rho is counted


@pytest.mark.statistical
@pytest.mark.parametrize("q", ["1/2", "7/10"])
def test_draws_follow_the_law_and_mutants_do_not(q):
    counts, n = np.array([3, 0, 2, 5, 0, 4]), 8000
    mechanism = QuantileFlip(q, 1, bins=6)
    scores = -misses(counts, Fraction(q))
    pmf = lookup(permute_and_flip_law(scores, mechanism.rate(Fraction(q))))
    drawn = [mechanism.release(counts)[0].at for _ in range(n)]
    assert fits(drawn, pmf)
    assert not fits(drawn, lookup(exponential_law(scores, 3 * mechanism.rate(Fraction(q)))))
    twice = QuantileFlip(q, 2, bins=6)
    assert not fits([twice.release(counts)[0].at for _ in range(n)], pmf)


@pytest.mark.parametrize("q", ["1/2", "1/10"])
def test_it_is_never_worse_than_the_exponential_mechanism(q):
    share = Fraction(q)
    rate = QuantileFlip(q, 1, bins=3).rate(share)
    better = 0
    for counts in HISTOGRAMS:
        off = misses(counts, share)
        flipped, chosen = (float(p @ off) for p in (law(counts, share, rate), exponential_law(-off, rate)))
        assert flipped <= chosen + 1e-12
        better += flipped < 0.9 * chosen
    assert better > len(HISTOGRAMS) / 4
    for how in ({}, {"confidence": 0.9}):
        assert QuantileFlip(q, 1, bins=100, **how).error() < QuantileExponential(q, 1, bins=100, **how).error()


SHAPES = {
    "spread": np.full(200, 3),
    "constant": np.where(np.arange(200) == 120, 5000, 0),
    "few": np.where(np.arange(200) == 33, 2, 0),
    "edge": np.where(np.arange(200) == 199, 10_000, 0),
}


@pytest.mark.statistical
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("q", [Fraction(1, 2), Fraction(1, 20)])
def test_intervals_and_errors_hold(shape, q):
    counts, trials = SHAPES[shape], 300
    mechanism = QuantileFlip(q, 1, bins=200, confidence=0.9, guaranteed=True)
    answers = [mechanism.release(counts)[0] for _ in range(trials)]
    true = int(np.argmax(np.cumsum(counts) >= q * sum(counts)))
    assert at_most(sum(not a.lower <= true <= a.upper for a in answers), trials, 0.1)
    assert all(0 <= a.lower <= a.at <= a.upper <= 199 for a in answers)
    error = float(mechanism.error(0.9))
    assert at_most(sum(misses(counts, q)[a.at] > error for a in answers), trials, 0.1)


@pytest.mark.statistical
def test_the_error_is_attained_by_the_worst_histogram():
    mechanism, trials = QuantileFlip("1/2", 1, bins=100), 2000
    error = int(mechanism.error(0.9))
    counts = np.zeros(100, dtype=int)
    counts[50] = 2 * error  # every other bin is `error` off the middle rank
    missed = sum(mechanism.release(counts)[0].at != 50 for _ in range(trials))
    assert at_most(missed, trials, 0.1)
    assert not at_most(missed, trials, 0.03)


@pytest.mark.statistical
def test_no_rows_are_an_honest_interval():
    trials = 300
    mechanism = QuantileFlip("1/2", 1, bins=50, confidence=0.9)
    answers = [mechanism.release(np.zeros(50, dtype=int))[0] for _ in range(trials)]
    assert at_most(sum((a.lower, a.upper) != (0, 49) for a in answers), trials, 0.1)
    assert len({a.at for a in answers}) > 10


@pytest.mark.parametrize("kind", [QuantileFlip, QuantileExponential])
def test_an_epsilon_whose_ranks_leave_64_bits_is_refused_and_does_not_count_rows(kind):
    # The interval's ends aim ln(bins)/epsilon ranks beside the quantile. An epsilon chosen so that this is almost 2**63
    # would make a run fail, or a miss wrap, from some number of rows on: that number, exactly, for nearly nothing.
    q = Fraction(123457, 10**6)
    one = kind(q, 1, bins=64, confidence="19/20")
    ranks = one.error(confidence=0.975) * q.denominator  # at epsilon 1, of three choices
    for epsilon in (ranks / 2**63, ranks / 2**62, Fraction(1, 10**15)):
        with pytest.raises(InputError, match="64 bits") as problem:
            kind(q, epsilon, bins=64, confidence="19/20")
        assert problem.value.field == "epsilon"
    least = kind(q, ranks / 2**60, bins=64, confidence="19/20")
    most = np.zeros(64, dtype=np.int64)
    for rows in (0, 1, 2**42):
        most[-1] = rows
        (found,) = least.release(most)
        assert 0 <= found.lower <= found.at <= found.upper <= 63
    kind(q, Fraction(1, 10**15), bins=64)  # without an interval nothing aims beside
