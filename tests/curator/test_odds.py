"""What pages say of odds is true, and no looser than it must be."""

import math
import re

import numpy as np
import pytest

from discreet import Budget
from discreet.accounting import advantage, group
from discreet.core.loss import Approx, Composed, GaussianNoise, LaplaceNoise, Pure
from discreet.core.unit import Neighbours
from discreet.curator.odds import guesses, lifetime, meaning


def said(text):
    """The first percentage of a sentence, after "at most" or "no more than"."""
    return float(re.search(r"(?:at most|no more than) ([\d.]+)%", text)[1])


@pytest.mark.parametrize("epsilon", ["0.001", "0.1", "0.5", "1", "3", "8"])
def test_pure_odds_are_those_of_bayes_rounded_up(epsilon):
    true = 100 / (1 + math.exp(-float(epsilon)))
    for text in (meaning(Pure(epsilon)), lifetime(Budget(epsilon))):
        assert true <= said(text) <= true + 0.1
    down = float(re.search(r"down to ([\d.]+)%", meaning(Pure(epsilon)))[1])
    assert 100 - true - 0.1 <= down <= 100 - true


def test_noise_that_is_pure_together_is_said_so():
    both = Composed((LaplaceNoise(10, 1), LaplaceNoise(20, 2)))  # 0.1 and 0.1
    assert said(meaning(both)) == said(meaning(Pure("0.2")))
    assert said(meaning(both)) > said(meaning(Pure("0.1")))


def guessed(sigma, shift):
    """How often the best guess between two neighbouring counts is right, after discrete Gaussian noise."""
    wide = np.arange(-40 * sigma, 40 * sigma + shift + 1)
    one = np.exp(-(wide**2) / (2 * sigma**2))
    other = np.exp(-((wide - shift) ** 2) / (2 * sigma**2))
    return 100 * np.maximum(one / one.sum(), other / other.sum()).sum() / 2


@pytest.mark.parametrize(("sigma", "shift"), [(1, 1), (4, 1), (10, 1), (10, 5)])
def test_gaussian_noise_is_said_by_the_best_guess(sigma, shift):
    text = meaning(GaussianNoise(sigma, shift))
    assert "is right at most" in text
    true = guessed(sigma, shift)
    assert true <= said(text) <= true + 0.2
    assert said(meaning(GaussianNoise(2 * sigma, shift))) < true  # a sentence about less noise would be caught


def test_a_lifetime_is_said_for_every_kind_of_budget():
    assert "epsilon = 1 with delta = 1e-6" in lifetime(Budget(1, delta="1e-6"))
    assert said(lifetime(Budget(1, delta="1e-6"))) >= said(lifetime(Budget(1)))
    rho = lifetime(Budget(rho="0.1"))
    assert "rho = 0.1 (epsilon = " in rho
    sigma = math.sqrt(1 / 0.2)  # Gaussian noise that costs rho = 0.1 whole
    assert said(rho) >= 50 * (1 + math.erf(1 / (2 * math.sqrt(2) * sigma)))


def every(text):
    """Every percentage after "at most" or "no more than", in order."""
    return [float(one) for one in re.findall(r"(?:at most|no more than) ([\d.]+)%", text)]


def moved(epsilon, shift):
    """The belief after the worst answer of two counts with two-sided geometric noise, when someone counts in one of
    them or in the other: `shift` says by how much each count moves."""
    one = lambda answer, true: math.exp(-epsilon * abs(answer - true))  # noqa: E731
    answers = [(a, b) for a in range(-3, 4) for b in range(-3, 4)]
    ratios = [one(a, shift[0]) * one(b, 0) / (one(a, 0) * one(b, shift[1])) for a, b in answers]
    return 100 * max(ratios) / (1 + max(ratios))


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 3.0])
def test_a_fact_of_someone_in_the_table_is_two_steps_where_tables_have_one_more_or_less(epsilon):
    presence, fact = moved(epsilon, (1, 0)), moved(epsilon, (1, 1))  # "is counted", and "is counted here, not there"
    for text in (meaning(Pure(str(epsilon))), lifetime(Budget(str(epsilon)))):
        assert "whether one of those protected is in the table" in text
        assert presence <= every(text)[0] < fact  # the first figure said of any fact would be wrong
        assert fact <= every(text)[1] <= fact + 0.1
    for text in (meaning(Pure(str(epsilon)), Neighbours.REPLACE), lifetime(Budget(str(epsilon)), Neighbours.REPLACE)):
        assert len(every(text)) == 1
        assert "about a fact" in text
        assert fact <= every(text)[0] <= fact + 0.1  # against another record in their place, whatever else is known


@pytest.mark.parametrize(("sigma", "shift"), [(4, 1), (10, 1), (10, 5)])
def test_a_fact_guessed_after_gaussian_noise_is_two_steps_too(sigma, shift):
    text = meaning(GaussianNoise(sigma, shift))
    assert every(text)[0] < guessed(sigma, 2 * shift) <= every(text)[1]
    assert every(meaning(GaussianNoise(sigma, shift), Neighbours.REPLACE)) == every(text)[1:]


