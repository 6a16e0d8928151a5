"""An expression read against the columns there are: names as they are declared, constants as the types beside them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

from discreet.core.exact import as_written, exactly
from discreet.data.column import Column
from discreet.data.expression import resolve_time as in_time
from discreet.data.expression.domain import Domain, Domains, structural, value_of
from discreet.data.expression.guard import guarded
from discreet.data.expression.node import Call, Constant, Expression, Name
from discreet.errors import InputError, Phrase

__all__ = ["declared_name", "resolve"]

_COMPARING = ("eq", "ne", "lt", "le", "gt", "ge", "in", "nullif", "coalesce", "least", "greatest")
_COMPUTING = ("add", "subtract", "multiply", "divide", "quotient", "remainder", "negate", "abs", "round", "power")
_TRUTH = ("and", "or", "not")
_DEEPEST = 60
_MOST = 20_000
_CALL = 5
"""As how many pieces a function counts: it takes as much longer than a constant."""
_LARGEST = 10**15


def resolve(expression: Expression, columns: Mapping[str, Column], field: str = "expression") -> Expression:
    """The same expression in its one form; an error names the piece that is not allowed."""
    domains = Domains(columns)
    made = _resolved(expression, domains, field, 0)
    _domain(made, domains, field)
    return made


def declared_name(name: str, columns: Mapping[str, Column], field: str) -> str:
    """The declared name that is meant: as it is written, or the only one that differs in upper and lower case alone."""
    if name in columns:
        return name
    alike = [known for known in columns if known.lower() == name.lower()]
    if len(alike) == 1:
        return alike[0]
    raise InputError(field, name, "a declared column", among=sorted(columns))


def _resolved(node: Expression, domains: Domains, field: str, depth: int) -> Expression:
    domains.pieces += _CALL if isinstance(node, Call) else 1
    if domains.pieces > _MOST:
        allowed = f"made of at most {_MOST // _CALL:,} functions and {_MOST:,} pieces"
        raise InputError(field, Phrase("a long expression"), allowed)
    if depth > _DEEPEST:
        raise InputError(field, Phrase("a nested expression"), f"nested at most {_DEEPEST} deep")
    match node:
        case Name(name):
            return Name(declared_name(name, domains.columns, field))
        case Constant(value):
            return in_time.constant(_plain(value, field), domains.columns, field)
        case Call(function, arguments):
            if function == "case":
                arguments = guarded(arguments, domains.columns)
            parts = [_resolved(each, domains, field, depth + 1) for each in arguments]
            kinds = [_domain(part, domains, field) for part in parts] if function in in_time.FUNCTIONS else []
            meant = in_time.rewritten(function, parts, kinds, domains.columns, field) if kinds else None
            if meant is not None:
                function, parts = meant
                if not function:
                    return parts[0]
            if function in _COMPARING:
                parts = _alike(parts, domains, field, coded=function in ("eq", "ne", "in"))
            elif function == "subtract" and any(kind.kind == "timestamp" for kind in kinds):
                parts = _alike(parts, domains, field)
            elif function == "case":
                values = _alike([*parts[1:-1:2], parts[-1]], domains, field)
                conditions = [_condition(each, domains, field) for each in parts[:-1:2]]
                paired = [each for pair in zip(conditions, values[:-1], strict=True) for each in pair]
                parts = [*paired, values[-1]]
            elif function in _COMPUTING:
                parts = [_number(each, domains, field) for each in parts]
            elif function in _TRUTH:
                parts = [_condition(each, domains, field) for each in parts]
            made = Call(function, tuple(parts))
            if parts and all(isinstance(part, Constant) for part in parts) and function != "in":
                _domain(made, domains, field)  # refuses what has no sense
                return Constant(value_of(made, {}))
            return made
    raise InputError(field, node, "an expression, such as col('cost') * col('hours')")


def _plain(value: Any, field: str) -> Any:
    """A constant as Python has it: whole numbers as int, others as float."""
    if isinstance(value, Decimal | Fraction | float):
        number = exactly(value, field)
        if abs(number) > _LARGEST or (number and abs(number) < Fraction(1, _LARGEST)):
            raise InputError(field, value, "a number between 1e-15 and 1e15")
        exact_whole = isinstance(value, Fraction) and number.denominator == 1
        return int(number) if exact_whole else float(number)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _LARGEST:
        raise InputError(field, value, "a number between -1e15 and 1e15")
    return value


def _domain(node: Expression, domains: Domains, field: str) -> Domain:
    try:
        return structural(node, domains)
    except InputError as problem:
        raise problem.about(field) from None


def _alike(parts: list[Expression], domains: Domains, field: str, coded: bool = False) -> list[Expression]:
    """Constants as the type of what they are compared with: a text as a date and, where categories may be `coded` as
    numbers, 1 as '1'.
    """
    found = [_domain(part, domains, field) for part in parts]
    varying = [domain for part, domain in zip(parts, found, strict=True) if not isinstance(part, Constant)]
    kinds = {domain.kind for domain in varying} - {"nothing"}
    if "timestamp" in {domain.kind for domain in found} and kinds <= {"date", "timestamp"}:
        return in_time.alike(parts, found, field)
    if len(kinds) != 1:
        return parts
    kind = kinds.pop()
    if kind == "text" and not coded:
        return parts
    return [Constant(_as(part.value, kind, field)) if isinstance(part, Constant) else part for part in parts]


def _as(value: Any, kind: str, field: str) -> Any:
    match kind:
        case "date" if isinstance(value, str):
            try:
                return date.fromisoformat(value.strip()[:10])
            except ValueError:
                raise InputError(field, value, "a date such as '2024-12-31'") from None
        case "text" if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        case "boolean" if isinstance(value, int) and value in (0, 1):
            return bool(value)
        case "boolean" if isinstance(value, str) and value.lower() in ("true", "false", "t", "f"):
            return value.lower() in ("true", "t")
        case "integer" | "real" if isinstance(value, str):
            try:
                number = as_written(value, field)
            except InputError:
                return value
            if abs(number) > _LARGEST:
                raise InputError(field, value, "a number between -1e15 and 1e15")
            return int(number) if number.denominator == 1 else float(number)
    return value


def _number(part: Expression, domains: Domains, field: str) -> Expression:
    """Truth values count as 1 and 0 where they are computed with."""
    return Call("as_integer", (part,)) if _domain(part, domains, field).kind == "boolean" else part


def _condition(part: Expression, domains: Domains, field: str) -> Expression:
    """A number is true where it is not zero."""
    return Call("ne", (part, Constant(0))) if _domain(part, domains, field).numeric else part
