"""One part of an answer: the exact law of small cases, sums that are unbiased, intervals that hold."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from chance import at_most, frequency_fits
from discreet.errors import InputError
from discreet.local import GRR, OUE, Sampled, Subset
from discreet.local.pairs import unbiased_scores

CASES = [
    (Sampled([GRR(2, 1)] * 3), list(itertools.product(range(2), repeat=3))),  # which of three apply
    (Sampled([GRR(3, 2)] * 3), list(itertools.permutations(range(3)))),  # three in order
    (Sampled([GRR(2, "1/2"), OUE(4, "1/2")]), [(value // 2, value) for value in range(4)]),  # levels of a scale
]
every = pytest.mark.parametrize(("mechanism", "answers"), CASES, ids=["several", "ranking", "scale"])


def worst(laws):
    return max(one[r] / other[r] for one, other in itertools.permutations(laws, 2) for r in one)


@every
def test_the_claim_holds_for_every_pair_of_answers_and_is_attained(mechanism, answers):
    laws = [mechanism.law(values) for values in answers]
    assert all(sum(law.values()) == 1 for law in laws)
    assert worst(laws) == mechanism.ratio
    assert mechanism.spent <= mechanism.epsilon


@every
def test_a_mutant_whose_part_depends_on_the_answer_is_caught(mechanism, answers):
    def leaky(values):  # the first part is told a little more often if its value is not zero
        tilt = Fraction(1, 100) if values[0] else 0
        many = len(mechanism.parts)
        return {
            (part, r): chance * (1 + (many * tilt if part == 0 else -many * tilt / (many - 1)))
            for (part, r), chance in mechanism.law(values).items()
        }

    assert worst([leaky(values) for values in answers]) > mechanism.ratio


@every
def test_sums_of_shares_are_unbiased(mechanism, answers):
    """The exact mean of the scores of each part is the indicator of its value."""
    for values in answers:
        for place, part in enumerate(mechanism.parts):
            law = part.law(values[place])
            told = list(law)
            if isinstance(part, OUE):
                told = np.frombuffer(b"".join(told), dtype=np.uint8).reshape(len(told), -1)
            means = np.array([float(chance) for chance in law.values()]) @ unbiased_scores(part, told)
            assert means == pytest.approx(np.eye(part.categories)[values[place]], abs=1e-9)


@pytest.mark.statistical
def test_every_part_is_told_equally_often():
    told = [CASES[0][0].privatize((1, 0, 1))[0] for _ in range(3000)]
    assert all(frequency_fits(told.count(part), 3000, 1 / 3) for part in range(3))
    assert not frequency_fits(told.count(0), 3000, 1 / 4)


@pytest.mark.statistical
def test_intervals_hold_as_often_as_they_say_and_shorter_ones_do_not():
    mechanism, draw = Sampled([GRR(2, 1), OUE(4, 1)]), np.random.default_rng(3)
    truth, trials, n = np.array([0.1, 0.2, 0.3, 0.4]), 400, 400
    sums = [[np.array([1.0, 0.0]), np.array([0.0, 0.0, 1.0, 0.0])]]  # 0.3 + 0.3
    missed = shorter = 0
    for _ in range(trials):
        values = draw.choice(4, size=n, p=truth)
        first = draw.random(n) < 0.5
        told = [mechanism.parts[0].privatize(values[first] // 2), mechanism.parts[1].privatize(values[~first])]
        found = mechanism.estimate(told, [np.ones(len(one), dtype=int) for one in told], sums)
        low, high = found.interval(0.9)[0]
        missed += not low <= 0.6 <= high
        shorter += abs(found.values[0] - 0.6) > (high - low) / 5
    assert at_most(missed, trials, 0.11)
    assert not at_most(shorter, trials, 0.11)
    assert mechanism.half_width(sums, n, 0.9) > (high - low) / 2 * 0.95  # for the worst answers


def test_a_part_that_nobody_told_is_unknown():
    mechanism = CASES[0][0]
    sums = [[np.array([0.0, float(part == place)]) for part in range(3)] for place in range(3)]
    found = mechanism.estimate([[1, 0], [], [0]], [[3, 4], [], [2]], sums)
    assert np.isnan(found.values).tolist() == [False, True, False]
    assert found.n == 9
    assert (np.diff(found.interval()[[0, 2]]) > 0.5).all()  # a single report is no certainty


def test_what_is_no_answer_is_refused():
    for wrong in ([], [Subset(4, 1)], [GRR(2, 1)] * 501):
        with pytest.raises(InputError, match="parts"):
            Sampled(wrong)
    for answer in ([1], [1, 0, 2], [1, 0, -1]):
        with pytest.raises(InputError, match="values"):
            CASES[0][0].privatize(answer)


@pytest.mark.statistical
def test_what_few_have_may_have_been_told_by_none():
    """Of 100 people 25 tell of this option, and 2 of the 100 have it: most often no report says so."""
    mechanism, trials = Sampled([GRR(2, 8)] * 4), 200
    people, missed = [(1, 0, 0, 0)] * 2 + [(0, 0, 0, 0)] * 98, 0
    sums = [[np.array([0.0, 1.0]) * (part == 0) for part in range(4)]]
    for _ in range(trials):
        told = [mechanism.privatize(one) for one in people]
        reports = [np.array([report for part, report in told if part == place]) for place in range(4)]
        found = mechanism.estimate(reports, [np.ones(len(each)) for each in reports], sums)
        low, high = found.interval()[0]
        missed += not low <= 0.02 <= high
    assert at_most(missed, trials, 0.08)  # it was 0.6
