"""Asking for a model: what is refused before it is priced, and who pays."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

from train_people import BUDGET, COLUMNS, SCHEMA, charges, table

import discreet
from discreet import Budget, Schema, Unit
from discreet.errors import InputError


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"examples": None, "lot": 10}, "about how many rows there are"),
        ({"examples": None}, "about how many rows there are"),
        ({"lot": 500}, "a part of the examples"),
        ({"lot": 0}, "more than 0"),
        ({"steps": 0}, "1 or more"),
        ({"epochs": 0}, "more than zero"),
        ({"epochs": 3, "steps": 3}, "left out where steps"),
        ({"lot": 10, "probability": 0.1}, "left out where lot"),
        ({"probability": 2}, "at most 1"),
        ({"bound": float("nan")}, "finite"),
        ({"rate": -1}, "more than zero"),
        ({"model": "forest"}, "the name of one: logistic, mlp"),
        ({"hidden": [3]}, "only the model mlp"),
        ({"model": "mlp", "hidden": [0]}, "whole numbers from 1"),
    ],
)
def test_a_bad_question_is_refused(curator, given, said):
    asked = {"model": "logistic", "target": "rich", "examples": 400} | given
    with pytest.raises(InputError, match=said):
        curator.train(asked.pop("model"), **asked)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "unless a share"),
        ({"epsilon": 1, "share": 0.1}, "exactly one of epsilon"),
        ({"epsilon": 0}, "more than zero"),
        ({"share": 2}, "at most 1"),
        ({"epsilon": 1, "delta": 0}, "more than 0"),
        ({"epsilon": 1, "delta": 1e-3}, "at most the delta of the allotment"),
        ({"epsilon": 1, "allotment": "questions"}, "kind plan"),
        ({"epsilon": 1, "checkpoint": "no/such/folder/run"}, "folder that exists"),
    ],
)
def test_a_bad_price_is_refused(curator, given, said):
    with pytest.raises(InputError, match=said):
        curator.train(target="rich", examples=400).plan(**given)
    assert charges(curator.ledger) == 0


def test_a_budget_without_a_plan_allotment_says_how_to_divide_it(tmp_path):
    for budget in (Budget(epsilon=1), Budget(epsilon=1, delta=1e-6)):
        curator = discreet.open(
            table(), SCHEMA, ledger=tmp_path / f"{budget.delta == 0}.db", budget=budget, create=True
        )
        with pytest.raises(InputError, match=r"\[budget.allotments.models\] kind = 'plan'"):
            curator.train(target="rich", examples=400).plan(epsilon=0.5)


def test_replacing_units_are_refused(tmp_path):
    schema = Schema("people", COLUMNS, unit=Unit(neighbours="replace"))
    curator = discreet.open(table(), schema, ledger=tmp_path / "l.db", budget=BUDGET, create=True)
    with pytest.raises(InputError, match="add-remove"):
        curator.train(target="rich", examples=400)
