"""A whole release: what it charges, that it adds up, that it is read again for free and never reads the data again."""

from __future__ import annotations

import ast
import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import discreet
from chance import at_most
from discreet import Budget, Category, Hierarchy, Integer, Rules, Schema, Text, Unit
from discreet.accounting import pure
from discreet.accounting.compose import compose
from discreet.core.loss import ZCDP, Pure
from discreet.errors import BudgetError, InputError
from discreet.mechanisms import Laplace
from discreet.noise.bits import SystemBits
from discreet.trees import methods
from discreet.trees.plan import TreePlan

STATES = ["01", "02"]
COUNTIES = [f"{state}{county:03d}" for state in STATES for county in range(4)]
SEXES = ["f", "m"]
SCHEMA = Schema(
    "people",
    {
        "state": Category(STATES, nullable=False),
        "county": Category(COUNTIES, nullable=False),
        "sex": Category(SEXES, nullable=False),
        "age": Integer(0, 99, nullable=False),
    },
)


def table(rows: int = 4000, seed: int = 1) -> pyarrow.Table:
    rng = np.random.default_rng(seed)
    county = rng.choice(COUNTIES, rows, p=np.array([40, 20, 10, 5, 3, 2, 1, 0]) / 81)
    return pyarrow.table(
        {
            "state": [code[:2] for code in county],
            "county": county.tolist(),
            "sex": rng.choice(SEXES, rows).tolist(),
            "age": rng.integers(0, 99, rows).tolist(),
        }
    )


@pytest.fixture
def curator(tmp_path):
    return discreet.open(table(), SCHEMA, ledger=tmp_path / "books.db", budget=Budget(10), who="ann", create=True)


def add_up(release) -> None:
    tree, counts = release.tree, release.estimate.counts
    for level in range(tree.depth - 1):
        assert (tree.add(level, counts[level + 1]) == counts[level]).all()
    assert all((level >= 0).all() and level.dtype == np.int64 for level in counts)


@pytest.mark.parametrize("method", ["bayes", "topdown", "exact"])
def test_every_parent_is_the_sum_of_its_children(curator, method):
    release = curator.tree(["state", "county"], by=["sex"]).plan(epsilon=1, method=method).release()
    add_up(release)
    counties, states = release["county"], release["state"]
    assert counties.keys == ("state", "county", "sex")
    assert len(counties) == 16
    assert sum(counties["count"]) == sum(states["count"]) == release["all"]["count"][0] + release["all"]["count"][1]
    assert all(low <= high for low, high in zip(counties["count_lower"], counties["count_upper"], strict=True))
    assert abs(sum(counties["count"]) - 4000) < 300
    assert sum(release.totals("county")["count"]) == sum(counties["count"])
    assert release.totals("state").keys == ("state",)


def test_what_is_charged_is_what_was_asked(curator):
    offer = curator.tree(["state", "county"], by=["sex"]).plan(epsilon="1/2")
    assert offer.plan.cost == compose([measure.loss for measure in offer.plan.measures])
    assert offer.plan.charge.amount <= Fraction(1, 2)
    assert offer.plan.charge.amount > Fraction(1, 2) * Fraction(99, 100)
    before = curator.standing()[0].left.amount
    offer.release()
    assert before - curator.standing()[0].left.amount == offer.plan.charge.amount


def test_merged_levels_are_charged_by_norms_alone(tmp_path):
    schema = Schema(
        "people", {**SCHEMA.columns, "person": Integer(0, 10**6, nullable=False)}, Unit("person", groups=2, rows=3)
    )
    rows = table(50).append_column("person", pyarrow.array(range(50)))
    for budget, price in ((Budget(10), {"epsilon": 1}), (Budget(rho=10, delta="1e-9"), {"rho": 1})):
        books = tmp_path / f"{min(price)}.db"
        curator = discreet.open(rows, schema, ledger=books, budget=budget, who="ann", create=True)
        plan = curator.tree(["state", "county"]).plan(**price).plan
        for measure in plan.measures:
            leaves = measure.level == 2 and not measure.totals
            assert isinstance(measure.loss, (Pure, ZCDP)) != leaves
        assert plan.charge.amount <= 1


