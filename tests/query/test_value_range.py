"""No group of an expression or of bins is ruled out that a row can be in: brute force, dirty rows and clocks too."""

from __future__ import annotations

import functools
import itertools
import math
import random
from collections.abc import Iterator
from fractions import Fraction

import pytest

from discreet.data.column import Date, Integer, Real, Timestamp
from discreet.data.expression import Domain
from discreet.data.expression.domain import value_of
from discreet.data.expression.resolve import resolve
from discreet.data.instant import Instant, read_instant
from discreet.data.schema import Schema
from discreet.query import pruning, value_range
from discreet.query.key import Bin, Key, bins, key
from discreet.query.parse import parse_condition
from discreet.query.predicate import And, Not, Or, checked, expression_in

ZONE = "Europe/Berlin"  # whose clocks are put back on 2021-10-31
SCHEMA = Schema(
    "t",
    {
        "ts": Timestamp("2021-10-30 20:00:00", "2021-11-01 04:00:00", ZONE),
        "x": Real(0, 10),
        "d": Date("2024-01-25", "2024-03-05", nullable=False),
        "i": Integer(0, 30_000),
    },
)
START = int(read_instant("2021-10-30 20:00:00", ZONE, "ts"))
STORED = {
    "ts": [Instant(START + 20 * 60 * step + odd, ZONE) for step in range(-6, 100, 2) for odd in (-1, 0)],
    "x": sorted({Fraction(near) for n in range(-8, 60) for near in (n / 4, math.nextafter(n / 4, 99), n * 0.1)}),
    "d": [Date("2024-01-01", "2025-01-01").lower.fromordinal(738_900 + day) for day in range(0, 90)],
    "i": [*range(-2000, 33_000, 333), 1000, 2000, 2001, 29_999],
}
KEYS = {
    "ts": [
        *("HOUR(ts)", "CAST(ts AS DATE)", "DATE_TRUNC('hour', ts)", "MONTH(ts)", "DAYNAME(ts)", "HOUR(ts) // 6"),
        bins("ts", every="hour"),
        "COALESCE(HOUR(ts), 3)",
    ],
    "x": [
        *("ROUND(x)", "FLOOR(x / 2) * 2", "FLOOR(x * 1.1)", "CASE WHEN x < 3 THEN 'low' ELSE 'high' END", "x > 3"),
        *(bins("x", width=2), bins("x * 0.1", [0, 0.3, 0.7, 1]), bins("ROUND(x)", [0, 3, 7, 10])),
        *("COALESCE(ROUND(x), 3)", "NULLIF(FLOOR(x), 3)", "FLOOR(3 - x)"),
    ],
    "d": ["MONTH(d)", "DATE_TRUNC('week', d)", "DAYNAME(d)", bins("d", every="month"), "DAY(d) // 10"],
    "i": ["i // 1000", "ROUND(i / 7000)", "i % 3", bins("i", width=5000)],
}
ATOMS = {
    "ts": [
        *("HOUR(ts) >= 20", "HOUR(ts) = 2", "CAST(ts AS DATE) = '2021-10-31'", "ts < '2021-10-31 02:30:00'"),
        *("ts >= '2021-10-31 03:00:00'", "DAYNAME(ts) = 'Monday'", "MONTH(ts) = 11", "ts is null", "ts is not null"),
        *("ts > '2021-11-01 06:00:00'", "MINUTE(ts) = 20", "DATE_TRUNC('hour', ts) < '2021-10-31 02:00:00'"),
    ],
    "x": [
        *("x < 4", "x >= 2.5", "x > 12", "x < 0", "x = 3", "x in (1, 2.5, 11)", "ROUND(x) = 3", "FLOOR(x / 2) * 2 = 4"),
        *("x * 1.1 < 3.3", "x is null", "COALESCE(x, 3) = 3", "x * 0.1 >= 0.3", "FLOOR(x) is null", "i > 3"),
    ],
    "d": [
        *("d < '2024-02-01'", "d >= '2024-03-01'", "d > '2024-03-10'", "MONTH(d) = 2", "DAYNAME(d) <> 'Friday'"),
        *("d = '2024-02-29'", "DAY(d) < 5", "d is null", "DATE_TRUNC('week', d) = '2024-02-05'"),
    ],
    "i": ["i < 2000", "i >= 29500", "i > 31000", "i // 1000 = 3", "i % 3 = 1", "i / 7000 > 2", "i is null", "x > 3"],
}


def condition(chance: random.Random, atoms: list[str], depth: int) -> str:
    if depth == 0:
        return chance.choice(atoms)
    joint = chance.choice(["and", "and", "or", "not"])
    if joint == "not":
        return f"not ({condition(chance, atoms, depth - 1)})"
    return f"({condition(chance, atoms, depth - 1)}) {joint} ({condition(chance, atoms, depth - 1)})"


def declared(name: str, value):
    """A stored value as expressions have it: the nearer bound where it is outside."""
    if value is None:
        return None
    column = SCHEMA.columns[name]
    inside = min(max(value, column.lower), column.upper)
    return Instant(inside, ZONE) if name == "ts" else float(inside) if name == "x" else inside


