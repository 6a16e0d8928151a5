"""A synthetic table from question to rows: what it charges, says, refuses, makes, and keeps on the books."""

from __future__ import annotations

import ast
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import discreet
from chance import at_most
from discreet import Boolean, Budget, Category, Date, Integer, Real, Schema, Text, Unit
from discreet.accounting import zcdp
from discreet.core.loss import ZCDP, Pure
from discreet.core.plan import Plan
from discreet.curator import read_release
from discreet.errors import BudgetError, InputError, RunError
from discreet.marginals.counts import ArrayCounts
from discreet.marginals.engine import moved_by
from discreet.marginals.meter import Meter
from discreet.noise.bits import SystemBits
from discreet.synth import methods
from discreet.synth import plan as planning
from discreet.synth.independent import independent
from discreet.synth.plan import SynthPlan

SCHEMA = Schema(
    "people",
    {
        "age": Integer(0, 99, nullable=False),
        "sex": Category(["f", "m"], nullable=True),
        "works": Boolean(nullable=False),
        "pay": Real(0, 100_000, nullable=True),
        "since": Date("2000-01-01", "2020-12-31", nullable=False),
    },
)


def table(rows: int = 3000, seed: int = 1) -> pyarrow.Table:
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, rows)
    works = (age > 18) & (age < 66)
    return pyarrow.table(
        {
            "person": [f"p{place}" for place in range(rows)],
            "age": age,
            "sex": [None if one < 0.1 else "f" if one < 0.6 else "m" for one in rng.random(rows)],
            "works": works,
            "pay": np.where(works, rng.gamma(4, 8000, rows), 0).round(2),
            "since": np.datetime64("2000-01-01") + rng.integers(0, 7000, rows).astype("timedelta64[D]"),
        }
    )


@pytest.fixture
def curator(tmp_path):
    return discreet.open(table(), SCHEMA, ledger=tmp_path / "books.db", budget=Budget(10), who="ann", create=True)


def test_rows_of_the_declared_types_and_bounds(curator, tmp_path):
    release = curator.synthesize("independent").plan(epsilon=2).release()
    assert 2700 < len(release) < 3300
    assert abs(release.total - 3000) < 300
    rows = release.to_arrow()
    assert rows.column_names == list(SCHEMA.columns)
    assert [str(kind) for kind in rows.schema.types] == ["int64", "string", "bool", "double", "date32[day]"]
    assert 0 <= min(rows["age"].to_pylist()) <= max(rows["age"].to_pylist()) <= 99
    assert set(rows["sex"].to_pylist()) == {"f", "m", None}
    assert all(pay is None or 0 <= pay <= 100_000 for pay in rows["pay"].to_pylist())
    # One by one the columns are right.
    true = sum(1 for sex in table()["sex"].to_pylist() if sex is None)
    assert abs(rows["sex"].to_pylist().count(None) - true) < 60
    assert abs(sum(rows["works"].to_pylist()) - sum(table()["works"].to_pylist())) < 150
    assert list(release.to_pandas().columns) == list(release.to_polars().columns) == rows.column_names
    assert release.counts.marginal((1,)).sum() == len(release)
    for name in ("rows.csv", "rows.parquet"):
        release.save(tmp_path / name)
    assert pyarrow.parquet.read_table(tmp_path / "rows.parquet").equals(rows)
    assert len((tmp_path / "rows.csv").read_text().splitlines()) == len(release) + 1
    with pytest.raises(InputError, match="ends in"):
        release.save(tmp_path / "rows.xls")
    for word in ("more rows", "by independent", "epsilon = 2"):
        assert word in repr(release)


