"""The mean of a vector whose length is cut: one price for all coordinates, and no vector longer than is charged."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pyarrow
import pytest
from interval_coverage import PURE, ZCDP, holds

import discreet.query.vector_price
from aggregate_kit import measured, schema_of
from discreet.core.unit import Neighbours, Unit
from discreet.curator import Curator
from discreet.data.column import Integer, Real, Text
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.ledger.budget import Budget
from discreet.mechanisms import Gaussian, Laplace
from discreet.query.aggregate import VectorMean, count, mean
from discreet.query.estimate import estimate
from discreet.query.measure import vector_sensitivity
from discreet.query.plan import plan_query
from discreet.query.price import Price
from discreet.query.question import Query
from neighbour_bugs import find_bug, patched
from world_jobs import ALLOTMENTS, Desk, Job
from world_jobs import schema_of as world_schema

COLUMNS = {name: Real(-10, 10, nullable=False) for name in ("x", "y", "z")}
REPLACE = Unit(neighbours=Neighbours.REPLACE)
SCHEMA = Schema("t", COLUMNS, REPLACE, row_count=1000)
ROW = Schema("t", COLUMNS)
VECTOR = mean(["x", "y", "z"], norm=2)


def planned(schema=ROW, allotment=ZCDP, outputs=VECTOR, **price):
    return plan_query(Query().agg(**outputs), schema, allotment, Price.read(**(price or {"rho": "0.5"})))


def test_all_coordinates_have_the_noise_of_one_number_of_that_bound():
    """The l2 sensitivity of a sum is c where a row is added, 2c where it is replaced: sigma = that / sqrt(2 rho)."""
    for schema, length in ((ROW, 2), (Schema("t", COLUMNS, REPLACE), 4)):
        plan = planned(schema, rho=1)
        step = plan.measures[0].lattices[0].step
        # Half of the price is for the number of rows.
        assert float(plan.noises[0].sigma * step) == pytest.approx(length, rel=1e-4)
        assert len(plan.measures) == 4
        assert ZCDP.price(plan.cost).amount <= 1
    known = planned(SCHEMA, rho="0.5")
    assert float(known.noises[0].sigma * known.measures[0].lattices[0].step) == pytest.approx(4, rel=1e-4)
    assert Fraction(4999, 10000) < ZCDP.price(known.cost).amount <= Fraction(1, 2)


def test_pure_noise_is_for_the_sum_of_all_coordinates():
    plan = planned(SCHEMA, PURE, epsilon=1)
    assert isinstance(plan.noises[0], Laplace)
    assert float(plan.noises[0].scale * plan.measures[0].lattices[0].step) == pytest.approx(4 * 3**0.5, rel=1e-3)
    assert PURE.price(plan.cost).amount <= 1


def test_no_row_adds_a_vector_longer_than_the_radius():
    """All corners of two intervals, and what lies between, through the engine."""
    limits = Real(-3, 10.5, nullable=True)
    values = [None, float("nan"), 1e300, -1e300, 0.0, 0.1, 1.4, -1.5, 2.0, 10.5, -3.0, 3.7]
    pairs = list(itertools.product(values, values))
    schema = schema_of(limits, Unit(), len(pairs))
    taken = VectorMean("v", ("v", "w"), Fraction(2)).coordinate(schema)
    turns = [lambda _, pair=pair: pair[1] for pair in pairs]  # one scene each
    scenes = [((pair[0],), ()) for pair in pairs]
    found = measured(schema, list(taken.vector), scenes, turns)
    assert all(a * a + b * b <= taken.radius**2 for a, b in found)
    assert max(a * a + b * b for a, b in found) > (taken.radius - 3) ** 2
    for pair, (a, b) in zip(pairs, found, strict=True):
        if any(one is None or one != one for one in pair):
            assert (a, b) == (0, 0)
            continue
        true = np.clip(np.array(pair, dtype=float), -3, 10.5)
        true = true * min(1, 2 / max(np.linalg.norm(true), 1e-9))
        assert np.allclose(np.array([a, b]) * float(taken.lattices[0].step), true, atol=1e-3)


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_no_person_adds_a_vector_longer_than_the_rows_that_count(rows):
    """Every three rows of a few values, and fewer, through the engine: with others' rows beside them or alone."""
    values = [None, 0.0, 0.1, 1.9, -1.5, 2.0, 10.5, -3.0]
    scenes = [
        (mine, others)
        for others in ((), (1.0, -3.0))
        for size in range(5)
        for mine in itertools.combinations_with_replacement(values, size)
    ]
    schema = schema_of(Real(-3, 10.5, nullable=True), Unit("p", groups=1, rows=rows), len(scenes))
    taken = VectorMean("v", ("v", "w"), Fraction(2)).coordinate(schema)
    turns = [lambda value: None if value is None else 0.7 - value]  # another direction for each value
    found = measured(schema, [*taken.vector, taken.weight], scenes, turns)
    half = len(scenes) // 2
    most, (length, added) = 0, vector_sensitivity(taken, schema.unit, len(scenes))
    for start in (0, half):
        none = found[start]
        for scene, (a, b, many) in zip(scenes[start : start + half], found[start : start + half], strict=True):
            moved = a - none[0], b - none[1]
            assert moved[0] ** 2 + moved[1] ** 2 <= length**2, scene
            assert abs(moved[0]) + abs(moved[1]) <= added, scene
            assert many - none[2] <= rows
            most = max(most, moved[0] ** 2 + moved[1] ** 2)
    assert most > (0.98 * length) ** 2  # and no more is charged than that


