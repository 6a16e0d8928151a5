"""Tallies and estimates: what they refuse, and shares made consistent."""

import math

import numpy as np
import pytest

from chance import at_most
from discreet.errors import InputError
from discreet.local import GRR, OLH, OUE, SUE, Hadamard, Subset, Tally
from discreet.local.estimate import consistent


def test_a_tally_is_not_a_number():
    with pytest.raises(TypeError):
        Tally("a", 1, np.zeros(2, dtype=int), np.zeros(2, dtype=int)) + 1


@pytest.mark.parametrize("how", ["simplex", "normalize", "threshold"])
def test_consistent_shares_are_shares(how):
    chance = np.random.default_rng(3)
    for _ in range(50):
        shares = chance.normal(0.1, 0.2, 10)
        made = consistent(shares, how, errors=np.full(10, 0.1))
        assert made.min() >= 0
        assert made.sum() == pytest.approx(1)
    assert consistent(np.full(4, -1.0), how, errors=np.ones(4)) == pytest.approx([0.25] * 4)


def test_the_nearest_point_is_nearest():
    chance = np.random.default_rng(4)
    shares = chance.normal(0.2, 0.3, 5)
    made = consistent(shares)
    others = chance.dirichlet(np.ones(5), 20_000)
    assert ((made - shares) ** 2).sum() <= ((others - shares) ** 2).sum(axis=1).min()


def test_consistency_is_named_and_off():
    found = GRR(3, 0.5).estimate([0] * 90 + [1] * 10)
    assert found.frequencies.min() < 0
    made = found.consistent("simplex")
    assert made.method == "simplex"
    assert made.frequencies.min() == 0
    with pytest.raises(InputError, match="unbiased"):
        made.interval()
    with pytest.raises(InputError):
        made.consistent()
    with pytest.raises(InputError, match="simplex"):
        found.consistent("magic")
    rows = found.rows(["a", "b", "c"])
    assert rows[0]["category"] == "a"
    assert rows[0]["lower"] < rows[0]["frequency"] < rows[0]["upper"]
    assert math.isnan(made.rows()[0]["lower"])
    with pytest.raises(InputError):
        found.rows(["a"])
    with pytest.raises(InputError):
        found.interval(of="nobody")


MANY = [made(6, epsilon) for epsilon in (4, 8) for made in (GRR, OLH, OUE, SUE, Subset, Hadamard)]


@pytest.mark.statistical
@pytest.mark.parametrize("mechanism", MANY, ids=lambda one: f"{one.kind}-{one.epsilon}")
@pytest.mark.parametrize("counts", [[100, 0, 0, 0, 0, 0], [96, 1, 1, 1, 1, 0]], ids=["all", "few"])
def test_intervals_hold_where_hardly_any_report_is_scrambled(mechanism, counts):
    trials, truth = 150, np.array(counts) / 100
    people, held = np.repeat(np.arange(6), counts), np.zeros(6)
    for _ in range(trials):
        low, high = mechanism.estimate(mechanism.privatize(people)).interval().T
        held += (low <= truth) & (truth <= high)
    assert all(at_most(trials - int(each), trials, 0.08) for each in held)  # 0.98 of them missed, of some


def test_an_end_is_never_on_the_other_side_of_the_estimate():
    for mechanism in MANY:
        for count in (1, 3, 40):
            found = mechanism.estimate(mechanism.privatize([0] * count))
            low, high = found.interval().T
            assert (low <= found.frequencies).all()
            assert (found.frequencies <= high).all()
