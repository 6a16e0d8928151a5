"""The grid real values live on: nothing leaves the bounds, nothing raises, rounding moves half a step at most."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.lattice import Lattice
from discreet.errors import InputError

bounds = st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)).map(sorted)
exponents = st.integers(-20, 20)
anything = st.floats() | st.sampled_from([math.inf, -math.inf, math.nan, 1e300, -1e300, 5e-324, -0.0])


@given(bounds, exponents, st.lists(anything, min_size=1, max_size=20))
def test_every_value_becomes_a_whole_step_within_the_bounds(ends, exponent, values):
    lattice = Lattice(*ends, exponent)
    found = lattice.encode(values)
    assert found.dtype == np.int64
    assert ((lattice.lowest <= found) & (found <= lattice.highest)).all()
    for value, steps in zip(values, found.tolist(), strict=True):
        if not math.isnan(value):
            exact = Fraction(value) if math.isfinite(value) else Fraction(int(math.copysign(2**80, value)))
            inside = min(max(exact, lattice.lower), lattice.upper)
            assert abs(Fraction(inside) - steps * lattice.step) <= lattice.step / 2


@given(bounds, exponents, st.lists(anything, max_size=8), anything, anything)
def test_one_value_moves_a_sum_no_more_than_is_said(ends, exponent, others, old, new):
    lattice = Lattice(*ends, exponent)
    rest = int(lattice.encode(others).sum())
    before, after = (rest + int(lattice.encode([value])[0]) for value in (old, new))
    assert abs(before - rest) <= lattice.magnitude
    assert abs(before - after) <= lattice.width


@given(bounds, exponents)
def test_the_ends_are_reached(ends, exponent):
    lattice = Lattice(*ends, exponent)
    low, high = lattice.encode([-math.inf, math.inf]).tolist()
    assert (low, high) == (lattice.lowest, lattice.highest)


@given(st.integers(-(2**40), 2**40), st.integers(-10, 10))
def test_a_step_decodes_to_where_it_came_from(steps, exponent):
    lattice = Lattice(-(2.0**52), 2.0**52, exponent) if exponent >= 0 else Lattice(-(2.0**41), 2.0**41, exponent)
    assert lattice.encode([lattice.decode(steps)]).tolist() == [max(lattice.lowest, min(steps, lattice.highest))]


def test_halves_go_up():
    assert Lattice(-10, 10).encode([0.5, 1.5, -0.5, -1.5, 0.49999999999999994]).tolist() == [1, 2, 0, -1, 0]


@pytest.mark.parametrize(
    "given",
    [(1, 0), (float("nan"), 1), (0, float("inf")), (0, 1, 0.5), (0, 1, 61), (0, 1, True), (0, 2**53), (0, 1, -60)],
)
def test_what_is_no_lattice_is_refused(given):
    with pytest.raises(InputError):
        Lattice(*given)