def test_a_person_in_several_groups_moves_the_corner_of_what_is_charged():
    """k groups, each by r radii: sqrt(k) r of them in L2, k r sqrt(m) in L1; with a limit on all rows less."""
    taken = VectorMean("x", ("x", "y"), Fraction(2)).coordinate(ROW)
    radius = taken.radius
    for unit, length, together in (
        (Unit("p", groups=4, rows=3), 2 * 3, 12),
        (Unit("p", groups=4, rows=3, rows_total=7), 19**0.5, 7),
        (Unit("p", neighbours=Neighbours.REPLACE, groups=1, rows=2), 4, 4),
        (Unit(rows=3), 3, 3),
    ):
        found = vector_sensitivity(taken, unit, 10)
        assert length * radius <= found[0] <= length * radius + 2
        assert together * radius * 2**0.5 <= found[1] <= together * radius * 2**0.5 + 2


def test_a_person_moves_no_more_groups_than_the_question_has():
    """Without keys there is one group, however many the unit allows."""
    taken = VectorMean("x", ("x", "y"), Fraction(2)).coordinate(ROW)
    radius = taken.radius
    for unit, groups, length, together in (
        (Unit("p", groups=4, rows=3), 1, 3, 3),
        (Unit("p", groups=4, rows=3), 2, 18**0.5, 6),
        (Unit("p", groups=4, rows=3, rows_total=7), 1, 3, 3),
        (Unit("p", neighbours=Neighbours.REPLACE, groups=4, rows=3), 1, 6, 6),
        (Unit(rows=3), 1, 3, 3),
    ):
        found = vector_sensitivity(taken, unit, groups)
        assert length * radius <= found[0] <= length * radius + 2
        assert together * radius * 2**0.5 <= found[1] <= together * radius * 2**0.5 + 2


def test_without_noise_it_is_the_mean_of_cut_vectors_of_persons(tmp_path):
    """Of whoever has more rows than count, the mean of them counts as often."""
    random = np.random.Generator(np.random.PCG64(4))
    rows, who = random.normal(size=(400, 2)) * 2, random.integers(0, 60, 400)
    table = pyarrow.table({"p": [f"p{one}" for one in who], "x": rows[:, 0], "y": rows[:, 1]})
    schema = Schema("t", {"x": COLUMNS["x"], "y": COLUMNS["y"], "p": Text()}, Unit("p", groups=1, rows=4))
    curator = Curator.open(table, schema, ledger=tmp_path / "l.db", budget=Budget(rho=10**9), create=True)
    found = curator.table().agg(**mean(["x", "y"], norm=2)).plan(rho=10**7).release()
    cut = rows * np.minimum(1, 2 / np.linalg.norm(rows, axis=1))[:, None]
    weights = np.minimum(1, 4 / np.bincount(who)[who])
    wanted = np.average(cut, axis=0, weights=weights)
    assert [found.columns[f"mean_{name}"][0] for name in "xy"] == pytest.approx(wanted, abs=2e-3)
    assert "the mean of their values counts as 4 rows" in str(found)


def test_without_noise_it_is_the_mean_of_cut_vectors(tmp_path):
    rows = np.random.Generator(np.random.PCG64(3)).normal(size=(500, 3)) * 2
    table = pyarrow.table({name: rows[:, place] for place, name in enumerate("xyz")})
    curator = Curator.open(table, ROW, ledger=tmp_path / "l.db", budget=Budget(rho=10**9), create=True)
    for norm in (2, 1000):
        found = curator.table().agg(**mean(["x", "y", "z"], norm=norm)).plan(rho=10**7).release()
        cut = rows * np.minimum(1, norm / np.linalg.norm(rows, axis=1))[:, None]
        assert [found.columns[f"mean_{name}"][0] for name in "xyz"] == pytest.approx(cut.mean(axis=0), abs=2e-3)
    assert "longer than 1000 are scaled down to that length" in str(found)


