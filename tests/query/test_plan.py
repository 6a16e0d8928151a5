"""A plan's price is the price of the whole question; what it publishes has a shape that no data can change."""

from __future__ import annotations

import json
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from chance import LEVEL, at_most
from discreet.accounting import pure, zcdp
from discreet.core.unit import Unit
from discreet.data.column import Boolean, Category, Date, Integer, Real
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.errors import InputError
from discreet.ledger.budget import Allotment
from discreet.mechanisms import Gaussian, Laplace
from discreet.noise.bits import SystemBits
from discreet.query.aggregate import count, mean, people, std, total, variance
from discreet.query.compile import GROUP, measure_name
from discreet.query.key import bins, key
from discreet.query.plan import plan_query
from discreet.query.price import Price
from discreet.query.question import Query
from jobs import run_plan
from plan_text import explain

COLUMNS = {
    "county": Category(["Ash", "Elm", "Oak"], nullable=True),
    "adult": Boolean(nullable=False),
    "age": Integer(0, 120, nullable=False),
    "pay": Real(0, 1000, nullable=True),
    "day": Date("2024-01-01", "2024-12-31", nullable=False),
}
ROWS = Schema("people", COLUMNS)
PERSONS = Schema("people", COLUMNS, Unit("id", groups=3, rows=4))
PURE = Allotment("questions", "pure", epsilon=10)
ZCDP = Allotment("questions", "zcdp", rho=5)

aggregates = st.sampled_from(
    [count(), count("pay"), total("age"), total("pay", (0, 50)), mean("age"), mean("pay"), variance("pay"), std("age")]
)
outputs = st.lists(aggregates, min_size=1, max_size=5).map(lambda a: {f"o{i}": one for i, one in enumerate(a)})
amounts = st.fractions(min_value=Fraction(1, 100), max_value=10, max_denominator=10**6)
schemas = st.sampled_from([ROWS, PERSONS, Schema("people", COLUMNS, Unit("id", "replace", groups=2, rows=3))])
keys = st.sampled_from([(), ("county",), ("county", "adult"), (bins("day", every="month"),)])


def plan(query, schema=ROWS, allotment=PURE, **price):
    return plan_query(query, schema, allotment, Price.read(**price))


@settings(deadline=None)
@given(outputs, amounts, schemas, keys)
def test_an_epsilon_is_the_price_of_the_whole_question(chosen, epsilon, schema, grouped):
    made = plan(Query().group_by(*grouped).agg(**chosen), schema, epsilon=epsilon)
    assert pure(made.cost).epsilon == epsilon
    assert made.charge.amount == epsilon
    assert all(isinstance(noise, Laplace) for noise in made.noises)


@settings(deadline=None)
@given(outputs, amounts, schemas, keys)
def test_a_rho_is_never_exceeded_and_hardly_missed(chosen, rho, schema, grouped):
    made = plan(Query().group_by(*grouped).agg(**chosen), schema, ZCDP, rho=rho)
    paid = made.charge.amount
    assert rho * Fraction(999_999, 1_000_000) <= paid <= rho
    assert all(isinstance(noise, Gaussian) for noise in made.noises)


@settings(deadline=None)
@given(outputs, st.fractions(Fraction(1, 100), 1), schemas)
def test_a_share_is_that_share(chosen, share, schema):
    query = Query().agg(**chosen)
    assert plan(query, schema, share=share).charge.amount == share * 10
    paid = plan(query, schema, ZCDP, share=share).charge.amount
    assert share * 5 * Fraction(999_999, 1_000_000) <= paid <= share * 5


def test_epsilon_in_a_zcdp_allotment_is_a_pure_job_at_its_tight_price():
    made = plan(Query().group_by("county").agg(n=count(), s=total("age")), PERSONS, ZCDP, epsilon=1)
    assert pure(made.cost).epsilon == 1
    assert made.charge.amount == zcdp(made.cost).rho
    assert made.charge.amount < Fraction(1, 2) / 2  # epsilon^2/2 would be the crude one
    assert all(isinstance(noise, Laplace) for noise in made.noises)


