"""Comparisons, conditions and choices. A comparison with a missing value is neither true nor false."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from discreet.data.dialect import as_bytes, engine_of
from discreet.data.expression.domain import Domain, UnsuitableError, image, listed_domain, union
from discreet.data.expression.function import Function, Operand

__all__ = ["FUNCTIONS"]

_FEW = 4_096
_ORDERED = ("integer", "real", "date", "timestamp")


def _alike(*parts: Domain) -> str:
    """The one kind of all parts; numbers are alike."""
    kinds = {"number" if part.numeric else part.kind for part in parts} - {"nothing"}
    if len(kinds) > 1:
        named = " and ".join(sorted(kinds))
        days = "number" in kinds and not kinds.isdisjoint(("date", "timestamp"))
        hint = "Dates stand in quotes: '2024-12-31'." if days else "Use CAST(... AS ...)."
        raise UnsuitableError(f"a comparison of values of one type, not of {named}", hint)
    return kinds.pop() if kinds else "nothing"


def _compare(name: str, holds: Callable[[Any, Any], bool]) -> Function:
    """A comparison of two values."""
    ordered = name not in ("eq", "ne")

    def domain(a: Domain, b: Domain) -> Domain:
        kind = _alike(a, b)
        if "nothing" in (a.kind, b.kind):
            return Domain("nothing", values=(), missing=True)
        if ordered and kind == "boolean":
            raise UnsuitableError("= or <>, since truth values have no order")
        first, second = a.listed(_FEW), b.listed(_FEW)
        if ordered and kind == "text" and (first is None or second is None):
            raise UnsuitableError("= or <>, since engines order free text differently")
        missing = a.missing or b.missing
        if first is not None and second is not None and len(first) * len(second) <= _FEW:
            found = image(holds, (a, b), "boolean")
            if found is not None:
                return found.optional(missing)
        return listed_domain("boolean", _possible(name, a, b), missing)

    def engine(operands: Sequence[Operand], _: Domain) -> Any:
        a, b = (operand.engine for operand in operands)
        kinds = {operand.domain.kind for operand in operands}
        if kinds == {"integer", "real"}:
            a, b = a.cast("float64"), b.cast("float64")
        if kinds == {"text"} and any(operand.domain.values is None for operand in operands):
            engine = engine_of(a + b)  # as bytes: engines may compare free text by a rule of its column
            a, b = as_bytes(a, engine), as_bytes(b, engine)
        return holds(a, b)

    return Function(domain, holds, engine)


def _possible(name: str, a: Domain, b: Domain) -> Sequence[bool]:
    """Whether a comparison can be true, and whether it can be false, by the bounds."""
    if a.kind not in (*_ORDERED,) or b.kind not in _ORDERED:
        return (False, True)
    below, above = a.upper < b.lower, a.lower > b.upper
    touch_low, touch_high = a.upper <= b.lower, a.lower >= b.upper
    sure = {"lt": below, "le": touch_low, "gt": above, "ge": touch_high, "eq": False, "ne": below or above}[name]
    never = {"lt": touch_high, "le": above, "gt": touch_low, "ge": below, "eq": below or above, "ne": False}[name]
    return (True,) if sure else (False,) if never else (False, True)


def _truth(part: Domain) -> tuple[Any, ...]:
    if part.kind == "nothing":
        return (None,)
    if part.kind != "boolean":
        raise UnsuitableError(f"made of conditions, not of {part.kind}", "Compare it with something.")
    return (*(part.values or ()), *((None,) if part.missing else ()))


def _over_truth(value: Callable[..., Any]) -> Callable[..., Domain]:
    def domain(*parts: Domain) -> Domain:
        found = {value(*each) for each in itertools.product(*(_truth(part) for part in parts))}
        return listed_domain("boolean", found - {None}, None in found)

    return domain


def _and(*parts: bool | None) -> bool | None:
    return False if False in parts else None if None in parts else True


def _or(*parts: bool | None) -> bool | None:
    return True if True in parts else None if None in parts else False


def _not(a: bool | None) -> bool | None:
    return None if a is None else not a


def _chain(join: Callable[[Any, Any], Any]) -> Callable[[Sequence[Operand], Domain], Any]:
    def run(operands: Sequence[Operand], _: Domain) -> Any:
        whole = _boolean(operands[0])
        for operand in operands[1:]:
            whole = join(whole, _boolean(operand))
        return whole

    return run


def _boolean(operand: Operand) -> Any:
    import ibis

    return ibis.null("boolean") if operand.domain.kind == "nothing" else operand.engine


def _missing_domain(a: Domain) -> Domain:
    if a.kind == "nothing":
        return Domain("boolean", values=(True,))
    return Domain("boolean", values=(False, True) if a.missing else (False,))


def _in_domain(a: Domain, *others: Domain) -> Domain:
    if not others:
        raise UnsuitableError("IN with at least one value")
    _alike(a, *others)
    if any(part.kind == "nothing" or part.values is None or len(part.values) != 1 or part.missing for part in others):
        raise UnsuitableError("IN with a list of constants, and no NULL among them")
    wanted = {part.values[0] for part in others if part.values}
    known = a.listed(_FEW)
    if known is not None:
        found = [value in wanted for value in known]
    else:
        within = a.kind not in _ORDERED or any(a.lower <= value <= a.upper for value in wanted)
        found = [False, True] if within else [False]
    return listed_domain("boolean", found, a.missing)


def _in_engine(operands: Sequence[Operand], _: Domain) -> Any:
    first, *others = operands
    values = [(other.domain.values or (None,))[0] for other in others]
    if first.domain.kind == "real":
        return first.engine.isin([float(value) for value in values])
    if first.domain.kind == "integer":
        whole = [int(value) for value in values if value == math.floor(value)]
        return first.engine.isin(whole) if whole else first.engine.notnull().nullif(True)
    if first.domain.kind == "timestamp":
        return first.engine.isin([int(value) for value in values])
    if first.domain.kind == "text" and first.domain.values is None:
        engine = engine_of(first.engine)
        same = [as_bytes(first.engine, engine) == as_bytes(other.engine, engine) for other in others]
        return functools.reduce(operator.or_, same)
    return first.engine.isin(values)


# Choices.


def _case_domain(*parts: Domain) -> Domain:
    branches, last = parts[:-1], parts[-1]
    union(*branches[1::2], last)  # engines refuse values of several types also where one of them is never taken
    taken: list[Domain] = []
    for condition, value in zip(branches[::2], branches[1::2], strict=True):
        truth = _truth(condition)
        if True in truth:
            taken.append(value)
        if set(truth) == {True}:
            return union(*taken)
    return union(*taken, last)


def _case(*parts: Any) -> Any:
    for condition, value in zip(parts[:-1:2], parts[1::2], strict=False):
        if condition is True:
            return value
    return parts[-1]


_TYPES = {"integer": "int64", "real": "float64", "text": "string", "boolean": "boolean", "date": "date"}
_TYPES |= {"timestamp": "int64"}


def typed(operand: Operand, kind: str) -> Any:
    """An operand as the engine's type of a kind."""
    import ibis

    if operand.domain.kind == "nothing":
        return ibis.null(_TYPES[kind])
    if kind == "real" and operand.domain.kind == "integer":
        return operand.engine.cast("float64")
    return operand.engine


