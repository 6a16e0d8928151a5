import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting import advantage, after, posterior, posterior_curve
from discreet.errors import InputError

chances = st.fractions(0, 1, max_denominator=1000)


def test_the_coin_survey():
    assert after(0.02, 0.75, 0.25) == Fraction(3, 52)
    survey = posterior(0.02, math.log(3))
    assert float(survey.high) == pytest.approx(3 / 52)
    said = "Someone who would think it 2% likely without this person's data will think it at most 5.8% likely with it."
    assert survey.sentence() == said


@given(chances, st.fractions("0.01", 6, max_denominator=100), chances)
def test_no_answer_of_an_epsilon_private_survey_moves_anyone_further(prior, epsilon, share):
    # Any answer whose probability differs by a factor of at most e^epsilon (rounded inward).
    factor = Fraction(math.exp(float(epsilon)) * (1 - 1e-12))
    no = Fraction(1, 1000)
    yes = no * (1 + (factor - 1) * share)
    bound = posterior(prior, epsilon)
    assert bound.low <= after(prior, no, yes) <= after(prior, yes, no) <= bound.high
    assert bound.low <= prior <= bound.high


def test_half_the_epsilon_would_be_caught():
    assert after(0.4, 0.75, 0.25) > posterior(0.4, math.log(3) / 2).high


def test_certainty_and_no_privacy():
    assert posterior(0, 5).high == 0
    assert posterior(1, 5).low == 1
    assert posterior(0.4, 0).high == posterior(0.4, 0).low == Fraction(2, 5)
    assert posterior(0.4, 10**6).high == 1


def test_the_curve_is_ready_to_plot():
    prior, low, high = posterior_curve(1, points=11)
    assert len(prior) == len(low) == len(high) == 11
    assert np.all(low <= prior)
    assert np.all(prior <= high)


def test_what_is_not_allowed():
    with pytest.raises(InputError, match="prior"):
        posterior(1.2, 1)
    with pytest.raises(InputError, match="epsilon"):
        posterior(0.2, -1)
    with pytest.raises(InputError, match="can happen"):
        after(0.5, 0, 0)
    with pytest.raises(InputError, match="points"):
        posterior_curve(1, points=1)


def count_law(epsilon, answer, true):
    """Two-sided geometric noise on a count, up to a factor that is the same for all."""
    return math.exp(-epsilon * abs(answer - true))


def test_all_or_none_of_a_village_moves_the_belief_before_and_not_the_one_without_a_person():
    """The counterexample to 0.1: 50% becomes 99.9999998%, though each person's own data adds e^epsilon to the odds."""
    epsilon, people = 0.1, 200
    ratio = count_law(epsilon, people, people) / count_law(epsilon, people, 0)
    after_it = ratio / (1 + ratio)
    assert f"{after_it:.7%}" == "99.9999998%"
    assert after_it > posterior(0.5, epsilon).high  # against the belief before, the bound is false
    without = count_law(epsilon, people, people - 1) / count_law(epsilon, people, 0)
    # With beliefs this near to one, odds are compared: the bound is attained.
    assert ratio / without == pytest.approx(math.exp(epsilon))
    assert ratio / without > math.exp(epsilon / 2) * 1.01  # half the epsilon would be caught


TABLES = list(itertools.product((None, 0, 1), repeat=3))  # three people: not in the table, or in it with a value


def answers(epsilon, table):
    """The laws of two noisy counts, by value: a person is in one of them, so that the whole is epsilon-private."""
    counts = [sum(value == which for value in table) for which in (0, 1)]
    return {
        (a, b): count_law(epsilon, a, counts[0]) * count_law(epsilon, b, counts[1])
        for a in range(-2, 6)
        for b in range(-2, 6)
    }


def odds(beliefs, laws, fact, answer):
    inside = sum(belief * laws[table][answer] for table, belief in beliefs.items() if fact(table))
    outside = sum(belief * laws[table][answer] for table, belief in beliefs.items() if not fact(table))
    return inside / outside


@pytest.mark.parametrize("epsilon", [0.1, 0.7, 2.0])
def test_whatever_is_believed_a_persons_data_adds_no_more_than_is_said(epsilon):
    draw = random.Random(7)
    true = {table: answers(epsilon, table) for table in TABLES}
    without = {table: true[(None, *table[1:])] for table in TABLES}
    facts = {lambda table: table[0] is not None: epsilon, lambda table: table[0] == 1: 2 * epsilon}
    worst = dict.fromkeys(facts, 0.0)
    moved = 0.0
    for _ in range(60):
        # Sparse and lopsided: a few tables carry nearly all the belief, so that people are tied together.
        beliefs = {table: draw.random() ** draw.choice([1, 30]) for table in TABLES}
        for fact, price in facts.items():
            before = sum(b for t, b in beliefs.items() if fact(t)) / sum(b for t, b in beliefs.items() if not fact(t))
            for answer in true[TABLES[0]]:
                with_it, left_out = odds(beliefs, true, fact, answer), odds(beliefs, without, fact, answer)
                bound = posterior(left_out / (1 + left_out), price)
                assert float(bound.low) - 1e-9 <= with_it / (1 + with_it) <= float(bound.high) + 1e-9
                worst[fact] = max(worst[fact], abs(math.log(with_it / left_out)))
                moved = max(moved, abs(math.log(with_it / before)) - price)
    presence, value = worst.values()
    assert presence > 0.9 * epsilon  # nearly attained, so a tighter claim would be caught
    assert value > 1.3 * epsilon  # "any other fact" at one epsilon would be caught
    assert moved > 0.2 * epsilon  # against the belief before, the same bounds fail


def test_a_guess_is_right_no_more_often_than_is_said():
    """By any rule: presence gains at most its probability times the advantage, any other fact the advantage."""
    epsilon, draw = 0.7, random.Random(5)
    gain = float(advantage((epsilon, 0)))
    wide = range(-25, 29)
    one = {(a, true): count_law(epsilon, a, true) for a in wide for true in range(4)}
    total = sum(one[a, 0] for a in wide)

    def law(table):
        counts = [sum(value == which for value in table) for which in (0, 1)]
        return np.array([[one[a, counts[0]] * one[b, counts[1]] / total**2 for b in wide] for a in wide])

    laws = {table: law(table) for table in TABLES}
    largest = {}
    for name, fact in {"presence": lambda t: t[0] is not None, "value": lambda t: t[0] == 1}.items():
        gains = []
        drawn = [{table: draw.random() ** draw.choice([1, 30]) for table in TABLES} for _ in range(40)]
        for beliefs in [*drawn, {(0, None, None): 1, (1, None, None): 1}]:
            whole = sum(beliefs.values())
            true = [(fact(t), b / whole * laws[t]) for t, b in beliefs.items()]
            left_out = [(fact(t), b / whole * laws[(None, *t[1:])]) for t, b in beliefs.items()]
            inside = sum(mass for holds, mass in true if holds)
            says = inside > sum(mass for holds, mass in true if not holds)
            right, before = (
                sum(float(mass[says].sum() if holds else mass[~says].sum()) for holds, mass in masses)
                for masses in (true, left_out)
            )
            share = float(inside.sum()) if name == "presence" else 1.0
            gains.append((right - before) / (share * gain))
        largest[name] = max(gains)
    assert largest["presence"] <= 1 + 1e-6
    assert 0.5 < largest["value"] <= 1 + 1e-6  # half the advantage, said of any fact, would be caught
