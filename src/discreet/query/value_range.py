"""Stretches of a column between the constants of a condition, and what an expression can be on each of them.

Everything here is a bound from outside: an expression has no value on a stretch that its image does not hold.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import date
from fractions import Fraction
from typing import Any

from discreet.data.expression import Call, Constant, Domain, Expression, Name
from discreet.data.expression.domain import Kind, structural, value_of
from discreet.data.instant import FIRST, LAST, Instant
from discreet.errors import InputError
from discreet.query.key import Bin

__all__ = ["beyond", "holds", "image", "is_exact", "stretches"]

_ORDERED = ("integer", "real", "date", "timestamp")
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge", "in")
_ROUNDING = ("floor", "ceil", "trunc", "round")
_MOST = 100
_FAR = Fraction(10) ** 300


def _pieces(expression: Expression) -> Iterator[Expression]:
    yield expression
    for part in expression.arguments if isinstance(expression, Call) else ():
        yield from _pieces(part)


def _constants(condition: Expression, name: str) -> list[Any]:
    """What a condition compares a name with."""
    found = []
    for piece in _pieces(condition):
        parts = piece.arguments if isinstance(piece, Call) and piece.function in _COMPARISONS else ()
        if any(isinstance(part, Name) and part.name == name for part in parts):
            found += [part.value for part in parts if isinstance(part, Constant)]
    return [value for value in found if value is not None]


def stretches(domain: Domain, condition: Expression, name: str) -> list[Domain] | None:
    """The domain cut where a condition compares the name with a constant; None if it has no order or too many cuts."""
    if domain.kind not in _ORDERED:
        return None
    low, high = _number(domain.lower, domain), _number(domain.upper, domain)
    cuts: set[Any] = set()
    for value in _constants(condition, name):
        number = _number(value, domain)
        if number is not None:
            cuts |= {number} if domain.kind == "real" else {math.floor(number), math.ceil(number)}
    points = sorted(cut for cut in cuts if low <= cut <= high)
    if len(points) > _MOST:
        return None
    found, start = [], low
    for point in points:
        if start < point:
            found.append(_stretch(domain, start, _beside(point, domain, -1)))
        found.append(_stretch(domain, point, point))
        start = _beside(point, domain, 1)
    return [*found, _stretch(domain, start, high)] if start <= high else found


def _number(value: Any, domain: Domain) -> Any:
    """A value on the scale of a domain: floats, or whole numbers of days or seconds; None if it is of another type."""
    if domain.kind == "date":
        return value.toordinal() if isinstance(value, date) else None
    if isinstance(value, bool | str | date):
        return None
    return float(value) if domain.kind == "real" else Fraction(value)


def _beside(number: Any, domain: Domain, side: int) -> Any:
    return math.nextafter(number, side * math.inf) if domain.kind == "real" else number + side


def _stretch(domain: Domain, low: Any, high: Any) -> Domain:
    ends: list[Any]
    if domain.kind == "real":
        ends = [Fraction(low), Fraction(high)]
    elif domain.kind == "date":
        ends = [date.fromordinal(int(low)), date.fromordinal(int(high))]
    elif domain.kind == "timestamp":
        ends = [Instant(int(low), domain.timezone), Instant(int(high), domain.timezone)]
    else:
        ends = [int(low), int(high)]
    return Domain(domain.kind, ends[0], ends[1])


def beyond(domain: Domain) -> list[tuple[Domain, Domain]]:
    """Each end of a column's domain with what may be stored where a value is moved there: itself and all outside."""
    if domain.kind not in _ORDERED:
        return []
    low, high = domain.lower, domain.upper
    first: Any = -_FAR
    last: Any = _FAR
    if domain.kind == "date":
        first, last = date.min, date.max
    elif domain.kind == "timestamp":
        first, last = (Instant(end, domain.timezone) for end in (FIRST, LAST))
    kind: Kind = "real" if domain.numeric else domain.kind
    ends = [_stretch(domain, *[_number(end, domain)] * 2) for end in (low, high)]
    return [
        (ends[0], Domain(kind, first, ends[0].upper)),
        (ends[1], Domain(kind, ends[1].lower, last)),
    ]


def is_exact(expression: Expression, name: str, domain: Domain) -> bool:
    """Whether its domains hold however floats are rounded: nothing but whole numbers, days, times and texts is made."""
    try:
        made = [structural(piece, {name: domain}) for piece in _pieces(expression) if isinstance(piece, Call)]
    except InputError:
        return False
    return all(part.kind != "real" for part in made)


def image(expression: Expression, name: str, stretch: Domain, domain: Domain) -> Domain | None:
    """What an expression can be where the name is on a stretch of its domain; None if nothing is known."""
    if isinstance(expression, Name):
        return stretch
    if domain.numeric and _rises(expression):
        ends = [value_of(expression, {name: _plain(end)}, {name: domain}) for end in (stretch.lower, stretch.upper)]
        if None in ends:
            return None
        return Domain("real", Fraction(ends[0]), Fraction(ends[1]))
    if not is_exact(expression, name, domain):
        return None
    try:
        return structural(expression, {name: stretch})
    except InputError:
        return None


def _plain(end: Any) -> Any:
    return float(end) if isinstance(end, Fraction) else end


def _rises(expression: Expression) -> bool:
    """Whether no larger number has a smaller value: also of floats, each step rounds to the nearest."""
    match expression:
        case Name():
            return True
        case Call(function, (part, *rest)) if function in _ROUNDING:
            return all(isinstance(each, Constant) for each in rest) and _rises(part)
        case Call("add", (Constant(), part)) | Call("add" | "subtract", (part, Constant())):
            return _rises(part)
        case Call("multiply", (Constant(value), part)):
            return value is not None and value > 0 and _rises(part)
        case Call("multiply" | "divide" | "quotient", (part, Constant(value))):
            return value is not None and value > 0 and _rises(part)
    return False


def holds(found: Domain | None, label: Any, labels: Sequence[Any]) -> bool:
    """Whether a group's value may be one of these; None stands for whatever."""
    if found is None:
        return True
    if label is None:
        return found.missing
    if found.kind == "nothing":
        return False
    if isinstance(label, Bin):
        if found.kind not in _ORDERED:
            return True
        start, end = (_plain(edge) for edge in (label.start, label.end))
        last = label == next(each for each in reversed(labels) if each is not None)  # which includes its end
        return bool(found.upper >= start and (found.lower < end or (last and found.lower == end)))
    if found.values is not None:
        return label in found.values
    return found.kind not in _ORDERED or bool(found.lower <= label <= found.upper)
