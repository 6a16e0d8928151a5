"""A choice as a job: the lectures' examples, the error beforehand, the law of what is chosen, and the charge."""

from __future__ import annotations

from fractions import Fraction
from unittest import mock

import numpy as np
import pyarrow
import pytest
from interval_coverage import PURE, ZCDP

from chance import fits
from discreet.core.loss import BoundedRange, Pure
from discreet.core.unit import Neighbours, Unit
from discreet.curator import Curator
from discreet.data.column import Boolean, Category, Real
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.ledger.budget import Allotment, Budget
from discreet.mechanisms import Exponential, PermuteAndFlip
from discreet.query.candidates import read_candidates
from discreet.query.choose_plan import plan_choice, rows_needed
from discreet.query.price import Price

REVENUE = "CASE WHEN bid >= option THEN option ELSE 0 END"
COLUMNS = {
    "bid": Real(0, 5, nullable=False),
    "nation": Category(["dk", "se", "no"], nullable=False),
    "vaccine": Category(["A", "B"], nullable=False),
    "cured": Boolean(nullable=False),
}
SCHEMA = Schema("people", COLUMNS, Unit(neighbours=Neighbours.REPLACE))


def opened(folder, bids=(2.0, 4.0), budget=None, **columns):
    rows = len(next(iter(columns.values()), bids))
    usual = {"bid": [0.0] * rows, "nation": ["dk"] * rows, "vaccine": ["A"] * rows, "cured": [False] * rows}
    table = pyarrow.table({**usual, **(columns or {"bid": list(bids)})})
    account = {"ledger": folder / "l.db", "budget": budget or Budget(epsilon=10**9), "create": True}
    return Curator.open(table, SCHEMA, version="first", **account)


def scored(curator, options=None, **how):
    """The scores that the engine hands to the mechanism, in points, and that mechanism."""
    seen = []

    def release(self, exact, *, bits):
        seen.append((self, list(exact)))
        return 0

    with mock.patch.object(Exponential, "release", release):
        offer = curator.choose(options, **how).plan(epsilon=1, method="exponential")
        offer.release()
    ((choice, exact),) = seen
    return choice, exact, float(offer.plan.candidates.step)


def test_the_price_of_a_good_has_the_chances_of_the_lecture(tmp_path):
    """Bids of 2 and 4: a price of 2.1 or 3.9 is paid by one, of 4.1 by nobody."""
    choice, exact, step = scored(opened(tmp_path), [2.1, 3.9, 4.1], score=REVENUE)
    assert [value * step for value in exact] == pytest.approx([2.1, 3.9, 0], abs=1e-5)
    assert [round(chance, 3) for chance in choice.probabilities(exact)] == [0.331, 0.412, 0.256]


def test_the_most_common_nationality_has_the_chances_of_the_lecture(tmp_path):
    nation = ["dk"] * 22 + ["se"] * 19 + ["no"]
    choice, exact, _ = scored(opened(tmp_path, nation=nation), score="nation")
    assert exact == [22, 19, 1]
    assert [round(chance, 3) for chance in choice.probabilities(exact)] == [0.818, 0.182, 0.0]


def test_the_better_of_two_vaccines_has_the_chances_of_the_lecture(tmp_path):
    curator = opened(
        tmp_path, vaccine=["A"] * 10 + ["B"] * 10, cured=[True] * 8 + [False] * 2 + [True] * 3 + [False] * 7
    )
    score = "CASE WHEN vaccine = option AND cured THEN 1 ELSE 0 END"
    choice, exact, _ = scored(curator, ["A", "B"], score=score)
    assert exact == [8, 3]
    assert round(choice.probabilities(exact)[0], 3) == 0.924


def test_an_empty_table_has_scores_of_zero(tmp_path):
    assert scored(opened(tmp_path), [2.1, 3.9], score=REVENUE, where="bid > 4.5")[1] == [0, 0]


def planned(allotment, price, method="auto", schema=SCHEMA):
    candidates = read_candidates("nation", None, None, None, schema)
    return plan_choice(candidates, allotment, Price.read(**price), method)


@pytest.mark.parametrize(
    ("allotment", "price", "method", "kind", "cost"),
    [
        (PURE, {"epsilon": 1}, "auto", PermuteAndFlip, Pure(1)),
        (PURE, {"epsilon": 1}, "exponential", Exponential, BoundedRange(1)),
        (ZCDP, {"rho": "0.5"}, "auto", Exponential, BoundedRange(2)),
        (ZCDP, {"rho": "0.5"}, "permute-and-flip", PermuteAndFlip, Pure(1)),
    ],
)
def test_each_way_of_counting_has_the_choice_that_errs_less(allotment, price, method, kind, cost):
    plan = planned(allotment, price, method)
    assert isinstance(plan.choice, kind)
    assert plan.cost == cost
    assert allotment.price(plan.cost).amount <= Fraction(next(iter(price.values())))


