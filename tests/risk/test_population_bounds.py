"""Bounds without a model hold the truth, also where every model is wrong."""

import numpy as np
import pytest

from discreet.risk.population import estimate_population
from discreet.risk.population_bounds import bound_alone
from discreet.risk.population_models import Spread
from discreet.risk.records import CodedColumn, classes_of


def _cells(law):
    draw = np.random.default_rng(0)
    match law:
        case "lognormal":
            weights = np.exp(2 * draw.normal(size=20_000))
            return draw.choice(20_000, 50_000, p=weights / weights.sum())
        case "pairs":
            return np.arange(120_000) // 2
        case "half alone":
            return np.concatenate([np.arange(20_000), 20_000 + np.arange(20_000) // 20])


@pytest.mark.parametrize("law", ["lognormal", "pairs", "half alone"])
@pytest.mark.parametrize("share", [0.02, 0.3])
def test_the_bounds_hold_the_truth_whatever_the_law(law, share):
    cells = _cells(law)
    truth = int((np.bincount(cells) == 1).sum())
    pick = np.random.default_rng(3).permutation(len(cells))[: int(share * len(cells))]
    found = estimate_population(classes_of([CodedColumn.of(cells[pick], "x")]), len(cells))
    low, high = found.bounds
    assert low <= truth <= high < len(cells)
    assert "Without any model" in found.explain()
    if law == "pairs" and share == 0.02:  # Must fail: here every model is sure, and wrong
        assert all(one["low"] > truth for one in found.models.values())


def test_a_larger_sample_says_more():
    cells = _cells("half alone")
    widths = []
    for share in (0.05, 0.2, 0.6):
        pick = np.random.default_rng(3).permutation(len(cells))[: int(share * len(cells))]
        counts = np.bincount(np.bincount(cells[pick])[np.unique(cells[pick])])
        sizes = np.flatnonzero(counts)
        low, high = bound_alone(Spread(sizes, counts[sizes].astype(float), len(pick), len(cells)))
        widths.append(high - low)
    assert widths[0] > widths[1] > widths[2]
