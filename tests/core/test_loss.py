"""Losses are frozen, exact and checked. What they add up to is tested in tests/accounting and tests/laws."""

from fractions import Fraction

import pytest
from attrs import fields
from attrs.exceptions import FrozenInstanceError
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.loss import (
    ZCDP,
    Approx,
    BoundedRange,
    Composed,
    GaussianNoise,
    LaplaceNoise,
    Pure,
    RealGaussianNoise,
    Repeated,
    Sampled,
)
from discreet.errors import InputError


def test_numbers_are_kept_as_written():
    assert Pure(0.1).epsilon == Fraction(1, 10)
    assert ZCDP("1/3", 1e-6) == ZCDP(Fraction(1, 3), Fraction(1, 10**6))
    assert Approx(1, 0).delta == 0
    assert LaplaceNoise(2, 3) == LaplaceNoise(Fraction(2), 3)
    assert Pure(0.1) != BoundedRange(0.1)


@given(st.integers(10**80, 10**90))
def test_endless_denominators_are_rounded_up(denominator):
    value = Fraction(1, 3) + Fraction(1, denominator)
    kept = Pure(value).epsilon
    assert value <= kept <= value + Fraction(1, 10**59)
    assert kept.denominator.bit_length() <= 256


@pytest.mark.parametrize(
    "make",
    [
        lambda: Pure(-1),
        lambda: Pure(float("nan")),
        lambda: Pure(float("inf")),
        lambda: Pure(True),
        lambda: BoundedRange(-0.1),
        lambda: ZCDP(-1),
        lambda: ZCDP(1, 1),
        lambda: ZCDP(1, -0.1),
        lambda: Approx(1, 1),
        lambda: LaplaceNoise(0, 1),
        lambda: LaplaceNoise(1, -1),
        lambda: LaplaceNoise(1, 0.5),
        lambda: GaussianNoise(-1, 1),
        lambda: RealGaussianNoise(0),
        lambda: Sampled(Pure(1), 1.5),
        lambda: Sampled(Pure(1), -0.1),
        lambda: Repeated(Pure(1), -1),
        lambda: Repeated(Pure(1), 1.5),
    ],
)
def test_what_is_no_loss_is_refused(make):
    with pytest.raises(InputError):
        make()


@pytest.mark.parametrize(
    "loss",
    [
        Pure(1),
        ZCDP(1),
        Approx(1, 0),
        LaplaceNoise(1, 1),
        Sampled(Pure(1), 0.5),
        Repeated(Pure(1), 2),
        Composed([Pure(1)]),
    ],
)
def test_losses_are_frozen_and_hashable(loss):
    field = fields(type(loss))[0].name
    with pytest.raises(FrozenInstanceError):
        setattr(loss, field, None)
    assert loss in {loss}