def test_what_is_charged_is_what_was_asked(curator, tmp_path):
    offer = curator.synthesize().plan(epsilon="1/3")
    assert offer.plan.cost == Pure(Fraction(1, 3))
    offer.release()
    assert curator.standing()[0].spent.amount == Fraction(1, 3)
    other = discreet.open(
        table(), SCHEMA, ledger=tmp_path / "rho.db", budget=Budget(epsilon=1, delta="1e-6"), who="ann", create=True
    )
    cap = other.allotment().cap.amount
    whole = other.synthesize().plan(share="1/2")
    assert whole.plan.cost == ZCDP(cap / 2)
    release = whole.release()
    assert other.standing()[0].spent.amount == cap / 2
    assert all(type(one.noise).__name__ == "Gaussian" for one in release.measured)
    # An epsilon in an allotment that counts rho buys Gaussian noise at the charge of the pure job.
    bought = other.synthesize("independent").plan(epsilon="1/10")
    assert bought.plan.cost == ZCDP(zcdp(Pure(Fraction(1, 10))).rho)
    assert 0 < bought.plan.charge.amount <= Fraction(1, 200)
    with pytest.raises(BudgetError):
        other.synthesize().plan(rho=cap).release()
    assert other.standing()[0].spent.amount == cap / 2


def test_a_method_cannot_spend_more_than_the_price(curator, monkeypatch):
    def greedy(meter, workload, rows=None):
        meter.measure((0,), meter.price)
        return independent(meter, workload, rows)  # nothing is left for this

    monkeypatch.setattr(planning, "method_named", lambda name: greedy)
    release = curator.synthesize("independent", rows=900).plan(epsilon=1).release()
    assert curator.standing()[0].spent.amount == 1
    assert [(one.columns, one.noise.scale) for one in release.measured] == [((0,), 1)]  # nothing but what was paid for
    assert any("stopped on its way" in note for note in release.notes)
    sexes = np.bincount(release.codes[:, 1])
    assert max(sexes) - min(sexes) <= 1  # and of other columns nothing is known

    def empty(meter, workload, rows=None):
        raise ValueError

    monkeypatch.setattr(planning, "method_named", lambda name: empty)
    with pytest.raises(RunError, match="stays spent"):
        curator.synthesize("independent").plan(epsilon=1).release()
    assert curator.standing()[0].spent.amount == 2


def test_the_same_id_again_is_the_same_rows_and_costs_nothing(curator, tmp_path):
    first = curator.synthesize(rows=500).plan(epsilon=1).release(release="twins")
    left = curator.standing()[0].left
    other = discreet.open(table(10, seed=9), SCHEMA, ledger=tmp_path / "books.db", who="bob", create=True)
    with pytest.warns(UserWarning, match="may describe earlier data"):
        second = other.synthesize(rows=500).plan(epsilon=1).release(release="twins")
    assert "may describe earlier data" in " ".join(second.notes)
    third = other.release("twins")
    assert first.to_csv() == second.to_csv() == third.to_csv()
    assert len(third) == 500
    assert np.array_equal(first.codes, third.codes)
    assert [one.noise for one in first.measured] == [one.noise for one in third.measured]
    assert first.domain == third.domain
    assert other.standing()[0].left == left
    with pytest.raises(InputError, match="this one answers another question"):
        other.synthesize(rows=501).plan(epsilon=1).release(release="twins")
    with pytest.raises(InputError, match="stored release"):
        other.release("nothing")
    assert other.release("twins", "rows").columns["age"] == first.to_arrow()["age"].to_pylist()
    other.table().agg(n=discreet.count()).plan(epsilon=1).release(release="count")
    with pytest.raises(InputError, match=r"a synthetic table.*discreet releases show count"):
        read_release(other.ledger, "count", kind="synth")


def test_stopped_half_way_the_same_id_goes_on_under_one_charge(curator, monkeypatch):
    def stopped(meter, workload, rows=None):
        meter.measure((0,), meter.price / 2)
        raise KeyboardInterrupt

    offer = curator.synthesize("independent").plan(epsilon=1)
    with monkeypatch.context() as patched:
        patched.setattr(planning, "method_named", lambda name: stopped)
        with pytest.raises(KeyboardInterrupt):
            offer.release(release="r")
    assert curator.standing()[0].spent.amount == 1
    assert len(offer.release(release="r")) > 0
    assert curator.standing()[0].spent.amount == 1
    assert curator.ledger.verify().ok


