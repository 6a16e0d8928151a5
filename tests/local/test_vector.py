"""Vectors: the claim holds for all numbers of a person together, and each mean is unbiased."""

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest

from chance import mean_fits
from discreet.core.exact import exp_up
from discreet.errors import InputError
from discreet.local import (
    VectorMean,
    responder_from_dict,
)
from local_cases import worst


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


def test_wrong_shapes_are_refused():
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
