"""Intervals hold the true value as often as they say: 95% means 95%, and small groups are no exception.

Releases are simulated: known exact measures, the plan's own noise, the plan's own publishing. No engine is needed.
"""

from __future__ import annotations

import numpy as np
import pytest
from interval_coverage import PURE, SCHEMA, VALUES, ZCDP, exact, holds

from discreet.query.aggregate import count, mean, people, std, total, variance
from discreet.query.estimate import _quantile, estimate
from discreet.query.measure import Moment, Total
from discreet.query.plan import plan_query
from discreet.query.price import Price
from discreet.query.question import Query
from reference import measures_of

RELEASES = 2000

PRICES = {"laplace": (PURE, {"epsilon": 0.1}), "gaussian": (ZCDP, {"rho": 0.005})}

LARGER = {"laplace": {"epsilon": 1}, "gaussian": {"rho": 0.5}}


def truth(output, values):
    """What the output estimates, of the values as they are measured."""
    lattice = lattice_of(output)
    measured = values if lattice is None else lattice.encode(values) * float(lattice.step)
    kind = type(output).__name__
    return {"Count": len, "Persons": len, "Sum": np.sum, "Mean": np.mean, "Variance": np.var, "Std": np.std}[kind](
        measured
    )


def lattice_of(output):
    return next((m.lattice for m in output.measures(SCHEMA) if isinstance(m, (Total, Moment))), None)


