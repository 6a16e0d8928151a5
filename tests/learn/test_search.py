"""A search: every run is charged, and so is the choice, which is private."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import json
from dataclasses import replace
from fractions import Fraction

import jax.numpy as jnp
import numpy as np
import pyarrow
from scipy import stats
from train_people import charges
from train_steps import less_the_sum

import discreet
from chance import LEVEL
from discreet import Allotment, Budget, Category, Integer, Schema
from discreet.accounting.convert import approx
from discreet.accounting.selection import RunCount, best_of
from discreet.core.loss import Approx, Composed, GaussianNoise
from discreet.core.plan import Plan
from discreet.core.progress import listening
from discreet.errors import InputError
from discreet.learn.model import Model
from discreet.learn.recipe import Recipe
from discreet.learn.search import Search, choice_epsilon, choose_privately, right_answers, score_precision


def recipe(**more):
    return Recipe(**({"examples": 1000, "lot": 50, "steps": 20, "bound": 1, "multiplier": 2} | more))


def test_all_runs_are_paid_for_and_so_is_the_choice():
    one, two = recipe(), recipe(rate=1.0, lot=100)
    alone = Search([one]).epsilon(1e-5)
    both = Search([one, two]).epsilon(1e-5)
    assert alone == one.epsilon(1e-5)
    assert max(alone, two.epsilon(1e-5)) < both < alone + two.epsilon(1e-5)  # composed tighter than the sum
    chosen = Search([one, two], choice="1/10").epsilon(1e-5)
    assert both < chosen <= both + Fraction(11, 100)
    assert "2 runs, all charged" in Search([one, two], "1/10").text(1e-5)
    assert "picked privately" in Search([one, two], "1/10").text(1e-5)


def test_rows_that_are_for_one_of_the_two_pay_the_larger_price():
    both = [recipe(), recipe(rate=1.0)]
    trained = Search(both).epsilon(1e-5)
    assert Search(both, trained / 2, disjoint=True).epsilon(1e-5) == trained
    assert Search(both, trained * 2, disjoint=True).epsilon(1e-5) == 2 * trained
    assert Search(both, trained / 2).epsilon(1e-5) > trained * Fraction(13, 10)
    assert Search(both, trained / 2, disjoint=True).cost_at(1e-5) == Approx(trained, 1e-5)
    assert Search(both, trained / 2).cost_at(1e-5) == Search(both, trained / 2).cost


def told(rows, held, epsilon):
    """The exact law of a tiny search: a row is held out by a coin; noisy counts of the rest, and of those held out."""
    high = np.exp(epsilon)
    spread = {shift: np.array([1, high][:: 1 - 2 * shift]) / (1 + high) for shift in (0, 1)}
    if not rows:
        return np.outer(spread[0], spread[0])
    return held * np.outer(spread[0], spread[1]) + (1 - held) * np.outer(spread[1], spread[0])


def test_a_search_on_disjoint_rows_loses_no_more_than_its_larger_part():
    """By brute force; the twin, in which the row is used for both, loses the sum."""
    for held in (0.1, 0.5):
        here, there = told(0, held, 1.0), told(1, held, 1.0)
        assert np.abs(np.log(here / there)).max() <= 1 + 1e-12
    high = np.e
    both = np.outer([high, 1], [high, 1]) / (1 + high) ** 2
    assert np.abs(np.log(told(0, 0.1, 1.0) / both)).max() > 1.9


def test_a_random_number_of_runs_costs_less_than_all_of_them():
    runs, listed = RunCount(8), [recipe(rate=rate) for rate in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20)]
    public = Search(listed, runs=runs)
    assert recipe().epsilon(1e-5) < public.epsilon(1e-5) < Search(listed).epsilon(1e-5)
    left = Fraction("1e-5") - runs.expected * recipe().noise_delta()
    assert public.epsilon(1e-5) == best_of([recipe().ideal_cost()], runs, left)
    scored = Search(listed, 1, runs=runs)
    assert scored.epsilon(1e-5) == best_of([Composed([recipe().ideal_cost(), GaussianNoise(1, 1)])], runs, left)
    apart = Search(listed, 1, runs=runs, disjoint=True)
    assert apart.epsilon(1e-5) == max(best_of([GaussianNoise(1, 1)], runs, left), public.epsilon(1e-5))
    assert apart.cost_at(1e-5) == Approx(apart.epsilon(1e-5), 1e-5)
    assert "8 on average and not disclosed" in apart.text(1e-5)
    with pytest.raises(InputError, match="cost_at"):
        apart.cost  # noqa: B018
    with pytest.raises(InputError, match="more than noise"):
        Search(listed, runs=runs).epsilon(1e-22)


def test_noise_is_found_for_a_random_number_of_runs():
    found = Search.within(2, 1e-5, [recipe(), recipe(rate=2.0)], "1/5", runs=RunCount(5), disjoint=True)
    assert Fraction(195, 100) < found.epsilon(1e-5) <= 2
    precision = score_precision(Fraction(2), Fraction("1e-5"), RunCount(5))
    assert best_of([GaussianNoise(1 / precision, 1)], RunCount(5), Fraction("1e-5")) <= 2
    assert best_of([GaussianNoise(1 / (precision * 11 / 10), 1)], RunCount(5), Fraction("1e-5")) > 2
    with pytest.raises(InputError, match="larger: no score"):
        score_precision(Fraction(1, 10**6), Fraction("1e-5"), RunCount(5))


def test_a_random_search_tells_neither_the_number_of_runs_nor_their_scores(curator, monkeypatch):
    drawn, heard = [], []
    true = RunCount.draw
    monkeypatch.setattr(RunCount, "draw", lambda self, bits=None: drawn.append(true(self, bits)) or drawn[-1])
    question = curator.train(target="rich", examples=400, lot=200, steps=2)
    offer = question.search([{"rate": 0.1}, {"rate": 2.0}], epsilon=3, runs=3)
    assert Fraction(28, 10) < offer.plan.charge.amount <= 3
    assert "How long the search takes" in str(offer)
    with listening(lambda stage, done: heard.append(stage)):
        model = offer.release(release="random")
    assert len(drawn) == 1
    assert [stage for stage in heard if "step" in stage or "candidate " in stage] == []
    stored = json.dumps({**model.to_dict(), "weights": 0})
    assert '"score' not in stored
    assert "not disclosed" in model.card().tuning
    assert charges(curator.ledger) == 1
    with pytest.raises(InputError, match="number of runs is random"):
        question.search([{"rate": 0.1}, {"rate": 2.0}], within=20, runs=3)


def test_equal_runs_cost_what_one_of_all_their_steps_costs():
    many = Search([recipe(rate=rate) for rate in (0.1, 0.2, 0.4)]).epsilon(1e-5)
    assert abs(float(many) - float(recipe(steps=60).epsilon(1e-5))) < 1e-3


def test_noise_is_found_for_the_whole():
    found = Search.within(1, 1e-5, [recipe(), recipe(lot=100, multiplier=3)], choice=0.1)
    assert Fraction(97, 100) < found.epsilon(1e-5) <= 1
    assert found.recipes[1].multiplier / found.recipes[0].multiplier == Fraction(3, 2)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"recipes": []}, "at least one"),
        ({"recipes": ["a"]}, "at least one"),
        ({"recipes": [recipe(), recipe(examples=2000)]}, "the same number of examples"),
        ({"recipes": [recipe()], "choice": -1}, "zero"),
    ],
)
def test_a_bad_search_is_refused(given, said):
    with pytest.raises(InputError, match=said):
        Search(**given)


def test_a_bad_price_is_refused():
    with pytest.raises(InputError, match="of the choice"):
        Search.within(0.1, 1e-5, [recipe()], choice=0.1)
    with pytest.raises(InputError, match="more than 0 and less than 1"):
        Search.within(1, 0, [recipe()])
    with pytest.raises(InputError, match="one score for each of 1"):
        Search([recipe()]).best([1, 2])
    with pytest.raises(InputError, match="whole numbers"):
        choose_privately([0.5, 1], 1)


def test_public_scores_choose_the_best():
    assert Search([recipe(), recipe(rate=1.0)]).best([3, 8]) == 1


def choice_is_private(choose, epsilon, trials=4000) -> bool:
    """Whether choices on neighbouring counts are as alike as epsilon says: no event is more likely by too much."""
    here = sum(choose([10, 10]) for _ in range(trials))
    there = sum(choose([10, 11]) for _ in range(trials))  # a row more, that one candidate gets right
    most = min(1.0, np.exp(epsilon) * (here + 6 * np.sqrt(trials)) / trials)
    return bool(stats.binomtest(there, trials, most, alternative="greater").pvalue > LEVEL)


@pytest.mark.statistical
def test_a_private_choice_is_private_and_the_best_one_is_not():
    assert choice_is_private(lambda counts: choose_privately(counts, 0.2), 0.2)
    assert not choice_is_private(lambda counts: int(counts[1] > counts[0]), 0.2)
    assert choose_privately([0, 10**6, 3], 1) == 1


def test_right_answers_are_counted():
    outputs = [np.array([[1, 0], [0, 1]]), np.array([[0, 1], [0, 1]])]
    assert right_answers(outputs, np.array([0, 1])) == [2, 1]
    assert right_answers([np.zeros((0, 2))], np.zeros(0)) == [0]


def test_a_search_scores_its_rows_one_at_a_time(tmp_path, monkeypatch):
    from discreet.learn import search_plan

    seen = []
    # As a model would that mixes rows for some values only: none of those the probe tries.
    monkeypatch.setattr("discreet.learn.step.refuse_mixed_losses", lambda *given, **named: None)
    monkeypatch.setattr(search_plan, "right_answers", lambda outputs, y: seen.extend(outputs) or [0] * len(outputs))
    monkeypatch.setattr(Search, "within", lambda epsilon, delta, recipes, choice, **more: Search(recipes, choice))
    schema = Schema("people", {"age": Integer(0, 100, nullable=False), "rich": Category(["no", "yes"], nullable=False)})
    budget = Budget(epsilon=50, delta=1e-5, allotments=[Allotment("models", "plan", epsilon=50, delta=1e-5)])
    data = pyarrow.table({"age": list(range(40)), "rich": ["no", "yes"] * 20})
    curator = discreet.open(data, schema, ledger=tmp_path / "budget.db", budget=budget, who="me", create=True)
    question = curator.train(Model(less_the_sum, jnp.ones((1, 2))), target="rich", examples=40, lot=10, steps=1)
    question.search([{"rate": 0.1}, {"rate": 1.0}], epsilon=40, delta=1e-6, held_out="1/2").release()
    assert len(seen) == 2
    # A row by itself is its own sum: nothing is left of it. In one batch much would be.
    assert all(len(outputs) and not outputs.any() for outputs in seen)


def test_a_search_is_charged_whole_and_keeps_one(curator):
    question = curator.train(target="rich", examples=400, lot=200, steps=2)
    offer = question.search([{"rate": 0.1}, {"rate": 2.0, "steps": 3}], epsilon=3)
    assert isinstance(offer.plan, Plan)
    assert Fraction(28, 10) < offer.plan.charge.amount <= 3
    assert offer.plan.search.choice == 3  # rows are for training or for choosing: it adds nothing
    assert approx(Composed([one.recipe.cost for one in offer.plan.candidates]), offer.plan.delta).epsilon > Fraction(
        28, 10
    )
    assert "2 runs, all charged" in str(offer)
    model = offer.release(release="best")
    assert charges(curator.ledger) == 1
    assert model.recipe.rate in (0.1, 2.0)
    assert "2 runs, all charged" in curator.release("best").card().tuning
    assert "adds nothing to the price" in curator.release("best").card().tuning


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"settings": [{"rate": 1}]}, "at least two"),
        ({"settings": [{"rat": 1}, {"rate": 2}]}, "Did you mean `rate`"),
        ({"settings": [{"rate": 1}, {"multiplier": 1}]}, "changes to the recipe"),
        ({"settings": [{"rate": 1}, {"pace": 1}]}, "`settings.pace` is not known here"),
        ({"settings": [{"rate": 1}, {"rate": -1}]}, "more than zero"),
        ({"held_out": 1}, "less than 1"),
        ({"choice": 0}, "private too"),
        ({"choice": 2}, "of the choice"),
        ({"epsilon": 0}, "more than zero"),
        ({"delta": 1}, "less than 1"),
        ({"delta": "1e-3"}, "at most the delta of the allotment"),
        ({"allotment": "questions"}, "kind plan"),
    ],
)
def test_a_bad_search_of_settings_is_refused(curator, given, said):
    asked = {"settings": [{"rate": 1}, {"rate": 2}], "epsilon": 1} | given
    with pytest.raises(InputError, match=said):
        curator.train(target="rich", examples=400).search(asked.pop("settings"), **asked)


def test_the_price_of_a_search_may_be_how_far_behind_the_best_it_may_end(curator):
    asked = curator.train(target="rich", examples=400, lot=200, steps=2)
    offer = asked.search([{"rate": 0.1}, {"rate": 2.0}], within=20)
    (stated,) = offer.expected
    assert 19.5 < stated.half_width <= 20
    assert offer.plan.search.choice == choice_epsilon(Fraction(20), 0.95, 2) == Fraction(116, 1000)
    assert Fraction(11, 10) < offer.plan.charge.amount <= Fraction(116, 100)  # the choice is a tenth of it
    assert "at most 20 right answers on held-out rows behind the best (95%)" in str(offer)
    with pytest.raises(InputError, match="left out where the price is an accuracy"):
        asked.search([{"rate": 0.1}, {"rate": 2.0}], within=20, choice="1/10")
    with pytest.raises(InputError, match="no price in reach"):
        asked.search([{"rate": 0.1}, {"rate": 2.0}], within=1e-4)
    half = asked.search([{"rate": 0.1}, {"rate": 2.0}], share="1/2")
    assert half.plan.charge.amount <= 2


@pytest.mark.statistical
def test_a_choice_is_as_near_to_the_best_as_is_stated():
    """Counts at the stated distance and beyond it: hardly ever chosen; nearer ones often are."""
    epsilon, trials = choice_epsilon(Fraction(10), 0.95, 3), 2000
    far = sum(choose_privately([100, 89, 89], epsilon) != 0 for _ in range(trials))
    near = sum(choose_privately([100, 97, 97], epsilon) != 0 for _ in range(trials))
    assert stats.binomtest(far, trials, 0.05, alternative="greater").pvalue > LEVEL
    assert stats.binomtest(near, trials, 0.05, alternative="greater").pvalue < LEVEL


def test_a_search_that_was_paid_with_the_noise_of_before_is_read_again(curator):
    question = curator.train(target="rich", examples=400, lot=20, steps=2, noise="exact")
    offer = question.search([{"rate": 0.1}, {"rate": 2.0}], epsilon="1/50", delta="1e-6")
    (before,) = offer.plan.former
    assert before.search.recipes[0].multiplier > offer.plan.search.recipes[0].multiplier
    assert (before.former, before.confidence) == ((), offer.plan.confidence)
    first = replace(offer, plan=before).release(release="old")
    with pytest.warns(UserWarning, match="may describe earlier data"):
        again = offer.release(release="old")
    assert again.recipe == first.recipe
    assert charges(curator.ledger) == 1


def test_runs_are_a_law_or_its_mean():
    assert Search([recipe()], runs=3) == Search([recipe()], runs=RunCount(3))


@pytest.mark.parametrize("runs", [0, 1, -1, "many", True, float("nan")])
def test_a_number_of_runs_that_is_none_is_refused_by_name(runs):
    with pytest.raises(InputError, match=r"^`runs` must be"):
        Search([recipe()], runs=runs)


@pytest.mark.parametrize("recipes", [None, [], [{"rate": 1}], 3])
def test_what_is_no_list_of_recipes_is_refused(recipes):
    with pytest.raises(InputError, match="a list of at least one Recipe"):
        Search(recipes)
