"""Quantiles by choice: the range on every small histogram, the law of the draws, intervals that hold."""

import itertools
import os
from fractions import Fraction

import numpy as np
import pytest

from chance import at_most, fits
from discreet.accounting import pure, zcdp
from discreet.core.loss import BoundedRange, Repeated
from discreet.errors import InputError
from discreet.mechanisms import QuantileExponential, QuantileFlip
from discreet.mechanisms.quantile_choice import downward, upward
from mechanisms.outputs import exponential_law, lookup

HISTOGRAMS = [np.array(h) for h in [*itertools.product(range(3), repeat=4), (400, 100, 40, 0), (0, 40, 100, 400)]]


def misses(counts, q, shift=0.0):
    """How far every bin is off the rank q n + shift, from the definition."""
    upto, n, last = np.cumsum(counts), sum(counts), len(counts) - 1
    target = float(q) * n + shift
    high = [upto[j - 1] - target if j > 0 else 0 for j in range(len(counts))]
    low = [target - upto[j] if j < last else 0 for j in range(len(counts))]
    return np.maximum(np.maximum(high, low), 0)


def law(counts, q, rate, shift=0.0):
    return exponential_law(-misses(counts, q, shift), rate)


def neighbours(counts, rows):
    """The histogram with up to `rows` rows more."""
    for added in itertools.product(range(rows + 1), repeat=len(counts)):
        if 0 < sum(added) <= rows:
            yield counts + np.array(added)


def widest(q, rate, rows=1, shift=0.0, laws=law):
    """The largest range of log-ratios over all small histograms and their neighbours."""
    seen = 0.0
    for counts in HISTOGRAMS:
        one = np.log(laws(counts, q, rate, shift))
        for other in neighbours(counts, rows):
            ratio = one - np.log(laws(other, q, rate, shift))
            seen = max(seen, ratio.max() - ratio.min())
    return seen


@pytest.mark.parametrize("q", ["1/2", "1/10", "9/10", "1/3"])
@pytest.mark.parametrize("rows", [1, 2])
def test_range_is_bounded_and_attained(q, rows):
    mechanism = QuantileExponential(q, 1, bins=4, rows=rows)
    seen = widest(Fraction(q), mechanism.rate(Fraction(q)), rows)
    assert seen <= 1 + 1e-9
    assert seen > 0.99
    assert mechanism.loss() == Repeated(BoundedRange(1), 1)


@pytest.mark.parametrize("shift", [-3.2, -0.7, 1.3, 5.0])
def test_range_holds_for_the_ends_of_an_interval(shift):
    for q in (Fraction(1, 4), Fraction(4, 5)):
        rate = QuantileExponential(q, 1, bins=4).rate(q)
        assert widest(q, rate, shift=shift) <= 1 + 1e-9


def segment_misses(counts, q, shift, among, more=0):
    """How far every segment is off, from the definition; the one at the end of the grid is better by `more`."""
    before, upto, last = np.concatenate([[0], np.cumsum(counts)]), np.cumsum(counts), len(counts) - 1
    target = float(q) * sum(counts) + shift
    high = [before[a] - target if a > 0 else 0 for a in among[0]]
    low = [target - upto[b] if b < last else 0 for b in among[1]]
    misses = np.maximum(np.maximum(high, low), 0).astype(float)
    misses[-1] -= more
    return misses


@pytest.mark.parametrize("among", [downward(3), upward(0, 4), upward(1, 4)])
@pytest.mark.parametrize("shift", [-1.5, 2.5])
def test_range_holds_for_segments_whose_end_is_preferred(among, shift):
    q = Fraction(4, 5)
    rate = QuantileExponential(q, 1, bins=4).rate(q)

    def of_segments(counts, q, rate, shift):
        return exponential_law(-segment_misses(counts, q, shift, among, more=3), rate)

    def by_rows(counts, q, rate, shift):  # mutant: prefers segments with rows, which a unit moves by one more
        held = [counts[a : b + 1].sum() for a, b in zip(*among, strict=True)]
        return exponential_law(-segment_misses(counts, q, shift, among) + held, rate)

    assert widest(q, rate, shift=shift, laws=of_segments) <= 1 + 1e-9
    assert widest(q, rate, shift=shift, laws=by_rows) > 1.1


def bin_itself(counts, q, rate, shift=0.0):
    """Mutant: scores a bin by its count as well, which a unit moves by one more."""
    return exponential_law(-misses(counts, q, shift) + counts, rate)