def test_a_release_is_read_again_without_the_data(curator, tmp_path):
    first = curator.tree(["state", "county"], by=["sex"]).plan(epsilon=1).release(release="census")
    left = curator.standing()[0].left
    other = discreet.open(table(10, seed=9), SCHEMA, ledger=tmp_path / "books.db", who="bob", create=True)
    second = other.release("census")
    for level in first.levels:
        assert first[level].columns == second[level].columns
    with pytest.warns(UserWarning, match="may describe earlier data"):
        third = other.tree(["state", "county"], by=["sex"]).plan(epsilon=1).release(release="census")
    assert "may describe earlier data" in third.notes[0]
    assert [note.kind for note in third["county"].notes] == ["data", "outside", "outside"]
    assert third["county"].columns == first["county"].columns
    assert other.standing()[0].left == left
    with pytest.raises(InputError, match="this one answers another question"):
        other.tree(["state", "county"]).plan(epsilon=1).release(release="census")
    with pytest.raises(InputError, match="stored release"):
        other.release("nothing")


def test_another_method_on_the_same_noisy_counts_is_free(curator):
    first = curator.tree(["state", "county"], by=["sex"]).plan(epsilon=1, method="topdown").release()
    left = curator.standing()[0].left
    second = first.again("exact", rules=Rules(totals={"all": [4000]}))
    add_up(second)
    assert second["all"]["count"][0] + second["all"]["count"][1] == 4000
    assert second.method == "exact"
    assert curator.standing()[0].left == left
    with pytest.raises(InputError, match="method"):
        first.again("guess")


def test_a_method_that_fails_loses_nothing(curator, monkeypatch):
    def broken(measured, rules):
        raise ZeroDivisionError

    monkeypatch.setattr(methods, "method_named", lambda name, chain: broken)
    release = curator.tree(["state", "county"]).plan(epsilon=1, method="exact").release(release="x")
    with pytest.raises(InputError, match=r"noisy counts, which are stored.*tree show x --method topdown"):
        release["county"]
    monkeypatch.undo()
    add_up(release.again("topdown"))
    add_up(curator.release("x").again("exact"))


def test_methods_cannot_reach_the_data():
    folder = Path(methods.__file__).parent
    seen, queue = set(), ["methods", *methods.METHODS, "chain", "intervals", "record"]
    # `released` and `picture` are read from what these return, and from the books.
    forbidden = ("discreet.query", "discreet.ledger", "discreet.trees.count", "discreet.trees.plan")
    while queue:
        name = queue.pop()
        if name in seen:
            continue
        seen.add(name)
        path = folder / f"{name.replace('.', '/')}.py"
        path = path if path.exists() else path.with_suffix("") / "__init__.py"
        for node in ast.walk(ast.parse(path.read_text())):
            modules = [node.module] if isinstance(node, ast.ImportFrom) else []
            modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for module in modules:
                assert not str(module).startswith(forbidden), (name, module)
                assert str(module) != "discreet.trees", (name, "by its module, so that it can be followed")
                if str(module).startswith("discreet.trees."):
                    queue.append(str(module).removeprefix("discreet.trees."))
    assert {"gls", "topdown.rounding", "measurement", "bayes.prior", "exact.window", "chain.search"} <= seen


def test_groups_by_size(tmp_path):
    rng = np.random.default_rng(5)
    houses = rng.integers(0, 1500, 4000)
    where = rng.choice(COUNTIES, 1500)
    rows = pyarrow.table({"county": where[houses].tolist(), "house": houses.astype(str).tolist()})
    schema = Schema("people", {"county": Category(COUNTIES, nullable=False), "house": Text()})
    curator = discreet.open(rows, schema, ledger=tmp_path / "books.db", budget=Budget(50), who="ann", create=True)
    question = curator.tree({"state": 2, "county": 5}, sizes="house", largest=8)
    for method in ("exact", "topdown"):
        release = question.plan(epsilon=2, method=method).release()
        add_up(release)
        for level in release.estimate.counts:
            assert (np.diff(level, axis=1) <= 0).all()
        exactly = release.sizes("county")
        assert min(exactly["count"]) >= 0
        assert sum(exactly["count"]) == release["all"]["at_least"][0]
        ends = zip(exactly["count_lower"], exactly["count"], exactly["count_upper"], strict=True)
        assert all(0 <= low <= count <= high for low, count, high in ends)
        true = len(set(houses.tolist()))
        assert abs(release["all"]["at_least"][0] - true) < 60
        with pytest.raises(InputError, match="plain counts"):
            release.totals("county")
    plain = curator.tree({"state": 2, "county": 5}, sizes="house", largest=8, cumulative=False)
    add_up(plain.plan(epsilon=2).release())


