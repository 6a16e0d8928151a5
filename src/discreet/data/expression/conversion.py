"""One type read as another. What cannot be read is missing."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

from discreet.data.expression.domain import Domain, Kind, UnsuitableError, image
from discreet.data.expression.function import Function, Operand
from discreet.data.expression.rounding import AS_WHOLE

__all__ = ["FUNCTIONS"]

_NUMBER = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,2})?\s*", re.ASCII)


def _of_listed(value: Callable[[Any], Any], part: Domain, kind: Kind, what: str) -> Domain:
    found = image(value, (part,), kind)
    if found is None:
        raise UnsuitableError(f"of few values to be read as {what}", "Bin it, or round it first.")
    return found


def _number(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text) else None


def _integer(value: Any) -> int | None:
    if isinstance(value, str):
        read = _number(value)
        return None if read is None else round(read)
    result: int = round(value)
    return result


def _integer_domain(part: Domain) -> Domain:
    match part.kind:
        case "integer":
            return part
        case "real":
            return AS_WHOLE.domain(part)
        case "boolean":
            return Domain("integer", 0, 1, tuple(int(value) for value in part.values or (0, 1)), part.missing)
        case "text":
            return _of_listed(_integer, part, "integer", "numbers")
    raise UnsuitableError(f"a number, a truth value or text, not a {part.kind}")


def _integer_engine(operands: Sequence[Operand], result: Domain) -> Any:
    import ibis

    operand = operands[0]
    match operand.domain.kind:
        case "real":
            return (AS_WHOLE.engine or _none)(operands, result)
        case "boolean":
            truth = operand.engine
            return ibis.cases(
                (truth, ibis.literal(1, "int64")), (~truth, ibis.literal(0, "int64")), else_=ibis.null("int64")
            )
        case _:
            return operand.engine


def _none(operands: Sequence[Operand], result: Domain) -> Any:
    raise TypeError("whole numbers have an engine's form")


def _real_domain(part: Domain) -> Domain:
    match part.kind:
        case "real":
            return part
        case "integer":
            values = None if part.values is None else tuple(float(value) for value in part.values)
            return Domain("real", part.lower, part.upper, values, part.missing)
        case "text":
            return _of_listed(_number, part, "real", "numbers")
    raise UnsuitableError(f"a number or text, not a {part.kind}")


def _real(value: Any) -> float | None:
    return _number(value) if isinstance(value, str) else float(value)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, date) else str(value)


def _text_domain(part: Domain) -> Domain:
    if part.kind == "text":
        return part
    if part.kind == "real":
        raise UnsuitableError("of something else than real numbers, which engines write differently", "Round it first.")
    return _of_listed(_text, part, "text", "text")


def _boolean(value: Any) -> bool | None:
    if isinstance(value, str):
        return {
            "true": True,
            "t": True,
            "1": True,
            "yes": True,
            "false": False,
            "f": False,
            "0": False,
            "no": False,
        }.get(value.strip().lower())
    return bool(value)


def _boolean_domain(part: Domain) -> Domain:
    if part.kind == "boolean":
        return part
    return _of_listed(_boolean, part, "boolean", "true or false")


def _date(value: Any) -> date | None:
    try:
        return date.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        return None


def _date_domain(part: Domain) -> Domain:
    if part.kind == "date":
        return part
    if part.kind != "text":
        raise UnsuitableError(f"a date or text, not a {part.kind}")
    return _of_listed(_date, part, "date", "dates")


def _same(kind: Kind, otherwise: Callable[[Sequence[Operand], Domain], Any] | None = None) -> Any:
    """The engine's form: nothing is done to what is of the kind already; other values are mapped one by one."""

    def run(operands: Sequence[Operand], result: Domain) -> Any:
        if operands[0].domain.kind == kind:
            return operands[0].engine
        return None if otherwise is None else otherwise(operands, result)

    return run


def _to_real(operands: Sequence[Operand], _: Domain) -> Any:
    return operands[0].engine.cast("float64") if operands[0].domain.kind == "integer" else None


def _to_integer(operands: Sequence[Operand], result: Domain) -> Any:
    return None if operands[0].domain.kind == "text" else _integer_engine(operands, result)


FUNCTIONS = {
    "as_integer": Function(_integer_domain, _integer, _same("integer", _to_integer)),
    "as_real": Function(
        _real_domain, lambda value: _number(value) if isinstance(value, str) else float(value), _same("real", _to_real)
    ),
    "as_text": Function(_text_domain, _text, _same("text")),
    "as_boolean": Function(_boolean_domain, _boolean, _same("boolean")),
    "as_date": Function(_date_domain, _date, _same("date")),
}
