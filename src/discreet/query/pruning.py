"""Groups that a condition leaves empty whatever the data: they follow from what is declared, and are not published."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from discreet.data.column import Boolean
from discreet.data.expression import Call, Constant, Domain, Expression, Name, domain_of
from discreet.data.expression.domain import listed_domain, value_of
from discreet.data.expression.resolve import resolve
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.query.key import Key
from discreet.query.predicate import And, Compare, IsIn, IsMissing, Not, Or, Predicate, columns_of, expression_in

__all__ = ["possible_labels", "pruned"]

_MOST = 2_000
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


def possible_labels(column: str, condition: Predicate, schema: Schema) -> list[Any] | None:
    """The values of a declared column, None for a missing one, that a row can have which meets the condition.

    None if that cannot be told.
    """
    domain = schema.domain(column)
    values = domain.listed(_MOST)
    if values is None or column not in schema.read_by(columns_of(condition)):
        return None
    tested = _tested(condition, column, schema)
    if tested is None:
        return None
    labels = [*values, None]  # a column declared complete may be missing all the same
    origins = _origins(column, column, labels, schema)
    return None if origins is None else [label for label in labels if _possible(tested, column, origins(label))]


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
    """Whether the condition can be true where the column is one of these."""
    expression = _where_missing(tested.expression, column) if values.kind == "nothing" else tested.expression
    found = domain_of(expression, {column: values, **dict.fromkeys(tested.open, _OPEN)})
    return found.kind == "boolean" and True in (found.values or ())


def _where_missing(node: Expression, column: str) -> Expression:
    """The expression where the column has no value."""
    match node:
        case Name(name) if name == column:
            return Constant(None)
        case Call(function, arguments):
            return Call(function, tuple(_where_missing(each, column) for each in arguments))
    return node
