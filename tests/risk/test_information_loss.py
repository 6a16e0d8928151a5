"""Measures of what coarsening costs, by hand."""

import math

import pytest

from discreet.risk.coarsening import anonymize
from discreet.risk.information_loss import measure_loss


def test_losses_are_what_their_definitions_say():
    made = anonymize({"age": [10, 11, 12, 13, 30]}, quasi=["age"], k=2, ladders={"age": [20]}, redact=0.2)
    found = measure_loss(made)
    assert found.left_out == 1
    (column,) = found.columns
    assert (column.values, column.groups, column.labels) == (4, 1, ("0-19", "20-39"))
    assert column.width == pytest.approx(3 / 4)  # three of four others that 10 was told from
    assert column.entropy == pytest.approx(1)  # two bits of two are given back
    assert found.certainty == pytest.approx((4 * 3 / 4 + 1) / 5)
    assert found.entropy == pytest.approx((4 * 1 + 1) / 5)
    assert found.discernibility == pytest.approx((16 + 5) / 5)
    assert found.average_class == pytest.approx(4 / 1 / 2)


def test_halves_of_a_column_lose_all_but_one_bit():
    made = anonymize({"x": list(range(8))}, quasi=["x"], k=4, ladders={"x": [4]}, redact=0)
    assert measure_loss(made).entropy == pytest.approx(2 / math.log2(8))


def test_a_table_as_it_was_loses_nothing():
    found = measure_loss(anonymize({"x": [1, 1, 2, 2]}, quasi=["x"], k=2))
    assert (found.certainty, found.entropy, found.left_out, found.discernibility) == (0, 0, 0, 2)
