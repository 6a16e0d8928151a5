"""Conditions on rows: comparisons of declared columns with constants, and nothing that could fail on a row.

Values are compared as they are stored, within the declared bounds or not (`discreet.data.read.as_stored`). A
comparison with a missing value is neither true nor false, and a row is kept only where its condition is true.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from typing import Any

from discreet.core.exact import as_written
from discreet.core.wire import fraction
from discreet.data.column import Boolean, Category, Column, Date, Integer, Real, Text, Timestamp
from discreet.data.expression import Call, Constant, Expression, Name, col
from discreet.data.expression.node import quoted
from discreet.data.instant import Instant
from discreet.data.schema import Schema
from discreet.errors import InputError, Phrase

__all__ = [
    "And",
    "Compare",
    "IsIn",
    "IsMissing",
    "Not",
    "Or",
    "Predicate",
    "col",
    "condition_of",
    "expression_in",
    "predicate_from",
    "predicate_to",
]

OPERATORS = ("==", "!=", "<", "<=", ">", ">=")
_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_DEEPEST = 50
_LONGEST = 10_000
_LARGEST = 10**300


class _Combined:
    """What every condition can do: be joined with & and |, be negated with ~."""

    __slots__ = ()
    in_words = "a condition, such as col('age') > 17"

    def __and__(self, other: Predicate) -> And:
        first = self.parts if isinstance(self, And) else (self,)
        return And((*first, other))

    def __or__(self, other: Predicate) -> Or:
        first = self.parts if isinstance(self, Or) else (self,)
        return Or((*first, other))

    def __invert__(self) -> Not:
        return Not(self)  # type: ignore[arg-type]

    def __bool__(self) -> bool:
        raise InputError(
            "where", Phrase("a condition used as true/false"), "conditions joined with &, | and ~, in brackets"
        )


@dataclass(frozen=True, slots=True)
class Compare(_Combined):
    """column operator value."""

    column: str
    operator: str
    value: Any


@dataclass(frozen=True, slots=True)
class IsIn(_Combined):
    """column is one of values."""

    column: str
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class IsMissing(_Combined):
    """column has no value."""

    column: str


@dataclass(frozen=True, slots=True)
class And(_Combined):
    """All of the parts."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Or(_Combined):
    """Any of the parts."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Not(_Combined):
    """Not the part."""

    part: Predicate


Predicate = Compare | IsIn | IsMissing | And | Or | Not


_LOWERED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_MIRROR = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def condition_of(expression: Expression) -> Predicate:
    """The condition that an expression is: comparisons with constants, and whatever else is true or false."""
    match expression:
        case Call("and" | "or" as function, _):
            parts = tuple(condition_of(part) for part in _chained(expression, function))
            return And(parts) if function == "and" else Or(parts)
        case Call("not", (part,)):
            return Not(condition_of(part))
        case Call("missing", (part,)) if not isinstance(part, Constant):
            return IsMissing(_reference(part))
        case Call("in", (part, *values)) if all(_is_constant(value) for value in values) and not _is_constant(part):
            return IsIn(_reference(part), tuple(_value(value) for value in values))
        case Call(function, (left, right)) if function in _LOWERED:
            operator = _LOWERED[function]
            if _is_constant(right) and not _is_constant(left):
                return Compare(_reference(left), operator, _value(right))
            if _is_constant(left) and not _is_constant(right):
                return Compare(_reference(right), _MIRROR[operator], _value(left))
    return Compare(_reference(expression), "==", True)


def expression_in(predicate: Predicate, expression: Callable[[str], Expression]) -> Expression:
    """A condition as an expression, given what the names in it stand for."""
    match predicate:
        case Compare(name, operator, value):
            function = next(known for known, sign in _LOWERED.items() if sign == operator)
            return Call(function, (expression(name), Constant(value)))
        case IsIn(name, values):
            return Call("in", (expression(name), *(Constant(value) for value in values)))
        case IsMissing(name):
            return Call("missing", (expression(name),))
        case And(parts) | Or(parts):
            whole = expression_in(parts[0], expression)
            for part in parts[1:]:
                joined = expression_in(part, expression)
                whole = Call("and" if isinstance(predicate, And) else "or", (whole, joined))
            return whole
        case Not(part):
            return Call("not", (expression_in(part, expression),))


def _chained(expression: Expression, function: str) -> list[Expression]:
    """The parts of a chain of ANDs or of ORs, in order."""
    found, waiting = [], [expression]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Call) and part.function == function:
            waiting += reversed(part.arguments)
        else:
            found.append(part)
    return found


def _reference(expression: Expression) -> str:
    return expression.name if isinstance(expression, Name) else str(expression)


def _is_constant(expression: Expression) -> bool:
    dated = isinstance(expression, Call) and expression.function in ("as_date", "as_timestamp")
    inner = expression.arguments[0] if isinstance(expression, Call) and dated else expression
    return isinstance(inner, Constant) and inner.value is not None


def _value(expression: Expression) -> Any:
    inner = expression.arguments[0] if isinstance(expression, Call) else expression
    return inner.value if isinstance(inner, Constant) else None


def checked(predicate: Predicate | Expression, schema: Schema) -> Predicate:
    """The same condition with its constants read as the columns' types; an error names what is not allowed."""
    if isinstance(predicate, Expression):
        predicate = condition_of(predicate)
    if _size(predicate, 0) > _LONGEST:
        raise InputError("where", Phrase("a long condition"), f"a condition of at most {_LONGEST:,} comparisons")
    return _checked(predicate, schema)