def test_the_plan_says_what_to_expect_and_spends_nothing(curator):
    offer = curator.tree(["state", "county"], by=["sex"]).plan(epsilon=1)
    text = str(offer)
    for word in ("all", "state", "county", "8 regions", "of the price", "left out", "epsilon = 1"):
        assert word in text
    assert [row["level"] for row in offer.explained.facts["levels"]] == ["all", "state", "county"]
    assert [one.output for one in offer.expected][:3] == ["all, a cell", "all, a total", "state, a cell"]
    assert all(one.half_width > 0 for one in offer.expected)
    assert curator.standing()[0].spent.amount == 0
    finer = curator.tree(["state", "county"], by=["sex"]).plan(epsilon=2)
    assert all(two.half_width < one.half_width for one, two in zip(offer.expected, finer.expected, strict=True))


def test_the_error_said_beforehand_is_not_too_small_where_one_noise_is_all_there_is(curator):
    # Nothing but the leaves is asked, so their error is one Laplace noise, whose tails are heavier than a normal law's.
    for confidence in (0.9, 0.95, 0.999):
        offer = curator.tree(["state", "county"]).plan(epsilon="1/20", split="leaves", confidence=confidence)
        (measure,) = offer.plan.measures
        exact = float(measure.noise.scale) * math.log(1 / (1 - confidence))
        assert offer.expected[2].half_width > 0.998 * exact


def test_rules_are_kept_and_refused_before_spending(curator):
    rules = Rules(upper={"county": np.array([0 if c == COUNTIES[7] else 2**53 for c in COUNTIES])})
    release = curator.tree(["state", "county"], by=["sex"], rules=rules).plan(epsilon=1).release()
    assert release.estimate.counts[2][7].tolist() == [0, 0]
    spent = curator.standing()[0].spent
    wrong = Rules(lower={"county": 10}, totals={"all": [5]})
    with pytest.raises(InputError, match="all"):
        curator.tree(["state", "county"], by=["sex"], rules=wrong).plan(epsilon=1)
    with pytest.raises(BudgetError):
        curator.tree(["state", "county"]).plan(epsilon=100).release()
    assert curator.standing()[0].spent == spent


@pytest.mark.parametrize(
    "rules",
    [
        Rules(weights={"county": 0.5}),
        Rules(weights={"nowhere": 1}),
        Rules(weights={"county": -1}),
        Rules(weights=dict.fromkeys(("all", "state", "county"), 0)),
        Rules(lower={"nowhere": 1}),
    ],
    ids=repr,
)
def test_rules_that_no_method_can_use_are_refused_before_spending_and_again(curator, rules):
    with pytest.raises(InputError, match=r"rules|level"):
        curator.tree(["state", "county"], rules=rules).plan(epsilon=1, method="exact")
    assert curator.standing()[0].spent.amount == 0
    release = curator.tree(["state", "county"]).plan(epsilon=1, method="topdown").release()
    with pytest.raises(InputError, match=r"rules|level"):
        release.again("exact", rules=rules)
    with pytest.raises(InputError, match="confidence"):
        release.again("exact", confidence=2)


def test_the_file_of_groups_by_size_says_what_it_counts(tmp_path):
    schema = Schema("people", {"county": Category(COUNTIES, nullable=False), "house": Text()})
    rows = {"county": [code for code in COUNTIES for _ in range(60)], "house": [f"{i // 3}" for i in range(480)]}
    curator = discreet.open(
        pyarrow.table(rows), schema, ledger=tmp_path / "b.db", budget=Budget(9000), who="ann", create=True
    )
    release = curator.tree(["county"], sizes="house", largest=4).plan(epsilon=4000).release()
    paths = release.save(tmp_path / "out", "csv")
    assert [path.name for path in paths] == [
        "all.csv", "all-at-least.csv", "county.csv", "county-at-least.csv", "README.json",
    ]  # fmt: skip
    exact, at_least = (paths[place].read_text().splitlines() for place in (2, 3))
    assert exact[0] == "county,size,count,count_lower,count_upper"
    assert [line.split(",")[2] for line in exact[1:5]] == ["0", "0", "20", "0"]
    assert at_least[0].startswith("county,size,at_least,at_least_lower,at_least_upper")
    assert [line.split(",")[2] for line in at_least[1:5]] == ["20", "20", "20", "0"]


def test_a_level_that_repeats_the_one_below_is_paid_once(tmp_path):
    columns = {
        "state": Category(["44"], nullable=False),
        "county": Category(["44001", "44003"], nullable=False),
        "sex": Category(["f", "m"], nullable=False),
    }
    rows = pyarrow.table({"state": ["44"], "county": ["44001"], "sex": ["f"]})
    curator = discreet.open(
        rows, Schema("p", columns), ledger=tmp_path / "b.db", budget=Budget(9), who="ann", create=True
    )
    shapes = {"state": ["44", "44"], "county": ["44001", "44003"]}
    for how in ("auto", "equal", "accurate", {"all": 1, "state": 1, "county": 2}):
        offer = curator.tree(["state", "county"], by="sex", geography=shapes).plan(epsilon=1, split=how)
        asked = {level.level for level in offer.plan.measures}
        assert 0 not in asked  # it is the state again
        assert sum(level.share for level in offer.plan.measures) == 1
        assert pure(offer.plan.cost).epsilon == 1
        assert "asked once" in offer.explain()
        release = offer.release()
        assert release.totals("all")["count"] == release.totals("state")["count"]


