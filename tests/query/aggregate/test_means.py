"""The mean of a column: from a sum around the middle of the bounds and a count, and never outside the bounds."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.unit import Unit
from discreet.data.column import Integer, Real
from discreet.data.schema import Schema
from discreet.query.aggregate import mean

SCHEMA = Schema("t", {"pay": Real(0, 1000, nullable=True), "age": Integer(0, 120, nullable=False)})


@pytest.mark.parametrize(("column", "values"), [("pay", [3.0, 500.0, 999.5]), ("age", [1, 2, 4, 119])])
def test_exact_measures_give_the_mean_to_within_a_step(column, values):
    output = mean(column)
    first, weight = output.measures(SCHEMA)
    exact = [np.array([float(first.of(first.lattice.encode(np.array(values))).sum())]), np.array([float(len(values))])]
    (found,) = output.estimate(SCHEMA, exact)
    assert found == pytest.approx(np.mean(values), abs=float(first.lattice.step))
    assert weight.column == ("pay" if column == "pay" else None)


def test_it_lies_within_its_bounds_whatever_the_noise():
    for bounds, ends in ((None, (0, 1000)), ((10, 20), (10, 20))):
        output = mean("pay", bounds)
        noisy = [np.array([-1e12, 1e12, 0.0, 1e12]), np.array([5.0, 5.0, -3.0, -3.0])]
        found = output.estimate(SCHEMA, noisy)
        assert output.extent(SCHEMA) == ends
        assert ((ends[0] <= found) & (found <= ends[1])).all()


def test_its_interval_is_widened_by_what_rounding_can_do():
    zero = np.zeros(1)
    low, high = mean("pay").widened(SCHEMA, zero, zero)
    step = float(mean("pay").moment(SCHEMA, 1).lattice.step)
    assert (low[0], high[0]) == (-step / 2, step / 2)
    low, high = mean("age").widened(SCHEMA, zero, zero)  # whole numbers are on the lattice as they are
    assert low[0] == high[0] == 0
    persons = Schema("t", SCHEMA.columns, Unit("id", groups=1, rows=2))
    low, high = mean("pay").widened(persons, zero, zero)  # and so is a person's own mean
    assert high[0] == float(mean("pay").moment(persons, 1).lattice.step)
