"""Bounds that are searched for and used in one job: charged as one, whatever is found; never more, never failing."""

from __future__ import annotations

import itertools
import json
import math
import random
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from bounds_table import PURE, SMALL, SUMS, UNITS, ZCDP, neighbours, opened, plan, run, schema_of, table_of
from scipy import stats

from chance import LEVEL
from discreet.accounting import pure, zcdp
from discreet.core.loss import Repeated
from discreet.core.unit import Unit
from discreet.data.column import Category, Integer
from discreet.data.source import source_of
from discreet.errors import InputError
from discreet.ledger.budget import Allotment
from discreet.query.aggregate import count, mean, std, total, variance
from discreet.query.compile import GROUP, compile_query, measure_name
from discreet.query.composite_plan import plan_question
from discreet.query.key import bins, discover, key
from discreet.query.notation import read_outputs
from discreet.query.plan import plan_query
from discreet.query.price import Price
from discreet.query.private_bounds import SEARCHED, BoundsPlan
from discreet.query.quantile import median
from discreet.query.question import Query
from discreet.query.question_ask import plan_any
from plan_text import explain

ALL = {
    "n": count(),
    "s": total("pay", "private"),
    "m": mean("pay", "private"),
    "v": variance("debt", "private"),
    "d": std("debt", "private"),
    "t": total("debt", "private"),
    "k": mean("debt", (-500, 500)),
}


def ranges(made):
    """All bounds that may be found, for each search."""
    for search in made.searches:
        places = range(search.grid.bins)
        yield [search.range(a, b) for a, b in itertools.combinations_with_replacement(places, 2)]


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("keys", [(), ("g",)])
def test_the_price_is_that_of_the_whole_question(unit, keys):
    schema = schema_of(unit)
    made = plan(ALL, schema, keys=keys, epsilon="0.7")
    assert isinstance(made, BoundsPlan)
    assert made.charge.amount == pure(made.cost).epsilon == Fraction(7, 10)
    searched = sum(pure(search.loss()).epsilon for search in made.searches)
    assert searched == SEARCHED * Fraction(7, 10)
    made = plan(ALL, schema, ZCDP, keys, rho="0.01")
    assert Fraction(999_999, 10**8) <= made.charge.amount <= Fraction(1, 100)
    made = plan(ALL, schema, ZCDP, keys, epsilon="0.7")
    assert pure(made.cost).epsilon == Fraction(7, 10)
    assert made.charge.amount == zcdp(made.cost).rho < Fraction(49, 200)
    assert plan(ALL, schema, keys=keys, share="0.0001").charge.amount == 1


def some_bounds(made, chance, count=12):
    """Bounds as they may be found, those among them that make different measures equal."""
    all_ranges = [list(found) for found in ranges(made)]
    for _ in range(count):
        yield {s.column: chance.choice(r) for s, r in zip(made.searches, all_ranges, strict=True)}
    even = {s.column: (Fraction(-500), Fraction(500)) for s in made.searches if s.column == "debt"}
    yield {"pay": (Fraction(0), Fraction(500)), **even}


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize(("allotment", "way"), [(PURE, "epsilon"), (ZCDP, "rho"), (ZCDP, "epsilon")])
def test_the_answer_keeps_to_its_price_for_all_bounds(unit, allotment, way):
    made = plan(ALL, schema_of(unit), allotment, ("g",), **{way: "0.3"})
    promised = Repeated(made.each, made.measured)
    for found in some_bounds(made, random.Random(5)):
        step = made.answering(found)
        assert len(step.measures) <= made.measured
        if allotment is PURE:
            assert pure(step.cost).epsilon == pure(promised).epsilon * Fraction(len(step.measures), made.measured)
        else:
            assert zcdp(step.cost).rho <= zcdp(promised).rho
    assert len(step.measures) < made.measured  # the last bounds make two measures one


def test_a_price_divided_by_what_was_found_would_be_too_little():
    """The twin: when bounds make measures equal, the others must not get what those would have cost."""
    made = plan(ALL, schema_of(), ZCDP, epsilon=1)
    *_, found = some_bounds(made, random.Random(5))
    outputs = made.answering(found).question
    wrong = plan_query(outputs, made.schema, ZCDP, made.price.part(1 - SEARCHED))
    assert zcdp(wrong.cost).rho > zcdp(Repeated(made.each, made.measured)).rho


def counted(step, table, salt=tuple(range(11, 19))):
    """The exact measures of every group."""
    with source_of(table).open() as connection:
        found = connection.integers(compile_query(step.question, step.schema, step.measures, connection.table, salt))
    exact = np.zeros((len(step.measures), step.groups), dtype=object)
    for index in range(len(step.measures)):
        exact[index, found[GROUP]] = found[measure_name(index)]
    return exact


