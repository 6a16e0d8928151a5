"""Constraints and an objective as a file declares them."""

import tomllib
from fractions import Fraction

import numpy as np
import pytest

from discreet.constraints import AtMost, Equal, Quadratic
from discreet.constraints.hidden.rules import Rules
from discreet.errors import InputError

NAMES = ("north", "south", "east")


def declared(text):
    entry = tomllib.loads(text)
    return Rules.read(entry.get("constraints", {}), entry.get("objective", {}))


def test_each_form_is_the_constraint_it_says():
    total, coast, losses = declared(
        """
        constraints.total = { equal = 100 }
        constraints.coast = { weights = { north = 1, east = "0.5" }, least = 10, most = 60 }
        constraints.losses = { squares = [0.01, 0.02, 0], most = 35 }
        """
    ).build_constraints(NAMES)
    assert isinstance(total, Equal)
    assert total.matrix.toarray().tolist() == [[1, 1, 1]]
    assert isinstance(coast, AtMost)
    assert dict(zip(coast.labels, coast.values.tolist(), strict=True)) == {"least": -10, "most": 60}
    rows = dict(zip(coast.labels, coast.matrix.toarray().tolist(), strict=True))
    assert rows == {"least": [-1, 0, -0.5], "most": [1, 0, 0.5]}
    assert isinstance(losses, Quadratic)
    assert losses.value(np.array([10.0, 10, 10])) == pytest.approx(3)
    assert losses.most == 35


def test_an_objective_is_quadratic_and_exact():
    rules = declared('objective = { name = "losses", weights = -1, squares = { south = "0.1" }, constant = 7 }')
    objective = rules.build_objective(NAMES)
    assert objective.exact([Fraction(1), Fraction(10), Fraction(3)]) == 7 - 14 + 10
    assert rules.build_constraints(NAMES) == ()
    assert rules.to_dict()["objective"]["weights"] == "-1"


def test_nothing_declared_is_nothing():
    assert not declared("")
    assert declared("").build_objective(NAMES) is None
    assert declared("").to_dict() == {}


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("constraints = 3", "values.constraints"),
        ("constraints.total = 3", "values.constraints.total"),
        ("constraints.total = {}", "values.constraints.total"),
        ("constraints.total = { equal = 1, most = 2 }", "values.constraints.total.equal"),
        ("constraints.total = { equals = 1 }", "values.constraints.total.equals"),
        ("constraints.total = { squares = 1, equal = 2 }", "values.constraints.total"),
        ("constraints.total = { squares = 1, least = 1, most = 2 }", "values.constraints.total.least"),
        ("constraints.total = { squares = -1, most = 2 }", "total.squares"),
        ("constraints.total = { weights = { nort = 1 }, equal = 1 }", "values.constraints.total.weights"),
        ("constraints.total = { weights = [1, 2], equal = 1 }", "values.constraints.total.weights"),
        ('constraints.total = { equal = "much" }', "values.constraints.total.equal"),
        ("objective = 3", "values.objective"),
        ("objective = { squares = 1 }", "values.objective.name"),
        ('objective = { name = "losses", most = 1 }', "values.objective.most"),
    ],
)
def test_what_is_no_rule_is_named(text, field):
    with pytest.raises(InputError) as caught:
        (declared(text).build_objective(NAMES), declared(text).build_constraints(NAMES))
    assert caught.value.field == field
