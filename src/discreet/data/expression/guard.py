"""Divisions that a condition keeps away from zero: CASE WHEN x >= 0.5 THEN a / x END."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from discreet.data.column import Column, Real
from discreet.data.expression.node import Call, Constant, Expression, Name

__all__ = ["guarded"]

_DEEPEST = 60
_SIDES = {"gt": "greatest", "ge": "greatest", "lt": "least", "le": "least"}
_TURNED = {"gt": "lt", "ge": "le", "lt": "gt", "le": "ge"}


def guarded(arguments: Sequence[Expression], columns: Mapping[str, Column]) -> tuple[Expression, ...]:
    """The parts of a CASE, with divisors bounded as the condition of their branch says they are.

    Engines compute a branch also for rows that do not take it, so that the divisor itself must be bounded. Where the
    branch is taken, the bounded divisor is the divisor.
    """
    made = list(arguments)
    near = {name.lower() for name, column in columns.items() if _near_zero(column)}
    for place in range(0, len(made) - 1, 2):
        bounds = {name.lower(): bound for name, bound in _bounds(made[place], 0) if name.lower() in near}
        if bounds:
            made[place + 1] = _bounded(made[place + 1], bounds, 0)
    return tuple(made)


def _near_zero(column: Column) -> bool:
    return isinstance(column, Real) and column.lower <= 0 <= column.upper


def _bounds(condition: Expression, depth: int) -> Iterator[tuple[str, Call]]:
    """Columns that a condition keeps on one side of zero, and each as it is bounded there."""
    match condition:
        case Call("and", parts) if depth < _DEEPEST:
            for part in parts:
                yield from _bounds(part, depth + 1)
        case Call(function, (Name(name), Constant(value))) if _apart(function, value):
            yield name, Call(_SIDES[function], (Name(name), Constant(value)))
        case Call(function, (Constant(value), Name(name))) if _apart(_TURNED.get(function, ""), value):
            yield name, Call(_SIDES[_TURNED[function]], (Name(name), Constant(value)))


def _apart(function: str, value: object) -> bool:
    """Whether a comparison with a constant leaves out zero and what is near it."""
    if function not in _SIDES or isinstance(value, bool | str) or not hasattr(value, "__float__"):
        return False
    return float(value) > 0 if _SIDES[function] == "greatest" else float(value) < 0


def _bounded(node: Expression, bounds: Mapping[str, Call], depth: int) -> Expression:
    match node:
        case Call("divide" | "quotient" as function, (first, Name(name))) if name.lower() in bounds:
            return Call(function, (_bounded(first, bounds, depth + 1), bounds[name.lower()]))
        case Call(function, arguments) if depth < _DEEPEST:
            return Call(function, tuple(_bounded(each, bounds, depth + 1) for each in arguments))
    return node
