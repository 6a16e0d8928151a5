"""Private loads: never shown, and rounded to steps that neighbours agree on."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.power.loads import Loads, to_steps

pytest.importorskip("clarabel", reason="needs discreet[power]")


def test_neighbours_are_no_more_than_the_shift_apart():
    chance = np.random.default_rng(2)
    step, alpha = Fraction(1, 100), 0.237
    one = chance.uniform(0, 60, 4000)
    other = np.maximum(one + chance.choice([-alpha, alpha], 4000), 0)  # beyond 50 both are clamped
    apart = np.abs(to_steps(one, step, 5000) - to_steps(other, step, 5000))
    close = np.abs([Fraction(float(a)) - Fraction(float(b)) for a, b in zip(one, other, strict=True)]) <= Fraction(
        "0.237"
    )
    assert apart[close].max() == 24  # alpha in steps, rounded up
    assert (apart > 23).any()  # rounded down it would not be enough


@pytest.mark.parametrize(
    "values", [[1.0, math.nan], [1.0, math.inf], [-3.25, 1.0], [], [[1.0]], ["x"], 5, None, [1.0, None]]
)
def test_loads_that_are_none_are_refused_without_being_shown(values):
    with pytest.raises(InputError) as caught:
        Loads(values)
    assert caught.value.field == "loads"
    assert "3.25" not in str(caught.value)