def covered(output, values, noise, releases=RELEASES, confidence=0.95, **price):
    """In how many of so many releases the interval held the truth."""
    allotment, usual = PRICES[noise]
    made = plan_query(Query().agg(o=output), SCHEMA, allotment, Price.read(confidence=confidence, **(price or usual)))
    counted = [exact(measure, values) for measure in measures_of(made.question, SCHEMA)]
    goal = truth(output, values)
    hits = 0
    for _ in range(8):  # each with fresh draws for the intervals
        noisy = [n.release(np.full(releases // 8, value)) for n, value in zip(made.noises, counted, strict=True)]
        result = estimate(output, SCHEMA, noisy, made.noises, confidence)
        slack = 1e-9 * (1 + abs(goal))
        held = (result.lower <= goal + slack) & (goal - slack <= result.upper)
        hits += int((held | np.isnan(result.value)).sum())  # what is unknown claims nothing
    return hits


OUTPUTS = {
    "count": count("x"),
    "people": people(),
    "sum": total("x"),
    "sum of integers": total("n"),
    "mean": mean("x"),
    "mean of integers": mean("n"),
    "variance": variance("x"),
    "std": std("x"),
    "variance in tighter bounds": variance("x", bounds=(20, 80)),
}


@pytest.mark.statistical
@pytest.mark.parametrize("noise", PRICES)
@pytest.mark.parametrize("name", OUTPUTS)
def test_coverage_is_what_it_says(name, noise):
    # Within a point of 95%, tested at the suite's level; the scales are such that whole numbers do not matter.
    output = OUTPUTS[name]
    for shape in ("middle", "low") if name in ("mean", "variance", "std") else ("spread",):
        values = np.clip(VALUES[shape](3000), 0, 100) * (10 if getattr(output, "column", "") == "n" else 1)
        assert holds(covered(output, values, noise), RELEASES, 0.94, 0.96)


@pytest.mark.statistical
@pytest.mark.parametrize("noise", PRICES)
@pytest.mark.parametrize("name", ["mean", "std"])  # a standard deviation is covered when its variance is
@pytest.mark.parametrize("size", [1, 10, 60])
def test_small_groups_are_covered_too(name, size, noise):
    for shape in ("middle", "low"):
        values = np.clip(VALUES[shape](size), 0, 100)
        assert holds(covered(OUTPUTS[name], values, noise, releases=800, **LARGER[noise]), 800, 0.93, 1.0)


@pytest.mark.statistical
@pytest.mark.parametrize("confidence", [0.5, 0.99])
def test_other_confidences_hold(confidence):
    values = np.clip(VALUES["spread"](2000), 0, 100)
    for noise in PRICES:
        for name in ("sum", "mean"):
            hits = covered(OUTPUTS[name], values, noise, confidence=confidence)
            assert holds(hits, RELEASES, confidence - 0.012, confidence + 0.012)


@pytest.mark.statistical
def test_tiny_noise_covers_more_never_less():
    for epsilon in (2, 10, 50):
        for name in ("count", "sum of integers", "people"):
            output, values = OUTPUTS[name], np.full(50, 7.0)
            assert holds(covered(output, values, "laplace", epsilon=epsilon), RELEASES, 0.95, 1.0)


@pytest.mark.statistical
def test_a_histogram_is_covered_bin_by_bin():
    made = plan_query(Query().histogram("x", width=5), SCHEMA, PURE, Price.read(epsilon=0.2))
    counts = np.arange(made.groups) * 7
    hits = 0
    for _ in range(100):
        result = made.table([made.noises[0].release(counts)])["columns"]
        hits += int(((np.array(result["count_lower"]) <= counts) & (counts <= np.array(result["count_upper"]))).sum())
    assert holds(hits, 100 * made.groups, 0.95, 0.96)
    assert result["x"][0] == "0..5"


def test_the_coverage_test_has_power():
    """Intervals made for half the noise do not pass: they hold the truth in 78%, 13 deviations from passing."""
    values = np.clip(VALUES["middle"](3000), 0, 100)
    for noise in PRICES:
        allotment, price = PRICES[noise]
        output = OUTPUTS["mean"]
        made = plan_query(Query().agg(o=output), SCHEMA, allotment, Price.read(**price))
        counted = [exact(measure, values) for measure in made.measures]
        noisy = [n.release(np.full(RELEASES, value)) for n, value in zip(made.noises, counted, strict=True)]
        smaller = [type(n)((n.scale if noise == "laplace" else n.sigma) / 2) for n in made.noises]
        result = estimate(output, SCHEMA, noisy, smaller, 0.95)
        goal = truth(output, values)
        hits = int(((result.lower <= goal) & (goal <= result.upper)).sum())
        assert not holds(hits, RELEASES, 0.94, 0.96)


def test_what_cannot_be_is_not_published():
    made = plan_query(
        Query().agg(n=count(), m=mean("x"), v=variance("x"), s=std("x")), SCHEMA, PURE, Price.read(epsilon=1)
    )
    for extreme in (-(2**40), 0, 2**40):
        result = made.table([np.array([extreme])] * len(made.measures))["columns"]
        for name, most in (("m", 100), ("v", 2500), ("s", 50)):
            low, value, high = (result[name + end][0] for end in ("_lower", "", "_upper"))
            assert (low is value is high is None) or 0 <= low <= value <= high <= most


def test_an_empty_group_s_mean_is_unknown():
    made = plan_query(Query().agg(m=mean("x"), d=std("x", sample=True)), SCHEMA, PURE, Price.read(epsilon=1))
    result = made.table([np.array([0])] * 3)["columns"]
    assert all(result[name + end] == [None] for name in ("m", "d") for end in ("", "_lower", "_upper"))


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_value_lies_within_its_interval(name):
    output, generator = OUTPUTS[name], np.random.Generator(np.random.PCG64(4))
    made = plan_query(Query().agg(o=output), SCHEMA, PURE, Price.read(epsilon=1))
    for scale in (10, 1000, 10**6, 10**9):
        noisy = [generator.integers(-scale, scale, 300) for _ in made.measures]
        result = estimate(output, SCHEMA, noisy, made.noises, 0.95)
        known = ~np.isnan(result.value)
        assert ((result.lower <= result.value) & (result.value <= result.upper))[known].all()


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999, 1 - 2**-53])
def test_the_quantile_of_draws_is_that_of_numpy_to_the_last_bit(confidence):
    """Intervals published again, from what an earlier version measured, are those that it published."""
    chance = np.random.default_rng(5)
    rows = chance.normal(size=(40, 4000)) * 10.0 ** chance.integers(-9, 9, size=(40, 1))
    rows[1, :2000], rows[2, 7], rows[3] = rows[1, 0], np.nan, 2.0**900
    for tail in ((1 - confidence) / 2, (1 + confidence) / 2):
        assert np.array_equal(_quantile(rows, tail), np.quantile(rows, tail, axis=1), equal_nan=True)