def test_bounds_that_sizes_in_order_cannot_meet_are_refused_before_spending(tmp_path):
    schema = Schema("people", {"county": Category(COUNTIES, nullable=False), "house": Text()})
    rows = pyarrow.table({"county": ["01000"], "house": ["x"]})
    curator = discreet.open(rows, schema, ledger=tmp_path / "books.db", budget=Budget(1), who="ann", create=True)
    rules = Rules(lower={"county": [[0, 0, 5]] * 8}, upper={"county": [[2, 9, 9]] * 8})
    with pytest.raises(InputError, match="never rise"):
        curator.tree({"state": 2, "county": 5}, sizes="house", largest=3, rules=rules).plan(epsilon=1)
    plain = curator.tree({"state": 2, "county": 5}, sizes="house", largest=3, cumulative=False, rules=rules)
    assert plain.plan(epsilon=1).plan.charge.amount == 1
    assert curator.standing()[0].spent.amount == 0


@pytest.mark.parametrize("method", ["exact", "topdown"])
def test_a_public_number_of_groups_is_the_first_cumulative_count_in_bounds_and_intervals(tmp_path, method):
    # The mutant: it was read as the sum over all sizes, and 20 groups were said to be fewer than 3 x 10.
    schema = Schema("people", {"county": Category(COUNTIES, nullable=False), "house": Text()})
    rows = {"county": [code for code in COUNTIES for _ in range(60)], "house": [f"{i // 3}" for i in range(480)]}
    curator = discreet.open(
        pyarrow.table(rows), schema, ledger=tmp_path / "b.db", budget=Budget(9), who="ann", create=True
    )
    rules = Rules(lower={"county": 10}, totals={"county": [20] * 8})
    question = curator.tree({"state": 2, "county": 5}, sizes="house", largest=3, rules=rules)
    release = question.plan(epsilon="1/2", method=method).release()
    for level, known in (("all", 160), ("county", 20)):
        table = release[level]
        assert {table[column][0] for column in ("at_least", "at_least_lower", "at_least_upper")} == {known}
        ends = zip(table["at_least_lower"], table["at_least"], table["at_least_upper"], strict=True)
        assert all(low <= count <= high for low, count, high in ends)
    fewer = Rules(lower={"county": [[0, 21, 0]] * 8}, totals={"county": [20] * 8})
    with pytest.raises(InputError, match="never rise"):
        curator.tree({"state": 2, "county": 5}, sizes="house", largest=3, rules=fewer).plan(epsilon="1/2")


def test_regions_come_from_a_public_table_or_from_codes(curator, tmp_path):
    named = curator.tree(["state", "county"])
    by_length = curator.tree({"state": 2, "county": 5})
    (tmp_path / "regions.csv").write_text("state,county\n" + "\n".join(f"{c[:2]},{c}" for c in COUNTIES))
    from_file = curator.tree(["state", "county"], geography=tmp_path / "regions.csv")
    frame = pyarrow.table({"state": [c[:2] for c in COUNTIES], "county": COUNTIES})
    pyarrow.parquet.write_table(frame, tmp_path / "regions.parquet")
    others = [tmp_path / "regions.parquet", frame, frame.to_pandas(), frame.to_pydict()]
    found = [named, by_length, from_file, *(curator.tree(["state", "county"], geography=one) for one in others)]
    found.append(curator.tree({"state": 2, "county": 5}, geography=COUNTIES))
    assert len({question.checked.counted.tree.digest for question in found}) == 1
    less = curator.tree({"state": 2, "county": 5}, geography=COUNTIES[:3])
    assert less.checked.counted.tree.sizes == (1, 1, 3)


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"levels": []}, "levels"),
        ({"levels": "state"}, "levels"),
        ({"levels": ["county", "county"]}, "levels"),
        ({"levels": ["nation", "county"]}, "levels"),
        ({"levels": ["state", "sex"]}, "levels.sex"),
        ({"levels": ["state", "age"]}, "levels"),
        ({"levels": {"state": 3, "county": 5}, "geography": [1001]}, "geography.county"),
        ({"levels": {"state": 5, "county": 5}}, "levels.county"),
        ({"levels": ["state", "county"], "geography": "nowhere.csv"}, "geography"),
        ({"levels": ["state", "county"], "geography": {"county": COUNTIES}}, "geography"),
        ({"levels": ["state", "county"], "geography": 5}, "geography"),
        ({"levels": ["state", "county"], "by": ["nowhere"]}, "by"),
        ({"levels": ["state", "county"], "by": ["county"]}, "by"),
        ({"levels": ["state", "county"], "where": "nowhere = 3"}, "where"),
        ({"levels": ["state", "county"], "sizes": "sex"}, "largest"),
        ({"levels": ["state", "county"], "largest": 4}, "largest"),
    ],
)
def test_wrong_questions_are_refused(curator, asked, field):
    with pytest.raises(InputError) as problem:
        curator.tree(**asked)
    assert problem.value.field == field


