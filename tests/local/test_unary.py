"""Unary encoding: independent bits, packed, with nothing beyond the last category."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.local import OUE, SUE


@pytest.mark.parametrize("oracle", [OUE(3, 1), SUE(3, 1)], ids=lambda one: one.kind)
def test_bits_are_independent_of_each_other(oracle):
    law = oracle.law(1)
    assert len(law) == 8

    def share(*categories):
        return sum(
            chance for report, chance in law.items() if all(report[0] >> (7 - category) & 1 for category in categories)
        )

    assert [share(category) for category in range(3)] == [oracle.miss, oracle.hit, oracle.miss]
    assert share(0, 1, 2) == oracle.hit * oracle.miss**2


def test_ones_own_bit_is_a_fair_coin_or_as_sure_as_the_others():
    assert OUE(5, 2).hit == Fraction(1, 2)
    assert SUE(5, 2).hit == 1 - SUE(5, 2).miss


@pytest.mark.parametrize("kind", [OUE, SUE])
@pytest.mark.parametrize("categories", [7, 8, 9])
def test_no_bit_is_set_beyond_the_last_category(kind, categories):
    rows = kind(categories, "1/10").privatize(np.arange(500) % categories)
    assert not np.unpackbits(rows, axis=1)[:, categories:].any()
    assert np.unpackbits(rows, axis=1)[:, :categories].any(axis=0).all()


def test_a_symmetric_ratio_is_a_square():
    assert SUE(2, ratio="9/4").hit == Fraction(3, 5)
    with pytest.raises(InputError, match="square"):
        SUE(2, ratio=3)


def test_long_laws_are_not_listed():
    with pytest.raises(InputError, match="at most 12"):
        OUE(13, 1).law(0)