def _size(predicate: Predicate, depth: int) -> int:
    """How many comparisons; an error where they are nested too deep for an engine."""
    if depth > _DEEPEST:
        raise InputError("where", Phrase("a nested condition"), f"a condition nested at most {_DEEPEST} deep")
    match predicate:
        case And(parts) | Or(parts):
            if not isinstance(parts, tuple) or not parts:
                raise InputError("where", Phrase("one without parts"), "a condition with at least one part")
            return sum(_size(part, depth + 1) for part in parts)
        case Not(part):
            return _size(part, depth + 1)
        case IsIn(_, values):
            return len(values)
        case _:
            return 1


def _checked(predicate: Predicate, schema: Schema) -> Predicate:
    match predicate:
        case Compare(name, operator, value):
            name, column = _compared(name, schema)
            if operator not in OPERATORS:
                raise InputError("where", operator, "a comparison", among=OPERATORS)
            if isinstance(column, Text) and operator in ("==", "!=") and isinstance(value, str):
                same = Compare(_same_text(name, [value], schema), "==", True)
                return same if operator == "==" else Not(same)
            if isinstance(column, (Category, Boolean)) and operator not in ("==", "!="):
                raise InputError("where", Phrase(f"{name} {operator}"), f"== or !=, since {name} has no order")
            return Compare(name, operator, _constant(name, column, value, name in schema.columns))
        case IsIn(name, values):
            name, column = _compared(name, schema)
            if not values:
                raise InputError("where", Phrase(f"{name} in ()"), "a condition with at least one value")
            if isinstance(column, Text) and all(isinstance(value, str) for value in values):
                return Compare(_same_text(name, values, schema), "==", True)
            return IsIn(name, tuple(_constant(name, column, value, name in schema.columns) for value in values))
        case IsMissing(name):
            name = schema.canonical(name, "where")
            schema.column(name, "where")  # which refuses what nothing is known of
            return IsMissing(name)
        case And(parts):
            return And(tuple(_checked(part, schema) for part in parts))
        case Or(parts):
            return Or(tuple(_checked(part, schema) for part in parts))
        case Not(part):
            return Not(_checked(part, schema))
        case _:
            raise InputError("where", predicate, "a condition such as \"age >= 18\" or col('age') >= 18")


def _compared(name: str, schema: Schema) -> tuple[str, Column]:
    """What is compared, under its one name, and what it is."""
    name = schema.canonical(name, "where")
    column = schema.column(name, "where")
    if name == schema.unit.column and isinstance(column, Text):
        raise InputError("where", name, "about another column: this one tells people apart")
    return name, column


def _same_text(name: str, values: Sequence[str], schema: Schema) -> str:
    """Whether free text is one of these, as an expression."""
    return schema.canonical(Call("in", (schema.expression(name), *(Constant(value) for value in values))), "where")


def _constant(name: str, column: Column, value: Any, declared: bool) -> Any:
    match column:
        case Integer() | Real():
            if isinstance(value, (bool, str)):
                raise InputError("where", value, f"a number, since {name} is numeric")
            number = as_written(value, "where")
            if abs(number) > _LARGEST:  # engines compare floats, and none is as large
                raise InputError("where", value, f"a number between -{float(_LARGEST):g} and {float(_LARGEST):g}")
            return number
        case Category():
            text = isinstance(value, (str, int)) and not isinstance(value, bool)
            if not text or (declared and str(value) not in column.values):
                raise InputError("where", value, f"a declared value of {name}", among=column.values)
            return str(value)
        case Boolean():
            if not isinstance(value, bool):
                raise InputError("where", value, f"true or false, since {name} is boolean")
            return value
        case Date():
            try:
                if isinstance(value, datetime):
                    raise ValueError
                return value if isinstance(value, date) else date.fromisoformat(value)
            except (TypeError, ValueError):
                raise InputError("where", value, f"a date such as '2024-12-31', since {name} is a date") from None
        case Timestamp():
            return column.compared(value, "where")
        case _:
            hint = f"Text is compared with text, in single quotes: {quoted(name)} = '...'."
            raise InputError("where", name, "compared with text, by =, <>, IN or LIKE: it is free text", hint)


