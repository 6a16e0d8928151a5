"""Groups that a condition leaves empty whatever the data: they follow from what is declared, and are not published."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from discreet.data.column import Boolean
from discreet.data.expression import Call, Domain, Expression, Name, domain_of
from discreet.data.expression.domain import listed_domain, value_of
from discreet.data.expression.resolve import resolve
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.query.key import Key
from discreet.query.predicate import And, Compare, IsIn, IsMissing, Not, Or, Predicate, columns_of, expression_in

__all__ = ["pruned"]

_MOST = 2_000
_TRIED = 6
_OPEN = Domain("boolean", values=(False, True), missing=True)


def pruned(key: Key, condition: Predicate | None, schema: Schema) -> Key:
    """The same key without the values that no row can have which meets the condition.

    Guarantee: which groups are left follows from the question and the schema alone. Proof: docs/proofs/query.md.
    """
    if condition is None or key.discovered or key.edges is not None:
        return key
    labels = key.labels(schema)
    base = schema.read_by([key.column])
    if len(labels) > _MOST or len(base) != 1 or base[0] not in schema.read_by(columns_of(condition)):
        return key
    tested = _tested(condition, base[0], schema)
    if tested is None:
        return key
    origins = _origins(key.column, base[0], labels, schema)
    if origins is None:
        return key
    left = tuple(label for label in labels if _possible(tested, base[0], origins(label)))
    if not left or len(left) == len(labels):
        return key
    return replace(key, values=left)


@dataclass(frozen=True, slots=True)
class _Tested:
    """A condition about one column, and the names that stand for what others decide: one for each piece left open."""

    expression: Expression
    open: tuple[str, ...]


def _tested(condition: Predicate, column: str, schema: Schema) -> _Tested | None:
    """The condition, with everything that other columns decide left open; None where it makes no sense so."""
    names: list[str] = []
    whole = _about(condition, column, schema, names)
    try:
        return _Tested(resolve(whole, {**schema.columns, **dict.fromkeys(names, Boolean())}, "where"), tuple(names))
    except InputError:
        return None


def _about(condition: Predicate, column: str, schema: Schema, names: list[str]) -> Expression:
    """The condition, with everything that other columns decide left open.

    Each piece gets a name of its own, added to `names`: under one name two pieces would always be true together, and
    `x > 0 and not (y > 0)` never.
    """
    match condition:
        case And(parts) | Or(parts):
            whole = _about(parts[0], column, schema, names)
            for part in parts[1:]:
                part_ = _about(part, column, schema, names)
                whole = Call("and" if isinstance(condition, And) else "or", (whole, part_))
            return whole
        case Not(part):
            return Call("not", (_about(part, column, schema, names),))
        case Compare() | IsIn() | IsMissing():
            if schema.read_by(columns_of(condition)) == [column]:
                return expression_in(condition, schema.expression)
            names.append(_fresh(len(names), schema))
            return Name(names[-1])


def _fresh(number: int, schema: Schema) -> str:
    """A name that no column has."""
    name = f"open {number}"
    while name in schema.columns:
        name += " "
    return name


def _origins(name: str, column: str, labels: list[Any], schema: Schema) -> Callable[[Any], Domain] | None:
    """The values of the column that each label stands for."""
    domain = schema.domain(column)
    if name == column:
        return lambda label: _only(domain, [] if label is None else [label], label is None)
    values = domain.listed()
    if values is None:
        return None
    expression, found = schema.expression(name), {label: [] for label in labels}  # type: ignore[var-annotated]
    gaps = dict.fromkeys(labels, False)
    for value in values:
        found.setdefault(value_of(expression, {column: value}), []).append(value)
    gaps[value_of(expression, {column: None})] = True  # a column declared complete may be missing all the same
    return lambda label: _only(domain, found[label], gaps.get(label, False))


def _only(domain: Domain, values: list[Any], missing: bool) -> Domain:
    return listed_domain(domain.kind, values, missing)


def _possible(tested: _Tested, column: str, values: Domain) -> bool:
    """Whether the condition can be true where the column is one of these; what cannot be told, can be."""
    if values.kind == "nothing":  # a missing value is of no type, so functions have no domain for it
        if len(tested.open) > _TRIED:
            return True
        ways = itertools.product((False, True, None), repeat=len(tested.open))
        rows = ({column: None, **dict(zip(tested.open, way, strict=True))} for way in ways)
        return any(value_of(tested.expression, row) is True for row in rows)
    try:
        found = domain_of(tested.expression, {column: values, **dict.fromkeys(tested.open, _OPEN)})
    except InputError:
        return True
    return found.kind == "boolean" and True in (found.values or ())
