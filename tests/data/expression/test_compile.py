"""An expression is the same on every engine, in plain Python, and within its domain, on the dirtiest of rows."""

from __future__ import annotations

import functools
import random
from dataclasses import replace

import pyarrow
import pytest
from engine_cases import ENGINES, on_duckdb, on_postgres, on_spark, rows, schema

from discreet.data.column import Integer, Real
from discreet.data.expression import read_expression, resolve
from discreet.data.expression.compile import with_expressions
from discreet.data.expression.domain import Domains, domain_of, domain_of_column, value_of
from discreet.data.expression.function import FUNCTIONS
from discreet.data.instant import Instant
from discreet.data.source import source_of
from discreet.errors import InputError
from reference import declared

COLUMNS = schema().columns
DOMAINS = Domains(COLUMNS)

NUMBERS = """n + m; n - m * 2; m * n; big * 3; x + y; x * y; x * x * x; y / 3; y / n; m // 7; n // 2
(n * 10) // 3; n % 3; m % n; -n; abs(n); abs(x); sign(x); floor(x); ceil(x); trunc(x); round(x)
round(x, 1); round(y, -2); round(m, -1); sqrt(x); power(n, 3); power(x, 2); ln(m); log10(m)
least(n, m); greatest(x, y, m); clip(m, 5, 50); clip(x, -0.5, 7); clip(y, 1, 100) / 3
coalesce(m, n); coalesce(y, m, 0); nullif(n, 0); price * 2
case when x >= 0.5 then y / x end; case when n > 0 and -0.25 > x then m / x else 0 end
width_bucket(x, -1, 5, 4); width_bucket(m, 0, 50, 7); ln(round(clip(x, 0.1, 5), 1))
price / small; short_float * small; y - floor(y / 7) * 7; round(y / 3, 2); round(price, 1)
floor(y / 1000) * 1000; least(price, null); (m > 50) + (n > 0); case when flag then n end"""
WORDS = r"""case when m < 10 then 'low' when m < 50 then 'mid' else 'high' end; long like 'a%'; long ilike 'A%'
upper(long); long in ('a', 'zz'); length(long); substr(long, 1, 1); long || '-' || short; long < 'b'
left(odd, 1); odd = '\'; case code when 1 then 'one' when '2' then 'two' end
replace(long, 'a', 'b'); trim(long); reverse(long); code = 1; starts_with(odd, '$')
contains(odd, 'env'); ends_with(short, 'x')"""
TRUTH = """n > m; x < y; x = 0.5; m in (1, 2, 50); x in (0.5, 20.25); flag and n > 0; flag or m > 5; not flag
flag is null; m is null or n > 3; flag = (n > 0); m is distinct from 50; d >= '2020-12-01'
moment >= '2020-03-01'; flag is not true"""
DAYS = """year(d); month(d); day(d); quarter(d); week(d); dayofyear(d); dayofweek(d); isodow(d); dayname(d)
monthname(d); date_trunc('week', d); date_trunc('month', d); date_trunc('quarter', d)
date_trunc('year', d); date_trunc('decade', d); d + 30; d - n; d + interval 1 month
d - interval 13 month; d - date '2020-06-01'; month(moment); datediff('week', date '2020-01-01', d)
datediff('month', date '2020-01-31', d); strftime(d, '%a %d.%m.%y %j %u'); strftime(d, '%G-W%V %B')
strftime(d, '%Y-%m'); isoyear(d); yearweek(d); strftime(d, '%-d %b %A %w')"""
CASTS = """cast(x as integer); cast(flag as integer); cast(code as integer); cast(m as varchar)
cast(m as boolean); cast(n as double); cast(y as decimal(10, 1)); cast(code as double)
cast(d as date)"""
TIMES = """hour(at); hour(local); minute(local); second(at); epoch(local); cast(at as date); cast(local as date)
isodow(at); week(local); year(at); dayname(local); date_trunc('hour', at); date_trunc('hour', local)
date_trunc('minute', local); date_trunc('day', at); date_trunc('month', local); at + interval 5 hour
at - interval 90 minute; at + interval 1 day; local - interval 3 week; at + interval 1 month
local - interval 13 month; local + n; at + interval (n) hour; at - local; at - timestamp '2020-06-01 00:00+02'
date_diff('hour', at, local); date_diff('minute', local, at); date_diff('day', at, local); date_diff('month', at, local)
at >= timestamp '2020-10-25 02:30+02'; at > d; at between '2020-03-29' and '2020-10-25'; at < local; local = at
hour(at at time zone 'Asia/Kolkata'); minute(at at time zone 'Asia/Kolkata'); d at time zone 'America/New_York'
case when n > 0 then at end; coalesce(at, timestamp '2020-07-01 00:00Z'); greatest(at, d)
at in ('2020-10-25 02:30', '2020-07-31 22:15:00Z'); hour(at) * 60 + minute(at); extract(epoch from local - at) / 60
hour(local + interval 8 month); cast(hour(at) as varchar); strftime(local, '%Y-%m-%d %H:00')
cast(at as time) between '02:30' and '18:00'; nullif(at, '2020-03-28')"""
TEXTS = [
    text.strip()
    for block in (NUMBERS, WORDS, TRUTH, DAYS, CASTS, TIMES)
    for text in block.replace("\n", ";").split(";")
]


