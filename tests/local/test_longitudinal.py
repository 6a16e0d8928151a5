"""Privacy over time: the cost of whole sequences of reports, listed."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from chance import fits
from discreet.core.exact import exp_down, log_up
from discreet.errors import InputError, LossError
from discreet.local import GRR, Longitudinal


def sequence_ratio(law, rounds):
    """The largest likelihood ratio of whole sequences of reports, by listing them."""
    one, two, k = law.permanent, law.instant, law.categories

    def likelihood(value, reports):
        total = Fraction(0)
        for memory in range(k):
            chance = one.law(value)[memory]
            for report in reports:
                chance *= two.law(memory)[report] if two else Fraction(report == memory)
            total += chance
        return total

    worst = Fraction(0)
    for reports in itertools.product(range(k), repeat=rounds):
        chances = [likelihood(value, reports) for value in range(k)]
        if min(chances) > 0:
            worst = max(worst, max(chances) / min(chances))
    return worst


@pytest.mark.parametrize("law", [Longitudinal(3, 2, 1), Longitudinal(2, 1, 3), Longitudinal(3, 1)], ids=str)
def test_the_cost_over_time_is_exact(law):
    for rounds in (1, 2, 3):
        assert law.ratio(rounds) == sequence_ratio(law, rounds)
        assert log_up(law.ratio(rounds)) <= law.loss(rounds).epsilon + Fraction(1, 10**40)
    assert law.ratio(50) <= law.permanent.ratio
    assert law.loss(1000).epsilon <= law.permanent.spent + Fraction(1, 10**14)
    single = law.each.ratio
    assert single == law.ratio(1)
    if law.instant:
        assert law.ratio(3) > single  # one that counts a single report only is caught


def test_changes_cost_more():
    law = Longitudinal(4, 2, 1)
    assert law.loss(10, values=2).epsilon == pytest.approx(2 * float(law.loss(9).epsilon))
    assert law.loss(10, hidden=True).epsilon == 10 * law.instant.spent
    with pytest.raises(LossError, match="changes"):
        Longitudinal(4, 2).loss(3, hidden=True)
    for wrong in ({"values": 5}, {"values": 0}, {"rounds": 0}, {"rounds": 2, "values": 3}):
        with pytest.raises(InputError):
            law.loss(**{"rounds": 10, **wrong})


def sequence_law(law, answers):
    """The exact probability of all reports of a sequence of answers: an answer keeps its memory."""
    one, two, k = law.permanent, law.instant, law.categories
    found = {}
    for reports in itertools.product(range(k), repeat=len(answers)):
        chance = Fraction(1)
        for value in {*answers}:
            told = [report for answer, report in zip(answers, reports, strict=True) if answer == value]
            chance *= sum(
                (one.hit if kept == value else one.miss) * math.prod(two.hit if r == kept else two.miss for r in told)
                for kept in range(k)
            )
        found[reports] = chance
    return found


def most_between(law, rounds, shape):
    """The largest ratio between any two sequences of one shape; a shape is what is not protected."""
    laws = {answers: sequence_law(law, answers) for answers in itertools.product(range(law.categories), repeat=rounds)}
    pairs = ((laws[a], laws[b]) for a, b in itertools.permutations(laws, 2) if shape(a) == shape(b))
    return max(one[reports] / two[reports] for one, two in pairs for reports in one)


def groups(answers):
    """Which rounds have the same answer."""
    return tuple(answers.index(answer) for answer in answers)


def moments(answers):
    """When the answer changes."""
    return tuple(before != after for before, after in itertools.pairwise(answers))


def test_people_with_fewer_answers_are_covered_too():
    """Every two sequences of at most so many answers that change together, and all reports; listed."""
    law = Longitudinal(3, 1, Fraction(1, 2))
    assert law.ratio(2) > law.ratio(1) ** 2  # the price of two answers alone is too low for one
    assert log_up(most_between(law, 2, groups)) <= law.loss(2, values=2).epsilon + Fraction(1, 10**14)
    ample = Longitudinal(1000, 1, 1)
    assert all(ample.loss(10, values=many).epsilon >= ample.loss(10).epsilon for many in range(1, 11))


def test_what_answers_cost_covers_those_that_are_equal_in_the_same_rounds():
    """All sequences of three and four rounds, also with answers that come back; which rounds are alike is not hidden.

    Were the same moments of change enough, reports of A, B, A and A, B, C would break it: that claim must fail.
    """
    for law, rounds in ((Longitudinal(3, 2, 1), 3), (Longitudinal(2, 1, 2), 4)):
        values = min(rounds, law.categories)
        assert log_up(most_between(law, rounds, groups)) <= law.loss(rounds, values=values).epsilon
        assert log_up(most_between(law, rounds, len)) <= law.loss(rounds, hidden=True).epsilon
    returning = Longitudinal(3, 1, 3)
    assert log_up(most_between(returning, 3, groups)) <= returning.loss(3, values=3).epsilon
    assert log_up(most_between(returning, 3, moments)) > returning.loss(3, values=3).epsilon


@pytest.mark.statistical
def test_memories_are_kept():
    law = Longitudinal(3, 1, 2)
    first = []
    for _ in range(3000):
        memory = law.start()
        first.append(memory.report(1))
    chances = [float(law.each.law(1)[report]) for report in range(3)]
    assert fits(first, lambda x: np.array([*chances, 0])[np.clip(x, -1, 3)])
    again = [memory.report(1) for _ in range(3000)]
    kept = memory.to_dict()["1"]
    chances = [float(law.instant.law(kept)[report]) for report in range(3)]
    assert fits(again, lambda x: np.array([*chances, 0])[np.clip(x, -1, 3)])
    same = Longitudinal(3, 1)
    memory = same.start()
    assert len({memory.report(2) for _ in range(50)}) == 1
    restored = same.start(memory.to_dict())
    assert restored.report(2) == memory.report(2)
    assert law.id != same.id
    for wrong in (3, -1, "x", [1], None):
        with pytest.raises(InputError):
            memory.report(wrong)
    for wrong in ({"5": 0}, {"0": 7}):
        with pytest.raises(InputError):
            law.start(wrong)
    with pytest.raises(InputError):
        Longitudinal(3, GRR(4, 1))
    assert exp_down(same.permanent.epsilon) >= same.permanent.ratio
