"""How far one unit can move an answer: norms, groups of units, and what is no sensitivity."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.sensitivity import Sensitivity, steps
from discreet.errors import InputError

wholes = st.integers(1, 10**6)


@given(wholes, wholes, st.integers(1, 50))
def test_the_norms_follow(each, outputs, factor):
    moved = Sensitivity(each, outputs)
    assert moved.l1 == each * outputs
    assert moved.l2_squared == each**2 * outputs
    more = moved.times(factor)
    # `factor` units that all push one output, or each their own, stay within it.
    assert more.each >= each * factor
    assert more.l1 >= moved.l1 * factor
    assert more.l2_squared >= moved.l2_squared * factor**2


def test_an_integer_is_the_sensitivity_of_one_output():
    assert Sensitivity.of(3) == Sensitivity(3, 1)
    assert Sensitivity.of(Sensitivity(2, 5)) == Sensitivity(2, 5)
    assert Sensitivity(2.0, "3") == Sensitivity(2, 3)


@pytest.mark.parametrize("wrong", [0, -1, 1.5, float("nan"), float("inf"), True, "x", None])
def test_what_is_no_whole_number_is_refused(wrong):
    with pytest.raises(InputError):
        Sensitivity(wrong)
    with pytest.raises(InputError):
        Sensitivity(1, wrong)


@given(st.fractions(min_value=0, max_value=10**9), st.fractions(min_value=Fraction(1, 10**6), max_value=10**6))
def test_steps_are_rounded_up(bound, step):
    found = steps(bound, step)
    assert (found - 1) * step < bound <= found * step
