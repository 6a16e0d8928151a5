"""What is used many times over inside expressions, innermost first: an engine computes it once, before the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.data.column import Column, Timestamp
from discreet.data.expression.domain import Domains, structural
from discreet.data.expression.function import FUNCTIONS
from discreet.data.expression.node import Call, Constant, Expression, Name, columns_in

__all__ = ["expand", "layers"]

_MOVING = ("add", "subtract", "add_months")
_ONCE = {"add", "subtract", "multiply", "negate", "abs", "floor", "ceil", "and", "or", "not", "missing", "concat"}
_ONCE |= {"eq", "ne", "lt", "le", "gt", "ge"}
"""Functions that engines are given with each argument written once."""


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
    """What is to be computed first, by the text of each; those of one layer need only those of former layers.

    These are the instants and days in expressions that have instants; and where a function that is written with its
    arguments several times is inside another such function, the inner one: SQL would grow beyond measure otherwise.
    """
    found: list[dict[str, Expression]] = []
    domains = Domains(columns)

    def depth(node: Expression, times: bool, copied: bool) -> tuple[int, bool]:
        """In which layer it can be computed, and whether there is a function in it that repeats its arguments."""
        copies = _copies(node, domains)
        arguments = node.arguments if isinstance(node, Call) else ()
        parts = [depth(each, times, copies) for each in arguments]
        inner, repeats = max((part for part, _ in parts), default=0), copies or any(again for _, again in parts)
        if not (times and _is_layer(node, domains)) and not (copied and repeats):
            return inner, repeats
        while len(found) <= inner:
            found.append({})
        found[inner][str(node)] = node
        return inner + 1, False

    for expression in expressions:
        depth(expression, _has_times(expression, columns), False)
    return found


def _copies(node: Expression, domains: Domains) -> bool:
    """Whether an engine is given its arguments more than once."""
    if not isinstance(node, Call):
        return False
    sums = [each for each in node.arguments if isinstance(each, Call) and FUNCTIONS[each.function].loose]
    return node.function not in _ONCE or (not FUNCTIONS[node.function].loose and bool(sums))


def _is_layer(node: Expression, domains: Domains) -> bool:
    match node:
        case Name(name):
            return isinstance(domains.columns[name], Timestamp)
        case Call(function, _):
            return function == "time_of_day" or structural(node, domains).kind in ("date", "timestamp")
    return False
