"""Arithmetic over published numbers: its intervals hold as often as they say."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.data.expression import Call, Constant, Name, read_expression
from discreet.data.expression.domain import value_of
from discreet.errors import InputError
from discreet.query.formula import Formula, Over

Z = 1.959963984540054


def released(truth, sigma, source):
    """Published numbers with Gaussian noise, and their 95% intervals."""
    row = {}
    for name, value in truth.items():
        noisy = value + sigma[name] * source.standard_normal()
        row |= {name: noisy, f"{name}_lower": noisy - Z * sigma[name], f"{name}_upper": noisy + Z * sigma[name]}
    return row


CASES = {
    "a / b": ({"a": 500.0, "b": 1000.0}, {"a": 10.0, "b": 10.0}),
    "a - b": ({"a": 500.0, "b": 1000.0}, {"a": 10.0, "b": 30.0}),
    "100 * (a - b) / b": ({"a": 1100.0, "b": 1000.0}, {"a": 10.0, "b": 10.0}),
    "sqrt(a)": ({"a": 900.0, "b": 1.0}, {"a": 30.0, "b": 1.0}),
    "a * b": ({"a": 50.0, "b": 80.0}, {"a": 2.0, "b": 2.0}),
}


@pytest.mark.statistical
@pytest.mark.parametrize("text", CASES)
def test_intervals_of_computed_numbers_hold_as_often_as_they_say(text):
    truth, sigma = CASES[text]
    source = np.random.default_rng(1)
    expression = read_expression(text)
    formula, right = Formula("f", expression), value_of(expression, truth)
    held = 0
    for _ in range(2_000):
        made = formula.columns([released(truth, sigma, source)], ["a", "b"])
        held += made["f_lower"][0] <= right <= made["f_upper"][0]
    assert 0.94 <= held / 2_000 <= 0.975
    narrow = Formula("f", expression)  # with half the noise stated, it must be noticed
    held = 0
    for _ in range(2_000):
        row = released(truth, sigma, source)
        for name in truth:
            middle = row[name]
            for end in ("lower", "upper"):
                row[f"{name}_{end}"] = middle + (row[f"{name}_{end}"] - middle) / 2
        made = narrow.columns([row], ["a", "b"])
        held += made["f_lower"][0] <= right <= made["f_upper"][0]
    assert held / 2_000 < 0.8


NEAR = {
    "abs(a)": ({"a": 4.0}, {"a": 20.0}),
    "a * a": ({"a": 4.0}, {"a": 20.0}),
    "power(a - 5, 2)": ({"a": 4.0}, {"a": 20.0}),
    "a / b": ({"a": 40.0, "b": 10.0}, {"a": 5.0, "b": 10.0}),
    "1 / b": ({"b": 3.0}, {"b": 5.0}),
    "a / (b - a)": ({"a": 40.0, "b": 50.0}, {"a": 10.0, "b": 10.0}),
    "case when a > 5 then b else 0 end": ({"a": 4.0, "b": 50.0}, {"a": 20.0, "b": 1.0}),
}


@pytest.mark.statistical
@pytest.mark.parametrize("text", NEAR)
def test_intervals_hold_also_where_a_result_turns_or_a_divisor_is_near_zero(text):
    truth, sigma = NEAR[text]
    source = np.random.default_rng(3)
    assert coverage(Formula("f", read_expression(text)), truth, sigma, source) >= 0.93


@pytest.mark.statistical
@pytest.mark.parametrize("text", ["abs(a)", "a / b"])
def test_intervals_from_the_ends_alone_would_be_noticed(text, monkeypatch):
    monkeypatch.setattr(Formula, "_way", lambda self, low, high: [low, high])
    monkeypatch.setattr(Formula, "_divides_by_zero", lambda self, way: False)
    truth, sigma = NEAR[text]
    assert coverage(Formula("f", read_expression(text)), truth, sigma, np.random.default_rng(3)) < 0.93


def coverage(formula, truth, sigma, source, runs=300):
    """How often an interval holds what it should; one that is not there holds everything."""
    right, held = value_of(formula.expression, truth), 0
    for _ in range(runs):
        made = formula.columns([released(truth, sigma, source)], list(truth))
        low, high = made["f_lower"][0], made["f_upper"][0]
        held += low is None or low - 1e-9 <= right <= high + 1e-9
    return held / runs


@pytest.mark.statistical
def test_intervals_of_shares_of_a_total_hold_as_often_as_they_say():
    truths, sigma = [700.0, 200.0, 100.0], 12.0
    source = np.random.default_rng(2)
    formula = Formula("share", read_expression('n / "over n "'), (Over("over n ", "n"),))
    held = np.zeros(3)
    for _ in range(1_500):
        rows = [released({"n": value}, {"n": sigma}, source) for value in truths]
        made = formula.columns(rows, ["n"])
        for place, value in enumerate(truths):
            held[place] += made["share_lower"][place] <= value / 1000 <= made["share_upper"][place]
    assert all(0.935 <= share <= 0.975 for share in held / 1_500)


def test_noise_in_common_is_added_plainly():
    row = {"a": 10.0, "a_lower": 8.0, "a_upper": 12.0, "b": 5.0, "b_lower": 4.0, "b_upper": 6.0}
    plain = Formula("f", read_expression("a + b"), shared=True).columns([row], ["a", "b"])
    squares = Formula("f", read_expression("a + b")).columns([row], ["a", "b"])
    assert (plain["f_lower"], plain["f_upper"]) == ([12.0], [18.0])
    assert squares["f_upper"][0] == pytest.approx(15 + 5**0.5)


def test_where_a_divisor_may_be_zero_there_is_no_interval_and_where_it_is_no_value():
    row = {"a": 10.0, "a_lower": 8.0, "a_upper": 12.0, "b": 0.0, "b_lower": -4.0, "b_upper": 6.0}
    made = Formula("f", read_expression("a / b")).columns([row], ["a", "b"])
    assert made == {"f": [None], "f_lower": [None], "f_upper": [None]}
    (note,) = Formula("f", read_expression("a / b")).note(made)
    assert (note.kind, note.outputs) == ("unknown", ("f",))
    near = Formula("f", read_expression("a / b")).columns([{**row, "b": 1.0}], ["a", "b"])
    assert near == {"f": [10.0], "f_lower": [None], "f_upper": [None]}
    assert not Formula("f", read_expression("a + b")).note(Formula("f", read_expression("a + b")).columns([row], ["a"]))
    missing = {**row, "b": None, "b_lower": None, "b_upper": None}
    assert Formula("f", read_expression("a / b")).columns([missing], ["a", "b"])["f"] == [None]


def test_powers_and_digits_of_published_numbers_have_an_end():
    for text in ("power(a, 999999999)", "power(a, -1)", "power(a, 0.5)", "round(a, 999999999)", "round(a, -99999)"):
        with pytest.raises(InputError, match=r"digits up to 15|a power from 0 to 8"):
            read_expression(text)
    grown = Call("power", (Name("a"), Constant(64)))
    for _ in range(6):
        grown = Call("power", (grown, Constant(64)))
    row = {"a": 10, "n": 10**9}
    assert value_of(grown, row) is None
    for text in ("power(a, cast(n as bigint))", "round(a / 3, -cast(n as bigint))"):
        assert value_of(read_expression(text), row) is None
    assert value_of(read_expression("round(a / 4, cast(n as bigint))"), row) == 2.5
    assert value_of(read_expression("power(a, 3)"), row) == 1000