def test_wrong_sensitivities_are_caught():
    q = Fraction(9, 10)
    honest = QuantileExponential(q, 1, bins=4)
    assert widest(q, honest.rate(q) * 2 * max(q, 1 - q)) > 1.5  # as if the median's sensitivity did for all
    assert widest(q, honest.rate(q), rows=2) > 1.5  # twice the rows that were declared
    assert widest(Fraction(1, 2), 2 * QuantileExponential("1/2", 1, bins=4).rate(Fraction(1, 2))) > 1.5  # "monotone"
    assert widest(Fraction(1, 2), honest.rate(Fraction(1, 2)), laws=bin_itself) > 1.5


def test_loss_is_shared_by_all_choices():
    three = QuantileExponential([0.25, 0.5, 0.75], 1, bins=10)
    assert three.loss() == Repeated(BoundedRange(Fraction(1, 3)), 3)
    nine = QuantileExponential([0.25, 0.5, 0.75], 1, bins=10, confidence=0.95)
    assert nine.loss() == Repeated(BoundedRange(Fraction(1, 9)), 9)
    assert pure(nine.loss()).epsilon == 1
    assert zcdp(nine.loss()).rho == Fraction(1, 72)


@pytest.mark.parametrize("q", ["1/2", "7/10"])
def test_draws_follow_the_law_and_mutants_do_not(q):
    counts, n = np.array([3, 0, 2, 5, 0, 4]), 8000
    mechanism = QuantileExponential(q, 1, bins=6)
    pmf = lookup(law(counts, Fraction(q), mechanism.rate(Fraction(q))))
    assert fits([mechanism.release(counts)[0].at for _ in range(n)], pmf)
    thrice = QuantileExponential(q, 3, bins=6)  # passes with a chance of 1e-20 (twice the epsilon: of 1e-7)
    assert not fits([thrice.release(counts)[0].at for _ in range(n)], pmf)
    assert not fits([mechanism.release(counts[::-1])[0].at for _ in range(n)], pmf)


def test_the_ends_follow_their_law():
    counts, n = np.array([3, 2, 4, 3, 5, 4]), 4000
    mechanism = QuantileExponential("1/2", 1, bins=6, confidence=0.6)
    q, among = Fraction(1, 2), downward(4)
    reach, more = mechanism._reach(q)
    assert mechanism.reach(q) == Fraction(reach, 2)
    below = np.concatenate([[0], np.cumsum(counts)])
    draws = [mechanism._choose(below, q, -reach - 1, among, Bytes(), more) for _ in range(n)]

    def expected(shift, more):
        return lookup(exponential_law(-segment_misses(counts, q, shift, among, more), mechanism.rate(q)))

    assert fits(draws, expected(-(reach + 1) / 2, more / 2))
    assert not fits(draws, expected(0, more / 2))
    assert not fits(draws, expected(-(reach + 1) / 2, 4 * more))


class Bytes:
    def read(self, count):
        return np.frombuffer(bytearray(os.urandom(count)), dtype=np.uint8)


def quantile(counts, q):
    return int(np.argmax(np.cumsum(counts) >= q * sum(counts)))