def within_price(made, one, other, found, clipped_to=None):
    """Whether two tables are as close, measure by measure, as the price of one measure allows, exactly.

    `clipped_to` is a mutant: values are clipped to these bounds of each table, noise is made for those found.
    """
    step = made.answering(found)
    exact = []
    for rows in (one, other):
        used = step if clipped_to is None else made.answering(clipped_to(rows, found))
        ratios = [Fraction(1)] * len(step.measures)
        if clipped_to is not None:  # in the steps that the noise is made for
            ratios = [
                own.lattice.step / meant.lattice.step for own, meant in zip(used.measures, step.measures, strict=True)
            ]
        exact.append(counted(used, table_of(rows)) * np.array(ratios, dtype=object)[:, None])
    moved = np.abs(exact[0] - exact[1]).sum(axis=1)
    allowed = pure(made.each).epsilon
    return all(Fraction(m) / noise.scale <= allowed for m, noise in zip(moved, step.noises, strict=True))


def own_range(rows, found):
    """Of the data itself: what private bounds are there to avoid."""
    own = {}
    for column, (low, high) in found.items():
        values = [Fraction(row[column]) for row in rows if row[column] is not None]
        own[column] = (min(values), max(values)) if len(set(values)) > 1 else (low, high)
    return own


@pytest.mark.parametrize("unit", [Unit("p", groups=2, rows=3), Unit("p", groups=1, rows=1)], ids=str)
def test_one_unit_moves_the_answer_within_its_price_for_all_bounds(unit):
    made = plan(SUMS, schema_of(unit, **SMALL), keys=("g",), epsilon=1)
    chance = random.Random(7)
    ranged = [list(found) for found in ranges(made)]
    pairs = [dict(zip(("pay", "debt"), (chance.choice(r) for r in ranged), strict=True)) for _ in range(5)]
    for found in pairs:
        assert within_price(made, *neighbours(chance), found)


def test_values_clipped_to_what_the_data_hold_are_caught():
    made = plan({"s": total("pay", "private")}, schema_of(Unit("p", groups=2, rows=3), **SMALL), epsilon=1)
    found, chance = {"pay": (Fraction(0), Fraction(5))}, random.Random(7)
    tables = [neighbours(chance) for _ in range(4)]
    assert all(within_price(made, *pair, found) for pair in tables)
    assert not all(within_price(made, *pair, found, own_range) for pair in tables)


BASE, EXTRA = [1.0] * 60, 900.0


def released(made, clipped_to, trials):
    """(high, sum) of the job with and without one row, again and again; the engine's part done by hand."""
    (search,) = made.searches
    edges = [float(edge) for edge in search.grid.edges[1:-1]]

    @cache
    def step(found):
        return made.answering({"pay": found})

    draws = []
    for values in (np.array(BASE), np.array([*BASE, EXTRA])):
        counts = np.bincount(np.searchsorted(edges, values, "right"), minlength=search.grid.bins)
        out = []
        for _ in range(trials):
            found = search.found(search.noise.release(counts))
            answering = step(found)
            (measure,) = answering.measures
            low, high = (float(x) for x in clipped_to(values, found))
            exact = round(float(np.clip(values, low, high).sum() / float(measure.lattice.step)))
            out.append(float(answering.noises[0].release([exact])[0] * measure.lattice.step))
        draws.append(np.array(out))
    return draws


def loses_more(one, other, epsilon, event):
    """Whether an event shows, at LEVEL, a loss of more than epsilon."""
    hits, trials = int(event(other).sum()), len(other)
    rare, base = int(event(one).sum()), len(one)
    least = stats.beta.ppf(LEVEL / 2, hits, trials - hits + 1) if hits else 0.0
    most = stats.beta.ppf(1 - LEVEL / 2, rare + 1, base - rare) if rare < base else 1.0
    return bool(least > math.exp(epsilon) * most)