def test_it_goes_to_json_and_back_and_shares_its_rows():
    query = Query().agg(n=count(), **VECTOR).checked(ROW)
    assert Query.from_json(query.to_json(), ROW) == query
    assert len(plan_query(query, ROW, ZCDP, Price.read(rho=1)).measures) == 4


@pytest.mark.statistical
@pytest.mark.parametrize("schema", [ROW, SCHEMA], ids=["counted", "known"])
def test_each_interval_holds_its_coordinate(schema):
    plan = planned(schema)
    output = plan.question.outputs[0][1]
    step, radius = float(plan.measures[0].lattices[0].step), plan.measures[0].radius
    exact, hits = [radius * 500, 1000], 0
    for _ in range(4):
        taken = [noise for _, noise in plan._taken(output)]
        noisy = [noise.release(np.full(200, value)) for noise, value in zip(taken, [*exact, 0, 0], strict=True)]
        found = estimate(output, schema, noisy, taken, 0.95)
        hits += int(((found.lower <= radius * step / 2) & (radius * step / 2 <= found.upper)).sum())
    assert holds(hits, 800, 0.94, 1.0)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: mean(["x", "y"]),
        lambda: mean("x", norm=2),
        lambda: mean(["x", "y"], (0, 1), norm=2),
        lambda: mean(["x", "y"], norm=0),
        lambda: mean(["x"], norm=1),
        lambda: planned(outputs={"m": VectorMean("x", ("y", "z"), Fraction(1))}),
        lambda: planned(within="0.1"),
        lambda: planned(outputs=mean(["x", "y"], norm="1e-9")),
        lambda: planned(Schema("t", {**COLUMNS, "y": Text()})),
    ],
)
def test_what_is_no_vector_or_has_no_length_is_refused(wrong):
    with pytest.raises(InputError):
        wrong()


def test_a_search_for_bounds_has_no_vectors_beside_it(tmp_path):
    rows = pyarrow.table({name: [1.0] for name in "xyz"})
    curator = Curator.open(rows, ROW, ledger=tmp_path / "l.db", budget=Budget(rho=1, delta=1e-6), create=True)
    with pytest.raises(InputError, match="private"):
        curator.table().agg(s=mean("x", "private"), **VECTOR).plan(rho="0.1")


def vectors(neighbours):
    """A vector whose rows are mostly longer than counts."""
    schema = world_schema(Unit(neighbours=neighbours))
    plan = Desk(schema, ALLOTMENTS["rho"]).table().agg(**mean(["n", "y"], norm=2)).plan(rho=1).plan
    return lambda _: Job(schema, plan.allotment, plan.cost, plan.measure, plan)


def of_persons(_):
    """The same of persons, of whom two rows count in each of two groups."""
    schema = world_schema(Unit("p", groups=2, rows=2))
    asked = Desk(schema, ALLOTMENTS["rho"]).table().group_by("g").agg(**mean(["n", "y"], norm=2))
    plan = asked.plan(rho=1).plan
    return Job(schema, plan.allotment, plan.cost, plan.measure, plan)


def test_noise_for_one_row_is_too_little_for_a_person_with_several():
    def of_one_row(measure, unit, groups):
        return vector_sensitivity(measure, Unit("p", groups=unit.groups, rows=1), groups)

    find_bug(of_persons, patched((discreet.query.vector_price, "vector_sensitivity"), by=of_one_row))


def test_sums_of_persons_that_are_not_shortened_are_found():
    import discreet.query.contribution as room

    find_bug(of_persons, patched((room, "_shortened"), by=lambda found, values, rows: found))


def replaced_as_removed(measure, unit, groups):
    return vector_sensitivity(measure, Unit(rows=unit.rows), groups)


def test_noise_for_vectors_that_come_and_go_is_too_little_where_they_are_replaced():
    def late(_):
        """Planned with the bug, and asked anew each time."""
        return vectors(Neighbours.REPLACE)(_)

    find_bug(late, patched((discreet.query.vector_price, "vector_sensitivity"), by=replaced_as_removed))


def test_a_vector_that_is_not_cut_is_found():
    import discreet.query.compile as room

    def uncut(measure, read):
        return room._steps(read, measure.columns[measure.place], measure.lattices[measure.place], lambda v: v, 0)

    find_bug(vectors(Neighbours.ADD_REMOVE), patched((room, "_coordinate"), by=uncut))


def test_the_noise_of_a_vector_is_gaussian_where_rho_is_counted():
    assert all(isinstance(noise, Gaussian) for noise in planned().noises)
    assert planned(Schema("t", {"x": Integer(0, 3), "y": Integer(0, 3)}), outputs=mean(["x", "y"], norm=3)).groups == 1