def truth(asked, name: str, stored):
    """A condition of one row: columns as they are stored, expressions of what is declared; i and x otherwise open."""
    if isinstance(asked, And | Or):
        found = [truth(part, name, stored) for part in asked.parts]
        decided = isinstance(asked, Or)
        return decided if decided in found else None if None in found else not decided
    if isinstance(asked, Not):
        inner = truth(asked.part, name, stored)
        return None if inner is None else not inner
    if name not in SCHEMA.read_by([asked.column]):
        return True
    plain = asked.column in SCHEMA.columns
    value = stored if plain else declared(name, stored)
    return value_of(leaf(asked), {name: float(value) if plain and name == "x" and value is not None else value})


@functools.cache
def leaf(asked):
    return resolve(expression_in(asked, SCHEMA.expression), dict(SCHEMA.columns), "where")


@functools.cache
def label_of(asked: Key, name: str, stored):
    """The group of a row: a Bin or a value; KeyError where it has none."""
    column, value = SCHEMA.columns[name], declared(name, stored)
    if asked.column == name and stored is not None and not column.lower <= stored <= column.upper:
        return KeyError
    found = value_of(SCHEMA.expression(asked.column), {name: value}, {name: SCHEMA.domain(name)})
    if asked.edges is None or found is None:
        return found
    ends = [float(edge) if isinstance(edge, Fraction) else edge for edge in asked.edges]
    for place, (a, b) in enumerate(itertools.pairwise(ends)):
        if a <= found < b or (place == len(ends) - 2 and found == b):
            return Bin(*asked.edges[place : place + 2])
    return KeyError


def mistaken(tries: int) -> Iterator[tuple[str, str]]:
    """Keys and conditions that a row meets whose group is said to be empty."""
    chance = random.Random(11)
    for _ in range(tries):
        for name, keys in KEYS.items():
            text = condition(chance, ATOMS[name], chance.choice([0, 1, 2]))
            asked = checked(parse_condition(text), SCHEMA)
            met = [value for value in (*STORED[name], None) if truth(asked, name, value) is True]
            for each in keys:
                whole = (each if isinstance(each, Key) else key(each)).checked(SCHEMA)
                left = set(pruning.pruned(whole, asked, SCHEMA, bins=True).labels(SCHEMA))
                ruled_out = [label for label in whole.labels(SCHEMA) if label not in left]
                if {label_of(whole, name, value) for value in met} & set(ruled_out):
                    yield whole.column, text


def test_every_row_that_meets_a_condition_finds_its_group_among_expressions_and_bins():
    assert next(mistaken(12), None) is None


def test_most_of_what_a_condition_rules_out_is_found():
    """Else a rule that drops nothing would pass."""
    kept = lambda each, text: pruning.pruned(  # noqa: E731
        (each if isinstance(each, Key) else key(each)).checked(SCHEMA),
        checked(parse_condition(text), SCHEMA),
        SCHEMA,
        bins=True,
    ).labels(SCHEMA)
    assert kept("HOUR(ts)", "HOUR(ts) >= 22") == [22, 23]
    assert kept("HOUR(ts)", "ts >= '2021-10-31 01:30:00' and ts < '2021-10-31 03:00:00'") == [1, 2]
    assert [str(day) for day in kept("CAST(ts AS DATE)", "ts < '2021-10-31'")] == ["2021-10-30"]
    assert kept("CAST(ts AS DATE)", "ts is not null")[-1] is not None
    assert kept("DAYNAME(ts)", "DAYNAME(ts) = 'Monday'") == ["Monday"]
    assert kept("DAYNAME(ts)", "CAST(ts AS DATE) = '2021-11-01'") == ["Monday"]
    assert kept("ROUND(x)", "x < 2") == [0, 1, 2]
    assert kept("FLOOR(x / 2) * 2", "x >= 4 and x < 6") == [4]
    assert [str(label) for label in kept(bins("x", width=2), "x < 4")] == ["0..2", "2..4"]
    assert kept(bins("x", width=2), "x is not null")[-1] is not None
    assert kept("ROUND(x)", "x > 12 or x = 3") == [3, 10]  # what is stored beyond the bounds counts as the bound
    assert kept("NULLIF(FLOOR(x), 3)", "x is not null")[-1] is None  # which is missing of a number too


STRETCHES = value_range.stretches


def whole_gaps_too(domain, expression, name):
    """Numbers between two whole ones are forgotten."""
    cut = STRETCHES(domain, expression, name)
    return [each for each in cut if each.lower == each.upper] if cut and domain.kind == "real" else cut


@pytest.mark.parametrize(
    ("module", "name", "planted"),
    [
        (value_range, "_rises", lambda expression: not any(word in str(expression) for word in ("CASE", ">"))),
        (pruning, "beyond", lambda domain: []),
        (pruning, "stretches", whole_gaps_too),
        (pruning, "image", lambda expression, name, stretch, domain: Domain("nothing", values=(), missing=True)),
    ],
    ids=["all functions rise", "nothing is outside", "numbers between", "no image"],
)
def test_a_bound_that_drops_a_group_with_rows_is_caught(module, name, planted, monkeypatch):
    monkeypatch.setattr(module, name, planted)
    assert next(mistaken(25), None)
