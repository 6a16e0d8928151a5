"""Variances and standard deviations: not biased by noise, on one lattice, and over one less for a sample."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from interval_coverage import PURE, SCHEMA, VALUES, exact, holds

from discreet.core.lattice import Lattice
from discreet.data.column import Integer, Real
from discreet.data.schema import Schema
from discreet.query.aggregate import Variance, mean, std, variance
from discreet.query.estimate import estimate
from discreet.query.plan import plan_query
from discreet.query.price import Price
from discreet.query.question import Query

# 971,200 incomes heaped on thousands, as people report them: the lattice must not be seen through the noise.
HEAPED = np.minimum(np.round(np.random.Generator(np.random.PCG64(7)).lognormal(10.4, 0.8, 971_200), -3), 150_000)
ROWS_ALONE = Schema(
    "t",
    {
        "pay": Real(0, 150_000, nullable=False),
        "odd": Real(0, "150000.7", nullable=False),
        "whole": Integer(0, 150_000, nullable=False),
    },
)


def held_of(output, epsilon, releases=400, schema=ROWS_ALONE):
    """How many intervals of so many releases hold what is true of the heaped values, rounding included."""
    made = plan_query(Query().agg(o=output), schema, PURE, Price.read(epsilon=epsilon))
    counted = [exact(measure, HEAPED) for measure in made.measures]
    noisy = [n.release(np.full(releases, value)) for n, value in zip(made.noises, counted, strict=True)]
    result = estimate(output, schema, noisy, made.noises, 0.95)
    goal = {"Mean": np.mean, "Variance": np.var, "Std": np.std}[type(output).__name__](HEAPED)
    return int(((result.lower <= goal) & (goal <= result.upper)).sum())


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", [0.5, 1, 2, 4])
@pytest.mark.parametrize("column", ["pay", "odd", "whole"])
def test_heaped_values_in_a_large_table_are_covered(column, epsilon):
    for output in (mean(column), variance(column), std(column)):
        assert holds(held_of(output, epsilon), 400, 0.93, 1.0)


@pytest.mark.statistical
def test_squares_on_a_coarser_lattice_than_the_mean_are_caught(monkeypatch):
    """The twin: with 2**12 steps for squares and more for the mean, the variance is that of no table."""
    true, coarse = Variance.moment, Lattice(0, 150_000, 6)

    def moment(self, schema, power):
        fine = true(self, schema, power)
        return fine if power == 1 else replace(fine, lattice=coarse)

    def estimated(self, schema, noisy, excess=0.0):
        first, second = moment(self, schema, 1), moment(self, schema, 2)
        rows, step, wide = np.maximum(noisy[1], 1.0), float(first.lattice.step), float(second.lattice.step)
        off = noisy[0] / rows * step + first.middle * step - second.middle * wide
        found = (noisy[2] / rows + second.centre) * 2.0**second.shift * wide**2 - off**2 + excess * (step / rows) ** 2
        return np.clip(found, *self.extent(schema))

    monkeypatch.setattr(Variance, "moment", moment)
    monkeypatch.setattr(Variance, "estimate", estimated)
    assert not holds(held_of(variance("odd"), 4), 400, 0.93, 1.0)


def test_the_estimate_of_a_variance_is_not_biased_by_noise():
    values = np.clip(VALUES["middle"](60), 0, 100)
    made = plan_query(Query().agg(v=variance("x")), SCHEMA, PURE, Price.read(epsilon=4))
    counted = [exact(measure, values) for measure in made.measures]
    draws = 60_000  # of which the median is nine deviations from the middle between the two
    noisy = [n.release(np.full(draws, value)) for n, value in zip(made.noises, counted, strict=True)]
    noisy[1] = np.full(draws, counted[1])  # the count as it is: its own noise bends the ratio
    output = variance("x")
    floats = [n.astype(float) for n in noisy]
    honest = output.estimate(SCHEMA, floats, made.noises[0].variance)
    naive = output.estimate(SCHEMA, floats)
    goal = np.var(values)
    assert abs(np.median(honest) - goal) < abs(np.median(naive) - goal)


def test_the_variance_of_a_sample_is_over_one_less():
    schema = Schema("t", {"x": Real(0, 100, nullable=False)})
    exact = [np.array([0.0]), np.array([5.0]), np.array([0.0])]
    whole, sampled = variance("x").estimate(schema, exact), variance("x", sample=True).estimate(schema, exact)
    assert sampled[0] == pytest.approx(whole[0] * 5 / 4)
    assert std("x", sample=True).estimate(schema, exact)[0] == pytest.approx(sampled[0] ** 0.5)
    query = Query().agg(v=variance("x", sample=True), s=std("x"))
    assert Query.from_json(query.to_json(), schema) == query.checked(schema)
