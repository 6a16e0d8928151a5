"""Urns: every output of a tiny table, for every neighbour, and rows dealt without bias."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from commute_desk import SIZES, ask, commuters, curator, truth

from chance import at_most, fits
from discreet import Budget
from discreet.accounting import zcdp
from discreet.flows.commuting.land import Land
from discreet.flows.commuting.prior import UNIT
from discreet.flows.commuting.urns import Urns, deal
from discreet.noise.bits import SystemBits


@pytest.mark.parametrize("prior", ["pure", "accepted"])
def test_classic_draws_under_a_pure_budget(tmp_path, prior):
    desk = curator(tmp_path)
    offer = ask(desk, sizes=SIZES).plan(epsilon=6, method="classic", prior=prior, refusal="1e-12")
    found = offer.release()
    assert found.flows.sum(axis=0).tolist() == [750] * 4
    shares = truth(commuters()) / truth(commuters()).sum(axis=0)
    assert np.abs(found.flows / 750 - shares).max() < 0.25
    assert offer.plan.charge.amount == 6
    measured = ask(desk).plan(epsilon=3, method="classic", prior=prior)
    assert measured.plan.charge.amount == 3
    assert abs(len(measured.release()) - 3000) < 400


@pytest.mark.parametrize("prior", ["probabilistic", "approximate"])
def test_classic_draws_with_a_delta(tmp_path, prior):
    desk = curator(tmp_path, budget=Budget(epsilon=10, delta="1e-4"))
    offer = ask(desk, sizes=SIZES).plan(epsilon=2, delta="1e-5", method="classic", prior=prior)
    paid = offer.plan.charge
    assert 0 < paid.delta <= Fraction(1, 10**5)
    assert paid.amount == zcdp(offer.plan.cost).rho
    if prior == "probabilistic":
        assert paid.delta < Fraction(1, 10**7)  # what follows misses far less than what is probabilistic
        assert "later processing need not keep" in str(offer)
    assert len(offer.release()) == 3000
    # If sizes are not known yet, all of the delta is paid.
    assert ask(desk).plan(epsilon=2, delta="1e-5", method="classic", prior=prior).plan.charge.delta == Fraction(
        1, 10**5
    )
    assert ask(desk).plan(epsilon=2, delta="1e-5", method="classic").plan.prior == "probabilistic"


# Dealing.


def test_rows_are_dealt_to_the_last_one_and_without_bias():
    shares = np.array([0.0, 2.5, 0.3, 0.0, 1.2])
    many = np.array([deal(shares, 7, np.array([3.0, 1, 2, 0, 4]), SystemBits()) for _ in range(4000)])
    due = shares / shares.sum() * 7
    assert (many.sum(axis=1) == 7).all()
    assert (many[:, [0, 3]] == 0).all()
    assert (np.abs(many - due) < 1).all()
    assert fits(many[:, 2], lambda x: np.where(x == 1, due[2], np.where(x == 0, 1 - due[2], 0)))
    assert deal(shares, 0, np.zeros(5), SystemBits()).sum() == 0


# The classic urns, end to end: every output of a tiny table, for every neighbour.


def rising(start, count):
    return math.prod((start + step for step in range(count)), start=Fraction(1))


def drawn_law(workers, size, prior):
    """The law of `Urns.draw` for one destination: a subset, nobody's cell, draws."""
    total = sum(workers)
    kept = min(total, size)
    found = {}
    for some in itertools.product(*(range(n + 1) for n in workers)):
        if sum(some) != kept:
            continue
        chance = Fraction(
            math.prod(math.comb(n, k) for n, k in zip(workers, some, strict=True)), math.comb(total, kept)
        )
        weights = [n + prior for n in (size - kept, *some)]
        for counts in itertools.product(range(size + 1), repeat=len(weights)):
            if sum(counts) == size:
                ways = Fraction(math.factorial(size), math.prod(map(math.factorial, counts)))
                each = math.prod(rising(w, c) for w, c in zip(weights, counts, strict=True))
                found[counts] = found.get(counts, 0) + chance * ways * each / rising(sum(weights), size)
    return found


def test_urns_draw_as_stated():
    urns = Urns("pure", Fraction(2), Fraction(1))
    prior = Fraction(urns.units(2, 3), UNIT)
    exact = drawn_law((1, 3), 2, prior)  # more workers than the size: a subset first
    cases = list(exact)
    place = {case: number for number, case in enumerate(cases)}
    chances = np.array([float(exact[case]) for case in cases])
    assert chances.sum() == pytest.approx(1)
    seen = [place[tuple(urns.draw(np.array([1, 3]), 2, SystemBits()).tolist())] for _ in range(6000)]
    assert fits(seen, lambda number: chances[number])
    other = np.array([float(drawn_law((2, 2), 2, prior)[case]) for case in cases])
    assert not fits(seen, lambda number: other[number])


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2)])
def test_one_worker_more_or_less_is_hidden_below_at_and_above_the_size(epsilon):
    size = 3
    prior = Fraction(Urns("pure", epsilon, Fraction(1)).units(size, 3), UNIT)
    worst, mutant = 0.0, 0.0
    for workers in itertools.product(range(4), repeat=2):
        for cell in range(2):
            more = tuple(n + (place == cell) for place, n in enumerate(workers))
            for found, each in (("worst", prior), ("mutant", prior - Fraction(2, UNIT))):
                one, other = drawn_law(workers, size, each), drawn_law(more, size, each)
                ratio = max(abs(math.log(one[case] / other[case])) for case in one)
                worst, mutant = (max(worst, ratio), mutant) if found == "worst" else (worst, max(mutant, ratio))
    assert worst <= float(epsilon) * (1 + 1e-12)
    assert mutant > float(epsilon)


def test_a_delta_covers_one_worker_more_or_less():
    size, epsilon, delta = 6, Fraction(1), Fraction(1, 50)
    urns = Urns("approximate", epsilon, delta)
    prior = Fraction(urns.units(size, 2), UNIT)
    assert prior < Fraction(Urns("pure", epsilon, delta).units(size, 2), UNIT)
    worst, mutant = 0.0, 0.0
    for workers in range(9):
        for each in (prior, prior / 4):
            laws = [drawn_law((n,), size, each) for n in (workers, workers + 1)]
            for one, other in (laws, laws[::-1]):
                over = sum(max(float(c) - math.e * float(other[case]), 0) for case, c in one.items())
                worst, mutant = (max(worst, over), mutant) if each == prior else (worst, max(mutant, over))
    assert worst <= urns.missed(size, 2) <= float(delta)
    assert mutant > float(delta)


def test_refused_destinations_say_nothing(tmp_path):
    """At a refusal of one in ten some are refused; their rows come from everywhere alike."""
    exact = np.array([[90, 0], [0, 90], [0, 0]])
    land = Land(np.ones((3, 2)))
    urns = Urns("accepted", Fraction(1), Fraction(1, 10))
    refusals = 0
    for _ in range(400):
        flows, refused, _ = urns.flows(exact, np.array([90, 90]), land, SystemBits())
        refusals += len(refused)
        for place in refused:
            assert flows[:, place].tolist() == [30, 30, 30]
        assert flows.sum(axis=0).tolist() == [90, 90]
    assert refusals > 0
    assert at_most(refusals, 800, 0.1)
