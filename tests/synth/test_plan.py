"""The plan of synthetic rows: what it charges and says, and that a row is hidden at that price."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow
import pytest
from synth_desk import SCHEMA, table

import discreet
from chance import at_most
from discreet import Budget, Category, Integer, Schema
from discreet.accounting import zcdp
from discreet.core.loss import ZCDP, Pure
from discreet.core.plan import Plan
from discreet.core.progress import listening
from discreet.errors import BudgetError, InputError, RunError
from discreet.marginals import engine
from discreet.marginals.counts import ArrayCounts
from discreet.marginals.domain import Domain
from discreet.marginals.engine import moved_by
from discreet.marginals.meter import Meter
from discreet.noise.bits import SystemBits
from discreet.synth import plan as planning
from discreet.synth.independent import independent
from discreet.synth.plan import SynthPlan


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
    # Nothing but what was paid for: a twentieth of it looked for values that many rows share.
    assert [(one.columns, one.noise.scale) for one in release.measured] == [((0,), Fraction(20, 19))]
    assert any("stopped on its way" in note for note in release.notes)
    sexes = np.bincount(release.codes[:, 1])
    assert max(sexes) - min(sexes) <= 1  # and of other columns nothing is known

    def empty(meter, workload, rows=None):
        raise ValueError

    monkeypatch.setattr(planning, "method_named", lambda name: empty)
    with pytest.raises(RunError, match="stays spent"):
        curator.synthesize("independent").plan(epsilon=1).release()
    assert curator.standing()[0].spent.amount == 2


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
    told: list[tuple[str, float | None]] = []
    with listening(lambda stage, done: told.append((stage, done))):
        curator.synthesize("independent").plan(epsilon=1).release()
    stages = ["reading codes in the engine", "looking for values that many rows share", "counting in the engine"]
    stages += ["counting in the engine", "making rows", "recording"]
    assert [stage for stage, _ in told] == stages


@pytest.mark.parametrize("method", ["mosaic", "aim", "mst"])
def test_stages_are_the_same_for_every_table_in_an_engine(method, tmp_path):
    # How many marginals are counted after codes were merged came out of the data: three pairs, or none.
    names = ["a", "b", "c"]
    schema = Schema("t", {name: Category(["f", "m"], nullable=False) for name in names})
    heard = []
    for rows in (0, 1500):
        table = pyarrow.table({name: pyarrow.array(["f", "f", "m"] * (rows // 3), pyarrow.string()) for name in names})
        ledger = tmp_path / f"{rows}.db"
        desk = discreet.open(table, schema, ledger=ledger, budget=Budget(100), create=True)
        stages: list[str] = []
        with listening(lambda stage, done, stages=stages: stages.append(stage)):
            desk.synthesize(method, rows=5).plan(epsilon=50).release()
        heard.append(stages)
    assert heard[0] == heard[1]


def test_the_plan_says_what_to_expect_and_spends_nothing(curator):
    offer = curator.synthesize(bins={"pay": 10}, impossible=["age < 16 and works"], rows=2000).plan(epsilon=1)
    text = str(offer)
    for word in (
        "Cost: epsilon = 1",
        "2,000 rows, in 5 columns",
        "Method: ",
        "10 marginals",
        "the number of rows: +-",
        "a one-way count, by since, the most precise of 5 marginals: +-",
        "a one-way count, by works, the least precise of 5 marginals: +-",
        "a two-way count, one of 10 marginals: +-",
        "a table of about 16 rows or fewer would be lost",
        "pay is measured in 10 bins, 0..10000, ... 90000..100000",
        "values of since that more than about",
        "without a declared value of age, works or since is left out of everything",
        "undeclared values of sex and pay count as missing",
        "1 condition",
    ):
        assert word in text, word
    finer = curator.synthesize(bins={"pay": 10}, rows=2000).plan(epsilon=2)
    both = zip(offer.expected, finer.expected, strict=True)
    assert all(dearer.half_width < cheaper.half_width for cheaper, dearer in both)
    assert curator.standing()[0].spent.amount == 0
    # What is expected is what the noise does: measured evenly, one-way counts are off no more than it says.
    outline = curator.synthesize("independent").plan(epsilon=1)
    assert f"one of 5 marginals: +-{outline.expected[1].half_width:,}" in str(outline)


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


@pytest.mark.parametrize("rows", [0, -3, 10**9, 2.5, True, "5"])
def test_rows_are_as_many_as_a_plan_may_have_when_they_are_published_again(curator, rows):
    curator.synthesize("independent", rows=9).plan(epsilon=1).release(release="twins")
    with pytest.raises(InputError, match="`rows` must be a whole number from 1 to 5,000,000"):
        curator.publish("twins", rows=rows)


def test_the_plan_says_that_whole_numbers_too_many_to_tell_apart_are_rounded(tmp_path):
    columns = {"id": Integer(0, 2**50), "pay": Integer(0, 10**6, step=500), "age": Integer(0, 200)}
    data = pyarrow.table({name: pyarrow.array([], pyarrow.int64()) for name in columns})
    books = {"ledger": tmp_path / "books.db", "create": True, "budget": Budget(1)}
    text = str(discreet.open(data, Schema("t", columns), **books).synthesize().plan(epsilon=1))
    assert "id: in steps of 1000000." in text
    assert "pay: in steps" not in text  # as declared
    assert "age: in steps" not in text


def test_values_that_are_found_do_not_make_a_marginal_of_the_workload_too_large(tmp_path, monkeypatch):
    for room in (engine, planning):
        monkeypatch.setattr(room, "LARGEST", 60_000)
    rng = np.random.default_rng(6)
    shared = rng.integers(0, 3000, 150)
    data = pyarrow.table({name: rng.choice(shared, 20_000) for name in "ab"})
    schema = Schema("t", {name: Integer(0, 3000, nullable=False) for name in "ab"})
    books = {"ledger": tmp_path / "books.db", "create": True, "budget": Budget(10_000, delta="1e-6")}
    curator = discreet.open(data, schema, **books)
    made = curator.synthesize("rap", rows=100).plan(rho=100).release()
    assert len(made) == 100
    assert made.domain.sizes > Domain.of(schema).sizes  # some were found
    assert made.domain.cells((0, 1)) <= 60_000
