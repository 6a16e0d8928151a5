"""Sums of a bounded column and weighted counts by region: how far a unit moves them, and what is published of them."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow
import pytest
from tree_desk import COUNTIES, STATES, add_up

import discreet
from chance import at_most
from discreet import Budget, Category, Integer, Real, Schema, col
from discreet.core.sensitivity import Sensitivity
from discreet.core.unit import Unit
from discreet.errors import InputError
from discreet.query.aggregate import total
from discreet.query.key import Key
from discreet.trees.count import Tabulation
from discreet.trees.magnitude import Magnitude
from discreet.trees.measurement_reader import read_measurements
from discreet.trees.rules import Rules
from discreet.trees.tree import Hierarchy

LEAVES = ["a1", "a2", "b1", "b2"]
TREE = Hierarchy.from_prefixes(LEAVES, {"state": 1, "county": 2})
SEXES = ["f", "m"]
UPPER = 3  # steps that a row adds at most


def tabulated(unit: Unit) -> Tabulation:
    columns = {"county": Category(LEAVES), "sex": Category(SEXES), "pay": Integer(1, UPPER)}
    columns |= {} if unit.column is None else {unit.column: Integer(0, 99)}
    return Tabulation(Schema("t", columns, unit), TREE, "county", (Key("sex"),), magnitude=Magnitude("pay")).checked()


def added_by_one(groups: int, rows: int) -> np.ndarray:
    """All that one unit may add, as it is limited: so many leaf cells, in each up to what so many rows come to."""
    ends = (0, 1, rows * UPPER) if groups < 3 else (0, rows * UPPER)
    found = []
    for places in itertools.combinations(range(8), groups):
        for sums in itertools.product(ends, repeat=groups):
            vector = np.zeros(8, np.int64)
            vector[list(places)] = sums
            found.append(vector)
    return np.array(found).reshape(-1, 4, 2)


UNITS = [
    Unit(neighbours=how) if person is None else Unit(person, neighbours=how, groups=groups, rows=rows)
    for how in ("add-remove", "replace")
    for person, groups, rows in ((None, 1, 1), ("person", 1, 2), ("person", 2, 2), ("person", 3, 1))
]


def worst(asked: Tabulation, unit: Unit, level: int, totals: bool) -> tuple[int, int]:
    """The largest move of a level, in both norms, over all neighbours."""
    one = added_by_one(unit.groups, unit.rows)
    sums = np.array([asked.tree.sums(vector)[level] for vector in one])
    sums = (sums.sum(axis=2) if totals else sums).reshape(len(one), -1)
    other = sums if str(unit.neighbours) == "replace" else np.zeros((1, sums.shape[1]), np.int64)
    moved = np.abs(sums[:, None] - other[None])
    return int(moved.sum(axis=2).max()), int((moved**2).sum(axis=2).max())


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_no_unit_moves_the_sums_of_a_level_further_than_claimed(unit):
    asked = tabulated(unit)
    for level, totals in itertools.product(range(3), (False, True)):
        claim, _ = asked.moved(level, totals=totals)
        l1, l2_squared = worst(asked, unit, level, totals)
        assert l1 <= claim.l1
        assert l2_squared <= claim.l2_squared
        assert l1 == claim.l1 or l2_squared == claim.l2_squared  # and it is no looser than need be


def test_the_sensitivity_of_counts_would_be_wrong_for_sums():
    # The mutant: a row is taken to add one.
    unit = Unit("person", groups=2, rows=2)
    asked = tabulated(unit)
    for level in range(3):
        l1, l2_squared = worst(asked, unit, level, totals=False)
        counted = Sensitivity(2, 2) if level == 2 else Sensitivity(4, 1)
        assert l1 > counted.l1
        assert l2_squared > counted.l2_squared


# --- what is published -----------------------------------------------------------------------------------------------


CODES = [f"{state}{county:03d}" for state in STATES for county in range(30)]
COLUMNS = {
    "county": Category(CODES, nullable=False),
    "sex": Category(SEXES, nullable=False),
    "pay": Integer(0, 5000, nullable=False),
    "income": Real(0, 1000),
    "loss": Real(-50, 50),
    "w": Real(1, 20, nullable=False),
    "kind": Category(["x", "y"], nullable=False),
}
LEVELS = {"state": 2, "county": 5}


def rows_of(seed: int = 3, many: int = 6000) -> pyarrow.Table:
    rng = np.random.default_rng(seed)
    share = rng.gamma(0.7, size=len(CODES))
    return pyarrow.table(
        {
            "county": rng.choice(CODES, many, p=share / share.sum()).tolist(),
            "sex": rng.choice(SEXES, many).tolist(),
            "pay": rng.integers(0, 5001, many),
            "income": np.rint(rng.lognormal(5, 0.6, many).clip(0, 1000) * 8) / 8,
            "loss": rng.uniform(-50, 50, many),
            "w": np.rint(rng.uniform(1, 20, many) * 4) / 4,
            "kind": rng.choice(["x", "y"], many).tolist(),
        }
    )


ROWS = rows_of()


@pytest.fixture
def desk(tmp_path):
    schema = Schema("people", COLUMNS)
    return discreet.open(ROWS, schema, ledger=tmp_path / "l.db", budget=Budget(10**13), who="ann", create=True)


def plain(column: str) -> np.ndarray:
    """The sums of the table itself: one row a county, one column a sex."""
    frame = ROWS.to_pandas()
    found = frame.pivot_table(index="county", columns="sex", values=column, aggfunc="sum", fill_value=0)
    return found.reindex(index=CODES, columns=SEXES, fill_value=0).to_numpy()


@pytest.mark.parametrize("method", ["bayes", "topdown", "exact"])
@pytest.mark.parametrize("how", [{"measure": "pay"}, {"measure": "income"}, {"weight": "w"}], ids=str)
def test_at_a_huge_epsilon_the_sums_are_those_of_the_table(desk, how, method):
    release = desk.tree(LEVELS, by=["sex"], **how).plan(epsilon=10**10, method=method).release()
    (column,) = how.values()
    add_up(release)
    true = plain(column)
    table = release["county"]
    assert np.array_equal(np.array(table[release.output]).reshape(true.shape), true)
    assert release["all"][release.output] == true.sum(axis=0).tolist()
    assert release.totals("state")[release.output] == true.reshape(2, 30, 2).sum(axis=(1, 2)).tolist()
    asked = desk.table().group_by("sex").agg(o=total(column)).plan(epsilon=10**10).release()
    assert asked["o"] == release["all"][release.output]


@pytest.mark.parametrize("how", [{"measure": "pay"}, {"measure": "income"}, {"weight": "w"}], ids=str)
def test_both_kinds_of_intervals_hold_what_they_say(desk, how):
    (column,) = how.values()
    held, typical, true = [], [], plain(column)
    for epsilon in (1, 4):
        release = desk.tree(LEVELS, by=["sex"], **how).plan(epsilon=epsilon, confidence=0.9).release()
        add_up(release)
        unit = float(release.step)
        for ends, found in ((release.estimate.each, held), (release.estimate.typical, typical)):
            found += [(ends.lower[-1] * unit <= true) & (true <= ends.upper[-1] * unit)]
        assert release["all"].columns[release.output]
    # Sums of 120 cells, twice: each interval holds its own; of the short ones about as many hold as they say.
    assert at_most(240 - int(np.sum(held)), 240, 0.1)
    assert at_most(240 - int(np.sum(typical)), 240, 0.15)


def test_published_sums_are_round_numbers_far_below_their_noise(desk):
    plan = desk.tree(LEVELS, measure="pay").plan(epsilon=1).plan
    assert plan.rounding == 100
    assert math.sqrt(min(one.noise.variance for one in plan.measures)) > 32 * 100
    release = desk.tree(LEVELS, measure="pay").plan(epsilon=1).release()
    assert all(value % 100 == 0 for value in release["county"]["sum_pay"])
    assert "multiples of 100" in " ".join(release.notes)
    fine = desk.tree(LEVELS, weight="w").plan(epsilon=10**4).release()
    assert fine.rounding < 1
    assert all(isinstance(value, float) for value in fine["county"]["count"])


def test_rules_hold_exactly_whatever_the_numbers_are_multiples_of(desk):
    sums = plain("pay")
    total_, most = int(sums.sum()) // 2 * 2 + 1, int(sums.max()) + 123_457
    rules = Rules(totals={"all": [total_]}, upper={"county": most}, zeros=[{"sex": "m"}], by={"": "the office"})
    for epsilon in (1, "0.01"):
        release = desk.tree(LEVELS, by=["sex"], measure="pay", rules=rules).plan(epsilon=epsilon).release()
        add_up(release)
        assert release.rounding >= 100
        assert sum(release["all"]["sum_pay"]) == total_
        assert max(release["county"]["sum_pay"]) <= most
        assert set(release["county"]["sum_pay"][1::2]) == {0}
        for name in ("county", "state"):
            for kind in ("each", "typical"):
                table = release.table(name, intervals=kind)
                ends = zip(table["sum_pay_lower"], table["sum_pay"], table["sum_pay_upper"], strict=True)
                assert all(low <= value <= high for low, value, high in ends)
    other = release.again("topdown", rules=Rules(totals={"all": [2 * total_ + 1]}))
    assert sum(other["all"]["sum_pay"]) == 2 * total_ + 1
    assert other.replicates(10, rules=Rules()).sum().value == 2 * total_ + 1


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_a_public_bound_that_is_no_round_number_cuts_no_truth_out_of_an_interval(desk, side):
    """A bound of 143,146 was taken for 143,000, and the interval ended there: it missed 20 of 20."""
    true = int(plain("pay")[0].sum())
    rules = Rules(**{side: {"county": {CODES[0]: true}}})
    for _ in range(4):
        release = desk.tree(LEVELS, measure="pay", rules=rules).plan(epsilon=1, confidence=0.999999999).release()
        low, high = release["county"]["sum_pay_lower"][0], release["county"]["sum_pay_upper"][0]
        assert low <= true <= high
        assert (low if side == "lower" else high) == true


def test_bounds_closer_than_the_unit_are_no_contradiction(desk):
    rules = Rules(lower={"county": {CODES[0]: 102}}, upper={"county": {CODES[0]: 150}})
    release = desk.tree(LEVELS, measure="pay", rules=rules).plan(epsilon="0.1").release()
    add_up(release)
    assert 102 <= release["county"]["sum_pay"][0] <= 150


def test_many_public_totals_hold_together(desk):
    sums = plain("pay").sum(axis=1)
    rules = Rules(totals={"county": sums, "state": [int(sums[:30].sum()), -1], "all": [int(sums.sum())]})
    release = desk.tree(LEVELS, by=["sex"], measure="pay", rules=rules).plan(epsilon=1).release()
    add_up(release)
    assert release.totals("county")["sum_pay"] == sums.tolist()


def test_sums_shares_and_incomes_per_head_have_intervals(desk):
    sums = desk.tree(LEVELS, by=["sex"], measure="income").plan(epsilon=50, confidence=0.999999999).release()
    heads = desk.tree(LEVELS, by=["sex"]).plan(epsilon=50, confidence=0.999999999).release()
    true, people = plain("income"), ROWS.num_rows
    some = sums.sum({"county": CODES[:7]}, {"sex": "f"})
    assert some.lower <= true[:7, 0].sum() <= some.upper
    assert some.value == sum(sums["county"]["sum_income"][0:14:2])
    share = sums.sum({"state": STATES[0]}) / sums.sum()
    assert share.lower <= true[:30].sum() / true.sum() <= share.upper <= 1
    each = sums.sum() / heads.sum()
    assert each.lower <= true.sum() / people <= each.upper
    assert each.upper - each.lower < each.value / 2
    replicates = sums.replicates(10)
    assert replicates.sum().value == sums.sum().value
    assert replicates.columns("all")["sum_income_replicate_1"][0] == next(iter(replicates.levels("all")))[0, 0]
    assert replicates.estimate(lambda leaves: leaves.sum()).value == sums.sum().value


def test_margins_of_sums_agree_with_their_cells(desk):
    asked = desk.tree(LEVELS, by=["sex", Key("kind")], measure="pay", queries={"sex": 1, "all": 2, "total": 1})
    release = asked.plan(epsilon=10**10).release()
    margin = release.margin("state", "sex")
    assert margin["sum_pay"] == plain("pay").reshape(2, 30, 2).sum(axis=1).ravel().tolist()
    noisy = asked.plan(epsilon=1).release()
    assert noisy.rounding > 1
    assert sum(noisy.margin("county", "sex")["sum_pay"]) == sum(noisy["all"]["sum_pay"])


def test_files_dictionary_and_map_name_the_sum_and_its_unit(desk, tmp_path):
    release = desk.tree(LEVELS, by=["sex"], measure="pay", where="sex = 'f'").plan(epsilon=1).release(release="r")
    release.save(tmp_path, kind="csv")
    text = (tmp_path / "dictionary.md").read_text()
    assert "sum_pay" in text
    assert "Published sum of pay" in text
    assert "number of records" not in text
    assert json.loads((tmp_path / "README.json").read_text())["rounding"] == float(release.rounding)
    fields = json.loads((tmp_path / "county.csv-metadata.json").read_text())["tableSchema"]["columns"]
    assert {
        one["schema:unitText"] for one in fields if one["titles"].startswith("sum_pay") and "schema:unitText" in one
    }
    page = release.map(geometry=None).html
    assert "people: sum of pay by state and county, by sex, where sex = &#x27;f&#x27;" in page or "sum of pay" in page
    again = desk.release("r")
    assert again["county"].columns == release["county"].columns
    assert again.quantity == "sum of pay"
    release.save_measurements(tmp_path / "noisy")
    read = read_measurements(tmp_path / "noisy")
    assert read["county"].columns == release["county"].columns
    assert (read.quantity, read.rounding) == (release.quantity, release.rounding)


def test_a_map_of_fractions_and_of_huge_sums_says_its_unit(tmp_path):
    columns = {"county": Category(CODES, nullable=False), "tiny": Real(0, 0.001), "huge": Real(0, 1e9)}
    rows = pyarrow.table({"county": CODES, "tiny": [0.001] * 60, "huge": [1e9] * 60})
    schema = Schema("p", columns)
    desk = discreet.open(rows, schema, ledger=tmp_path / "l.db", budget=Budget(10**9), create=True)
    tiny = desk.tree(LEVELS, measure="tiny").plan(epsilon=100).release()
    assert "sum of tiny by state and county, in units of 1e-" in tiny.map().html
    huge = desk.tree(LEVELS, measure="huge", expected=10**10).plan(epsilon="0.1").release()
    assert huge.step == 1024  # of a lattice whose steps are large, and methods still have units far above them
    assert huge.rounding >= 2**15
    assert "in units of 10" in replace(huge, step=Fraction(2**30), rounding=Fraction(2**30)).map().html


def test_the_notes_say_what_clipping_and_sampling_do(desk):
    texts = str(desk.tree(LEVELS, weight="w", bounds=(1, 10)).plan(epsilon=1))
    assert "Values of w outside 1..10 are clipped to the nearer bound" in texts
    assert "Intervals cover the noise alone" in texts
    assert "weighted number of records (sum of w)" in texts
    assert "sum of loss" in str(desk.tree(LEVELS, measure="loss", bounds=(0, 50)).plan(epsilon=1))


@pytest.mark.parametrize("method", ["bayes", "topdown", "exact"])
def test_values_that_are_missing_huge_or_no_numbers_fail_no_run(tmp_path, method):
    odd = [None, float("nan"), float("inf"), -float("inf"), -5.0, 1e300, 5e-324, 7.5]
    rows = pyarrow.table({"county": (COUNTIES * 8)[:64], "pay": pyarrow.array(odd * 8, pyarrow.float64())})
    columns = {"county": Category(COUNTIES), "pay": Real(0, 10)}
    schema = Schema("p", columns)
    curator = discreet.open(rows, schema, ledger=tmp_path / "l.db", budget=Budget(10**9), create=True)
    for asked in ({"measure": "pay"}, {"weight": "pay", "bounds": (1, 10)}, {"measure": col("pay") * 2}):
        for epsilon in ("0.0001", 1, 10**7):
            release = curator.tree(LEVELS, **asked).plan(epsilon=epsilon, method=method).release()
            add_up(release)


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"measure": "sex"}, "measure"),
        ({"measure": "nothing"}, "measure"),
        ({"measure": "loss"}, "measure"),
        ({"measure": "loss", "bounds": (-1, 5)}, "bounds"),
        ({"measure": "pay", "bounds": (0, 10**6)}, "bounds"),
        ({"measure": "pay", "bounds": "private"}, "bounds"),
        ({"measure": "pay", "weight": "w"}, "weight"),
        ({"weight": "sex"}, "weight"),
        ({"weight": "pay"}, "weight"),  # zero is no sampling weight
        ({"weight": "w", "bounds": (0, 5)}, "bounds"),
        ({"bounds": (0, 5)}, "bounds"),
        ({"measure": "pay", "sizes": "sex", "largest": 3}, "measure"),
    ],
    ids=str,
)
def test_what_cannot_be_summed_is_refused_by_name(desk, asked, field):
    with pytest.raises(InputError) as problem:
        desk.tree(LEVELS, **asked)
    assert problem.value.field == field


def test_a_method_that_loses_digits_of_large_sums_is_refused(desk):
    with pytest.raises(InputError, match="method"):
        desk.tree(LEVELS, measure="pay").plan(epsilon=1, method="relaxed")
    with pytest.raises(InputError, match="method"):
        desk.tree(LEVELS, measure="pay").plan(epsilon=1).release().again("relaxed")


def test_a_question_that_counts_is_written_as_before(desk):
    asked = desk.tree(LEVELS).plan(epsilon=1).plan
    assert "measure" not in asked.query["tree"]
    summed = desk.tree(LEVELS, measure="pay", bounds=(0, 100)).plan(epsilon=1).plan
    assert summed.query["tree"]["measure"] == {"column": "pay", "bounds": ["0", "100"]}
    assert Magnitude.from_dict(summed.query["tree"]["measure"]) == summed.counted.magnitude
