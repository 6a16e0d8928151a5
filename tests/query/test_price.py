"""An epsilon, where rho is counted, buys the better noise for the charge of the pure one: in every kind of job."""

import math
from fractions import Fraction

import pyarrow
import pytest

import discreet
from discreet import Budget, Category, Date, Integer, Ledger, Schema, Unit, bins, count, mean, median, total
from discreet.accounting import zcdp
from discreet.core.loss import Pure
from discreet.errors import InputError
from discreet.mechanisms import Gaussian, Laplace
from discreet.query.price import Price, plan_at
from discreet.query.stream import plan_stream

PLACES = ["n", "s"]
COLUMNS = {
    "home": Category(PLACES, nullable=False),
    "work": Category(PLACES, nullable=False),
    "age": Integer(0, 100, nullable=False),
    "day": Date("2024-01-01", "2024-12-31", nullable=False),
}


def opened(tmp_path, budget):
    table = pyarrow.table({"home": ["n"], "work": ["s"], "age": [41], "day": ["2024-05-05"]})
    ledger = Ledger.open(tmp_path / "books.db", create=True)
    ledger.create("t", budget, unit=Unit(), who="c")
    return discreet.open(table, Schema("t", COLUMNS), ledger=ledger, create=True)


@pytest.fixture
def counts_rho(tmp_path):
    return opened(tmp_path, Budget(epsilon=100, delta=1e-6))


@pytest.fixture(params=[Budget(epsilon=100, delta=1e-6), Budget(epsilon=100)], ids=["zcdp", "pure"])
def curator(request, tmp_path):
    return opened(tmp_path, request.param)


KINDS = {
    "count": lambda c: c.table().agg(n=count()),
    "several": lambda c: c.table().group_by("home").agg(n=count(), m=mean("age"), s=total("age")),
    "tree": lambda c: c.tree(["home"]),
    "detail": lambda c: c.detail(["home"], groups={"old": "age > 50"}, details={"work": ["work"]}),
    "census": lambda c: c.census(
        ["home"], {"a": {"counts": "persons", "household": ["work"]}}, household="age", most=2
    ),
    "flows": lambda c: c.mobility(origin="home", destination="work"),
    "stream": lambda c: c.table().agg(n=count()).stream(bins("day", every="month")),
    "batch": lambda c: c.batch(a=c.table().agg(n=count()), b=c.table().group_by("home").agg(n=count())),
    "synth": lambda c: c.synthesize("independent"),
    "bounds": lambda c: c.table().agg(m=mean("age", bounds="private")),
    "commute": lambda c: c.commute(origin="home", destination="work", coordinates={"n": (0, 0), "s": (0, 1)}),
    "quantile tree": lambda c: c.table().agg(m=median("age", method="tree")),
}


@pytest.mark.parametrize("kind", KINDS)
def test_an_epsilon_buys_gaussian_noise_where_rho_is_counted(kind, curator):
    plan = KINDS[kind](curator).plan(epsilon=2).plan
    expected = "Laplace" if plan.allotment.kind == "pure" else "Gaussian"
    assert expected in plan.mechanism
    assert {"Laplace", "Gaussian"} - {expected} - {word.strip(",;") for word in plan.mechanism.split()}


@pytest.mark.parametrize("noise", ["auto", "gaussian"])
@pytest.mark.parametrize("epsilon", ["0.01", "0.3", "1", "5"])
def test_the_charge_is_that_of_the_pure_noise_and_the_error_is_less(epsilon, noise, counts_rho):
    question = KINDS["several"](counts_rho)
    pure = question.plan(epsilon=epsilon, noise="laplace").plan
    better = question.plan(epsilon=epsilon, noise=noise).plan
    assert pure.charge.amount * Fraction(999_999, 1_000_000) <= better.charge.amount <= pure.charge.amount
    for old, new in zip(pure.noises, better.noises, strict=True):
        assert isinstance(old, Laplace)
        assert isinstance(new, Gaussian)
        assert new.variance < old.variance * (0.52 if float(epsilon) <= 0.3 else 1)
        assert new.error(0.95) <= old.error(0.95)


def test_synthetic_rows_are_measured_at_the_charge_of_their_epsilon(curator):
    plan = curator.synthesize("independent").plan(epsilon=2).plan
    if plan.allotment.kind == "pure":
        assert plan.cost == Pure(2)
        return
    assert plan.charge.amount <= zcdp(Pure(2)).rho
    pairs = plan.blank().noise(plan.price / 91)
    assert math.sqrt(pairs.variance) == pytest.approx(5.47, abs=0.01)  # Laplace noise for 2/91 has 64


def test_no_plan_is_dearer_than_the_pure_one(curator):
    part = curator.allotment()
    query, period = KINDS["count"](curator).query, bins("day", every="month")

    def planned(price):
        return plan_stream(query, curator.schema, part, price, period)

    price = Price.read(epsilon=1)
    assert plan_at(price, part, planned).charge.within(planned(price).charge)


def test_a_pure_allotment_sells_no_gaussian_noise(curator):
    question = KINDS["count"](curator)
    if curator.allotment().kind == "pure":
        with pytest.raises(InputError, match="noise"):
            question.plan(epsilon=1, noise="gaussian")
    else:
        assert "Gaussian" in question.plan(epsilon=1, noise="gaussian").plan.mechanism


def test_the_plan_says_what_pure_epsilon_costs_as_much(curator):
    text = KINDS["count"](curator).plan(epsilon=1).explain()
    assert ("pure epsilon = 1 costs here" in text) == (curator.allotment().kind == "zcdp")


def test_laplace_noise_at_a_price_in_rho_is_caught(counts_rho, monkeypatch):
    monkeypatch.setattr("discreet.query.question_ask.plan_at", lambda price, allotment, planned: planned(price))
    with pytest.raises(AssertionError):
        test_an_epsilon_buys_gaussian_noise_where_rho_is_counted("several", counts_rho)


@pytest.mark.parametrize("kind", ["top", "tree", "flows", "stream", "synth"])
def test_an_accuracy_is_bought_from_the_largest_of_budgets(kind, tmp_path):
    large = opened(tmp_path, Budget(10**9))
    asked = large.table().top("home", 1) if kind == "top" else KINDS[kind](large)
    assert 0 < asked.plan(within=1000).plan.charge.amount < 10