def beyond(predicate: Predicate, schema: Schema, negated: bool = False) -> str | None:
    """A column of which no value within its bounds meets a checked condition; None where there seems to be none.

    >>> from discreet.data.column import Integer
    >>> beyond(Compare("age", ">", 120), Schema("people", {"age": Integer(0, 120)}))
    'age'
    """
    match predicate:
        case Compare(name, operator, value):
            met = _met(schema.columns[name], _OPPOSITE[operator] if negated else operator, value)
            return None if met else name
        case IsIn(name, values):
            return None if negated or any(_met(schema.columns[name], "==", value) for value in values) else name
        case IsMissing():
            return None
        case And(parts) | Or(parts):
            names = [beyond(part, schema, negated) for part in parts]
            if isinstance(predicate, And) != negated:  # one part that nothing meets is enough
                return next((name for name in names if name), None)
            return names[0] if all(names) else None
        case Not(part):
            return beyond(part, schema, not negated)


def _met(column: Column, operator: str, value: Any) -> bool:
    """Whether a value within the declared bounds meets a comparison."""
    if not isinstance(column, Integer | Real | Date | Timestamp):
        return True
    low, high = column.lower, column.upper
    match operator:
        case "==":
            return low <= value <= high and not (isinstance(column, Integer) and value.denominator != 1)
        case "!=":
            return not low == value == high
        case "<":
            return bool(low < value)
        case "<=":
            return bool(low <= value)
        case ">":
            return bool(high > value)
        case _:
            return bool(high >= value)


def columns_of(predicate: Predicate) -> list[str]:
    """The columns a condition reads."""
    match predicate:
        case Compare(name) | IsIn(name) | IsMissing(name):
            return [name]
        case And(parts) | Or(parts):
            return [name for part in parts for name in columns_of(part)]
        case Not(part):
            return columns_of(part)


def predicate_to(predicate: Predicate) -> dict[str, Any]:
    """A condition as plain JSON values."""
    match predicate:
        case Compare(name, operator, value):
            return {"column": name, "is": operator, "value": _wire(value)}
        case IsIn(name, values):
            return {"column": name, "is": "in", "values": [_wire(value) for value in values]}
        case IsMissing(name):
            return {"column": name, "is": "missing"}
        case And(parts):
            return {"all": [predicate_to(part) for part in parts]}
        case Or(parts):
            return {"any": [predicate_to(part) for part in parts]}
        case Not(part):
            return {"not": predicate_to(part)}


def predicate_from(entry: Any, depth: int = 0) -> Predicate:
    """A condition from its JSON values (still to be checked against a schema)."""
    if depth > _DEEPEST:
        raise InputError("where", Phrase("a nested condition"), f"a condition nested at most {_DEEPEST} deep")
    match entry:
        case {"all": list(parts), **rest} if not rest:
            return And(tuple(predicate_from(part, depth + 1) for part in parts))
        case {"any": list(parts), **rest} if not rest:
            return Or(tuple(predicate_from(part, depth + 1) for part in parts))
        case {"not": dict(part), **rest} if not rest:
            return Not(predicate_from(part, depth + 1))
        case {"column": str(name), "is": "missing", **rest} if not rest:
            return IsMissing(name)
        case {"column": str(name), "is": "in", "values": list(values), **rest} if not rest:
            return IsIn(name, tuple(_unwire(value) for value in values))
        case {"column": str(name), "is": str(operator), "value": value, **rest} if not rest:
            return Compare(name, operator, _unwire(value))
    raise InputError("where", entry, "a condition in the form that Query.to_dict writes")


def _wire(value: Any) -> Any:
    if isinstance(value, Fraction):
        return {"number": str(value)}
    return value.isoformat() if isinstance(value, date | Instant) else value


def _unwire(value: Any) -> Any:
    return fraction(value["number"], "where") if isinstance(value, dict) and set(value) == {"number"} else value