def test_a_measure_that_several_outputs_need_is_paid_once():
    single = plan(Query().agg(n=count(), avg=mean("age"), var=variance("age"), dev=std("age")), epsilon=3)
    assert len(single.measures) == 3  # rows, a sum, a sum of squares
    assert single.noises[0].scale == 1
    doubled = plan(Query().agg(a=count(), b=count(), c=count("age")), epsilon=1)  # age is declared complete
    assert len(doubled.measures) == 1
    noisy = [np.array([7])]
    table = doubled.table(noisy)["columns"]
    assert table["a"] == table["b"] == table["c"] == [7]
    apart = plan(Query().agg(a=count(), b=count("pay")), epsilon=1)
    assert len(apart.measures) == 2


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("allotment", [PURE, ZCDP], ids=["pure", "zcdp"])
@pytest.mark.parametrize("within", [3, 50, 1234.5])
def test_an_accuracy_is_bought_at_the_lowest_price(within, allotment, confidence):
    made = plan(Query().group_by("county").agg(n=count()), PERSONS, allotment, within=within, confidence=confidence)
    (expected,) = made.expected()
    assert expected.half_width <= within
    price = made.charge.amount * Fraction(99, 100)
    way = {"epsilon": price} if allotment is PURE else {"rho": price}
    (cheaper,) = plan(
        Query().group_by("county").agg(n=count()), PERSONS, allotment, confidence=confidence, **way
    ).expected()
    assert cheaper.half_width > within or (allotment is ZCDP and isinstance(made.noises[0], Laplace))


def test_the_better_noise_is_chosen_for_an_accuracy():
    for within in (0.5, 1, 2, 10, 1000):
        query = Query().agg(n=count())
        chosen = plan(query, allotment=ZCDP, within=within)
        others = [plan(query, allotment=ZCDP, within=within, noise=noise) for noise in ("laplace", "gaussian")]
        assert chosen.charge.amount == min(other.charge.amount for other in others)
    assert isinstance(plan(Query().agg(n=count()), allotment=ZCDP, within=100).noises[0], Gaussian)


def test_an_accuracy_of_sums_is_in_the_units_of_the_sum():
    made = plan(Query().agg(pay=total("pay"), age=total("age")), within=5000)
    for expected in made.expected():
        assert 4990 < expected.half_width <= 5000


@pytest.mark.parametrize("wrong", [mean("age"), variance("pay"), std("pay")])
def test_an_accuracy_of_a_mean_cannot_be_bought(wrong):
    with pytest.raises(InputError, match="mean") as caught:
        plan(Query().agg(n=count(), m=wrong), within=5)
    assert caught.value.field == "within"


def test_a_person_may_insist_on_a_noise_that_fits():
    assert isinstance(plan(Query().agg(n=count()), noise="laplace", epsilon=1).noises[0], Laplace)
    assert isinstance(plan(Query().agg(n=count()), ROWS, ZCDP, noise="gaussian", rho=1).noises[0], Gaussian)
    assert isinstance(plan(Query().agg(n=count()), ROWS, ZCDP, noise="laplace", within=9).noises[0], Laplace)
    for allotment, price, noise in [
        (PURE, {"epsilon": 1}, "gaussian"),
        (PURE, {"within": 9}, "gaussian"),
        (ZCDP, {"epsilon": 1}, "gaussian"),
        (ZCDP, {"rho": 1}, "laplace"),
    ]:
        with pytest.raises(InputError) as caught:
            plan(Query().agg(n=count()), ROWS, allotment, noise=noise, **price)
        assert caught.value.field == "noise"


@pytest.mark.parametrize(
    ("price", "field"),
    [
        ({}, "price"),
        ({"epsilon": 1, "rho": 1}, "price"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"epsilon": float("inf")}, "epsilon"),
        ({"epsilon": "lots"}, "epsilon"),
        ({"epsilon": True}, "epsilon"),
        ({"epsilon": 1e-30}, "epsilon"),
        ({"epsilon": 1e30}, "epsilon"),
        ({"rho": 1}, "rho"),
        ({"share": 1.5}, "share"),
        ({"share": 0}, "share"),
        ({"within": 0}, "within"),
        ({"within": -5}, "within"),
        ({"epsilon": "1e400"}, "epsilon"),
        ({"epsilon": "1e-400"}, "epsilon"),
        ({"within": "1e400"}, "within"),
        ({"within": 1, "confidence": 1}, "confidence"),
        ({"within": 1, "confidence": "high"}, "confidence"),
        ({"epsilon": 1, "confidence": float("nan")}, "confidence"),
        ({"epsilon": 1, "noise": "uniform"}, "noise"),
    ],
)
def test_a_price_that_is_none_is_refused_by_name(price, field):
    with pytest.raises(InputError) as caught:
        plan(Query().agg(n=count()), **price)
    assert caught.value.field == field


