"""Two scrambled answers together: unbiased by listing every pair of reports, with intervals that hold."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from chance import at_most
from discreet.errors import InputError
from discreet.local import GRR, OLH, OUE, Duchi, Hadamard, Subset, given, joint
from discreet.local.pairs import unbiased_scores
from local_cases import listed_reports

PAIRS = [(GRR(2, 1), GRR(3, 2)), (OUE(2, 1), Subset(3, 1)), (OLH(3, 1), Hadamard(2, 1))]
named = pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: "-".join(one.kind for one in pair))


@named
def test_the_product_of_scores_is_one_for_the_true_pair_and_zero_for_all_others(pair):
    first, second = pair
    for v, w in itertools.product(range(first.categories), range(second.categories)):
        means = []
        for mechanism, value in ((first, v), (second, w)):
            law = mechanism.law(value)
            chances = np.array([float(chance) for chance in law.values()])
            means.append(chances @ unbiased_scores(mechanism, listed_reports(mechanism, law)))
        expected = np.zeros((first.categories, second.categories))
        expected[v, w] = 1
        assert np.outer(*means) == pytest.approx(expected, abs=1e-9)
        assert np.outer(means[0], means[1] * 1.01) != pytest.approx(expected, abs=1e-3)  # a wrong inverse is seen


@named
def test_sums_of_scores_are_the_tally(pair):
    for mechanism in pair:
        reports = mechanism.privatize(np.arange(60) % mechanism.categories)
        scores = mechanism.scores(reports)
        assert (scores.sum(axis=0) == mechanism.tally(reports).first).all()
        assert ((scores**2).sum(axis=0) == mechanism.tally(reports).second).all()


PEOPLE, TRIALS = 1000, 150
CELLS = np.array([[0.3, 0.1, 0.05], [0.02, 0.2, 0.33]])


def misses(shrunk):
    """How often the truth is outside 90% intervals: of the cells, of the respondents; of shares given an answer."""
    draw = np.random.default_rng(7)
    cells = shares = 0
    for trial in range(TRIALS):
        first, second = (GRR(2, 2), OUE(3, 2)) if trial % 2 else (Subset(2, 2), Hadamard(3, 2))
        codes = draw.choice(6, size=PEOPLE, p=CELLS.ravel())
        v, w = np.divmod(codes, 3)
        one, two = first.privatize(v), second.privatize(w)
        truth = np.bincount(codes, minlength=6).reshape(2, 3) / PEOPLE
        cells += outside(joint(first, second, one, two).interval(0.9), truth, shrunk)
        shares += outside(given(first, second, one, two).interval(0.9), CELLS / CELLS.sum(axis=0), shrunk)
    return cells, shares


def outside(ends, truth, shrunk):
    middle = ends.mean(axis=-1)
    half = (ends[..., 1] - ends[..., 0]) / 2 * shrunk
    return int((abs(truth - middle) > half).sum())


@pytest.mark.statistical
def test_intervals_hold_as_often_as_they_say_and_shorter_ones_do_not():
    for count in misses(1):
        # Cells of one trial move together: as if a third of them were trials of their own.
        assert at_most(count // 3, TRIALS * 2, 0.11)
    for count in misses(0.4):
        assert not at_most(count // 3, TRIALS * 2, 0.11)


FEW = [(GRR(2, 6), GRR(2, 6)), (OUE(3, 8), GRR(2, 8)), (Hadamard(6, 6), GRR(3, 6)), (OLH(3, 6), Hadamard(3, 6))]


@pytest.mark.statistical
@pytest.mark.parametrize("pair", FEW, ids=lambda pair: "-".join(one.kind for one in pair))
def test_intervals_hold_where_hardly_any_report_is_scrambled(pair):
    """Everybody gives one pair of answers: most often no report says otherwise, and the truth is at the edge."""
    (first, second), trials, zeros = pair, 150, np.zeros(100, dtype=int)
    truth = np.zeros((first.categories, second.categories))
    truth[0, 0] = 1
    cells, shares = np.zeros(truth.shape), np.zeros(first.categories)
    for _ in range(trials):
        reports = first.privatize(zeros), second.privatize(zeros)
        low, high = np.moveaxis(joint(first, second, *reports).interval(), -1, 0)
        cells += (low <= truth) & (truth <= high)
        low, high = np.moveaxis(given(first, second, *reports).interval()[:, 0], -1, 0)
        shares += (low <= truth[:, 0]) & (truth[:, 0] <= high)
    for held in (*cells.ravel(), *shares):
        assert at_most(trials - int(held), trials, 0.09)


def test_a_number_that_nobody_scrambled_is_not_known_exactly():
    number, sex = Duchi(8, 0, 10), GRR(2, 8)
    all_up = max(number.law(10), key=lambda report: number.law(10)[report])
    low, high = given(number, sex, [all_up] * 100, [0] * 100).interval()[0, 0]
    assert low < 10 < high


@pytest.mark.statistical
def test_a_mean_given_an_answer_is_near_its_own_and_not_the_mean_of_all():
    hours, sex = Duchi(4, 0, 10), GRR(2, 4)
    who = np.arange(20_000) % 2
    found = given(hours, sex, hours.privatize(np.where(who == 0, 3.0, 7.0)), sex.privatize(who))
    low, high = found.interval(1 - 1e-12)[0].T
    assert (low < [3, 7]).all()
    assert (high > [3, 7]).all()
    assert high[0] < 5 < low[1]


def test_of_a_category_that_nobody_may_be_in_nothing_is_known():
    found = given(GRR(2, 1), GRR(2, 1), [0, 1] * 20, [1] * 40)
    assert np.isinf(found.interval(0.95)[:, 0]).all()


def test_reports_that_do_not_belong_together_are_refused():
    for one, two in (([0], [0, 1]), ([], []), ([5], [0])):
        with pytest.raises(InputError, match="reports"):
            joint(GRR(2, 1), GRR(2, 1), one, two)
    with pytest.raises(InputError, match="times"):
        joint(GRR(2, 1), GRR(2, 1), [0], [0], [0])
    assert joint(GRR(2, ratio=Fraction(3)), GRR(2, ratio=Fraction(3)), [0], [1], [5]).cells.n == 5
