"""Instants and days inside expressions, innermost first: an engine computes each once, before what is made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.data.column import Column, Timestamp
from discreet.data.expression.domain import Domains, structural
from discreet.data.expression.node import Call, Constant, Expression, Name, columns_in

__all__ = ["expand", "layers"]

_MOVING = ("add", "subtract", "add_months")


def _has_times(expression: Expression, columns: Mapping[str, Column]) -> bool:
    if any(isinstance(columns[name], Timestamp) for name in columns_in(expression)):
        return True
    return isinstance(expression, Call) and "AT TIME ZONE" in str(expression)


def expand(expression: Expression, columns: Mapping[str, Column]) -> Expression:
    """The same expression with local days and times of day moved apart: a later day at the same time."""
    if not _has_times(expression, columns):
        return expression
    domains = Domains(columns)

    def walk(node: Expression) -> Expression:
        if not isinstance(node, Call):
            return node
        parts = [structural(each, domains) for each in node.arguments]
        inner = tuple(walk(each) for each in node.arguments)
        if node.function in _MOVING and [part.kind for part in parts] == ["timestamp", "integer"]:
            day = Call(node.function, (Call("as_date", (inner[0],)), inner[1]))
            return Call("at_local", (day, Call("time_of_day", (inner[0],)), Constant(parts[0].timezone)))
        return Call(node.function, inner)

    return walk(expression)


def layers(expressions: Sequence[Expression], columns: Mapping[str, Column]) -> list[dict[str, Expression]]:
    """The instants and days in expressions that have instants, by the text of each; those of one layer need only those
    of former layers.
    """
    found: list[dict[str, Expression]] = []
    domains = Domains(columns)

    def depth(node: Expression) -> int:
        inner = max((depth(each) for each in node.arguments), default=0) if isinstance(node, Call) else 0
        if not _is_layer(node, domains):
            return inner
        while len(found) <= inner:
            found.append({})
        found[inner][str(node)] = node
        return inner + 1

    for expression in expressions:
        if _has_times(expression, columns):
            depth(expression)
    return found


def _is_layer(node: Expression, domains: Domains) -> bool:
    match node:
        case Name(name):
            return isinstance(domains.columns[name], Timestamp)
        case Call(function, _):
            return function == "time_of_day" or structural(node, domains).kind in ("date", "timestamp")
    return False
