"""Prosecutor, journalist and marketer, against their definitions and against a population that is known."""

import numpy as np
import pytest

from discreet.risk.attackers import attackers, presence
from discreet.risk.population import estimate_population
from discreet.risk.records import CodedColumn, Records, classes_of


def _of(values):
    return classes_of([CodedColumn.of(values, "x")])


def test_the_prosecutor_by_definition():
    found, journalist, marketer = attackers(_of(list("aabbbc")), threshold=0.4)
    assert (found.highest, found.average) == (1, 0.5)
    assert found.at_risk == pytest.approx(3 / 6)  # a at 1/2, c at 1
    assert (journalist.average, marketer.average) == (None, None)
    assert "register" in journalist.note


def test_a_register_gives_the_journalist_and_the_marketer():
    table, register = Records.read({"x": list("aab")}), Records.read({"x": list("aaaabbcc")})
    found, there = presence(table, register, ["x"])
    assert (found.lowest, found.highest, found.sure, found.people, found.unmatched) == (0, 0.5, 0, 8, 0)
    _, journalist, marketer = attackers(_of(list("aab")), threshold=0.3, in_register=there)
    assert journalist.highest == 0.5
    assert marketer.average == pytest.approx((2 / 4 + 1 / 2) / 3)
    assert journalist.at_risk == pytest.approx(1 / 3)


def test_whoever_the_register_lacks_is_said():
    found, _ = presence(Records.read({"x": list("ab")}), Records.read({"x": list("ac")}), ["x"])
    assert (found.unmatched, found.sure, found.highest) == (1, 1, 1.0)


def test_the_estimate_for_the_marketer_holds_what_a_known_population_gives():
    """Picking a person of the class at random is right for as many rows as the population has classes, on average."""
    draw = np.random.default_rng(0)
    weights = np.exp(2 * draw.normal(size=20_000))
    cells = draw.choice(20_000, 50_000, p=weights / weights.sum())
    pick = draw.permutation(50_000)[:5000]
    there = np.bincount(cells, minlength=20_000)
    truth = float((1 / there[cells[pick]]).mean())
    sample = _of(cells[pick])
    _, journalist, marketer = attackers(sample, threshold=0.2, population=estimate_population(sample, 50_000))
    low, high = marketer.average_range
    assert low <= truth <= high
    assert low <= marketer.average <= high
    assert journalist.highest == 1.0
    assert attackers(sample, threshold=0.2)[0].average > high  # Must fail: the prosecutor's risk is another
