"""Intervals of quantiles as a question gets them: how often they hold, and how wide they are for the price."""

from __future__ import annotations

import numpy as np
import pytest

from chance import at_most
from discreet.data.column import Real
from discreet.data.schema import Schema
from discreet.ledger.budget import Allotment
from discreet.mechanisms import QuantileFlip
from discreet.noise.bits import SystemBits
from discreet.query.price import Price
from discreet.query.quantile import median, quantiles
from discreet.query.quantile_plan import plan_quantiles
from discreet.query.question import Query

PURE = Allotment("questions", "pure", epsilon=100)
SCHEMA = Schema("people", {"pay": Real(0, 200_000, nullable=False)})
BINS = 1024
SHAPES = {
    "even": lambda chance, rows: chance.uniform(0, 200_000, rows),
    "skewed": lambda chance, rows: chance.lognormal(10.3, 0.6, rows),
    "heaped": lambda chance, rows: np.round(chance.lognormal(10.3, 0.6, rows), -3),
}


def histogram(shape, rows):
    values = SHAPES[shape](np.random.default_rng(rows), rows)
    return np.bincount(np.clip(values / 200_000 * BINS, 0, BINS - 1).astype(int), minlength=BINS)


def planned(epsilon, asked=(0.5,), **how):
    query = Query().agg(**quantiles("pay", asked, **how))
    return plan_quantiles(query, SCHEMA, PURE, Price.read(epsilon=epsilon))


def searched(made, counts, trials):
    """Where, at least, at most: for each quantile, in each trial."""
    return np.stack([made._searched(counts, SystemBits()) for _ in range(trials)], axis=2)


def missed(made, counts, trials):
    true = [int(np.argmax(np.cumsum(counts) >= float(q) * counts.sum())) for q in made.ranks]
    _, lower, upper = searched(made, counts, trials)
    return int(sum(((low > bin_) | (high < bin_)).sum() for low, high, bin_ in zip(lower, upper, true, strict=True)))


@pytest.mark.statistical
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rows", [10, 1000, 100_000])
@pytest.mark.parametrize("asked", [(0.5,), (0.9,), (0.1, 0.25, 0.5, 0.75, 0.9)])
def test_intervals_hold_about_as_often_as_stated(shape, rows, asked):
    counts, trials = histogram(shape, rows), 60
    for epsilon in (0.1, 1, 4):
        made = planned(epsilon, asked)
        assert at_most(missed(made, counts, trials), trials * len(asked), 0.07)


@pytest.mark.statistical
def test_intervals_that_aim_at_the_rank_itself_are_caught(monkeypatch):
    monkeypatch.setattr(QuantileFlip, "usual", 1)
    made = planned(0.1)
    assert made.search.reach(made.ranks[0]) == 0
    assert not at_most(missed(made, np.full(BINS, 4), 400), 400, 0.07)


@pytest.mark.statistical
def test_a_median_with_an_interval_is_found_by_choice_with_half_the_error_of_a_tree_and_a_narrower_interval():
    made, tree = planned(1), planned(1, method="tree")
    assert isinstance(made.search, QuantileFlip)
    assert made.charge == tree.charge
    counts = np.full(BINS, 3)
    (at, lower, upper), (other, least, most) = (
        searched(each, counts, 250) for each in (made, tree)
    )  # seven deviations apart
    assert np.abs(at - 511).mean() < 0.7 * np.abs(other - 511).mean()
    assert (upper - lower).mean() < 0.8 * (most - least).mean()


@pytest.mark.statistical
@pytest.mark.parametrize("method", ["tree", "flip"])
def test_guaranteed_intervals_hold_at_least_as_often_and_are_wider(method):
    query = Query().agg(m=median("pay", method=method, interval="guaranteed"))
    made = plan_quantiles(query, SCHEMA, PURE, Price.read(epsilon=1, confidence=0.8))
    usual = plan_quantiles(
        Query().agg(m=median("pay", method=method)), SCHEMA, PURE, Price.read(epsilon=1, confidence=0.8)
    )
    gap = np.pad(np.full(40, 30), 236)
    counts = np.concatenate([gap, gap])
    assert at_most(missed(made, counts, 300), 300, 0.2)
    widths = [np.diff(searched(each, np.full(BINS, 3), 60)[1:], axis=0).mean() for each in (made, usual)]
    assert widths[0] > widths[1]
