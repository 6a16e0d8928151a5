"""What will be computed of released rows, computed once of a made-up row: what makes no sense is refused, unspent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from discreet.data.expression.domain import value_of
from discreet.data.schema import Schema
from discreet.errors import InputError, Phrase
from discreet.query.formula import alike, check_kinds
from discreet.query.key import published
from discreet.query.over import RANKS
from discreet.query.presentation import Presentation
from discreet.query.quantile import Ordered, example_of
from discreet.query.question import Query
from discreet.query.sql_hint import refuse
from discreet.query.union import Union, UnionPart

if TYPE_CHECKING:
    from discreet.query.sql_select import Reading

__all__ = ["check_labels", "check_types", "try_presentation"]

_PROBLEMS = (TypeError, ValueError, AttributeError, KeyError, ArithmeticError)


def check_types(reading: Reading) -> None:
    """Refuse formulas and conditions of a SELECT that cannot be computed of its keys and aggregates."""
    row: dict[str, Any] = {**{over.name: 3.0 for over in reading.overs}, **reading.constants}
    row |= dict.fromkeys(reading.groupings, 0)
    totals = {name: output for name, (_, output) in reading.totals.outputs.items()}
    for name, output in (totals | reading.outputs).items():
        row[name] = example_of(output, reading.schema) if isinstance(output, Ordered) else 1.5
    row |= {each.column: published(reading.first(each)[0]) for each in reading.keys}
    none = {**row, **dict.fromkeys(reading.references.values()), **dict.fromkeys(reading.groupings, 1)}
    for formula in reading.formulas:
        try:
            row[formula.name] = value_of(formula.expression, row)
            check_kinds(formula.expression, row)
            other = value_of(formula.expression, none) if formula.of_keys else None
            if other is not None and row[formula.name] is not None and type(other) is not type(row[formula.name]):
                raise TypeError("a column is of one type")
        except _PROBLEMS:
            raise InputError("sql", str(formula.expression), "computed of values of one type") from None
    for over in reading.overs:
        if over.function not in (*RANKS, "count") and isinstance(row.get(over.output or ""), str | bool):
            words = Phrase(f"{over.function.upper()} of {over.output}")
            raise InputError("sql", words, "a window over numbers, or a rank", "Such as RANK() OVER (ORDER BY ...).")
    if reading.condition is not None:
        try:
            found = value_of(reading.condition, row)
            check_kinds(reading.condition, row)
        except _PROBLEMS:
            raise InputError("sql", str(reading.condition), "computed of values of one type") from None
        if not isinstance(found, bool | None):
            raise refuse(reading.tree.args.get("having") or reading.tree, "a condition on keys and aggregates")


def check_labels(presentation: Presentation, names: Iterable[str]) -> None:
    """Refuse a column whose name is that of an end of another one's interval: one of them would be lost."""
    numbers = {*names, *(presentation.totals.names if presentation.totals is not None else ())}
    numbers |= {formula.name for formula in presentation.formulas if formula.is_number}
    labels = [label for _, label in presentation.shown]
    published = [label for name, label in presentation.shown if name in numbers]
    for label in published:
        for end in ("_lower", "_upper"):
            if label + end in labels:
                raise InputError("sql", label + end, f"another name: it is that of an end of the interval of {label}")
    if presentation.then is not None:
        check_labels(presentation.then, published)


def try_presentation(query: Query | Union, presentation: Presentation, schema: Schema) -> None:
    """Compute what will be computed of released rows of a made-up one, whichever steps there are."""
    parts = query.parts if isinstance(query, Union) else (UnionPart(query),)
    row: dict[str, Any] = {}
    names = query.names
    shown: dict[str, Any] = {}
    for part in parts:
        about = part.query.limited(schema)
        labels = {
            key.title: "text" if key.discovered else published(key.labels(about)[0]) for key in part.query.keys
        } | dict(part.constants)
        values = dict.fromkeys(part.query.names, 1.5)
        values |= {name: example_of(output, about) for name, output in part.query.ordered}
        for known, new in ((row, labels), (shown, values)):
            for name, value in new.items():
                if not alike((known.setdefault(name, value), value)):
                    raise InputError(
                        "sql", Phrase(f"a column {name!r} of several"), "a UNION whose columns have one type"
                    )
    row |= {name + end: value for name, value in shown.items() for end in ("", "_lower", "_upper")}
    try:
        presentation.try_on([row, row], names)
    except _PROBLEMS:
        raise InputError("sql", Phrase("a computation"), "made of values of one type") from None