def test_questions_are_not_asked_from_a_plan_allotment():
    with pytest.raises(InputError, match="allotment"):
        plan(Query().agg(n=count()), allotment=Allotment("training", "plan", epsilon=1, delta=1e-6), epsilon=1)


def test_the_digest_follows_all_that_decides_the_result():
    query = Query().group_by("county").agg(n=count())
    plans = [
        plan(query, epsilon=1),
        plan(query, epsilon=2),
        plan(query, epsilon=1, confidence=0.9),
        plan(query.where("age > 5"), epsilon=1),
        plan(query, PERSONS, epsilon=1),
        plan(query, allotment=ZCDP, rho=1),
        plan(Query().group_by(key("county", ["Ash"])).agg(n=count()), epsilon=1),
        plan(Query().group_by("county").agg(m=count()), epsilon=1),
        plan(query, Schema("people", {**COLUMNS, "age": Integer(0, 121, nullable=False)}), epsilon=1),
    ]
    assert len({made.digest for made in plans}) == len(plans)
    assert plan(query, epsilon=1).digest == plan(query, epsilon="1.0").digest
    json.dumps(plans[0].query)


# What the engine would have found, in place of the engine.
class Found:
    """Exact measures, as if counted."""

    table = None

    def __init__(self, groups, *measures):
        self.values = {GROUP: np.array(groups, dtype=np.int64)}
        self.values |= {measure_name(i): np.array(m, dtype=np.int64) for i, m in enumerate(measures)}

    def integers(self, expression):
        return self.values

    def counted(self, shape, compiled, salt):
        return self.integers(compiled(self.table, salt))


@contextmanager
def no_engine(monkeypatch):
    import discreet.query.compile as room

    with monkeypatch.context() as patched:
        patched.setattr(room, "compile_query", lambda *args, **kwargs: None)
        yield


def test_the_shape_of_an_answer_does_not_depend_on_the_data(monkeypatch):
    query = Query().group_by("county", "adult")
    query = query.agg(n=count(), a=total("age"), p=total("pay"), m=mean("pay"), v=variance("age"), s=std("pay"))
    made = plan(query, epsilon=0.001)
    full, size = list(range(8)), len(made.measures)
    tables = [
        Found([], *([[]] * size)),
        Found([3], *([[1]] * size)),
        Found(full, *([[-(2**61)] * 8] * size)),
        Found(full[::-1], *([[2**61] * 8] * size)),
        Found(full, *[np.arange(8) * 10**k for k in range(size)]),
    ]
    with no_engine(monkeypatch):
        results = [run_plan(made, found, SystemBits()) for found in tables]
    shapes = []
    for result in results:
        columns = result.pop("columns")
        # These two follow from the noisy numbers, as the gaps do.
        result["notes"] = [note for note in result["notes"] if note["kind"] not in ("negative", "unknown")]
        labels = {name: columns[name] for name in result["keys"]}
        # These two kinds of notes follow from the published numbers alone.
        result["notes"] = [note for note in result["notes"] if note["kind"] not in ("negative", "unknown")]
        unknown = {name: [value is None for value in column] for name, column in columns.items() if name not in labels}
        for name, gaps in unknown.items():  # which are unknown follows from the noisy count
            output = name.removesuffix("_lower").removesuffix("_upper")
            assert gaps == unknown[output]
            assert output in ("m", "v", "s") or not any(gaps)
            columns[name] = [0.5 if value is None else value for value in columns[name]]
        kinds = {name: [type(value).__name__ for value in column] for name, column in columns.items()}
        shapes.append(json.dumps([result, kinds, labels, list(columns)]))
        assert all(np.isfinite(v) for name in columns if name not in labels for v in columns[name])
        assert all(type(v) is int for v in columns["n"] + columns["a"])
        assert all(type(v) is float for v in columns["p"] + columns["m"] + columns["v"])
    assert len(set(shapes)) == 1
    assert columns["county"] == ["Ash", "Ash", "Elm", "Elm", "Oak", "Oak", None, None]
    assert columns["adult"] == [False, True] * 4


