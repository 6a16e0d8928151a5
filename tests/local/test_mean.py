"""The laws every way of estimating a mean obeys, by listing all reports at all lattice points."""

import copy
import json
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

from chance import at_most, fits
from discreet.core.exact import exp_up, log_up
from discreet.errors import InputError
from discreet.local import (
    Duchi,
    Hybrid,
    Piecewise,
    Survey,
    aggregate,
    difference,
    responder_from_dict,
    write,
)
from local_cases import worst

SMALL = [kind(epsilon, 0, 10, steps=5) for kind in (Duchi, Piecewise, Hybrid) for epsilon in ("1/10", 1, 4)]

SMALL += [Piecewise(1, steps=3, reach=0), Piecewise(2, steps=3, reach=6), Hybrid(1, steps=2, share="1/3")]

every = pytest.mark.parametrize("mean", SMALL, ids=lambda one: f"{one.kind}-{float(one.epsilon):g}-{one.steps}")

typical = pytest.mark.parametrize("mean", [one for one in SMALL if one.epsilon == 1], ids=lambda one: one.kind)


def score(mean, report):
    parts = mean.scores(np.array([report]))[0]
    assert np.count_nonzero(parts) <= 1
    return sum(int(part) * scale for part, scale in zip(parts, mean.scales, strict=True))


@every
def test_the_claim_holds_and_is_attained(mean):
    laws = [
        {report: chance for report, chance in mean.point_law(point).items() if chance}
        for point in range(-mean.steps, mean.steps + 1)
    ]
    assert all(sum(law.values()) == 1 and law.keys() == laws[0].keys() for law in laws)
    assert worst(laws) == mean.ratio
    assert mean.ratio <= exp_up(mean.epsilon)
    assert log_up(mean.ratio) <= mean.spent + Fraction(1, 10**40)
    leaky = [{r: c + Fraction(r == max(law, key=law.get), 100) for r, c in law.items()} for law in laws]
    assert worst(leaky) > exp_up(mean.spent)


@every
def test_scores_are_unbiased_with_the_stated_variance(mean):
    for point in range(-mean.steps, mean.steps + 1):
        law = mean.point_law(point)
        first = sum(chance * score(mean, report) for report, chance in law.items())
        second = sum(chance * score(mean, report) ** 2 for report, chance in law.items())
        assert first == Fraction(point, mean.steps)
        assert second - first**2 == mean.point_variance(point)
        assert mean.point_variance(point) <= max(mean.point_variance(0), mean.point_variance(mean.steps))


@typical
@pytest.mark.statistical
def test_reports_follow_the_law(mean):
    value = float(mean.lower + (mean.upper - mean.lower) * Fraction(9, 10))
    chances = [float(chance) for chance in mean.law(value).values()]
    seen = mean.privatize(np.full(50_000, value))
    assert fits(seen, lambda x: np.array([*chances, 0])[np.clip(x, -1, len(chances))])
    few = [mean.privatize(value) for _ in range(2000)]
    assert fits(few, lambda x: np.array([*chances, 0])[np.clip(x, -1, len(chances))])
    other = [float(chance) for chance in mean.law(float(mean.lower)).values()]
    assert not fits(seen, lambda x: np.array([*other, 0])[np.clip(x, -1, len(other))])


@typical
@pytest.mark.statistical
def test_intervals_cover(mean):
    trials, n = 1500, 300
    chance = np.random.default_rng(8)
    low, high = float(mean.lower), float(mean.upper)
    grid = low + (high - low) * np.arange(2 * mean.steps + 1) / (2 * mean.steps)
    weights = np.arange(1, len(grid) + 1) / np.arange(1, len(grid) + 1).sum()
    truth = weights @ grid
    missed = narrow = 0
    for part in np.split(mean.privatize(chance.choice(grid, trials * n, p=weights)), trials):
        ((lower, upper),) = mean.estimate(part).interval(0.9)
        missed += not lower <= truth <= upper
        narrow += abs((lower + upper) / 2 - truth) > 0.5 * (upper - lower) / 2
    assert at_most(missed, trials, 0.105)  # the normal approximation is off by less than half a hundredth
    assert not at_most(narrow, trials, 0.1)


@pytest.mark.parametrize("kind", [Duchi, Piecewise, Hybrid])
@pytest.mark.parametrize("n", [1, 2, 30])
def test_reports_that_are_all_alike_are_no_certainty(kind, n):
    mean = kind(1, 0, 10, steps=5)
    for report in (0, mean.reports - 1):
        found = mean.estimate([report] * n)
        least = min(mean.variance(n, value) for value in range(11))
        assert found.variances[0] == pytest.approx(least)
        low, high = found.interval()[0]
        assert high - low == pytest.approx(2 * 1.959964 * math.sqrt(least))
    assert difference(mean.estimate([0] * n), mean.estimate([0] * n)).errors[0] > 0


@every
def test_it_is_a_frozen_value(mean):
    assert copy.deepcopy(mean) == mean == pickle.loads(pickle.dumps(mean))
    assert responder_from_dict(json.loads(json.dumps(mean.to_dict()))) == mean
    assert len({one.id for one in SMALL}) == len(SMALL)


def test_means_are_surveys_too(tmp_path):
    survey = Survey("pay", Hybrid(1, 0, 100, steps=50))
    reply = survey.respond(42)
    assert survey.read(reply.to_dict()) == reply
    batch = survey.collect(np.linspace(0, 100, 2000))
    place = write(survey, batch, tmp_path / "pay.parquet", {"sex": ["f", "m"] * 1000})
    assert aggregate(place, survey) == survey.tally(batch)
    parts = aggregate(place, survey, by="sex")
    apart = difference(*(survey.estimate(part) for part in parts.values()))
    assert apart.values.shape == (1,)
    assert survey.estimate(batch).mean == pytest.approx(survey.estimate(aggregate(place, survey)).mean)


@pytest.mark.parametrize("kind", [Duchi, Piecewise, Hybrid])
def test_wrong_input_is_refused(kind):
    for wrong in ({"epsilon": 0}, {"epsilon": math.inf}, {"lower": 1}, {"lower": "x"}, {"steps": 0}, {"steps": 2**30}):
        with pytest.raises(InputError):
            kind(**{"epsilon": 1, **wrong})
    mean = kind(1)
    for wrong in (math.nan, "x", None, [[1]], [1, math.nan], {}):
        with pytest.raises(InputError) as caught:
            mean.privatize(wrong)
        assert caught.value.field == "values"
    assert 0 <= mean.privatize(1e9) < mean.reports  # beyond the range: moved to its end
    for wrong in (-1, mean.reports, 0.5, "x"):
        with pytest.raises(InputError):
            mean.tally([wrong])
    with pytest.raises(InputError):
        mean.estimate([])
    with pytest.raises(InputError):
        mean.estimate(kind(2).tally(kind(2).privatize([0.5])))
    with pytest.raises(InputError):
        mean.estimate([0]).variance("nobody")
