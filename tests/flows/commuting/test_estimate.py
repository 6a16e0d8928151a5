"""Flows from noisy counts are nearer than urns and plain noise, whatever the table."""

from fractions import Fraction

import numpy as np
import pytest
from commute_desk import measured

from discreet.flows.commuting.estimate import flows_of
from discreet.flows.commuting.land import Land
from discreet.flows.commuting.urns import Urns
from discreet.mechanisms import Laplace
from discreet.noise.bits import SystemBits


def line(places, scale=1.0):
    at = np.arange(places) * scale
    return Land(np.abs(at[:, None] - at[None]))


def made(places=30, trips=20_000, seed=1):
    chance = np.random.default_rng(seed)
    at = chance.random((places, 2)) * 30
    land = Land(np.hypot(*(at[:, None] - at[None]).transpose(2, 0, 1)))
    rate = chance.lognormal(0, 1, places)[:, None] * chance.lognormal(0, 1, places) * np.exp(-land.distances / 5)
    return chance.poisson(rate * trips / rate.sum()), land


def variation(true, found):
    """Total variation by destination, weighted by its true rows."""
    one, other = (flows / np.maximum(flows.sum(axis=0), 1) for flows in (true, found))
    return float((np.abs(one - other).sum(axis=0) / 2 * true.sum(axis=0)).sum() / true.sum())


@pytest.mark.parametrize("epsilon", ["1/2", "1", "2", "23/5", "43/5"])
def test_the_modern_way_beats_every_urn(epsilon):
    true, land = made()
    modern = flows_of(*measured(true, epsilon), None, land)
    for prior in ("pure", "probabilistic", "approximate", "accepted"):
        flows, _, _ = Urns(prior, Fraction(epsilon), Fraction(1, 10**5)).flows(
            true, true.sum(axis=0), land, SystemBits()
        )
        assert variation(true, modern) < variation(true, flows)


def test_the_modern_way_is_nearer_than_plain_noise():
    true, land = made(60)
    modern = np.mean([variation(true, flows_of(*measured(true, "1/2"), None, land)) for _ in range(3)])
    noise = Laplace.for_epsilon("1/2")
    plain = [np.maximum(noise.release(true.ravel()).reshape(true.shape), 0) for _ in range(3)]
    assert modern < np.mean([variation(true, flows) for flows in plain])


def test_odd_tables_do_not_stop_the_modern_way():
    for flows in (np.zeros((3, 4), int), np.eye(5, dtype=int) * 10**7, np.full((2, 2), 1), np.array([[5]])):
        land = Land(np.ones(flows.shape))
        found = flows_of(*measured(flows, "1"), None, land)
        assert found.min() >= 0
        assert found.shape == flows.shape
        sizes = flows.sum(axis=0)
        public = flows_of(*measured(flows, "1/100")[:2], None, sizes, land)
        assert np.array_equal(public.sum(axis=0), sizes)
    assert np.abs(flows_of(*measured(np.eye(5, dtype=int) * 10**7, "1"), None, line(5)).sum() - 5 * 10**7) < 10**4
