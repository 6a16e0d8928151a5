"""A price in parts: they add up, and go where errors would add up most."""

from fractions import Fraction

import pytest

from discreet.synth.allocation import allocate


@pytest.mark.parametrize("cells", [[7], [1, 1, 1], [2, 100, 3, 1001], [1] * 500 + [10**6]])
def test_parts_add_up_to_the_amount_and_none_is_empty(cells):
    amount = Fraction(22, 71)
    parts = allocate(amount, cells, [1.0] * len(cells))
    assert sum(parts) == amount
    assert min(parts) > 0


def test_many_cells_and_many_uses_get_more():
    assert allocate(Fraction(2), [5, 5], [1.0, 1.0]) == [1, 1]
    few, many = allocate(Fraction(1), [4, 64], [1.0, 1.0])
    assert float(many) == pytest.approx(4 * float(few), rel=0.01)
    rarely, often = allocate(Fraction(1), [8, 8], [1.0, 4.0])
    assert float(often) == pytest.approx(2 * float(rarely), rel=0.01)


def test_what_nobody_asks_for_still_gets_a_part():
    unused, used = allocate(Fraction(1), [10, 10], [0.0, 8.0])
    assert 0 < unused < used


def test_sums_of_errors_are_smaller_than_with_equal_parts():
    cells, uses = [2, 9, 40, 100], [12.0, 8.0, 5.0, 3.0]
    parts = allocate(Fraction(1), cells, uses)

    def off(amounts):
        return sum(many * use / float(amount) ** 0.5 for many, use, amount in zip(cells, uses, amounts, strict=True))

    assert off(parts) < 0.95 * off([Fraction(1, 4)] * 4)