def test_what_is_told_on_the_way_is_public(curator):
    # A stopped run may be made again under its charge: nothing that came out of the first may have been seen.
    from discreet.core.progress import listening

    told: list[tuple[str, float | None]] = []
    with listening(lambda stage, done: told.append((stage, done))):
        curator.synthesize("independent").plan(epsilon=1).release()
    stages = ["reading codes in the engine", "counting in the engine", "making rows", "recording"]
    assert [stage for stage, _ in told] == stages


def test_the_plan_says_what_to_expect_and_spends_nothing(curator):
    offer = curator.synthesize(bins={"pay": 10}, impossible=["age < 16 and works"], rows=2000).plan(epsilon=1)
    text = str(offer)
    for word in (
        "Cost: epsilon = 1",
        "2,000 rows, in 5 columns",
        "Method: ",
        "10 marginals",
        "a one-way count, one of 5 marginals: +-",
        "a two-way count, one of 10 marginals: +-",
        "a table of about 15 rows or fewer would be lost",
        "pay is told apart in 10 bins, 0..10000, ... 90000..100000",
        "since is told apart in",
        "without a declared value of age, works or since is left out of everything",
        "undeclared values of sex and pay are a value of their own",
        "1 condition",
    ):
        assert word in text, word
    finer = curator.synthesize().plan(epsilon=2)
    both = zip(offer.expected, finer.expected, strict=True)
    assert all(dearer.half_width < cheaper.half_width for cheaper, dearer in both)
    assert curator.standing()[0].spent.amount == 0
    # What is expected is what the noise does: measured evenly, one-way counts are off no more than it says.
    outline = curator.synthesize("independent").plan(epsilon=1)
    assert f"one of 5 marginals: +-{outline.expected[0].half_width:,}" in str(outline)


def test_auto_chooses_and_says_why(curator):
    assert curator.synthesize(columns=["age"]).plan(epsilon=1).plan.method == "independent"
    apart = curator.synthesize(workload=["age", "sex"]).plan(epsilon=1)
    assert apart.plan.method == "independent"
    assert "no two columns" in str(apart)
    usual = curator.synthesize().plan(epsilon=1)
    assert usual.plan.method == "mosaic"
    assert f"Method: {usual.plan.method}: {usual.plan.why}." in str(usual)
    assert "independent: asked for." in str(curator.synthesize("independent").plan(epsilon=1))


@pytest.mark.parametrize("method", [name for name in methods.METHODS if name != "rap"])
def test_every_method_makes_rows_within_its_price(curator, method):
    release = curator.synthesize(method, columns=["age", "sex", "works"], rows=800).plan(epsilon=3).release()
    assert len(release) == 800
    assert release.method == method
    assert release.measured
    release.domain.check(release.codes)
    assert curator.standing()[0].spent.amount == 3


def test_what_cannot_be_is_not(curator):
    asked = curator.synthesize("independent", impossible=["age < 16 and works", "works and pay is null"])
    release = asked.plan(epsilon=3).release()
    rows = release.to_arrow().to_pylist()
    assert any(row["age"] < 16 for row in rows)
    assert any(row["works"] for row in rows)
    assert not any((row["age"] < 16 and row["works"]) or (row["works"] and row["pay"] is None) for row in rows)
    assert any("were changed" in note for note in release.notes)
    # Columns that conditions do not name are as they were.
    since = release.domain.place("since")
    assert np.array_equal(np.bincount(release.codes[:, since]), np.bincount(release.made.codes[:, since]))


