"""A table as bad as tables get, its schema, and questions about it. Shared by the tests of this room."""

from __future__ import annotations

import math
import random
from datetime import date

import pyarrow
from hypothesis import strategies as st

from discreet.core.unit import Unit
from discreet.data.column import Boolean, Category, Date, Integer, Real, Text
from discreet.data.schema import Schema
from discreet.query.aggregate import count, mean, people, std, total, variance
from discreet.query.compile import GROUP, compile_query, measure_name
from discreet.query.key import bins, key
from discreet.query.predicate import And, Compare, IsIn, IsMissing, Not, Or
from discreet.query.question import Query
from reference import measures_of

SALT = [1_234_567_891, 987_654_321, 555_555_557, 1_999_999_993, 1_300_000_001, 777_777_777, 3, 5]

SHORT = ["a", "B", "é", "it's", 'say "x"', "z,z", " a"]
LONG = [
    "",
    "%",
    "_",
    "Ä",
    "\U0001f600",
    "Zoë",
    "null",
    "NULL",
    "a",
    "A",
    "aa",
    "ab",
    "b",
    "zz",
    "ß",
    "10",
    "9",
    "--",
    ";",
]

COLUMNS = {
    "short": Category(SHORT, nullable=False),
    "long": Category(LONG, nullable=True),
    "flag": Boolean(nullable=True),
    "n": Integer(-3, 5, nullable=False),
    "m": Integer(0, 100, nullable=True),
    "big": Integer(-(2**31), 2**40, nullable=False),
    "x": Real(-10.5, 20.25, nullable=False),
    "y": Real(0, 1e6, nullable=True),
    "d": Date("2020-02-27", "2021-03-02", nullable=True),
}

_numbers = [0.0, -0.0, 0.5, -0.5, 1.5, 2.4999999999999996, 5.0, 19.99, 20.25, 1e-300, 5e-324, 1e300, -1e300, 123456.789]
_numbers += [math.inf, -math.inf, math.nan, 0.49999999999999994, -2.5, 99.5, 1e6, -10.5]
CELLS = {
    "p": st.sampled_from([None, 1, 2, 3, 4, -1, 2**62, -(2**63), 2**63 - 1]),
    "short": st.sampled_from([*SHORT, None, "unknown", "A", "", "é", "a "]),
    "long": st.sampled_from([*LONG, None, "unknown", "ÿ", "\U0010ffff", "aaa"]),
    "flag": st.sampled_from([True, False, None]),
    "n": st.sampled_from([None, -(2**63), 2**63 - 1, 0, 1, -3, -4, 5, 6]),
    "m": st.sampled_from([None, *_numbers]) | st.floats(),
    "big": st.sampled_from([None, 2**63 - 1, -(2**63), 2**40, 2**40 + 1, 2**30, 2**31, -(2**31), 12345678901, 1]),
    "x": st.sampled_from([None, *_numbers]) | st.floats(),
    "y": st.sampled_from([None, *_numbers]) | st.floats(),
    "d": st.sampled_from([None, *(date(2020, 2, 27 + i) for i in range(3)), date(2021, 3, 2), date(2021, 3, 3)])
    | st.dates(),
}
_types = {
    "p": pyarrow.int64(),
    "short": pyarrow.string(),
    "long": pyarrow.string(),
    "flag": pyarrow.bool_(),
    "n": pyarrow.int64(),
    "m": pyarrow.float64(),
    "big": pyarrow.int64(),
    "x": pyarrow.float64(),
    "y": pyarrow.float64(),
    "d": pyarrow.date32(),
}

tables = st.lists(st.fixed_dictionaries(CELLS), max_size=12)

KEYS = [
    key("short"),
    key("long"),
    key("flag"),
    key("n"),
    key("short", ["B", "a"]),
    key("long", ["zz", None, "Ä"]),
    key("long", LONG[:15]),
    key("flag", [True]),
    key("n", [2, -3, 5]),
    key("m", [0, 100, None]),
    bins("n", [-2, 0, 3]),
    bins("m", width=7),
    bins("x", [-10.5, 0, 0.5, 20.25]),
    bins("x", [-1, 1]),
    bins("y", width=62_500.5),
    bins("d", every="day"),
    bins("d", every="month"),
    bins("d", every="year"),
    bins("d", width=100),
    bins("d", ["2020-02-28", "2020-12-31", "2021-03-02"]),
]