SHAPES = {
    "spread": np.full(200, 3),
    "ties": np.where(np.arange(200) % 50 == 7, 150, 0),
    "constant": np.where(np.arange(200) == 120, 5000, 0),
    "few": np.where(np.arange(200) == 33, 2, 0),
    "edge": np.where(np.arange(200) == 199, 10_000, 0),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("q", [Fraction(1, 2), Fraction(1, 20)])
def test_intervals_and_errors_hold(shape, q):
    counts, trials = SHAPES[shape], 300
    mechanism = QuantileExponential(q, 1, bins=200, confidence=0.9, guaranteed=True)
    answers = [mechanism.release(counts)[0] for _ in range(trials)]
    true = quantile(counts, q)
    assert at_most(sum(not a.lower <= true <= a.upper for a in answers), trials, 0.1)
    assert all(0 <= a.lower <= a.at <= a.upper <= 199 for a in answers)
    error = float(mechanism.error(0.9))
    assert at_most(sum(misses(counts, q)[a.at] > error for a in answers), trials, 0.1)


def test_intervals_that_forget_how_far_a_choice_misses_are_caught():
    counts, trials = np.full(200, 1), 450
    mechanism = QuantileExponential("1/2", "1/5", bins=200)
    ends = np.sort([[mechanism.release(counts)[0].at for _ in range(2)] for _ in range(trials)])
    missed = ((ends[:, 0] > 99) | (ends[:, 1] < 99)).sum()
    assert not at_most(missed, trials, 0.1)


HUMP = np.pad(np.full(50, 40), 200)
GAP = np.concatenate([HUMP, np.zeros(200, dtype=int), HUMP])  # the median is in bin 249, where the gap begins


@pytest.mark.statistical
@pytest.mark.parametrize("kind", [QuantileExponential, QuantileFlip])
def test_guaranteed_intervals_hold_beside_a_gap_where_calibrated_ones_do_not(kind):
    trials, missed = 2000, []
    for guaranteed in (True, False):
        mechanism = kind("1/2", "1/2", bins=len(GAP), confidence=0.8, guaranteed=guaranteed)
        answers = [mechanism.release(GAP)[0] for _ in range(trials)]
        missed.append(sum(not a.lower <= 249 <= a.upper for a in answers))
    assert at_most(missed[0], trials, 0.2)
    assert not at_most(missed[1], trials, 0.2)


@pytest.mark.parametrize("kind", [QuantileExponential, QuantileFlip])
def test_ends_are_chosen_among_segments_so_a_guarantee_hardly_depends_on_the_grid(kind):
    q = Fraction(1, 2)
    few, many = (kind(q, 1, bins=bins, confidence=0.95, guaranteed=True).reach(q) for bins in (2**10, 2**20))
    assert few < many < few * Fraction(13, 10)
    # Of all bins, at half the chance for each end, it was:
    assert few < Fraction(7, 10) * kind(q, 1, bins=2**10, confidence=0.95).error(0.975)
    assert kind(q, 1, bins=2**10, confidence=0.95).reach(q) < Fraction(9, 10) * few


def test_constants_and_ties_are_found():
    for shape in ("constant", "edge"):
        answer = QuantileExponential([0.1, 0.5, 0.9], 3, bins=200, confidence=0.99).release(SHAPES[shape])
        assert {a.at for a in answer} == {int(np.argmax(SHAPES[shape]))}


def test_no_rows_are_an_honest_interval():
    trials = 300
    mechanism = QuantileExponential("1/2", 1, bins=50, confidence=0.9)
    answers = [mechanism.release(np.zeros(50, dtype=int))[0] for _ in range(trials)]
    assert at_most(sum((a.lower, a.upper) != (0, 49) for a in answers), trials, 0.1)
    assert len({a.at for a in answers}) > 10  # no bin is a default
    unpaid = QuantileExponential("1/2", 1, bins=50).release(np.zeros(50, dtype=int))[0]
    assert (unpaid.lower, unpaid.upper, unpaid.confidence) == (0, 49, None)


def test_error_is_attained_by_the_worst_histogram():
    mechanism = QuantileExponential("1/2", 1, bins=100)
    error = int(mechanism.error(0.9))
    counts = np.zeros(100, dtype=int)
    counts[50] = 2 * error  # every other bin is `error` off the middle rank
    chance = law(counts, Fraction(1, 2), mechanism.rate(Fraction(1, 2)))
    assert 0.02 < 1 - chance[50] <= 0.1


def test_a_million_bins():
    counts = np.zeros(2**20, dtype=np.int64)
    counts[::7] = 3
    answer = QuantileExponential([0.5, 0.9], 1, bins=2**20, confidence=0.99999999).release(counts)
    assert all(a.lower <= quantile(counts, a.q) <= a.upper for a in answer)
    assert all(a.upper - a.lower < 5000 for a in answer)


def test_one_bin():
    assert QuantileExponential("1/2", 1, bins=1, confidence=0.9).release([5])[0].at == 0
    assert QuantileExponential("1/2", 1, bins=1).error() == 0


@pytest.mark.parametrize("quantiles", [0, 1, -0.1, [], [0.5, 2], "half", True, None, [[0.5]], 1 / 3])
def test_quantiles_are_checked(quantiles):
    with pytest.raises(InputError, match="quantiles"):
        QuantileExponential(quantiles, 1, bins=4)


@pytest.mark.parametrize("counts", [[1, 2, 3], [1, 2, 3, -1], [1.5] * 4, [2**62] * 4, "four"])
def test_histograms_are_checked_and_not_shown(counts):
    with pytest.raises(InputError, match="counts") as caught:
        QuantileExponential(0.5, 1, bins=4).release(counts)
    assert str(2**62) not in str(caught.value)
