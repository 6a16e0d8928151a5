"""Places with planar noise: the claim holds at every distance, and noise that is too small is caught."""

import math
from fractions import Fraction

import numpy as np
import pytest

from chance import at_most, mean_fits
from discreet.core.loss import Pure
from discreet.errors import InputError
from discreet.mechanisms import PlanarLaplace, lattice_distance

REACH = np.arange(-160, 161)


def law(scale, place):
    mass = np.exp(-np.hypot(REACH[:, None] - place[0], REACH - place[1]) / float(scale))
    return mass / mass.sum()


@pytest.mark.parametrize(("place", "distance"), [((5, 0), 5), ((3, 4), 5), ((1, 1), math.sqrt(2)), ((-8, 15), 17)])
def test_the_claim_holds_at_every_distance_and_is_attained(place, distance):
    noise = PlanarLaplace(4)
    ratio = np.log(law(noise.scale, place) / law(noise.scale, (0, 0)))
    assert np.abs(ratio).max() == pytest.approx(distance / 4, rel=1e-6)
    assert float(noise.loss(Fraction(distance).limit_denominator(10**9)).epsilon) == pytest.approx(distance / 4)
    half = np.log(law(noise.scale / 2, place) / law(noise.scale / 2, (0, 0)))
    assert np.abs(half).max() > 1.9 * distance / 4  # half the noise is caught


def test_scale_is_exactly_distance_over_epsilon_and_places_add_up():
    assert PlanarLaplace.for_epsilon(0.1, distance=7).scale == 70
    assert PlanarLaplace(70).loss(7) == Pure("0.1")
    assert PlanarLaplace(70).loss(7, places=3) == Pure("0.3")


@pytest.mark.parametrize(("alpha", "step"), [(200, 10), ("0.5", 1), (1, "0.3")])
def test_rounded_places_are_no_farther_apart_than_said(alpha, step):
    random = np.random.default_rng(3)
    starts = random.uniform(-100, 100, (20_000, 2))
    turns = random.uniform(0, 2 * np.pi, 20_000)
    ends = starts + float(Fraction(alpha)) * np.stack([np.cos(turns), np.sin(turns)], axis=1)
    rounded = [np.floor(place / float(Fraction(step)) + 0.5) for place in (starts, ends)]
    farthest = np.hypot(*(rounded[0] - rounded[1]).T).max()
    said = lattice_distance(alpha, step)
    assert farthest <= said
    assert farthest > Fraction(alpha) / Fraction(step)  # without room for rounding it would be too small


@pytest.mark.statistical
@pytest.mark.parametrize("scale", [Fraction(3, 4), 3, 40])
def test_errors_stay_within_what_is_said(scale):
    noise = PlanarLaplace(scale)
    off = noise.release(np.zeros((100_000, 2), dtype=np.int64))
    far = np.hypot(*off.T.astype(float))
    assert at_most(int((far > noise.error(0.9)).sum()), len(far), 0.1)
    if scale > 2:
        assert not at_most(int((far > 0.9 * noise.error(0.9) - 3).sum()), len(far), 0.1)
    assert mean_fits(off[:, 0].astype(float) ** 2, noise.variance, 100 * float(scale) ** 4 + 1)
    assert mean_fits(off[:, 1].astype(float), 0, noise.variance)


def test_places_are_pairs_of_integers():
    noise = PlanarLaplace(3)
    assert noise.release([]).shape == (0, 2)
    for bad in ([1, 2], [[1]], [[0.5, 1]], [[True, False]], [["a", "b"]], None, 3, [[2**63, 0]], [[1, 2, 3]]):
        with pytest.raises(InputError, match="places"):
            noise.release(bad)


@pytest.mark.parametrize("wrong", [0, -1, "far", float("nan"), None])
def test_distances_are_more_than_nothing(wrong):
    with pytest.raises(InputError, match="distance"):
        PlanarLaplace.for_epsilon(1, wrong)
    with pytest.raises(InputError, match="alpha"):
        lattice_distance(wrong, 1)
    with pytest.raises(InputError, match="step"):
        lattice_distance(1, wrong)