@pytest.mark.parametrize("size", [0, 1, 5000])
def test_the_shape_holds_through_the_engine(size):
    import pyarrow

    rows = {
        "county": ["Ash"] * size,
        "adult": [True] * size,
        "age": [500] * size,
        "pay": [None] * size,
        "day": [None] * size,
    }
    kinds = [pyarrow.string(), pyarrow.bool_(), pyarrow.int64(), pyarrow.float64(), pyarrow.date32()]
    table = pyarrow.table({name: pyarrow.array(rows[name], kind) for name, kind in zip(rows, kinds, strict=True)})
    made = plan(Query().group_by("county", "adult").agg(n=count(), m=mean("pay"), s=total("age")), epsilon=10)
    with source_of(table).open() as connection:
        result = run_plan(made, connection, SystemBits())
    assert list(result["columns"]) == ["county", "adult"] + [n + e for n in "nms" for e in ("", "_lower", "_upper")]
    assert result["columns"]["county"] == ["Ash", "Ash", "Elm", "Elm", "Oak", "Oak", None, None]
    if size == 5000:
        assert abs(result["columns"]["n"][1] - 5000) < 100
        assert abs(result["columns"]["s"][1] - 5000 * 120) < 10_000


def losses(one, two, runs, made, monkeypatch):
    """How often each answer came out on two neighbours; values of the first output of the first group."""
    with no_engine(monkeypatch):
        found = []
        for data in (one, two):
            exact = np.zeros(runs, dtype=np.int64)
            exact[:] = data
            found.append(made.noises[0].release(exact, bits=SystemBits()))
    return found


@pytest.mark.statistical
@pytest.mark.parametrize("schema", [ROWS, PERSONS], ids=["rows", "persons"])
def test_neighbours_look_alike_as_far_as_is_claimed(schema, monkeypatch):
    """The most that one unit can do to a count, against the claim; and a claim of two thirds of it is refuted."""
    epsilon, runs = 1.0, 200_000
    made = plan(Query().agg(n=count()), schema, epsilon=epsilon)
    far = made.moved[0].l1
    near, away = losses(0, far, runs, made, monkeypatch)
    thresholds = np.unique(np.quantile(near, np.linspace(0.01, 0.99, 25)).astype(int))
    for t in thresholds:
        assert at_most_ratio((near <= t).sum(), (away <= t).sum(), runs, epsilon)
        assert at_most_ratio((away >= t).sum(), (near >= t).sum(), runs, epsilon)
    middle = int(np.median(near))
    assert not at_most_ratio((near <= middle).sum(), (away <= middle).sum(), runs, 2 * epsilon / 3)


def at_most_ratio(one, other, runs, epsilon) -> bool:
    """Whether counts of an event under two laws agree with p <= e^epsilon q."""
    low = stats.beta.ppf(LEVEL, one, runs - one + 1) if one else 0.0
    high = stats.beta.ppf(1 - LEVEL, other + 1, runs - other) if other < runs else 1.0
    return low <= np.exp(epsilon) * high


@pytest.mark.statistical
def test_a_release_s_noise_is_the_one_in_the_plan(monkeypatch):
    made = plan(Query().group_by(bins("age", width=1)).agg(n=count(), s=total("age")), PERSONS, epsilon=1)
    with no_engine(monkeypatch):
        result = run_plan(made, Found([0], [100], [50]), SystemBits())["columns"]
    values = np.array(result["n"])
    half = made.expected()[0].half_width
    assert at_most(int((np.abs(values[1:]) > half).sum()), len(values) - 1, 0.05)
    assert np.abs(values[1:]).max() > 0


def test_every_release_has_a_salt_of_its_own(monkeypatch):
    import discreet.query.compile as room

    salts = []
    monkeypatch.setattr(room, "compile_query", lambda *args: salts.append(tuple(args[-1])))
    made = plan(Query().agg(n=count()), PERSONS, epsilon=1)
    for _ in range(3):
        run_plan(made, Found([0], [1]), SystemBits())
    assert len(set(salts)) == 3
    assert all(len(salt) >= 6 and all(0 <= word < 2**31 for word in salt) for salt in salts)


def test_a_plan_in_words_says_what_it_costs_and_may_do():
    query = Query().group_by("county").agg(n=count(), who=people(), pay=mean("pay"), sum=total("pay"))
    made = plan(query, PERSONS, epsilon=0.5, confidence=0.999)
    words = explain(made, left=made.charge)
    for part in (
        "0.5",
        "99.9%",
        "at most 3 groups",
        "at most 4 rows",
        "0..1000",
        "Laplace",
        "4 rows",
    ):
        assert part in words
    assert "100%" not in words
    poor = explain(made, left=type(made.charge)(Fraction(1, 10)))
    assert "refused" in poor