def test_keys_are_made_anew(tmp_path):
    schema = Schema("people", {**SCHEMA.columns, "person": Text()}, Unit("person", groups=1, rows=1))
    curator = discreet.open(table(800), schema, ledger=tmp_path / "books.db", budget=Budget(10), who="ann", create=True)
    plain = curator.synthesize("independent", rows=3).plan(epsilon=1).release()
    assert plain.columns[0] == "person"
    assert plain.to_arrow()["person"].to_pylist() == ["1", "2", "3"]
    keys = {"person": "P{:06d}", "visit": 100}
    named = curator.synthesize("independent", rows=2, keys=keys).plan(epsilon=1).release()
    assert named.to_arrow().select(["person", "visit"]).to_pylist() == [
        {"person": "P000001", "visit": 100},
        {"person": "P000002", "visit": 101},
    ]
    assert curator.synthesize(keys={}).plan(epsilon=1).plan.keys == ()
    assert "counts in at most 1 combination" in str(curator.synthesize().plan(epsilon=1))
    numbered = Schema(
        "people", {**SCHEMA.columns, "person": Integer(5, 10**6, nullable=False)}, Unit("person", groups=1, rows=1)
    )
    rows = table(50).set_column(0, "person", pyarrow.array(range(50)))
    other = discreet.open(rows, numbered, ledger=tmp_path / "other.db", budget=Budget(10), who="ann", create=True)
    made = other.synthesize("independent", rows=2).plan(epsilon=1).release()
    assert made.to_arrow()["person"].to_pylist() == [5, 6]


def test_text_that_a_spreadsheet_would_run_is_quoted(tmp_path):
    schema = Schema("t", {"what": Category(["=1+1", "a,b"], nullable=False), "n": Integer(-3, 3, nullable=False)})
    rows = pyarrow.table({"what": ["=1+1", "a,b"] * 50, "n": [-3, 3] * 50})
    curator = discreet.open(rows, schema, ledger=tmp_path / "t.db", budget=Budget(100), who="ann", create=True)
    text = curator.synthesize("independent").plan(epsilon=50).release().to_csv()
    assert "'=1+1" in text
    assert '"a,b"' in text
    assert "\n=1+1" not in text


@pytest.mark.parametrize("method", ["independent", "auto"])
def test_tables_that_have_little_in_them(tmp_path, method):
    columns = {
        "gone": Category(["a"], nullable=True),
        "same": Category(["x"], nullable=False),
        "n": Integer(0, 3, nullable=False),
    }
    schema = Schema("t", columns)
    rows = pyarrow.table({"gone": pyarrow.array([None] * 400, pyarrow.string()), "same": ["x"] * 400, "n": [2] * 400})
    curator = discreet.open(rows, schema, ledger=tmp_path / "t.db", budget=Budget(100), who="ann", create=True)
    made = curator.synthesize(method).plan(epsilon=20).release().to_arrow()  # all missing, constant, constant
    assert made["gone"].null_count > 0.9 * made.num_rows
    assert set(made["same"].to_pylist()) == {"x"}
    assert made["n"].to_pylist().count(2) > 0.9 * made.num_rows
    one = curator.synthesize(method, columns=["n"]).plan(epsilon=20).release()
    assert one.columns == ("n",)
    # No row has a declared value: there is nothing to count, and that is said.
    empty = Schema("u", {"n": Integer(0, 3, nullable=False), "what": Category(["never"], nullable=False)})
    rows = pyarrow.table({"n": [1] * 300, "what": ["always"] * 300})
    other = discreet.open(rows, empty, ledger=tmp_path / "u.db", budget=Budget(100), who="ann", create=True)
    release = other.synthesize(method).plan(epsilon=20).release()
    assert len(release) < 20
    assert any("counted" in note for note in release.notes)


def big(tmp_path, size: int = 5000):
    columns = {name: Category([f"{name}{place}" for place in range(size)], nullable=False) for name in ("zip", "job")}
    rows = pyarrow.table({"zip": ["zip1"], "job": ["job1"], "n": [1]})
    schema = Schema("t", {**columns, "n": Integer(0, 3, nullable=False)})
    return discreet.open(rows, schema, ledger=tmp_path / "t.db", budget=Budget(10), who="ann", create=True)


