"""A batch is one job: one charge, split so that what matters more is more accurate."""

from fractions import Fraction
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

import discreet
from discreet import Budget, count, mean
from discreet.accounting import pure, zcdp
from discreet.errors import BudgetError, InputError
from discreet.query.batch import shares

SHIPPED = Path(str(files("discreet.apps.demo")))


@pytest.fixture
def curator(tmp_path):
    return discreet.open(
        SHIPPED / "people.csv", SHIPPED / "discreet.toml", ledger=tmp_path / "l.db", who="t", create=True
    )


def test_one_charge_pays_for_all(curator):
    questions = {"ages": curator.table().histogram("age", width=20), "pay": curator.table().agg(pay=mean("pay"))}
    offer = curator.batch(**questions).plan(epsilon=0.5, weights={"pay": 4})
    assert offer.plan.charge.amount <= Fraction(1, 2)
    assert offer.plan.charge.amount > Fraction(499, 1000)
    found = offer.release(release="both")
    assert set(found) == {"ages", "pay"}
    assert len(found["ages"]) == 5
    assert [record.kind for record in curator.ledger.records()].count("charge") == 1
    assert curator.release("both", "ages").columns == found["ages"].columns
    assert offer.release(release="both")["pay"].columns == found["pay"].columns
    assert set(curator.release("both")) == {"ages", "pay"}
    with pytest.raises(InputError, match="one of ages, pay"):
        curator.release("both", "age")


def test_equal_weights_are_equal_shares_to_the_last_digit():
    assert shares({"a": 1, "b": 1, "c": 1}, 0.5) == dict.fromkeys("abc", Fraction(1, 3))


@pytest.mark.parametrize(("power", "error"), [(1 / 2, lambda share: 1 / share), (2 / 3, lambda share: share**-0.5)])
def test_shares_minimise_the_weighted_error(power, error):
    weights = {"a": 1.0, "b": 7.0, "c": 0.3}
    best = shares(weights, power)
    assert sum(best.values()) <= 1
    cost = sum(weights[name] * error(float(share)) for name, share in best.items())
    rng = np.random.default_rng(3)
    for _ in range(300):
        other = rng.dirichlet([3.0, 3.0, 3.0])
        assert cost <= sum(w * error(s) for w, s in zip(weights.values(), other, strict=True)) * (1 + 1e-4)


def test_the_cost_of_a_batch_is_the_sum_of_its_parts(curator):
    parts = {"a": curator.table().agg(n=count()), "b": curator.table().group_by("sex").agg(n=count())}
    plan = curator.batch(**parts).plan(within=30).plan
    assert pure(plan.cost).epsilon == sum(pure(part.cost).epsilon for _, part in plan.parts)


def test_a_batch_in_a_zcdp_allotment(tmp_path):
    budget = Budget(rho=0.1)
    schema = discreet.Schema.load(SHIPPED / "discreet.toml")
    curator = discreet.open(
        SHIPPED / "people.csv", schema, ledger=tmp_path / "z.db", budget=budget, who="t", create=True
    )
    plan = curator.batch(a=curator.table().agg(n=count()), b=curator.table().agg(p=mean("pay"))).plan(rho=0.05).plan
    assert zcdp(plan.cost).rho <= Fraction(5, 100)
    assert "Gaussian" in plan.mechanism


def test_refused_batches_spend_nothing(curator):
    one = curator.table().agg(n=count())
    with pytest.raises(BudgetError):
        curator.batch(a=one, b=one).plan(epsilon=2).release()
    for bad in ({"weights": {"c": 1}}, {"weights": {"a": 0}}, {"weights": {"a": float("nan")}}):
        with pytest.raises(InputError, match="weights"):
            curator.batch(a=one).plan(epsilon=0.1, **bad)
    with pytest.raises(InputError, match="batch"):
        curator.batch().plan(epsilon=0.1)
    with pytest.raises(InputError, match=r"batch\.a"):
        curator.batch(a="SELECT 1")
    assert "charge" not in [record.kind for record in curator.ledger.records()]
