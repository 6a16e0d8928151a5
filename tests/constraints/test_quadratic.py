"""Linear and quadratic functions in closed form: exact values, and how far they move between bounds."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet.constraints import Quadratic, fit
from discreet.errors import InputError

FUNCTIONS = [
    Quadratic("plain", 3),
    Quadratic("each", [1, "-2.5"]),
    Quadratic("losses", squares="0.3"),
    Quadratic("both", [1, -9], ["0.5", 2], constant=7),
    Quadratic("valley", -6, 1),
]
LOW, HIGH = -2, 4


def moves(function):
    """The most that it moves for a unit of one of two numbers, over all pairs of points of the box."""
    points = [tuple(map(Fraction, point)) for point in product(range(LOW, HIGH + 1), repeat=2)]
    return max(
        abs(function.exact(one) - function.exact(other)) / abs(one[place] - other[place])
        for one, other in product(points, repeat=2)
        for place in (0, 1)
        if one[place] != other[place] and one[1 - place] == other[1 - place]
    )


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.name)
def test_nothing_moves_farther_than_the_slope_and_the_slope_is_nearly_reached(function):
    slope = function.steepest(2, Fraction(LOW), Fraction(HIGH))
    bent = max(function.squares)  # a step of one from an end is steeper by its square than the end itself
    assert slope - bent <= moves(function) <= slope
    assert slope > 0


@pytest.mark.parametrize(
    "mutant",
    [
        lambda one: max(abs(w + 2 * q * LOW) for w, q in one._pairs(2)),  # one end of the box is forgotten
        lambda one: max(abs(w + q * end) for w, q in one._pairs(2) for end in (LOW, HIGH)),  # the slope of x^2 is 2x
        lambda one: abs(sum(w for w, _ in one._pairs(2))),  # weights that cancel
    ],
)
def test_a_slope_that_is_worked_out_wrong_is_exceeded(mutant):
    assert any(moves(one) > mutant(one) for one in FUNCTIONS)


def test_floats_and_fractions_agree_with_each_other_and_with_the_gradient():
    function = FUNCTIONS[3]
    x = np.array([1.5, -0.25])
    assert function.value(x) == pytest.approx(float(function.exact([Fraction(3, 2), Fraction(-1, 4)])))
    differences = [(function.value(x + h) - function.value(x - h)) / 2e-6 for h in 1e-6 * np.eye(2)]
    assert function.slope(x).tolist() == pytest.approx(differences, rel=1e-6)


def test_it_is_a_constraint_like_other_convex_functions():
    assert fit([6.0, 8.0], [Quadratic("disc", squares=1, most=25)]).values.tolist() == pytest.approx([3, 4], abs=1e-4)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"squares": -1}, "f.squares"),
        ({"weights": []}, "f.weights"),
        ({"weights": "much"}, "f.weights"),
        ({"constant": "1e999"}, "f.constant"),
        ({"most": float("nan")}, "f.most"),
    ],
    ids=str,
)
def test_what_is_no_convex_function_is_refused(given, field):
    with pytest.raises(InputError) as caught:
        Quadratic("f", **given)
    assert caught.value.field == field


def test_weights_are_one_for_all_or_one_for_each():
    with pytest.raises(InputError, match="2 numbers"):
        FUNCTIONS[1].check(3)
    FUNCTIONS[1].check(2)
    FUNCTIONS[0].check(3)