_constants = {
    "short": st.sampled_from(SHORT),
    "long": st.sampled_from(LONG),
    "flag": st.booleans(),
    "n": st.integers(-5, 7),
    "m": st.sampled_from([0, 50, 100, "1/3", 99.5]).map(lambda v: v if not isinstance(v, str) else 0.1),
    "big": st.sampled_from([0, 2**31, 12345678901]),
    "x": st.sampled_from([0, 0.5, -10.5, 20.25, 3]),
    "y": st.sampled_from([0, 123456.789, 1e6]),
    "d": st.dates(date(2020, 2, 1), date(2021, 4, 1)),
}


def _compare(name):
    unordered = isinstance(COLUMNS[name], (Category, Boolean))
    operators = ["==", "!="] if unordered else ["==", "!=", "<", "<=", ">", ">="]
    constant = _constants[name]
    return st.one_of(
        st.builds(Compare, st.just(name), st.sampled_from(operators), constant),
        st.builds(IsIn, st.just(name), st.lists(constant, min_size=1, max_size=3).map(tuple)),
        st.builds(IsMissing, st.just(name)),
    )


predicates = st.recursive(
    st.sampled_from(sorted(COLUMNS)).flatmap(_compare),
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(And, st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(Or, st.lists(inner, min_size=1, max_size=3).map(tuple)),
    ),
    max_leaves=4,
)

_aggregates = [count(), count("m"), count("d"), count("long"), total("n"), total("m"), total("y"), total("big")]
_aggregates += [total("x", bounds=(-1, 2.5)), mean("x"), mean("m"), variance("m"), std("x"), variance("n"), mean("n")]


@st.composite
def queries(draw, persons):
    """A question with up to two keys, perhaps a condition, and up to three outputs."""
    few = [k for k in KEYS if k.edges != ("every", "day")]  # hundreds of bins: slow to compile, so tested apart
    keys = draw(st.lists(st.sampled_from(few), max_size=2, unique_by=lambda k: k.column))
    chosen = draw(st.lists(st.sampled_from([*_aggregates, *([people()] if persons else [])]), min_size=1, max_size=3))
    condition = draw(st.none() | predicates)
    return Query(condition, tuple(keys), tuple((f"o{i}", aggregate) for i, aggregate in enumerate(chosen)))


units = st.builds(
    Unit, st.just("p"), neighbours=st.just("add-remove"), groups=st.integers(1, 4), rows=st.integers(1, 3)
)


def schema_for(unit=None, person=None):
    """The schema of the dirty table."""
    extra = {} if unit is None or unit.column is None else {unit.column: person if person is not None else Text()}
    return Schema("dirty", {**COLUMNS, **extra}, Unit() if unit is None else unit)


def arrow(rows):
    """The rows as they are, typed."""
    return pyarrow.table({name: pyarrow.array([r[name] for r in rows], kind) for name, kind in _types.items()})


def some_rows(size, seed=7):
    """A fixed table with every kind of dirt: the same on each run, so that all sources can be compared on it."""
    chance = random.Random(seed)
    numbers = [None, *_numbers]
    pools = {
        "p": [None, 1, 2, 3, 4, 5, 6, 7, -1, 2**62, -(2**63), 2**63 - 1],
        "short": [*SHORT, None, "unknown", "A", "", "a "],
        "long": [*LONG, None, "unknown", "ÿ", "\U0010ffff", "aaa"],
        "flag": [True, False, None],
        "n": [None, -(2**63), 2**63 - 1, 0, 1, -3, -4, 5, 6],
        "m": numbers,
        "big": [None, 2**63 - 1, -(2**63), 2**40, 2**40 + 1, 2**30, 2**31, -(2**31), 12345678901, 1],
        "x": numbers,
        "y": numbers,
        "d": [None, date(2020, 2, 27), date(2020, 2, 29), date(2021, 3, 2), date(2021, 3, 3), date(1, 1, 1), date.max],
    }
    return [{name: chance.choice(pool) for name, pool in pools.items()} for _ in range(size)]


def engine(source, query, schema, salt=SALT):
    """The measures as the engine computes them: {group: [m0, m1, ...]}. Only tests open a source themselves."""
    checked = query.checked(schema)
    measures = measures_of(checked, schema)
    with source.open() as connection:
        found = connection.integers(compile_query(checked, schema, measures, connection.table, salt))
    columns = [found[measure_name(index)].tolist() for index in range(len(measures))]
    places = found[GROUP].tolist()
    assert len(set(places)) == len(places)
    return {place: list(values) for place, *values in zip(places, *columns, strict=True)}