@functools.cache
def declared_rows():
    return [{name: declared(row[name], column) for name, column in COLUMNS.items() if name in row} for row in rows()]


def plain(value):
    """Days as text, instants and all numbers as floats: what is compared is the value."""
    if isinstance(value, Instant):
        return float(int(value))
    if hasattr(value, "isoformat"):
        return value.isoformat()[:10]
    return float(value) + 0.0 if isinstance(value, int | float) and not isinstance(value, bool) else value


def multiset(values):
    return sorted(map(plain, values), key=lambda value: (value is None, "" if value is None else str(value)))


def computed(source, expressions):
    """The values of each expression, in no order."""
    with source.open() as connection:
        names = {f"c{i}": each for i, each in enumerate(expressions)}
        table = with_expressions(names, connection.table, COLUMNS)
        made = {name: table[name].cast("string") if table[name].type().is_date() else table[name] for name in names}
        _, found = connection._fetched(table.select(**made))
    return [[row[place] for row in found] for place in range(len(expressions))]


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_computes_what_python_does(engine):
    texts = TEXTS[::3] if engine is on_spark else TEXTS  # Spark takes long to plan, not to compute
    expressions = [resolve(read_expression(text), COLUMNS) for text in texts]
    for some in _batches(expressions, 25):
        for expression, values in zip(some, computed(engine(), some), strict=True):
            expected = [value_of(expression, row, DOMAINS) for row in declared_rows()]
            assert multiset(values) == multiset(expected), str(expression)


def _batches(items, size):
    return [items[start : start + size] for start in range(0, len(items), size)]


def within(value, domain):
    if value is None:
        return True  # what is declared complete may still be missing
    if domain.values is not None:
        return value in domain.values
    if domain.kind == "real":  # to within a rounding of floats: what is measured is moved into the bounds once more
        slack = 1e-12 * max(1.0, abs(float(domain.lower)), abs(float(domain.upper)))
        return domain.lower - slack <= value <= domain.upper + slack
    return domain.kind == "text" or domain.lower <= value <= domain.upper


@pytest.mark.parametrize("text", TEXTS)
def test_no_value_is_outside_the_domain(text):
    expression = resolve(read_expression(text), COLUMNS)
    domain = domain_of(expression, DOMAINS)
    assert all(within(value_of(expression, row, DOMAINS), domain) for row in declared_rows())


def random_text(source, kind, depth):
    """A random expression of a kind, as text."""
    if depth == 0:
        return source.choice({"number": ["n", "m", "x", "y", "3", "0.5", "small"], "truth": ["flag", "n > 1"]}[kind])
    number, truth = (
        (lambda: random_text(source, "number", depth - 1)),
        (lambda: random_text(source, "truth", depth - 1)),
    )
    if kind == "truth":
        return source.choice(
            [
                lambda: f"({number()} {source.choice(['<', '<=', '=', '<>'])} {number()})",
                lambda: f"({truth()} {source.choice(['and', 'or'])} {truth()})",
                lambda: f"(not {truth()})",
                lambda: f"({number()} is null)",
            ]
        )()
    return source.choice(
        [
            lambda: f"({number()} {source.choice(['+', '-', '*'])} {number()})",
            lambda: f"({number()} / {source.choice(['3', 'n', 'small'])})",
            lambda: f"{source.choice(['abs', 'floor', 'ceil', 'round', 'sign', '-'])}({number()})",
            lambda: f"case when {truth()} then {number()} else {number()} end",
            lambda: f"{source.choice(['least', 'greatest', 'coalesce'])}({number()}, {number()})",
            lambda: f"nullif({number()}, {number()})",
        ]
    )()


