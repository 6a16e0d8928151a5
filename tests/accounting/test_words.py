from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting import percent, readable


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (1e-6, "1e-6"),
        (Fraction(38998, 10000), "3.8998"),
        (0.1, "0.1"),
        (1234567, "1.2346e6"),
        (2.5e-7, "2.5e-7"),
    ],
)
def test_numbers_can_be_read(value, text):
    assert readable(value) == text


@given(st.fractions("1e-12", 10**9))
def test_rounding_goes_the_way_it_is_asked_to(value):
    assert Fraction(readable(value, direction="down")) <= value <= Fraction(readable(value))


def test_percentages():
    assert percent(0.02) == "2%"
    assert percent(Fraction(3, 52), direction="up") == "5.8%"
    assert percent(Fraction(1, 2)) == "50%"
    assert percent(1) == "100%"
    assert percent(0.9996) == "99.96%"
    assert percent(1e-6) == "1e-4%"
