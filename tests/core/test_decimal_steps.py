"""Numbers as written, in whole steps: exact, and never farther apart than they were."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core import decimal_steps
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


LONG = {
    "0.25" + "0" * 5000: Fraction(1, 4),
    "0." + "0" * 4200 + "5e4201": Fraction(5),
    "-" + "1" + "0" * 4400 + "e-4400": Fraction(-1),
    "0.75" + "0" * 9000 + "1": Fraction(3, 4),
}


def number_of_few_digits(value):
    """Whatever has too many digits to be read taken for one that is too large, as infinite ones are."""
    number = float(value)
    return Fraction(value) if len(value) < 100 else decimal_steps._BEYOND * (1 if number > 0 else -1)


@pytest.mark.parametrize("text", LONG)
@pytest.mark.parametrize("read", [as_decimal, number_of_few_digits])
def test_a_number_is_the_same_however_many_digits_it_is_written_with(text, read, monkeypatch):
    monkeypatch.setattr(decimal_steps, "as_decimal", read)
    one, other = to_steps([text, str(float(LONG[text]))], Fraction(1, 10), 100, -100).tolist()
    assert (one == other) is (read is as_decimal)


def test_whole_numbers_of_thousands_of_digits_are_clamped():
    assert to_steps([10**5000, "9" * 5000, "-" + "9" * 5000], Fraction(1), 9, -9).tolist() == [9, 9, -9]
    assert as_decimal("1e-999999999") == 0