@pytest.mark.parametrize("turn", [0, *(pytest.param(turn, marks=pytest.mark.large) for turn in range(1, 10))])
def test_random_expressions_agree_and_keep_to_their_domains(turn):
    source, expressions = random.Random(f"expressions {turn}"), []
    while len(expressions) < 100:
        text = random_text(source, source.choice(["number", "truth"]), source.randint(1, 4))
        try:
            expression = resolve(read_expression(text), COLUMNS)
        except InputError:
            continue
        if domain_of(expression, DOMAINS).kind != "nothing":
            expressions.append(expression)
    complete = [row for row in declared_rows() if None not in (row["n"], row["x"], row["small"])]
    for some in _batches(expressions, 50):
        for expression, values in zip(some, computed(on_duckdb(), some), strict=True):
            assert multiset(values) == multiset(value_of(expression, row, DOMAINS) for row in declared_rows()), str(
                expression
            )
            domain = domain_of(expression, DOMAINS)
            found = [value_of(expression, row) for row in complete]
            assert all(within(value, domain) for value in found), str(expression)
            assert domain.missing or None not in found, str(expression)


@pytest.mark.parametrize("planted", ["add", "floor", "week", "coalesce", "hour"])
def test_a_wrong_function_of_an_engine_is_noticed(planted, monkeypatch):
    right = FUNCTIONS[planted]
    monkeypatch.setitem(
        FUNCTIONS, planted, replace(right, engine=lambda operands, result: right.engine(operands, result) + 1)
    )
    texts = {"add": "n + m", "floor": "floor(x)", "week": "week(d)", "coalesce": "coalesce(m, n)"}
    text = (texts | {"hour": "hour(at)"})[planted]
    expression = resolve(read_expression(text), COLUMNS)
    (values,) = computed(on_duckdb(), [expression])
    assert multiset(values) != multiset(value_of(expression, row, DOMAINS) for row in declared_rows())


def test_what_is_declared_complete_and_missing_makes_no_engine_fail():
    """COALESCE takes another column there, and a product of that would not fit an integer."""
    columns = {"n": Integer(0, 5, nullable=False), "m": Integer(0, 2**52), "big": Integer(0, 2**49, nullable=False)}
    table = pyarrow.table({"n": pyarrow.array([1, None], pyarrow.int64()), "m": [1, 2**52], "big": [3, 2**49]})
    expression = resolve(read_expression("coalesce(n, m) * big"), columns)
    with source_of(table).open() as connection:
        made = with_expressions({"v": expression}, connection.table, columns).select("v")
        assert sorted(connection.integers(made)["v"].tolist()) == [3, 5 * 2**49]


CANCELLED = [
    "FLOOR(1 / (x - 0.07 + 1000000000000000 - 1000000000000000 + 0.125))",
    "1 / (x - 0.07 + 1000000000000000 - 1000000000000000 + 0.125)",
    "ROUND(POWER(1 / (x + 1000000000000000 - 1000000000000000 + 0.1), 8))",
    "SQRT(x - 0.07 + 1000000000000000 - 1000000000000000 + 0.125)",
    "CAST(1000000 * (x + 1000000000000000 - 1000000000000000) AS INTEGER)",
]


@pytest.mark.parametrize("engine", [on_duckdb, on_postgres])
def test_floats_that_are_rounded_out_of_their_domain_make_no_engine_fail(engine):
    """By cancellation a sum is zero that cannot be: a division by it, and what follows, must not fail for one row."""
    columns = {**COLUMNS, "x": Real(0, 1, nullable=True)}
    domains = {name: domain_of_column(column) for name, column in columns.items()}
    expressions = [resolve(read_expression(text), columns) for text in CANCELLED]
    read = [{"x": declared(row["x"], columns["x"])} for row in rows()]
    with engine().open() as connection:
        names = {f"c{i}": each for i, each in enumerate(expressions)}
        _, found = connection._fetched(with_expressions(names, connection.table, columns).select(*names))
    for place, expression in enumerate(expressions):
        expected = [value_of(expression, row, domains) for row in read]
        assert multiset(row[place] for row in found) == multiset(expected), str(expression)
    assert any(value_of(expressions[1], row) != value_of(expressions[1], row, domains) for row in read)


def test_what_is_nested_does_not_grow_beyond_measure():
    text = "x"
    for _ in range(14):
        text = f"coalesce({text} * 0.5 + 1, 0) / 2"
    expression = resolve(read_expression(text), COLUMNS)
    with on_duckdb().open() as connection:
        table = with_expressions({"v": expression}, connection.table, COLUMNS)
        counted = table.aggregate(v=table["v"].round().sum().cast("int64"))
        connection.integers(counted)
        assert len(connection._backend.compile(counted)) < 50_000
