"""SELECT ... UNION ALL SELECT ...: several questions as one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from discreet.query.presentation import Order, Presentation
from discreet.query.question import Query
from discreet.query.sql_hint import only, refuse
from discreet.query.sql_scope import read_count
from discreet.query.union import Union, UnionPart

if TYPE_CHECKING:
    from discreet.query.sql_select import Reading

__all__ = ["selects_of", "united"]


def selects_of(tree: Any) -> list[Any]:
    """The SELECTs of a union, in order."""
    from sqlglot import exp

    while type(tree) is exp.Subquery and not any(value for name, value in tree.args.items() if name != "this"):
        tree = tree.this
    if type(tree) is not exp.Union:
        return [tree]
    return [*selects_of(tree.this), *selects_of(tree.expression)]


def united(tree: Any, readings: Sequence[Reading]) -> tuple[Union, Presentation]:
    """The questions of a union, with the names of the first one, and what is done with their table."""
    only(tree, "this", "expression", "distinct", "order", "limit", "offset", "with", "by_name", "side", "kind")
    first = readings[0]
    labels = [label for _, label in first.shown]
    parts = []
    for each in readings:
        if (
            each.formulas
            or each.totals.parts
            or each.condition is not None
            or len(each.levels) > 1
            or each.tree.args.get("order")
            or each.tree.args.get("limit")
        ):
            hint = "Ask for keys, constants and aggregates there; ORDER BY and LIMIT stand after the last one."
            raise refuse(each.tree, "a plain SELECT within UNION ALL", hint)
        if len(each.shown) != len(labels):
            raise refuse(each.tree, f"a SELECT of {len(labels)} columns, as the first one has")
        parts.append(_part(each, first, labels))
    shown = tuple(
        (first.shown[place][0] if _is_output(first, place) else label, label) for place, label in enumerate(labels)
    )
    order = _order(tree, {label.lower(): name for name, label in shown}, [name for name, _ in shown])
    limit, offset = read_count(tree, "limit"), read_count(tree, "offset") or 0
    return Union(tuple(parts)), Presentation(shown, order=order, limit=limit, offset=offset)


def _is_output(each: Reading, place: int) -> bool:
    return each.shown[place][0] in each.outputs


def _part(each: Reading, first: Reading, labels: Sequence[str]) -> UnionPart:
    outputs: dict[str, Any] = {}
    constants: list[tuple[str, Any]] = []
    titles: dict[str, str] = {}
    for place, (name, _) in enumerate(each.shown):
        if _is_output(each, place) != _is_output(first, place):
            raise refuse(each.tree, f"an aggregate, or none, as column {place + 1} of the first SELECT is")
        if _is_output(each, place):
            outputs[first.shown[place][0]] = each.outputs[name]
        elif name in each.constants:
            constants.append((labels[place], each.constants[name]))
        else:
            titles[name] = labels[place]
    if len(outputs) != len(each.outputs):
        raise refuse(each.tree, "a SELECT in which every aggregate is shown once")
    keys = tuple(replace(key, name=titles.get(key.column, key.name)) for key in each.query.keys)
    bare = Query(each.query.condition, keys, person_limits=each.query.person_limits, persons=each.query.persons)
    return UnionPart(bare.agg(**outputs), tuple(constants))


def _order(tree: Any, names: dict[str, str], places: Sequence[str]) -> tuple[Order, ...]:
    from sqlglot import exp

    steps = []
    for node in tree.args["order"].expressions if tree.args.get("order") else ():
        only(node, "this", "desc", "nulls_first")
        inner = node.this
        if type(inner) is exp.Literal and str(inner.this).isdigit() and 1 <= int(str(inner.this)) <= len(places):
            name = places[int(str(inner.this)) - 1]
        elif type(inner) is exp.Column and str(inner.name).lower() in names:
            name = names[str(inner.name).lower()]
        else:
            raise refuse(node, "ORDER BY a column of the table, by its name or number", among=sorted(names))
        steps.append(Order(name, bool(node.args.get("desc"))))
    return tuple(steps)
