"""From a sample to everybody: ranges that hold the truth, or nothing said."""

import numpy as np
import pytest

from discreet.risk.population import estimate_population
from discreet.risk.records import CodedColumn, classes_of


def _cells(law):
    draw = np.random.default_rng(0)
    if law == "lognormal":
        weights = np.exp(2 * draw.normal(size=20_000))
        return draw.choice(20_000, 50_000, p=weights / weights.sum())
    return draw.integers(0, 30_000, 50_000)


def _sampled(cells, share, seed=5):
    pick = np.random.default_rng(seed).permutation(len(cells))[: int(share * len(cells))]
    return estimate_population(classes_of([CodedColumn.of(cells[pick], "cell")]), len(cells))


@pytest.mark.parametrize("law", ["lognormal", "even"])
@pytest.mark.parametrize("share", [0.05, 0.1])
def test_the_range_for_a_population_holds_the_truth_of_a_made_up_one(law, share):
    cells = _cells(law)
    alone = int((np.unique(cells, return_counts=True)[1] == 1).sum())
    found = _sampled(cells, share)
    low, high = found.alone_range
    assert low <= alone <= high <= 10 * low
    assert low <= found.alone <= high
    assert 0 < found.chance_range[0] <= found.chance <= found.chance_range[1] <= 1
    assert "models that fit" in found.explain()
    # Must fail: the model that does not fit would be off by more than the range.
    if law == "lognormal" and share == 0.1:
        turned_down = [one["alone"] for one in found.models.values() if not one["fits"]]
        assert any(not low <= one <= high for one in turned_down)


@pytest.mark.parametrize("together", [2, 3])
def test_a_thin_sample_of_households_is_refused_and_not_extrapolated(together):
    """Nearly all classes of it are single rows, and 82,574 of 200,000 were said to be alone where nobody is."""
    found = _sampled(np.arange(200_000) // together, 0.1)
    assert found.alone is None
    assert not any(one["fits"] for one in found.models.values())


def test_where_no_model_fits_or_too_little_is_seen_nothing_is_said():
    parts = [np.arange(4000), np.repeat(np.arange(5000, 5400), 37), np.repeat(np.arange(6000, 6500), 3)]
    heaped = np.concatenate([*parts, np.repeat(7000, 20_000)])
    few = _sampled(heaped[:300], 0.05)
    assert few.alone is None
    assert "at least 20" in few.refused
    found = _sampled(heaped, 0.3)
    assert found.alone is None
    assert "No model fits" in found.explain()
    assert _sampled(heaped, 1.0).alone == 4000  # nothing to estimate


def test_the_usual_rule_is_followed_and_its_model_judged_like_the_others():
    """Dankar's rule: Pitman for samples of up to a tenth, else the lower of Zayatz and SNB."""
    thin, dense = _sampled(_cells("lognormal"), 0.1), _sampled(_cells("lognormal"), 0.3)
    assert thin.rule == "Pitman"
    lower = min(("Zayatz", "SNB"), key=lambda name: dense.models[name]["alone"])
    assert dense.rule == lower
    assert not dense.models["Zayatz"]["fits"]
    assert f"Dankar's rule takes {lower}" in dense.explain()
    assert "does not fit" in dense.explain()


def test_models_that_fit_and_disagree_are_said_to():
    found = _sampled(_cells("even"), 0.05)
    told = [one["alone"] for one in found.models.values() if one["fits"]]
    assert found.disagree == (max(told) > 1.5 * min(told))
    assert found.disagree
    assert "disagree" in found.explain()
    assert not _sampled(_cells("even"), 0.3).disagree  # Must fail: three that fit agree there


def test_every_interval_of_a_model_holds_its_estimate_and_the_range_holds_them():
    found = _sampled(_cells("lognormal"), 0.1)
    for one in found.models.values():
        assert one["low"] <= one["alone"] <= one["high"]
    fitting = [one for one in found.models.values() if one["fits"]]
    assert found.alone_range[0] == pytest.approx(max(min(one["low"] for one in fitting), found.bounds[0]))