def _case_engine(operands: Sequence[Operand], result: Domain) -> Any:
    import ibis

    branches, last = operands[:-1], operands[-1]
    pairs = [
        (_boolean(condition), typed(value, result.kind))
        for condition, value in zip(branches[::2], branches[1::2], strict=True)
        if condition.domain.kind != "nothing"
    ]
    return ibis.cases(*pairs, else_=typed(last, result.kind)) if pairs else typed(last, result.kind)


def _coalesce_domain(*parts: Domain) -> Domain:
    union(*parts)  # as in a choice
    taken: list[Domain] = []
    for part in parts:
        taken.append(part)
        if not part.missing:
            break
    whole = union(*taken)
    if whole.kind == "nothing":
        return whole
    sure = not taken[-1].missing
    return Domain(whole.kind, whole.lower, whole.upper, whole.values, not sure)


def _coalesce(*parts: Any) -> Any:
    return next((part for part in parts if part is not None), None)


def _coalesce_engine(operands: Sequence[Operand], result: Domain) -> Any:
    import ibis

    return ibis.coalesce(*(typed(operand, result.kind) for operand in operands if operand.domain.kind != "nothing"))


def _nullif_domain(a: Domain, b: Domain) -> Domain:
    _alike(a, b)
    if a.values is not None and b.values is not None and len(b.values) == 1 and not b.missing:
        return listed_domain(a.kind, (value for value in a.values if value not in b.values), True)
    return a.optional()


def _nullif(a: Any, b: Any) -> Any:
    return None if b is not None and a == b else a


def _nullif_engine(operands: Sequence[Operand], _: Domain) -> Any:
    import ibis

    a, b = (operand.engine for operand in operands)
    if {operand.domain.kind for operand in operands} == {"integer", "real"}:
        same = a.cast("float64") == b.cast("float64")
    else:
        same = a == b
    return same.fill_null(False).ifelse(ibis.null(a.type()), a)


FUNCTIONS = {
    **{name: _compare(name, getattr(operator, name)) for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    "and": Function(_over_truth(_and), _and, _chain(lambda a, b: a & b), strict=False),
    "or": Function(_over_truth(_or), _or, _chain(lambda a, b: a | b), strict=False),
    "not": Function(
        _over_truth(lambda a: None if a is None else not a), _not, lambda operands, _: ~_boolean(operands[0])
    ),
    "missing": Function(_missing_domain, lambda a: a is None, lambda operands, _: _is_null(operands[0]), strict=False),
    "in": Function(_in_domain, lambda a, *others: a in others, _in_engine),
    "case": Function(_case_domain, _case, _case_engine, strict=False),
    "coalesce": Function(_coalesce_domain, _coalesce, _coalesce_engine, strict=False),
    "nullif": Function(
        _nullif_domain, lambda a, b: None if b is not None and a == b else a, _nullif_engine, strict=False
    ),
}


def _is_null(operand: Operand) -> Any:
    import ibis

    return ibis.literal(True) if operand.domain.kind == "nothing" else operand.engine.isnull()