def test_too_large_a_domain_says_which_columns_and_what_to_do(tmp_path):
    curator = big(tmp_path)
    offer = curator.synthesize().plan(epsilon=1)
    assert offer.plan.left_out == ((0, 1),)
    assert "more than 1,000,000 cells: 1 marginal, zip x job" in str(offer)
    with pytest.raises(
        InputError, match=r"zip \(5,000\) x job \(5,000\) makes 25,000,000.*put values of zip together"
    ) as one:
        curator.synthesize(workload=[("zip", "job")])
    assert one.value.field == "workload"
    with pytest.raises(InputError, match="zip"):
        curator.synthesize(columns=["zip", "job"])


def test_triples_are_those_that_rows_can_fill(curator):
    few = curator.synthesize(workload="triples", rows=1000).plan(epsilon=1)
    assert all(few.plan.domain.cells(one) <= 1000 for one in few.plan.workload if len(one) == 3)
    pairs = {pair for one in few.plan.workload for pair in [one] if len(one) == 2}
    held = {frozenset(one) for one in few.plan.workload}
    assert pairs <= {tuple(sorted(one)) for one in held}
    covered = {(a, b) for one in few.plan.workload for a in one for b in one if a < b}
    assert len(covered) == 10  # every pair is in something
    assert len(few.plan.left_out) + sum(len(one) == 3 for one in few.plan.workload) == 10
    weights = curator.synthesize(workload={("age", "works"): 3, "sex": 1}).plan(epsilon=1).plan.workload
    assert weights == {(0, 2): 3.0, (1,): 1.0}


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"method": "magic"}, "method"),
        ({"columns": ["age", "nowhere"]}, "columns"),
        ({"columns": []}, "columns"),
        ({"columns": ["age", "age"]}, "columns"),
        ({"bins": {"pay": 1}}, "bins.pay"),
        ({"bins": {"nowhere": 5}}, "bins"),
        ({"rows": 0}, "rows"),
        ({"rows": 10**9}, "rows"),
        ({"rows": 1.5}, "rows"),
        ({"workload": "quads"}, "workload"),
        ({"workload": []}, "workload"),
        ({"workload": [("age", "nowhere")]}, "workload"),
        ({"workload": [("age", "age")]}, "workload"),
        ({"workload": [3]}, "workload"),
        ({"workload": 3}, "workload"),
        ({"workload": {("age", "sex"): -1}}, "workload"),
        ({"workload": {("age", "sex"): "much"}}, "workload"),
        ({"where": "nowhere = 3"}, "where"),
        ({"impossible": ["sex = 'x'"]}, "impossible"),
        ({"impossible": ["age >= 0"]}, "impossible"),
        ({"keys": {"age": "{}"}}, "keys"),
        ({"keys": {"person": "P"}}, "keys.person"),
        ({"keys": {"person": "{x}"}}, "keys.person"),
        ({"keys": ["person"]}, "keys"),
    ],
)
def test_wrong_questions_are_refused(curator, asked, field):
    with pytest.raises(InputError) as problem:
        curator.synthesize(**asked)
    assert problem.value.field == field


def test_wrong_prices_are_refused_before_anything_is_spent(curator):
    question = curator.synthesize()
    for how in ({}, {"epsilon": 0}, {"epsilon": -1}, {"rho": 1}, {"epsilon": 1, "share": 0.1}, {"share": 2}):
        with pytest.raises(InputError):
            question.plan(**how)
    for price in ("1e-8", "1e-30"):
        with pytest.raises(InputError, match="which says nothing"):
            question.plan(epsilon=price)
    with pytest.raises(InputError, match="protects nobody"):
        question.plan(epsilon="1e30")
    with pytest.raises(BudgetError):
        question.plan(epsilon=11).release()
    assert curator.standing()[0].spent.amount == 0


def test_text_is_refused_and_said_how_to_go_on(tmp_path):
    schema = Schema("t", {"name": Text(), "n": Integer(0, 3, nullable=False)})
    rows = pyarrow.table({"name": ["Ann"], "n": [1]})
    curator = discreet.open(rows, schema, ledger=tmp_path / "t.db", budget=Budget(10), who="ann", create=True)
    with pytest.raises(InputError, match="as a category, leave it out, or have it made anew"):
        curator.synthesize()
    offer = curator.synthesize(columns=["n"], keys={"name": "name {}"}).plan(epsilon=1)
    assert offer.release(release="x").columns == ("name", "n")


