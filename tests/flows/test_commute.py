"""Synthetic commuters: one price, one charge, rows that look like the true ones, and nobody's presence told."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pyarrow
import pytest

import discreet
from chance import at_most, fits
from discreet import Allotment, Budget, Category, Integer, Schema, Unit, bins, discover
from discreet.accounting import pure, zcdp
from discreet.core.unit import Neighbours
from discreet.curator import read_release
from discreet.errors import BudgetError, InputError
from discreet.flows.commuting.classic import Urns, dealt
from discreet.flows.commuting.land import Land, clustered, land_of
from discreet.flows.commuting.modern import flows_of
from discreet.flows.commuting.plan import row_price
from discreet.flows.commuting.prior import UNIT
from discreet.marginals.meter import Noisy
from discreet.mechanisms import Gaussian, Laplace
from discreet.noise.bits import SystemBits

PLACES = ["A", "B", "C", "D"]
WHERE = {"A": (0, 0), "B": (3, 4), "C": (0, 10), "D": (30, 40)}
SIZES = dict.fromkeys(PLACES, 750)


def commuters(rows=3000, people=400, seed=3):
    chance = np.random.default_rng(seed)
    return pyarrow.table(
        {
            "who": chance.integers(0, people, rows),
            "home": chance.choice(PLACES, rows, p=[0.6, 0.2, 0.15, 0.05]),
            "work": chance.choice(PLACES, rows),
            "hour": chance.integers(0, 24, rows),
        }
    )


def curator(tmp_path, unit=None, budget=None, table=None, nullable=False):
    columns = {
        "who": Integer(0, 10**6, nullable=False),
        "home": Category(PLACES, nullable=nullable),
        "work": Category(PLACES, nullable=False),
        "hour": Integer(0, 23, nullable=False),
    }
    data = commuters() if table is None else table
    schema = Schema("jobs", columns, unit or Unit())
    return discreet.open(
        data, schema, ledger=tmp_path / "l.db", budget=budget or Budget(epsilon=10), who="t", create=True
    )


def ask(desk, **how):
    return desk.commute(**{"origin": "home", "destination": "work", "coordinates": WHERE, **how})


def truth(table):
    flows = np.zeros((4, 4), dtype=np.int64)
    for home, work in zip(table["home"].to_pylist(), table["work"].to_pylist(), strict=True):
        flows[PLACES.index(home), PLACES.index(work)] += 1
    return flows


def line(places, scale=1.0):
    at = np.arange(places) * scale
    return Land(np.abs(at[:, None] - at[None]))


# The whole way.


def test_rows_are_made_and_one_charge_pays(tmp_path):
    desk = curator(tmp_path)
    offer = ask(desk).plan(epsilon=4)
    found = offer.release(release="jobs")
    assert found.flows.min() >= 0
    assert np.abs(found.flows - truth(commuters())).max() < 60
    rows = found.to_arrow()
    assert rows.column_names == ["home", "work"]
    assert len(rows) == len(found) == found.flows.sum()
    assert np.array_equal(truth(rows), found.flows)
    assert found.to_pandas().shape == (len(found), 2)
    assert [record.kind for record in desk.ledger.records()].count("charge") == 1
    assert desk.ledger.remaining("jobs").amount == 6
    with pytest.warns(UserWarning, match="may describe earlier data"):
        again = offer.release(release="jobs")
    assert np.array_equal(again.flows, found.flows)
    assert len(again.notes) == len(found.notes) + 1
    assert np.array_equal(read_release(desk.ledger, "jobs").flows, found.flows)
    assert desk.ledger.remaining("jobs").amount == 6
    assert "made-up rows" in repr(found)
    with pytest.raises(InputError, match="stored release"):
        read_release(desk.ledger, "none")


def test_mean_distances_and_pictures(tmp_path):
    found = ask(curator(tmp_path)).plan(epsilon=4).release()
    assert found.distances[0].tolist() == [0, 5, 10, 50]
    means = found.mean_distances()
    by_hand = (found.flows[:, 0] * np.array([0, 5, 10, 50])).sum() / found.flows[:, 0].sum()
    assert means["A"] == pytest.approx(by_hand)
    alone = found.plot()
    assert len(alone.table.rows) == 4
    assert 'class="diagonal"' not in alone.to_svg()
    beside = found.plot(true=dict.fromkeys(PLACES, 7.0))
    assert {row[1] for row in beside.table.rows} == {"7"}
    assert 'class="diagonal"' in beside.to_svg()
    with pytest.raises(InputError):
        found.plot(true={"A": 1.0})


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


def test_what_is_said_before_anything_is_spent(tmp_path):
    desk = curator(tmp_path, Unit("who", groups=2, rows=3))
    text = str(ask(desk, farthest=20).plan(epsilon=1))
    for part in (
        "epsilon = 1 ",
        "cells: +-",
        "destinations: +-",
        "farther than 20",
        "at most 2 cells",
        "at most 3 rows",
    ):
        assert part in text, text
    text = str(ask(desk, sizes=SIZES).plan(epsilon=1, method="classic"))
    for part in (
        "public, and kept",
        "accepted prior",
        "refused with a chance of at most 1e-5",
        "epsilon 0.16667 a row",
    ):
        assert part in text, text
    assert "charge" not in {record.kind for record in desk.ledger.records()}
    assert "refused" in str(ask(desk).plan(epsilon=100))
    with pytest.raises(BudgetError):
        ask(desk).plan(epsilon=100).release()


def test_gaussian_noise_where_rho_is_counted(tmp_path):
    desk = curator(tmp_path, budget=Budget(rho=1))
    offer = ask(desk).plan(rho="0.5")
    assert isinstance(offer.plan.noise(Fraction(1, 2)), Gaussian)
    assert offer.plan.charge.amount == Fraction(1, 2)
    assert abs(len(offer.release()) - 3000) < 200
    with pytest.raises(InputError, match="classic"):
        ask(desk).plan(rho="0.1", method="classic")


@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize("groups", [1, 3])
def test_everything_one_unit_does_is_paid_for(tmp_path, neighbours, groups):
    unit = Unit("who", neighbours, groups, 2)
    desk = curator(tmp_path, unit)
    moves = 2 * groups * (1 if neighbours is Neighbours.ADD_REMOVE else 2)
    offer = ask(desk, sizes=SIZES).plan(epsilon=1, method="classic", prior="pure")
    assert offer.plan.urns.epsilon == Fraction(1, moves)
    assert pure(offer.plan.cost).epsilon == 1
    modern = ask(desk).plan(epsilon=1).plan
    assert modern.noise(Fraction(1, 2)) == Laplace(2 * moves)
    assert len(ask(desk).plan(epsilon=1).release()) > 0
    epsilon, delta = Fraction(1, moves), Fraction(1, 10**6)
    each = row_price("approximate", epsilon, delta, moves)
    total = each * Fraction(math.exp(1) - 1) / Fraction(math.exp(1 / moves) - 1)
    assert float(total) == pytest.approx(1e-6)


def test_a_condition_and_missing_places(tmp_path):
    table = commuters()
    home = [None if row < 1000 else place for row, place in enumerate(table["home"].to_pylist())]
    desk = curator(tmp_path, table=table.set_column(1, "home", [home]), nullable=True)
    found = ask(desk, where="hour < 12").plan(epsilon=5).release()
    assert abs(len(found) - 1000) < 150
    assert found.origins == tuple(PLACES)


def test_places_may_be_bins_of_numbers(tmp_path):
    found = ask(
        curator(tmp_path), origin=bins("hour", [0, 12, 24]), coordinates={**WHERE, "0..12": (1, 1), "12..24": (2, 2)}
    )
    assert found.plan(epsilon=3).release().origins == ("0..12", "12..24")


# Land.


def test_distances_on_a_plane_and_on_the_globe():
    plane = land_of(PLACES, ["A"], WHERE, degrees=False, clusters=None, near=None, farthest=None)
    assert plane.distances.ravel().tolist() == [0, 5, 10, 50]
    cities = {"Berlin": (52.52, 13.405), "Paris": (48.857, 2.352)}
    globe = land_of(list(cities), list(cities), cities, degrees=True, clusters=None, near=None, farthest=None)
    assert globe.distances[0, 1] == pytest.approx(878, abs=2)
    assert globe.distances[0, 0] == 0


def test_clusters_follow_from_coordinates_alone():
    points = np.array([[0, 0], [1, 0], [0, 1], [50, 50], [51, 50], [100, 0.0]])
    assert len(set(clustered(points, 3)[:3])) == 1
    assert len(set(clustered(points, 3))) == 3
    assert sorted(clustered(points, 6)) == list(range(6))
    assert clustered(points, 1).tolist() == [0] * 6


def test_cells_near_and_far():
    land = land_of(
        PLACES, PLACES, WHERE, degrees=False, clusters={"A": "w", "B": "w", "C": "w", "D": "e"}, near=4, farthest=45
    )
    # Seen from A: A alone, B and C together, D too far away. From D: A too far, B and C together, D alone.
    first, last = land.cells(0), land.cells(3)
    assert first[0] != first[1] == first[2]
    assert first[3] == -1
    assert last[0] == -1
    assert last[3] != last[1] == last[2]
    assert land_of(PLACES, PLACES, WHERE, degrees=False, clusters=None, near=None, farthest=None).cells(2).tolist() == [
        0,
        1,
        2,
        3,
    ]


@pytest.mark.parametrize("method", ["modern", "classic"])
def test_nobody_comes_from_too_far(tmp_path, method):
    found = ask(curator(tmp_path), farthest=20).plan(epsilon=4, method=method).release()
    assert found.flows[3, :3].sum() == found.flows[:3, 3].sum() == 0
    assert found.flows[:3, :3].sum() > 1500


def test_clusters_share_alike(tmp_path):
    found = ask(curator(tmp_path), sizes=SIZES, clusters={"A": 1, "B": 1, "C": 2, "D": 2}).plan(
        epsilon=8, method="classic", prior="pure"
    )
    flows = found.release().flows
    assert np.abs(flows[0] - flows[1]).max() <= 1
    assert np.abs(flows[2] - flows[3]).max() <= 1
    assert abs(int(flows[:2].sum()) - 2400) < 300


# Dealing.


def test_rows_are_dealt_to_the_last_one_and_without_bias():
    shares = np.array([0.0, 2.5, 0.3, 0.0, 1.2])
    many = np.array([dealt(shares, 7, np.array([3.0, 1, 2, 0, 4]), SystemBits()) for _ in range(4000)])
    due = shares / shares.sum() * 7
    assert (many.sum(axis=1) == 7).all()
    assert (many[:, [0, 3]] == 0).all()
    assert (np.abs(many - due) < 1).all()
    assert fits(many[:, 2], lambda x: np.where(x == 1, due[2], np.where(x == 0, 1 - due[2], 0)))
    assert dealt(shares, 0, np.zeros(5), SystemBits()).sum() == 0


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
        flows, refused = urns.flows(exact, np.array([90, 90]), land, SystemBits())
        refusals += len(refused)
        for place in refused:
            assert flows[:, place].tolist() == [30, 30, 30]
        assert flows.sum(axis=0).tolist() == [90, 90]
    assert refusals > 0
    assert at_most(refusals, 800, 0.1)


# The modern way.


def measured(flows, epsilon):
    parts = []
    for columns, exact, share in (
        ((0, 1), flows, 0.95),
        ((0,), flows.sum(axis=1), 0.025),
        ((1,), flows.sum(axis=0), 0.025),
    ):
        noise = Laplace.for_epsilon(Fraction(epsilon) * Fraction(str(share)))
        parts.append(Noisy(columns, noise.release(exact.ravel()).reshape(exact.shape), noise))
    return parts


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
        flows, _ = Urns(prior, Fraction(epsilon), Fraction(1, 10**5)).flows(true, true.sum(axis=0), land, SystemBits())
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


# What makes no sense.


@pytest.mark.parametrize(
    ("how", "field"),
    [
        ({"origin": "nowhere"}, "origin"),
        ({"origin": discover("home")}, "origin"),
        ({"where": "hour <"}, "where"),
        ({"coordinates": [(0, 0)]}, "coordinates"),
        ({"coordinates": {"A": (0, 0)}}, "coordinates"),
        ({"coordinates": {**WHERE, "A": (0, float("nan"))}}, "coordinates"),
        ({"coordinates": {**WHERE, "A": 7}}, "coordinates"),
        ({"coordinates": {**WHERE, "A": (100, 0)}, "degrees": True}, "coordinates"),
        ({"sizes": {"A": 3}}, "sizes"),
        ({"sizes": [3, 3, 3, 3]}, "sizes"),
        ({"sizes": {**SIZES, "A": -1}}, "sizes"),
        ({"sizes": {**SIZES, "A": 1.5}}, "sizes"),
        ({"clusters": 0}, "clusters"),
        ({"clusters": 5}, "clusters"),
        ({"clusters": {"A": 1}}, "clusters"),
        ({"near": 3}, "near"),
        ({"farthest": -1}, "farthest"),
        ({"farthest": True}, "farthest"),
    ],
)
def test_questions_that_make_no_sense_are_refused(tmp_path, how, field):
    desk = curator(tmp_path)
    with pytest.raises(InputError) as caught:
        ask(desk, **how)
    assert caught.value.field == field
    assert "charge" not in {record.kind for record in desk.ledger.records()}


def test_a_destination_nobody_can_reach_is_named(tmp_path):
    with pytest.raises(InputError, match="'D'"):
        ask(curator(tmp_path), origin=bins("hour", [0, 24]), coordinates={**WHERE, "0..24": (0, 0)}, farthest=20)


@pytest.mark.parametrize(
    ("price", "field"),
    [
        ({}, "price"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": "1e-30"}, "epsilon"),
        ({"epsilon": "1e-30", "method": "classic"}, "epsilon"),
        ({"epsilon": 1, "method": "magic"}, "method"),
        ({"epsilon": 1, "delta": "1e-5"}, "delta"),
        ({"epsilon": 1, "prior": "pure"}, "prior"),
        ({"epsilon": 1, "method": "classic", "prior": "vague"}, "prior"),
        ({"epsilon": 1, "method": "classic", "prior": "pure", "delta": "1e-5"}, "delta"),
        ({"epsilon": 1, "method": "classic", "prior": "approximate"}, "delta"),
        ({"epsilon": 1, "method": "classic", "prior": "approximate", "delta": 2}, "delta"),
        ({"epsilon": 1, "method": "classic", "prior": "approximate", "delta": "1e-5"}, "allotment"),
        ({"epsilon": 1, "method": "classic", "refusal": 1}, "refusal"),
        ({"epsilon": 1, "allotment": "other"}, "allotment"),
        ({"rho": 1}, "rho"),
    ],
)
def test_prices_that_make_no_sense_are_refused(tmp_path, price, field):
    desk = curator(tmp_path)
    with pytest.raises(InputError) as caught:
        ask(desk).plan(**price)
    assert caught.value.field == field
    assert "charge" not in {record.kind for record in desk.ledger.records()}


def test_only_allotments_for_single_questions_pay(tmp_path):
    parts = [Allotment("training", "plan", epsilon=1, delta="1e-6")]
    desk = curator(tmp_path, budget=Budget(1, delta="1e-6", allotments=parts))
    with pytest.raises(InputError, match="pure or zcdp"):
        ask(desk).plan(epsilon=1)


def test_plans_that_differ_have_other_digests(tmp_path):
    desk = curator(tmp_path)
    plans = [
        ask(desk).plan(epsilon=1),
        ask(desk).plan(epsilon=2),
        ask(desk, farthest=20).plan(epsilon=1),
        ask(desk, sizes=SIZES).plan(epsilon=1),
        ask(desk, clusters=2).plan(epsilon=1, method="classic"),
        ask(desk, clusters=3).plan(epsilon=1, method="classic"),
        ask(desk, clusters=3).plan(epsilon=1, method="classic", prior="pure"),
        ask(desk, clusters=3).plan(epsilon=1, method="classic", refusal="0.01"),
        ask(desk, coordinates={**WHERE, "A": (1, 1)}).plan(epsilon=1),
    ]
    assert len({offer.plan.digest for offer in plans}) == len(plans)
    assert ask(desk).plan(epsilon=1).plan.digest == plans[0].plan.digest
