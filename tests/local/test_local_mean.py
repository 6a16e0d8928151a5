"""The laws every way of estimating a mean obeys, by listing all reports at all lattice points."""

import copy
import itertools
import json
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

from chance import at_most, fits, mean_fits
from discreet.core.exact import exp_up, log_up
from discreet.errors import InputError
from discreet.local import (
    Duchi,
    Hybrid,
    Piecewise,
    Survey,
    VectorMean,
    aggregate,
    difference,
    responder_from_dict,
    write,
)

SMALL = [kind(epsilon, 0, 10, steps=5) for kind in (Duchi, Piecewise, Hybrid) for epsilon in ("1/10", 1, 4)]
SMALL += [Piecewise(1, steps=3, reach=0), Piecewise(2, steps=3, reach=6), Hybrid(1, steps=2, share="1/3")]
every = pytest.mark.parametrize("mean", SMALL, ids=lambda one: f"{one.kind}-{float(one.epsilon):g}-{one.steps}")
typical = pytest.mark.parametrize("mean", [one for one in SMALL if one.epsilon == 1], ids=lambda one: one.kind)


def score(mean, report):
    parts = mean.scores(np.array([report]))[0]
    assert np.count_nonzero(parts) <= 1
    return sum(int(part) * scale for part, scale in zip(parts, mean.scales, strict=True))


def worst(laws):
    return max(one[report] / other[report] for one, other in itertools.permutations(laws, 2) for report in one)


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


def test_a_number_nobody_told_of_is_not_known():
    vector = VectorMean(3, 1, 0, 10, steps=2)
    whole = {point: vector.law([point] * 3) for point in (0, 2.5, 5, 7.5, 10)}
    half, scales = 5.0, [float(scale) * 3 for scale in vector.each.scales]

    def spread(point):
        """The variance of one person's score of the first number, from the law of reports."""
        parts = [
            (
                float(chance),
                half * sum(s * x for s, x in zip(scales, vector.each.scores(np.array([r]))[0], strict=True)),
            )
            for r, chance in whole[point].items()
            if r < vector.each.reports
        ]
        return sum(chance * x * x for chance, x in parts) - sum(chance * x for chance, x in parts) ** 2

    found = vector.estimate([0])  # of the first number only
    assert (found.variances >= min(map(spread, whole)) * (1 - 1e-9)).all()
    assert found.variances[1] == pytest.approx(min(map(spread, whole)))


def test_hybrid_is_never_worse_and_piecewise_wins_late():
    for epsilon in (0.3, 0.5, 1, 2, 4, 8):
        alone = min(Duchi(epsilon).variance(1), Piecewise(epsilon).variance(1))
        assert Hybrid(epsilon).variance(1) <= alone * (1 + 1e-9)
    assert Duchi(0.5).variance(1) < Piecewise(0.5).variance(1)
    assert Duchi(4).variance(1) > Piecewise(4).variance(1)
    # Published for real numbers: 4 e^(eps/2) / (3 (e^(eps/2) - 1)^2).
    for epsilon in (1, 4):
        root = math.exp(epsilon / 2)
        assert Piecewise(epsilon).variance(1) <= 4 * root / (3 * (root - 1) ** 2)
    assert Hybrid(1, 0, 10).half_width(400) == pytest.approx(Hybrid(1, 0, 10).half_width(100) / 2)
    assert Hybrid(1, 0, 10).variance(100) == pytest.approx(25 * Hybrid(1).variance(100))
    assert Duchi(1).variance(10, 1) < Duchi(1).variance(10, 0)


@pytest.mark.parametrize("vector", [VectorMean(2, 1, steps=2), VectorMean(1, 1, steps=2)], ids=["two", "one"])
def test_vectors_keep_their_claim(vector):
    points = [Fraction(place, 2) for place in range(-2, 3)]
    laws = [vector.law([float(x) for x in row]) for row in itertools.product(points, repeat=vector.dimensions)]
    assert all(sum(law.values()) == 1 for law in laws)
    assert worst([{r: c for r, c in law.items() if c} for law in laws]) == vector.ratio
    assert vector.ratio <= exp_up(vector.epsilon)


@pytest.mark.statistical
def test_vectors_are_unbiased():
    truth = np.array([1.0, 5.0, 9.0, 2.5])
    for vector in (VectorMean(4, 1, 0, 10, steps=20), VectorMean(4, 8, 0, 10, steps=20)):
        assert vector.told == (1 if vector.epsilon == 1 else 3)
        found = vector.estimate(vector.privatize(np.tile(truth, (40_000, 1))))
        for place in range(4):
            off = found.values[place] - truth[place]
            assert mean_fits([off], 0, found.variances[place])
            # Seven deviations are allowed: twenty, give or take one, are not.
            assert not mean_fits([off + 20 * math.sqrt(found.variances[place])], 0, found.variances[place])
        assert vector.spent <= vector.epsilon
        parts = [vector.tally(vector.privatize(np.tile(truth, (10, 1)))) for _ in range(2)]
        assert (parts[0] + parts[1]).n == 20
        assert responder_from_dict(json.loads(json.dumps(vector.to_dict()))) == vector


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


def test_wrong_shapes_are_refused():
    for wrong in ({"reach": -1}, {"reach": 10**6}, {"reach": 1.5}):
        with pytest.raises(InputError):
            Piecewise(1, **wrong)
    with pytest.raises(InputError):
        Hybrid(1, share=2)
    with pytest.raises(InputError):
        Duchi(ratio=Fraction(10**30 + 1, 10**30 - 1))
    vector = VectorMean(3, 1)
    for wrong in ([1, 2], [[1, 2]], 1, [[[1, 2, 3]]]):
        with pytest.raises(InputError):
            vector.privatize(wrong)
    for wrong in ({"dimensions": 0}, {"told": 4}, {"told": 0}, {"epsilon": 0}):
        with pytest.raises(InputError):
            VectorMean(**{"dimensions": 3, "epsilon": 1, **wrong})
    with pytest.raises(InputError):
        VectorMean(1000, 20, steps=4096, told=8)
    twice = VectorMean(3, 8, steps=4, told=2)
    with pytest.raises(InputError, match="twice"):
        twice.tally([0])
    with pytest.raises(InputError):
        twice.law([0, 0, 0])
    with pytest.raises(InputError):
        twice.tally([twice.reports])