def test_the_comparison_is_with_the_data_left_out_and_never_with_what_was_believed_before():
    losses, budgets = (Pure(1), GaussianNoise(4, 1)), (Budget(1), Budget(1, delta="1e-6"), Budget(rho="0.1"))
    for kind, words in ((Neighbours.ADD_REMOVE, "without their data"), (Neighbours.REPLACE, "another record in their")):
        for text in [*(meaning(loss, kind) for loss in losses), *(lifetime(budget, kind) for budget in budgets)]:
            assert words in text
    assert "the data of others" in meaning(Pure(1))


def test_budgets_with_a_delta_bound_how_often_a_guess_is_right():
    for epsilon in (0.5, 1.0, 3.0):
        first, second = every(lifetime(Budget(str(epsilon), delta="1e-6")))
        assert moved(epsilon, (1, 0)) <= first  # the worst answer of a count that uses all of the epsilon
        # A report of two bits that is right about a fact as often as epsilon lets it; without the data it is a coin.
        fact = 100 - 50 * math.exp(-epsilon)
        assert first < fact <= second <= fact + 0.1
    sigma = math.sqrt(1 / 0.2)  # Gaussian noise that costs rho = 0.1 whole
    _, second = every(lifetime(Budget(rho="0.1")))
    assert second >= 50 * (1 + math.erf(1 / (math.sqrt(2) * sigma)))


def test_where_a_group_of_two_has_no_bound_a_guess_has_one():
    large = Approx(1, "0.4")  # its delta grows beyond 1 for two
    presence, fact = every(meaning(large))
    assert presence == pytest.approx(50 * (1 + 0.4 + 0.6 * math.tanh(0.5)), abs=0.1)
    assert fact == pytest.approx(100 - 100 * math.exp(-1) * (0.5 - 0.4), abs=0.1)


def two_counts(place, scale=1, reach=30):
    """The law of two counts at these places with Laplace noise."""
    wide = np.arange(-reach, reach + 1)
    laws = [math.tanh(0.5 / scale) * np.exp(-np.abs(wide - at) / scale) for at in place]
    return np.multiply.outer(*laws).ravel()


def tied_guess():
    """How often a rule is right about a fact that others' counts are tied to: without somebody's data, and with it.

    Others are at (1, 0) where it is so and at (-1, 0) where not; the data adds (1, 1) there, and takes it away here.
    """
    so, not_so = two_counts((1, 0)), two_counts((-1, 0))
    with_so, with_not = two_counts((2, 1)), two_counts((-2, -1))
    # Of rules that are right half the time without the data the best (Neyman and Pearson), as a mixture of two.
    gain, cost = with_so - with_not, so - not_so
    rules = [gain - slope * cost > 0 for slope in (1 - 1e-3, 1 + 1e-3)]
    high, low = (float(cost[rule].sum()) for rule in rules)
    mixed = -low / (high - low) if high > low else 0.0
    say_so = mixed * rules[0] + (1 - mixed) * rules[1]
    return [float(one @ say_so + other @ (1 - say_so)) / 2 for one, other in ((so, not_so), (with_so, with_not))]


def test_a_guess_of_those_who_tie_people_together_is_bounded_and_a_group_of_two_is_no_bound():
    """The planted bug: the advantage for two units, where others differ with the fact as well."""
    without, right = tied_guess()
    assert without == pytest.approx(0.5, abs=1e-9)
    loss = Composed((Approx(0, "1e-9"), LaplaceNoise(1, 1), LaplaceNoise(1, 1)))  # not pure: counts of found groups
    assert right > 0.90
    assert 100 * right <= every(meaning(loss))[1] < 50 + 100 * float(advantage(loss))
    planted = (1 + float(advantage(group(loss, 2)))) / 2
    assert planted < right - 0.03


def figures(row):
    return [float(one.removesuffix("%")) for one in row[1:]]


@pytest.mark.parametrize("loss", [Pure("0.3"), LaplaceNoise(10, 1), GaussianNoise(4, 1)])
@pytest.mark.parametrize("budget", [Budget(3), Budget(1, delta="1e-6"), Budget(rho="0.1")])
@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_the_table_of_guesses_has_the_figures_of_the_sentences(loss, budget, neighbours):
    rows = guesses(loss, budget, neighbours)
    assert len(rows) == (2 if neighbours is Neighbours.ADD_REMOVE else 1)
    one, all_ever = every(meaning(loss, neighbours)), every(lifetime(budget, neighbours))
    assert [figures(row) for row in rows] == [list(pair) for pair in zip(one, all_ever, strict=True)]


def test_a_fact_is_guessed_better_than_presence_and_all_answers_tell_more_than_one():
    presence, fact = map(figures, guesses(Pure("0.3"), Budget(3)))
    assert 50 < presence[0] < fact[0] < presence[1] < fact[1] < 100
    assert presence[0] >= 100 / (1 + math.exp(-0.3))
