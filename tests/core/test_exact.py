"""Exact numbers, and bounds that are bounds."""

from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.exact import (
    as_written,
    exactly,
    exp_bounds,
    exp_down,
    exp_up,
    log_down,
    log_up,
    negative_exp_bounds,
    round_down,
    round_up,
    sqrt_down,
    sqrt_up,
)
from discreet.errors import InputError

fractions = st.fractions(min_value=-200, max_value=200, max_denominator=10**12)
positives = st.fractions(min_value=Fraction(1, 10**12), max_value=10**12)


def real(value: Fraction):
    return mpmath.mpf(value.numerator) / value.denominator


def test_a_float_is_what_it_is_or_what_was_written():
    assert exactly(0.1, "x") == Fraction(0.1) != Fraction(1, 10)
    assert as_written(0.1, "x") == Fraction(1, 10)
    assert as_written(np.float64(0.1), "x") == Fraction(1, 10)
    assert as_written(np.int64(7), "x") == exactly(7, "x") == 7
    assert as_written("1/3", "x") == exactly(Fraction(1, 3), "x")
    assert as_written(Decimal("0.1"), "x") == exactly("0.1", "x") == Fraction(1, 10)


@pytest.mark.parametrize(
    "wrong",
    [float("nan"), float("inf"), -float("inf"), True, None, "x", "1/0", "", [], 1j, Decimal("nan"), np.bool_(True)],
)
def test_what_is_no_finite_number_is_refused_by_name(wrong):
    for read in (exactly, as_written):
        with pytest.raises(InputError) as caught:
            read(wrong, "epsilon")
        assert caught.value.field == "epsilon"


@given(st.fractions(), st.integers(1, 10**20))
def test_rounding_goes_where_it_says_and_not_far(value, grid):
    up, down = round_up(value, grid), round_down(value, grid)
    assert down <= value <= up
    assert up - value < Fraction(1, grid)
    assert value - down < Fraction(1, grid)
    assert (up * grid).denominator == (down * grid).denominator == 1


@given(st.fractions(min_value=0, max_value=10**30))
def test_a_root_is_not_too_small(value):
    root = sqrt_up(value)
    assert root * root >= value
    assert sqrt_up(value * value) == value
    if root > Fraction(1, 10**15):
        assert (root - Fraction(1, 10**15)) ** 2 < value


@given(st.fractions(min_value=0, max_value=10**30))
def test_a_root_is_not_too_large(value):
    root = sqrt_down(value)
    assert root * root <= value
    assert sqrt_down(value * value) == value
    assert (root + Fraction(1, 10**15)) ** 2 > value


@given(fractions)
def test_exponentials_are_between_their_bounds(value):
    with mpmath.workdps(120):
        true = mpmath.exp(real(value))
        low, high = exp_bounds(value)
        assert real(low) <= true <= real(high)
        assert (real(high) - real(low)) / true < mpmath.mpf(10) ** -45
        assert exp_down(value) == low
        assert exp_up(value) == high


def test_exponentials_far_out():
    low, high = exp_bounds(Fraction(-(10**9)))
    assert low == 0 < high < Fraction(1, 10**1000)
    assert exp_bounds(Fraction(0)) == (1, 1)
    with pytest.raises(InputError):
        exp_bounds(Fraction(10**9))


@given(positives)
def test_logarithms_are_between_their_bounds(value):
    with mpmath.workdps(120):
        true = mpmath.log(real(value))
        low, high = log_down(value), log_up(value)
        assert real(low) <= true <= real(high)
        assert real(high) - real(low) < mpmath.mpf(10) ** -40


def test_logarithms_next_to_one():
    for value in (1 + Fraction(1, 10**60), 1 - Fraction(1, 10**60), 1 + Fraction(1, 10**12)):
        with mpmath.workdps(300):
            assert real(log_down(value)) <= mpmath.log(real(value)) <= real(log_up(value))
    assert log_up(Fraction(1)) == log_down(Fraction(1)) == 0
    for wrong in (Fraction(0), Fraction(-1)):
        with pytest.raises(InputError):
            log_up(wrong)


@given(st.fractions(min_value=0, max_value=300), st.sampled_from([8, 63, 64, 160, 400]))
def test_scaled_exponentials_are_integers_around_the_truth(value, bits):
    low, high = negative_exp_bounds(value, bits)
    with mpmath.workdps(300):
        true = mpmath.exp(-real(value)) * mpmath.mpf(2) ** bits
        assert low <= true <= high
    assert high - low <= 2


@pytest.mark.parametrize(
    "text", ["1e999999999", "1e-999999999", " 1E+0999999999 ", "1e4001", "1e9_999_999", "1_0e99999"]
)
def test_a_few_letters_do_not_make_a_number_of_a_billion_digits(text):
    for value in (text, Decimal(text.replace("_", "")) if len(text) < 9 else text):
        for read in (as_written, exactly):
            with pytest.raises(InputError, match="finite number"):
                read(value, "epsilon")
    assert as_written(" 1e4000 ", "epsilon") == 10**4000
    assert as_written("2.5E-3", "epsilon") == Fraction(1, 400)


@pytest.mark.parametrize("text", ["ln3", "ln 3", "ln(3)", "log(3)", " LN( 3 ) ", "log 3"])
def test_an_epsilon_may_be_a_logarithm_and_is_rounded_up(text):
    read = as_written(text, "epsilon")
    assert read == as_written("1.098612288668110", "--epsilon")
    assert log_down(Fraction(3)) < read <= log_up(Fraction(3)) + Fraction(1, 10**15)
    assert as_written("ln(4/3)", "epsilon") == round_up(log_up(Fraction(4, 3)))


@pytest.mark.parametrize("text", ["ln", "ln()", "ln0", "ln(0)", "lnx", "ln(-1)", "ln3x", "log(1/0)", "ln(1e999999)"])
def test_what_is_no_logarithm_is_refused(text):
    with pytest.raises(InputError, match="ln3"):
        as_written(text, "epsilon")


def test_only_an_epsilon_is_a_logarithm():
    for read, field in ((as_written, "delta"), (exactly, "epsilon")):
        with pytest.raises(InputError, match="finite number"):
            read("ln3", field)
