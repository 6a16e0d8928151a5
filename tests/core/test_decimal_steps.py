"""Numbers as written, in whole steps: exact, and never farther apart than they were."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from discreet.core.decimal_steps import as_decimal, to_steps

TENTHS = st.decimals(min_value=-50, max_value=50, places=4, allow_nan=False)


@given(TENTHS, TENTHS, st.sampled_from([Fraction(1, 10), Fraction(3, 7), Fraction(2)]))
def test_steps_are_no_farther_apart_than_the_distance_rounded_up(one, other, step):
    first, second = to_steps([one, other], step, 60, -40).tolist()
    apart = abs(Fraction(one) - Fraction(other))
    assert abs(first - second) <= -(-apart // step)
    assert all(-40 <= steps <= 60 for steps in (first, second))


def test_what_is_no_number_is_zero_and_what_is_too_large_is_clamped():
    assert to_steps(["x", float("nan"), float("inf"), "-1e400", None], Fraction(1), 9, -9).tolist() == [0, 0, 9, -9, 0]
    assert as_decimal(0.1) == Fraction(1, 10)