@pytest.mark.statistical
def test_the_audit_passes_the_job_and_catches_bounds_of_the_data():
    made = plan({"s": total("pay", "private")}, schema_of(**SMALL), epsilon=2)
    event = lambda sums: sums > 400  # noqa: E731
    honest = released(made, lambda values, found: found, 1500)
    assert not loses_more(*honest, 2, event)
    mutant = released(made, lambda values, found: (0.0, values.max()), 1500)
    assert loses_more(*mutant, 2, event)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([700.0] * 50, (500, 1000)),
        ([0.0] * 50, (0, Fraction(1, 1000))),
        ([10.0, 95.0, 3000.0], (10, 5000)),
        ([None, math.nan], (0, 10**9)),
        ([], (0, 10**9)),
        ([math.inf, -5.0], (0, 10**9)),
        ([1e9] * 9, (500_000_000, 10**9)),
    ],
)
def test_whatever_the_data_are_bounds_come_out(values, expected):
    """With hardly any noise the bounds are the ends of the bins that hold rows, and never equal."""
    made = plan({"s": total("pay", "private"), "m": mean("pay", "private"), "d": std("pay", "private")}, epsilon=4000)
    table = run(made, [{"g": "a", "pay": value} for value in values])
    assert (table["pay_low"], table["pay_high"]) == ([float(expected[0])], [float(expected[1])])
    assert table["pay_low_lower"] == table["pay_low"] == table["pay_low_upper"]
    for name in ("s", "m", "d"):
        ends = [table[name + end][0] for end in ("", "_lower", "_upper")]
        assert (ends == [None] * 3 and name != "s") or all(math.isfinite(end) for end in ends)
    kept = [0.0 if v == -5.0 else min(v, 1e9) for v in values if v is not None and not math.isnan(v)]
    assert table["s"][0] == pytest.approx(sum(kept), abs=float(expected[1]) * 0.1)


def test_a_sum_is_stretched_to_zero_at_no_cost():
    made = plan({"s": total("pay", "private"), "m": mean("pay", "private")}, epsilon=1)
    found = {"pay": (Fraction(2000), Fraction(5000))}
    step = made.answering(found)
    summed, averaged = step.question.outputs[0][1], step.question.outputs[1][1]
    assert (summed.bounds, averaged.bounds) == ((0, 5000), (2000, 5000))
    tight = plan({"s": total("pay", (2000, 5000)), "m": mean("pay", (2000, 5000))}, epsilon=Fraction(3, 4))
    width = [p.noises[0].scale * p.measures[0].lattice.step for p in (step, tight)]
    assert width[0] == pytest.approx(float(width[1]), rel=1e-3)
    below = plan({"s": total("debt", "private")}, epsilon=1).answering({"debt": (Fraction(-500), Fraction(-100))})
    assert below.question.outputs[0][1].bounds == (-500, 0)


def test_the_error_said_beforehand_is_the_one_that_comes():
    """A noise made for the declared bounds would be twenty thousand times too wide."""
    for unit, larger in ((UNITS[0], 5000.0), (UNITS[1], 5000.0)):
        made = plan({"s": total("pay", "private"), "m": mean("pay", "private")}, schema_of(unit), epsilon=1)
        summed, averaged = made.expected()
        step = made.answering({"pay": (Fraction(1000), Fraction(5000))})
        came = step.expected()
        assert came[0].half_width == pytest.approx(summed.half_width * larger, rel=1e-3)
        for (rows, part), (_, width) in zip(averaged.by_rows, came[1].by_rows, strict=True):
            assert rows == 100 or width == pytest.approx(part * 4000, rel=1e-2)
        assert "pay_high" in summed.unit
        assert "pay_high - pay_low" in averaged.unit


@pytest.fixture
def curator(tmp_path):
    return opened(tmp_path)


@pytest.mark.filterwarnings("ignore:.*may describe earlier data")  # a table in memory has no version
def test_one_price_one_charge_one_table(curator):
    question = curator.table().group_by("g").agg(n=count(), s=total("pay", bounds="private"), m=mean("pay", "private"))
    offer = question.plan(epsilon=8)
    words = str(offer)
    for part in (
        "epsilon = 8 from",
        "First, bounds of pay, for epsilon = 2 (1/4): counts of 37 bins",
        "Then, for epsilon = 6 (3/4) whatever was found",
        "times the larger of |pay_low| and |pay_high| (95%)",
        "times (pay_high - pay_low)",
        "they are the declared ones",
        "at most 2 rows",
    ):
        assert part in words
    answer = offer.release(release="pay")
    assert answer.outputs == ("n", "s", "m", "pay_low", "pay_high")
    assert len(set(answer["pay_high"])) == 1
    assert curator.standing()[0].left.amount == 9992
    assert offer.release(release="pay").columns == answer.columns == curator.release("pay").columns
    half = (answer["s_upper"][0] - answer["s_lower"][0]) / 2
    told = offer.plan.expected()[1].half_width
    assert half == pytest.approx(told * answer["pay_high"][0], rel=1e-3)
    assert question.plan(epsilon=9).plan.digest != offer.plan.digest
    assert question.plan(epsilon="8.0").plan.digest == offer.plan.digest
    # A person's 500 rows are two; noise takes them for a crowd once in 10,000, never three times in a row.
    highs = [answer["pay_high"][0], *(offer.release()["pay_high"][0] for _ in range(2))]
    assert min(highs) < 9e8