def test_a_plan_is_a_plan_of_the_house(curator):
    plan = curator.synthesize().plan(epsilon=1).plan
    assert isinstance(plan, SynthPlan)
    assert isinstance(plan, Plan)
    json.dumps(plan.query)
    assert plan.digest == curator.synthesize().plan(epsilon=1).plan.digest
    others = [
        curator.synthesize().plan(epsilon=2),
        curator.synthesize(rows=5000).plan(epsilon=1),
        curator.synthesize("independent").plan(epsilon=1),
        curator.synthesize(bins=10).plan(epsilon=1),
        curator.synthesize(where="age > 3").plan(epsilon=1),
        curator.synthesize(impossible=["age < 3 and works"]).plan(epsilon=1),
        curator.synthesize(workload=[("age", "sex")]).plan(epsilon=1),
        curator.synthesize(keys={"id": "{}"}).plan(epsilon=1),
    ]
    assert len({plan.digest, *(other.plan.digest for other in others)}) == 9


def test_a_condition_on_the_rows_that_count(curator):
    release = curator.synthesize("independent", where="age >= 50", columns=["age", "works"]).plan(epsilon=4).release()
    true = sum(1 for age in table()["age"].to_pylist() if age >= 50)
    assert abs(release.total - true) < 150
    ages = np.array(release.to_arrow()["age"].to_pylist())
    assert (ages >= 50).mean() > 0.9


ROOMS = ("synth", "marginals")


def test_methods_cannot_reach_the_data():
    folder = Path(methods.__file__).parent
    seen, queue = set(), [*methods.METHODS, "released", "rows", "impossible"]
    forbidden = ("discreet.data.source", "discreet.data.frame", "discreet.ledger.ledger", "discreet.marginals.engine")
    while queue:
        name = queue.pop()
        path = next((path for room in ROOMS if (path := folder.parent / room / f"{name}.py").exists()), folder / name)
        if name in seen or not path.is_file():
            continue
        seen.add(name)
        for node in ast.walk(ast.parse(path.read_text())):
            modules = [node.module] if isinstance(node, ast.ImportFrom) else []
            modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for module in modules:
                assert not str(module).startswith(forbidden), (name, module)
                _, _, inside = str(module).partition("discreet.")
                if inside.startswith(tuple(f"{room}." for room in ROOMS)):
                    queue.append(inside.partition(".")[2])
    assert {"independent", "model", "meter"} <= seen


def chance_of_more(plan: SynthPlan, priced: SynthPlan, runs: int) -> tuple[int, float]:
    """How often a table of one row seems to have it in both columns, and how often it may at the price charged."""
    counts = ArrayCounts(plan.domain, np.zeros((1, len(plan.domain)), dtype=np.int64))
    seen = 0
    for _ in range(runs):
        meter = Meter(counts, moved_by(plan.schema.unit), plan.currency, plan.price, SystemBits())
        measured = independent(meter, plan.workload, 1).measured
        seen += all(one.values[0] >= 1 for one in measured)
    # Without the row, the same needs noise of one or more in each, and the law of that is known.
    rate = float(priced.price) / len(priced.domain)
    without = (1 / (1 + np.exp(rate))) ** len(priced.domain)
    return seen, float(np.exp(float(priced.charge.amount)) * without)


@pytest.mark.statistical
def test_a_row_is_hidden_at_the_price_charged(curator):
    plan = curator.synthesize("independent", columns=["works", "sex"]).plan(epsilon=2).plan
    seen, allowed = chance_of_more(plan, plan, 600)
    assert at_most(seen, 600, allowed)


@pytest.mark.statistical
def test_a_charge_of_half_the_price_is_caught(curator):
    plan = curator.synthesize("independent", columns=["works", "sex"]).plan(epsilon=4).plan
    seen, allowed = chance_of_more(plan, replace(plan, price=plan.price / 2), 600)
    assert not at_most(seen, 600, allowed)