def test_wrong_plans_are_refused(curator):
    question = curator.tree(["state", "county"])
    for how in ({}, {"epsilon": 0}, {"epsilon": 1, "method": "magic"}, {"epsilon": 1, "split": "odd"}, {"rho": 1}):
        with pytest.raises(InputError):
            question.plan(**how)
    assert curator.standing()[0].spent.amount == 0


def test_files_and_maps_of_every_level(curator, tmp_path):
    release = curator.tree(["state", "county"], by=["sex"]).plan(epsilon=1, method="topdown").release()
    paths = release.save(tmp_path / "out")
    names = [f"{level}{what}" for level in ("all", "state", "county") for what in ("", "-totals")]
    assert [path.name for path in paths] == [*(f"{name}.parquet" for name in names), "README.json"]
    assert pyarrow.parquet.read_table(paths[4]).column("count").to_pylist() == release["county"]["count"]
    totals = pyarrow.parquet.read_table(paths[5])
    assert totals.column("count").to_pylist() == release.totals("county")["count"]
    paths = release.save(tmp_path / "out", "csv")
    both = "count,count_lower,count_upper,count_average_lower,count_average_upper"
    assert paths[2].read_text().splitlines()[0] == f"state,sex,{both}"
    about = json.loads(paths[-1].read_text())
    assert about["files"]["county-totals.csv"]["columns"] == ["state", "county", *both.split(",")]
    assert "not simultaneous" in about["intervals"]["_lower, _upper"]
    page = release.map(title="People").html
    assert "People" in page
    assert "01003" in page
    with pytest.raises(InputError, match="kind"):
        release.save(tmp_path, "xls")


def test_a_plan_is_a_plan_of_the_house(curator):
    from discreet.core.plan import Plan

    plan = curator.tree(["state", "county"]).plan(epsilon=1).plan
    assert isinstance(plan, TreePlan)
    assert isinstance(plan, Plan)
    json.dumps(plan.query)
    assert plan.digest == curator.tree(["state", "county"]).plan(epsilon=1).plan.digest
    assert plan.digest != curator.tree(["state", "county"]).plan(epsilon=2).plan.digest
    rules = Rules(lower={"county": 1})
    assert plan.digest != curator.tree(["state", "county"], rules=rules).plan(epsilon=1).plan.digest


def test_a_hierarchy_is_public_by_name():
    assert Hierarchy.from_prefixes(["a"], {"x": 1}).sizes == (1, 1)


def chance_of_all_up(curator, runs: int, halved: bool = False) -> tuple[int, float]:
    """How often a row more lifts the numbers of every level at once, and how often it may at the price charged."""
    plan = curator.tree(["state", "county"], by=["sex"]).plan(epsilon=4, split="equal").plan
    if halved:
        measures = [replace(one, noise=Laplace(one.noise.scale / 2)) for one in plan.measures]
        plan, priced = replace(plan, measures=tuple(measures)), plan
    else:
        priced = plan
    with_row = np.zeros((8, 2), np.int64)
    with_row[0, 0] = 1
    seen = 0
    for _ in range(runs):
        levels = plan.noisy(with_row, SystemBits()).levels
        seen += all(level.counts[0, 0] >= 1 for level in levels)
    # Without the row the same event needs noise of one or more everywhere.
    without = math.prod(1 / (1 + math.exp(1 / float(one.noise.scale))) for one in priced.measures)
    return seen, math.exp(float(priced.charge.amount)) * without


@pytest.mark.statistical
def test_a_row_is_hidden_at_the_price_charged(curator):
    seen, allowed = chance_of_all_up(curator, 2000)
    assert at_most(seen, 2000, allowed)


@pytest.mark.statistical
def test_half_the_noise_is_caught(curator):
    seen, allowed = chance_of_all_up(curator, 2000, halved=True)
    assert not at_most(seen, 2000, allowed)