def test_it_is_better_than_bounds_nobody_doubts(curator):
    def width(**bounds):
        answer = curator.table().agg(m=mean("pay", **bounds)).plan(epsilon=1).release()
        return answer["m_upper"][0] - answer["m_lower"][0]

    # An empty bin far away is taken for a full one once in 10,000 searches: never in three.
    assert min(width(bounds="private") for _ in range(3)) * 100 < width()


def test_rows_of_groups_that_are_not_published_are_not_searched():
    rows = [{"p": i, "g": "a", "pay": 150.0} for i in range(200)] + [
        {"p": -i, "g": "b", "pay": 9e8} for i in range(200)
    ]
    outputs = {"m": mean("pay", "private")}
    made = plan(outputs, keys=(key("g", ["a"]),), epsilon=4000)
    assert run(made, rows)["pay_high"] == [200]
    assert run(plan(outputs, keys=("g",), epsilon=4000), rows)["pay_high"] == [1e9] * 3
    many = schema_of(
        g=Category([*"abc", *(f"x{i}" for i in range(30))], nullable=False)
    )  # so many are looked up by a join
    listed = key("g", ["a", *(f"x{i}" for i in range(30))])
    assert set(run(plan(outputs, many, keys=(listed,), epsilon=4000), rows)["pay_high"]) == {200}
    whole = Query().where("pay < 1000").agg(**outputs)
    assert run(plan_question(whole, schema_of(), PURE, Price.read(epsilon=4000)), rows)["pay_high"] == [200]


def test_in_json_and_back(curator):
    query = Query().agg(s=total("pay", "private"), d=std("age", "private", sample=True)).checked(curator.schema)
    assert query.searched == ("pay", "age")
    assert json.loads(query.to_json())["outputs"]["s"] == {"of": "sum", "column": "pay", "bounds": "private"}
    assert Query.from_json(query.to_json(), curator.schema) == query
    offer = curator.question({"outputs": {"m": {"of": "mean", "column": "pay", "bounds": "private"}}}).plan(epsilon=1)
    assert isinstance(offer.plan, BoundsPlan)
    assert "1/4" in explain(offer.plan)


def test_on_the_command_line():
    found = read_outputs(["mean(pay, private)", "x=sum(pay,private)", "count"])
    assert found == {"mean_pay": mean("pay", "private"), "x": total("pay", "private"), "count": count()}
    for wrong in ("mean(private)", "mean(,private)", "count(pay, private)", "median(pay, private)"):
        with pytest.raises(InputError):
            Query().agg(**read_outputs([wrong])).checked(schema_of())


FREE = Allotment("questions", "zcdp", rho=5, delta="1e-6")


@pytest.mark.parametrize(
    ("question", "price", "field", "said"),
    [
        (Query().agg(s=total("pay", "private")), {"within": 5}, "within", "depends on the bounds found"),
        (Query().agg(s=total("g", "private")), {"rho": 1}, "sum", "numeric"),
        (Query().agg(s=total("flag", "private")), {"rho": 1}, "bounds", "no round number"),
        (Query().agg(s=total("pay", "private"), pay_low=count()), {"rho": 1}, "outputs", "pay_low"),
        (Query().agg(s=total("pay", "private"), pay_high=median("age")), {"rho": 1}, "outputs", "COLUMN_high"),
        (Query().group_by(discover("g")).agg(s=total("pay", "private")), {"rho": 1}, "bounds", "suggest_bounds"),
        (Query().agg(s=total("pay", "private")), {"rho": "1e-30"}, "rho", "larger"),
    ],
)
def test_what_is_refused(question, price, field, said):
    schema = schema_of(flag=Integer(0, 1, nullable=False))
    delta = "1e-7" if question.discovered else None
    with pytest.raises(InputError, match=said) as caught:
        plan_any(question, schema, FREE, Price.read(**price), delta)
    assert caught.value.field == field


def test_streams_and_other_words_are_refused(curator):
    with pytest.raises(InputError, match="suggest_bounds"):
        curator.table().agg(s=total("pay", "private")).stream(bins("age", [0, 50, 100])).plan(epsilon=1)
    with pytest.raises(InputError, match="private"):
        mean("pay", "privately")
    with pytest.raises(InputError, match="one fixed plan"):
        plan({"s": total("pay", "private")}, None, Allotment("x", "plan", epsilon=1, delta=1e-6), epsilon=1)
    assert curator.standing()[0].left.amount == 10_000