def test_a_method_that_is_none_and_an_allotment_of_a_fixed_plan_are_refused():
    with pytest.raises(InputError, match="method"):
        planned(PURE, {"epsilon": 1}, "best")
    with pytest.raises(InputError, match="allotment"):
        planned(Allotment("models", "plan", epsilon=1, delta="0.001"), {"epsilon": 1})


def test_rows_that_come_and_go_count_without_the_factor_of_two():
    alone = planned(PURE, {"epsilon": 1}, schema=Schema("people", COLUMNS))
    assert alone.choice.rate == 2 * planned(PURE, {"epsilon": 1}).choice.rate


def test_the_error_and_the_rows_it_takes_are_told_beforehand():
    plan = planned(PURE, {"epsilon": 1})
    (error,) = plan.expected()
    assert error.half_width == pytest.approx(2 * 2.9957, rel=1e-3)  # (2/epsilon) ln((k - 1)/2 / 0.05)
    told = plan.explained()
    assert told.facts["rows_needed"] == {"0.1": 60, "0.01": 600}
    assert "10% from 60 rows on" in told.notes[-1]
    assert rows_needed(Fraction(0), Fraction(1)) == 1


def test_one_is_said_of_one():
    plan = planned(PURE, {"epsilon": 400})
    (error,) = plan.expected()
    assert 0 < error.half_width < 1
    assert error.error(0.95) == "at most 1 point of score behind the best (95%)"
    assert "10% from 1 row on" in plan.explained().notes[-1]


def test_a_release_repeats_the_error_that_its_plan_stated(tmp_path):
    offer = opened(tmp_path).choose([2.1, 3.9, 4.1], score=REVENUE).plan(epsilon=1)
    stated = offer.plan.expected()[0].error(0.95)
    assert f"option: {stated};" in str(offer)

    def said(made):
        return [note.text for note in made.notes if note.kind == "shortfall"]

    assert said(offer.release(release="price")) == [f"What was chosen is {stated}, whatever the rows."]
    (surer,) = said(offer.publish("price", confidence=0.999))
    assert stated not in surer
    assert "(99.9%)" in surer


def test_an_accuracy_is_a_price(tmp_path):
    offer = opened(tmp_path).choose(score="nation").plan(within=3)
    assert offer.plan.expected()[0].half_width <= 3


def test_it_is_charged_once_and_read_again_for_free(tmp_path):
    curator = opened(tmp_path, budget=Budget(epsilon=2))
    offer = curator.choose([2.1, 3.9, 4.1], score=REVENUE).plan(epsilon=1)
    first = offer.release(release="price")
    assert first["option"][0] in (2.1, 3.9, 4.1)
    again = curator.choose([2.1, 3.9, 4.1], score=REVENUE).plan(epsilon=1).release(release="price")
    assert again["option"] == first["option"] == curator.release("price")["option"]
    assert again.replayed
    assert "epsilon = 1" in repr(curator)


def test_without_noise_the_best_option_is_named(tmp_path):
    curator = opened(tmp_path)
    for where, best in ((None, 3.9), ("bid < 3", 1.9)):
        made = curator.choose([1.9, 3.9, 4.1], score=REVENUE, where=where).plan(epsilon=10**6).release()
        assert made["option"] == [best]


def test_what_a_bound_cuts_is_said(tmp_path):
    text = opened(tmp_path).choose([1.9, 3.9], score=REVENUE, bound=2).plan(epsilon=1).explain()
    assert "clipped to 0..2" in text


@pytest.mark.statistical
@pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip])
def test_chances_are_those_of_the_draws(kind):
    choice, scores = kind(1, sensitivity=2), [0, 3, 5, 5]
    found = choice.probabilities(scores)
    assert sum(found) == pytest.approx(1)
    draws = np.array([choice.release(scores) for _ in range(4_000)])
    wrong = kind(4, sensitivity=2).probabilities(scores)
    assert fits(draws, lambda places: np.array([*found, *[0.0] * 1000])[places])
    assert not fits(draws, lambda places: np.array([*wrong, *[0.0] * 1000])[places])
