"""Refusals of shares, choices and declared numbers of rows, and what their hints say to do instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from discreet.core.unit import Neighbours, Unit
from discreet.data.column import Category, Integer, Real
from discreet.data.schema import Schema
from discreet.ledger.budget import Allotment
from discreet.query.aggregate import mean, share, total
from discreet.query.candidates import read_candidates
from discreet.query.price import Price
from discreet.query.question import Query
from discreet.query.question_ask import plan_any
from discreet.query.top import Top, key

COLUMNS = {"age": Integer(0, 120), "bid": Real(0, 5), "nationality": Category(["dk", "se"])}
SCHEMA = Schema("visits", COLUMNS)
REVENUE = "CASE WHEN bid >= option THEN option ELSE 0 END"


def _choice(score: Any, options: Any = None, bound: Any = None) -> Any:
    return read_candidates(score, options, bound, None, SCHEMA)


def _asked(output: Any) -> Any:
    return Query().agg(s=output).checked(SCHEMA)


def _summed(**how: Any) -> Query:
    return Query().group_by("nationality").agg(t=total("bid", **how))


def _vector(schema: Schema) -> Any:
    return Query().agg(**mean(["age", "bid"], norm=3)).checked(schema)


def _searched(**more: Any) -> Any:
    query, pure = Query().agg(m=mean("bid", "private"), **more), Allotment("main", "pure", epsilon=1)
    return plan_any(query, SCHEMA, pure, Price.read(epsilon=1))


PAIRS: list[tuple[Callable[[], Any], Callable[[], Any]]] = [
    (lambda: _asked(share("bid")), lambda: _asked(share("age >= 18"))),
    (lambda: _asked(share("bid")), lambda: _asked(mean("bid"))),
    (lambda: _choice(REVENUE), lambda: _choice("nationality")),
    (lambda: _choice(3, [1, 2]), lambda: _choice(REVENUE, [1, 2])),
    (lambda: _choice("age", range(100, 500)), lambda: Top(key("age"), 1, counts=False).checked(SCHEMA)),
    (lambda: _choice("bid"), lambda: _choice("CASE WHEN bid >= option THEN option END", [1, 2])),
    (
        lambda: _choice("bid >= option", [1, 2]),
        lambda: _choice("CASE WHEN bid >= option THEN 1 ELSE 0 END", [1, 2]),
    ),
    (lambda: _asked(mean(["age", "bid"], norm=3)), lambda: _vector(SCHEMA)),
    (lambda: _choice(_summed(bounds=(0, 1))), lambda: _choice(_summed(), bound=1)),
    (lambda: mean(["age", "bid"]), lambda: mean("age")),
    (lambda: mean("age", norm=3), lambda: mean(["age", "bid"], norm=3)),
    (lambda: _searched(**mean(["age", "bid"], norm=3)), lambda: _searched() and _vector(SCHEMA)),
    (
        lambda: Schema("visits", COLUMNS, row_count=10),
        lambda: Schema("visits", COLUMNS, Unit(neighbours=Neighbours.REPLACE), row_count=10),
    ),
]
"""What is refused, and what its hint leads to."""
