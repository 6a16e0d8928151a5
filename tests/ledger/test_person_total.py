"""A person in several datasets gives away the sum: by every way of adding up, on one ledger or on many."""

from __future__ import annotations

import json
from fractions import Fraction

import pyarrow
import pytest
from shell import run

from discreet.accounting import compose, delta
from discreet.core.loss import ZCDP, Approx, Pure
from discreet.core.unit import Metric, Unit
from discreet.curator import Curator
from discreet.data.column import Integer
from discreet.data.schema import Schema
from discreet.errors import InputError, LossError
from discreet.ledger.budget import Allotment, Budget, Charge
from discreet.ledger.ledger import Ledger
from discreet.ledger.person_total import Membership, PersonTotal, person_total
from discreet.query.aggregate import count
from ledger_copies import copy, guards, open_ledger, restore, spend


def opened(folder, name, budget, *, asked=3, **price):
    """A ledger with a few questions on it."""
    rows = pyarrow.table({"x": [1, 2]})
    ledger = folder / f"{name}.db"
    curator = Curator.open(rows, Schema(name, {"x": Integer(0, 9)}), ledger=ledger, budget=budget, create=True)
    for _ in range(asked):
        curator.table().agg(n=count()).plan(**(price or {"share": "0.2"})).release()
    return curator.ledger


def test_pure_losses_of_two_ledgers_add_up_without_a_delta(tmp_path):
    ledgers = [opened(tmp_path, name, Budget(epsilon=1)) for name in ("a", "b")]
    found = person_total(ledgers)
    assert found.basic == found.zcdp == Approx(Fraction(6, 5), 0)
    assert found.fixed.epsilon <= Fraction(6, 5)
    assert found.promised == Approx(2, 0)


def test_every_way_is_valid_and_the_exact_law_is_the_tightest(tmp_path):
    budgets = {"a": Budget(epsilon=1), "b": Budget(epsilon=2, delta=1e-6), "c": Budget(rho="0.1", delta=1e-7)}
    found = person_total([opened(tmp_path, *one) for one in budgets.items()], delta="1e-5")
    assert found.fixed.epsilon < min(found.basic.epsilon, found.zcdp.epsilon)
    assert max(claim.delta for claim in (found.basic, found.zcdp, found.fixed)) <= Fraction(1, 10**5)
    assert found.promised.epsilon >= 3
    alone = person_total([Ledger.open(tmp_path / "b.db")], delta="1e-5")
    assert alone.basic.epsilon < found.basic.epsilon
    assert found.promised.delta >= Fraction(1, 10**6)


def test_a_budget_of_epsilon_and_delta_promises_those_and_not_its_rho(tmp_path):
    """Six pure questions of 0.5 fit into (3, 1e-6), and their rho is beyond the cap on rho."""
    ledger = opened(tmp_path, "a", Budget(epsilon=3, delta=1e-6), asked=6, epsilon="0.5", noise="laplace")
    found = person_total([ledger], delta="1e-6")
    assert found.promised == Approx(3, Fraction(1, 10**6))
    assert found.fixed.epsilon <= 3


def test_a_person_who_is_several_units_gives_away_more(tmp_path):
    ledger = opened(tmp_path, "visits", Budget(epsilon=1))
    assert person_total([ledger], rows={"visits": 3}).basic == Approx(Fraction(9, 5), 0)
    (one,) = person_total([ledger]).datasets
    assert one.unit == str(Unit())
    lecture = Membership("t", str(Unit()), 3, (Approx(1, "1e-6"),), (), ())
    total = PersonTotal((lecture,), Fraction(1, 10**4)).basic
    assert (total.epsilon, float(total.delta)) == (3, pytest.approx(1.11073e-5, rel=1e-5))


def test_the_worst_dataset_alone_is_no_total_for_who_is_in_both(tmp_path):
    """As if the same people were side by side: the exact law of both releases refutes it, and not the sum."""
    ledgers = [opened(tmp_path, name, Budget(epsilon=1), asked=1) for name in ("a", "b")]
    found = person_total(ledgers)
    both = compose([loss for one in found.datasets for loss in one.recorded])
    worst = max(loss.epsilon for one in found.datasets for loss in one.spent)
    assert delta(both, worst) > Fraction(1, 100)
    assert delta(both, found.basic.epsilon) == 0


def test_only_some_datasets_are_added_where_they_are_named(tmp_path):
    ledgers = [opened(tmp_path, name, Budget(epsilon=1)) for name in ("a", "b")]
    assert person_total(ledgers, datasets=["b"]).basic == Approx(Fraction(3, 5), 0)


