"""Private loads: never shown, and rounded to steps that neighbours agree on."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.core.decimal_steps import as_decimal, to_steps
from discreet.core.sensitivity import steps as steps_of
from discreet.errors import InputError
from discreet.power.loads import Loads

pytest.importorskip("clarabel", reason="needs discreet[power]")


def test_neighbours_are_no_more_than_the_shift_apart():
    chance = np.random.default_rng(2)
    step, alpha = Fraction(1, 100), 0.237
    one = chance.uniform(0, 60, 4000)
    other = np.maximum(one + chance.choice([-alpha, alpha], 4000), 0)  # beyond 50 both are clamped
    apart = np.abs(to_steps(one, step, 5000) - to_steps(other, step, 5000))
    close = np.abs([as_decimal(a) - as_decimal(b) for a, b in zip(one, other, strict=True)]) <= Fraction("0.237")
    assert apart[close].max() == 24  # alpha in steps, rounded up
    assert (apart > 23).any()  # rounded down it would not be enough


def most_apart(read, lengths=(1, 2, 3, 4, 6)):
    """The most steps that rounding takes numbers apart, by alpha and step, over all pairs of a fine lattice."""
    worst = {}
    for alpha in range(1, 13):
        for length in lengths:
            step = Fraction(length, 20)
            texts = [
                (f"{place / 20:.2f}", f"{(place + apart) / 20:.2f}")
                for place in range(40)
                for apart in (alpha - 1, alpha)
            ]
            pairs = [[read(text) for text in pair] for pair in texts]
            steps = [to_steps(pair, step, 10**6) for pair in pairs]
            worst[Fraction(alpha, 20), step] = max(abs(int(a - b)) for a, b in steps)
    return worst


def test_loads_at_most_alpha_apart_as_written_are_at_most_alpha_in_steps_rounded_up_apart():
    for read in (str, float, np.float64, np.float32, Fraction):
        for (alpha, step), apart in most_apart(read).items():
            whole = alpha / step
            assert apart <= steps_of(alpha, step) == (whole if whole.denominator == 1 else int(whole) + 1)
            if whole.denominator == 1:
                assert apart == whole


@pytest.mark.parametrize(
    ("read", "shift"),
    [
        (lambda text: Fraction(float(text)), steps_of),  # bit for bit
        (str, lambda alpha, step: int(alpha / step)),  # rounded down
    ],
)
def test_floats_taken_bit_for_bit_and_alpha_rounded_down_are_caught(read, shift):
    assert any(apart > shift(alpha, step) for (alpha, step), apart in most_apart(read).items())


@pytest.mark.parametrize(
    "values",
    [[1.0, math.nan], [1.0, math.inf], [-3.25, 1.0], [], [[[1.0]]], [[1.0], [1.0, 2.0]], ["x"], 5, None, [1.0, None]],
)
def test_loads_that_are_none_are_refused_without_being_shown(values):
    with pytest.raises(InputError) as caught:
        Loads(values)
    assert caught.value.field == "loads"
    assert "3.25" not in str(caught.value)