def test_a_dataset_that_was_never_asked_costs_nothing_and_may(tmp_path):
    ledger = Ledger.open(tmp_path / "l.db", create=True)
    ledger.create("a", Budget(epsilon=1), who="me")
    found = person_total([ledger])
    assert (found.basic, found.zcdp, found.fixed, found.promised) == (*[Approx(0, 0)] * 3, Approx(1, 0))


def test_what_cannot_be_added_is_refused(tmp_path):
    ledger = opened(tmp_path, "a", Budget(rho="0.1"))
    with pytest.raises(InputError, match="delta"):
        _ = person_total([ledger]).basic
    with pytest.raises(InputError, match="delta"):
        person_total([ledger], delta=1)
    with pytest.raises(InputError, match="a dataset of these ledgers"):
        person_total([ledger], datasets=["b"])
    with pytest.raises(InputError, match="a dataset of these ledgers"):
        person_total([ledger], rows={"b": 2})
    with pytest.raises(InputError, match="`rows` must be 1 or more units of a dataset; got 0"):
        person_total([ledger], rows={"a": 0})
    with pytest.raises(InputError, match="`ledgers` must be different ledgers"):
        person_total([ledger, ledger], delta="1e-6")
    with pytest.raises(InputError, match="at least one"):
        person_total([])
    ledger.create("loads", Budget(epsilon=1), unit=Metric("one load", Fraction(1), "MW"), who="me")
    with pytest.raises(InputError, match="persons or rows"):
        person_total([ledger], delta="1e-6")
    failing = Membership("t", str(Unit()), 2, (ZCDP("0.1", "1e-7"),), (Pure(1),), ())
    with pytest.raises(LossError, match="group form"):
        _ = PersonTotal((failing,), Fraction(1, 10**5)).basic


def test_what_was_written_off_counts_in_every_way(tmp_path):
    """A charge without a law of its own: its amount stands for it, and was left out once."""
    ledger = open_ledger(tmp_path)
    ledger.create("visits", Budget(epsilon=10), who="ann")
    spend(ledger, "r1")
    old = restore(ledger, tmp_path)
    old.acknowledge(who="carla", why="disk died")
    found = person_total([old])
    (visits,) = found.datasets
    assert compose(visits.recorded) == compose([Pure(1), Pure(2)])
    assert (found.basic, found.fixed) == (Approx(3, 0), Approx(3, 0))


@pytest.mark.parametrize(
    ("budget", "spent", "promised"),
    [
        (Budget(epsilon=10), Charge(Fraction(15)), 15),
        (Budget(epsilon=10), Charge(Fraction(5)), 10),
        (Budget(epsilon=10, delta="1e-6"), Charge(Fraction(1, 10)), 10),
    ],
)
def test_no_less_is_promised_than_was_spent(tmp_path, state, budget, spent, promised):
    ledger = open_ledger(tmp_path)
    ledger.create("visits", budget, who="ann")
    ledger.close()
    for path in guards(state):
        path.unlink()
    old = open_ledger(tmp_path)
    old.acknowledge(who="carla", why="w", write_off={("visits", "questions"): spent})
    assert person_total([old], delta="1e-6").promised.epsilon == promised


@pytest.mark.parametrize("asked", [{"dataset": "wards"}, {"dataset": "visits", "allotment": "more"}])
def test_what_was_written_off_and_nobody_here_can_count_is_refused(tmp_path, asked):
    ledger = open_ledger(tmp_path)
    ledger.create("visits", Budget(epsilon=10), who="ann")
    ledger.close()
    copy(tmp_path, tmp_path / "backup")
    if asked["dataset"] == "wards":
        ledger.create("wards", Budget(epsilon=10), who="ann")
    else:
        parts = [Allotment(name, "pure", epsilon=10) for name in ("questions", "more")]
        ledger.raise_budget("visits", Budget(epsilon=20, allotments=parts), who="ann", why="more")
    ledger.spend(asked.pop("dataset"), Pure(1), release="r", who="ann", digest="d", **asked)
    ledger.close()
    for path in tmp_path.glob("discreet.db-*"):
        path.unlink()
    copy(tmp_path / "backup", tmp_path)
    old = open_ledger(tmp_path)
    old.acknowledge(who="carla", why="disk died")
    with pytest.raises(InputError, match="written off"):
        person_total([old])


def test_the_command_line_tells_the_same(tmp_path):
    for name in ("a", "b"):
        opened(tmp_path, name, Budget(epsilon=1))
    words = ("ledger", "total", str(tmp_path / "a.db"), str(tmp_path / "b.db"))
    told = json.loads(run(*words, "--rows", "a=2", "--json").stdout)
    assert told["basic"] == {"epsilon": 1.8, "delta": 0.0}
    assert "added up" in run(*words).stdout
    run(*words, "--rows", "a", code=2)
