"""What an expression can be: its type, its bounds or values, and whether it may be missing. Nothing is read for it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from typing import Any, Literal

from discreet.data.column import Boolean, Category, Column, Date, Integer, Real, Text, Timestamp
from discreet.data.expression.node import Call, Constant, Expression, Name, columns_in
from discreet.data.instant import Instant
from discreet.errors import InputError, Phrase

__all__ = [
    "LONGEST_TEXT",
    "MOST_VALUES",
    "Domain",
    "Domains",
    "Kind",
    "UnsuitableError",
    "column_of",
    "domain_of",
    "domain_of_column",
    "image",
    "listed_domain",
    "metered",
    "structural",
    "union",
    "value_of",
]

Kind = Literal["integer", "real", "text", "boolean", "date", "timestamp", "nothing"]
MOST_VALUES = 20_000
"""Values that are listed one by one at most."""
_TRIED = 5_000
"""Combinations of values that a function is tried on at most."""
LARGEST = 2**52
"""Whole numbers stay exact up to here, also as floats."""
_HUGE = Fraction(10) ** 150
LONGEST_TEXT = 10_000
"""Characters of a computed text at most: REPLACE of REPLACE grows without end."""
_BITS = 1_000
_LONGEST_END = 2_000
"""Bits of an end of a domain, before it is rounded outward to `_END`."""
_END = 200
_FINEST = 1_100
_LETTERS = 1_000_000
"""Characters of all computed texts of a domain together."""
_WORK = 400_000
"""Pieces that are computed to list the values of an expression at most."""
_ALTOGETHER = 3_000_000
"""The same for all expressions of a statement."""
_LEFT: ContextVar[list[int] | None] = ContextVar("pieces left to compute for a statement", default=None)


@dataclass(frozen=True, slots=True)
class Domain:
    """Every value is of the kind, from `lower` to `upper`, and one of `values` where they are listed.

    `missing` says whether it may also be missing. Truth values are ordered as 0 and 1, texts not at all.
    """

    kind: Kind
    lower: Any = None
    upper: Any = None
    values: tuple[Any, ...] | None = None
    missing: bool = False

    @property
    def numeric(self) -> bool:
        """Whether it can be computed with."""
        return self.kind in ("integer", "real")

    @property
    def timezone(self) -> str:
        """The zone whose clocks show its instants."""
        return str(self.lower.timezone)

    def listed(self, most: int = MOST_VALUES) -> tuple[Any, ...] | None:
        """All values in order, None left out; None if there are too many to list or nobody knows them."""
        if self.values is not None:
            return self.values if len(self.values) <= most else None
        if self.kind == "integer" and self.upper - self.lower < most:
            return tuple(range(int(self.lower), int(self.upper) + 1))
        if self.kind == "date" and (self.upper - self.lower).days < most:
            first = self.lower.toordinal()
            return tuple(date.fromordinal(first + day) for day in range((self.upper - self.lower).days + 1))
        if self.kind == "timestamp" and self.upper - self.lower < most:
            return tuple(Instant(second, self.timezone) for second in range(self.lower, self.upper + 1))
        return None

    def optional(self, missing: bool = True) -> Domain:
        """The same, which may also be missing."""
        return replace(self, missing=self.missing or missing)


def listed_domain(kind: Kind, values: Iterable[Any], missing: bool = False) -> Domain:
    """The domain of just these values."""
    known = tuple(dict.fromkeys(values))
    if kind in ("integer", "real", "date", "timestamp", "boolean"):
        known = tuple(sorted(known))
    if kind in ("integer", "real", "date", "timestamp") and known:
        return Domain(kind, known[0], known[-1], known, missing)
    if not known:
        return Domain("nothing", values=(), missing=True)
    return Domain(kind, values=known, missing=missing)


def domain_of_column(column: Column) -> Domain:
    """What a declared column can be."""
    match column:
        case Integer():
            return Domain("integer", int(column.lower), int(column.upper), missing=column.nullable)
        case Real():
            return Domain("real", column.lower, column.upper, missing=column.nullable)
        case Category():
            return Domain("text", values=tuple(column.values), missing=column.nullable)
        case Boolean():
            return Domain("boolean", values=(False, True), missing=column.nullable)
        case Date():
            return Domain("date", column.lower, column.upper, missing=column.nullable)
        case Timestamp():
            return Domain("timestamp", column.lower, column.upper, missing=column.nullable)
        case Text():
            return Domain("text", missing=column.nullable)


def column_of(domain: Domain, text: str) -> Column:
    """The declaration that an expression has of itself."""
    match domain.kind:
        case "integer" | "real":
            low, high = Fraction(domain.lower), Fraction(domain.upper)
            if max(abs(low), abs(high)) > LARGEST:
                hint = "Bound it: LEAST(GREATEST(..., 0), 1000)."
                raise InputError(
                    "expression", text, f"within +-2**52; it may be as large as {float(max(-low, high)):g}", hint
                )
            if low == high:  # a declaration has an inside
                low, high = (min(low, Fraction(0)), max(high, Fraction(0))) if low else (low, low + 1)
            kind = Integer if domain.kind == "integer" else Real
            return kind(low, high, nullable=domain.missing)
        case "boolean":
            return Boolean(nullable=domain.missing)
        case "date":
            first, last = domain.lower, domain.upper
            if first == last:
                last = date.fromordinal(first.toordinal() + 1)
            return Date(first, last, nullable=domain.missing)
        case "timestamp":
            later = Instant(domain.lower + 1, domain.timezone) if domain.lower == domain.upper else domain.upper
            return Timestamp(domain.lower, later, domain.timezone, nullable=domain.missing)
        case "text" if domain.values is not None:
            return Category(list(domain.values), nullable=domain.missing)
        case "text":
            return Text(nullable=domain.missing)
    hint = "No row has a value there. Look at its constants and conditions."
    raise InputError("expression", text, "something else than NULL", hint)


class Domains(dict[str, Domain]):
    """What declared columns can be, and pieces of expressions once they are known."""

    def __init__(self, columns: Mapping[str, Column]) -> None:
        super().__init__()
        self.columns = columns
        self.known: dict[int, tuple[Expression, Domain]] = {}
        self.pieces = 0

    def __missing__(self, name: str) -> Domain:
        self[name] = domain_of_column(self.columns[name])
        return self[name]


def domain_of(expression: Expression, columns: Mapping[str, Domain]) -> Domain:
    """What an expression can be, given what its columns can be. Refuses what has no sense or no bounds."""
    outer = structural(expression, columns)
    names = columns_in(expression)
    if not isinstance(expression, Call) or len(names) != 1 or outer.kind == "nothing":
        return outer
    # Of one column with few values: just the values that come out.
    base = columns[names[0]]
    values = base.listed()
    if values is None or len(values) * expression.pieces > _WORK:
        return outer
    _work(len(values) * expression.pieces)
    rows = ({names[0]: value} for value in (*values, *((None,) if base.missing else ())))
    found = {value_of(expression, row, columns) for row in rows}
    missing = None in found
    found.discard(None)
    known = [value for value in outer.values if value in found] if outer.kind == "text" and outer.values else found
    return listed_domain(outer.kind, known, missing)


@contextmanager
def metered(most: int = _ALTOGETHER) -> Iterator[None]:
    """Inside, what is computed to list the values of expressions has an end, the outermost one's."""
    if _LEFT.get() is not None:
        yield
        return
    token = _LEFT.set([most])
    try:
        yield
    finally:
        _LEFT.reset(token)


def _work(pieces: int) -> None:
    left = _LEFT.get()
    if left is not None:
        left[0] -= pieces
        if left[0] < 0:
            hint = "Ask in several statements, or of columns with fewer values."
            raise InputError("sql", Phrase("very many computed columns"), "about fewer computed columns", hint)


def structural(expression: Expression, columns: Mapping[str, Domain]) -> Domain:
    """What an expression can be, piece by piece: a domain that holds all its values, and perhaps more."""
    from discreet.data.expression.function import FUNCTIONS

    match expression:
        case Name(name):
            return columns[name]
        case Constant(value):
            return constant_domain(value)
        case Call(name, arguments):
            if isinstance(columns, Domains) and (known := columns.known.get(id(expression))):
                return known[1]
            function = FUNCTIONS[name]
            parts = [structural(each, columns) for each in arguments]
            try:
                found = function.domain(*parts)
            except UnsuitableError as problem:
                raise InputError("expression", str(expression), problem.allowed, problem.hint) from None
            except (TypeError, AttributeError):  # too few or too many, or of another type than the function is of
                raise InputError("expression", str(expression), f"{name.upper()} of what it takes") from None
            if found.numeric and max(abs(found.lower), abs(found.upper)) > _HUGE:
                hint = "Bound its parts: LEAST(GREATEST(..., 0), 1000)."
                raise InputError("expression", str(expression), "bounded", hint)
            found = exact_domain(found)
            if isinstance(columns, Domains):
                columns.known[id(expression)] = expression, found
            return found
    raise TypeError(f"no expression: {type(expression).__name__}")


def exact_domain(found: Domain) -> Domain:
    """The same; whole numbers that floats cannot tell apart are real ones."""
    if found.kind == "integer" and max(abs(found.lower), abs(found.upper)) > LARGEST:
        return replace(found, kind="real", values=None)
    if found.kind == "real" and found.values is None:
        low, high = Fraction(found.lower), Fraction(found.upper)
        if max(_bits(low), _bits(high)) > _LONGEST_END:
            return replace(found, lower=-_above(-low), upper=_above(high))
    return found


def _bits(number: Fraction) -> int:
    return max(number.numerator.bit_length(), number.denominator.bit_length())


def _above(number: Fraction) -> Fraction:
    """A number of few digits that is as large or a little larger: powers of powers have millions of them."""
    size = number.numerator.bit_length() - number.denominator.bit_length()
    if number == 0 or size < -_FINEST:  # closer to zero than any float
        return Fraction(int(number > 0), 2**_FINEST)
    shift = _END - size
    scaled = number * 2**shift if shift >= 0 else number / 2**-shift
    return Fraction(math.ceil(scaled)) / Fraction(2) ** shift


def constant_domain(value: Any) -> Domain:
    """The domain of one value."""
    if value is None:
        return Domain("nothing", values=(), missing=True)
    if isinstance(value, bool):
        return Domain("boolean", values=(value,))
    if isinstance(value, Instant):
        return Domain("timestamp", value, value, (value,))
    if isinstance(value, int):
        return Domain("integer", value, value, (value,))
    if isinstance(value, str):
        return Domain("text", values=(value,))
    if isinstance(value, date):
        return Domain("date", value, value, (value,))
    number = Fraction(value)
    return Domain("real", number, number, (float(number),))


def value_of(expression: Expression, row: Mapping[str, Any], domains: Mapping[str, Domain] | None = None) -> Any:
    """What an expression is for one row, in plain Python: what every engine gives. None is missing.

    With the `domains` of the columns, also where floats are rounded out of what they can be, and where a column that is
    declared complete is missing in the row: as engines have it, what is no plain sum is moved into its domain.
    """
    from discreet.data.expression.function import FUNCTIONS

    match expression:
        case Name(name):
            return row[name]
        case Constant(value):
            return float(value) if isinstance(value, Fraction) or type(value).__name__ == "Decimal" else value
        case Call(name, arguments):
            function = FUNCTIONS[name]
            values = [value_of(each, row, domains) for each in arguments]
            if function.strict and any(value is None for value in values):
                return None
            if domains is not None and not function.loose:
                values = [_tight(*pair, domains) for pair in zip(arguments, values, strict=True)]
            result = function.value(*values)
            if isinstance(result, float) and not math.isfinite(result):
                return None
            if domains is None and _endless(result):
                return None
            return result if domains is None or function.strict else _inside(result, structural(expression, domains))
    raise TypeError(f"no expression: {type(expression).__name__}")


def _endless(value: Any) -> bool:
    """Whether a value has grown beyond any use, of published numbers and labels: rows have domains."""
    if isinstance(value, str):
        return len(value) > LONGEST_TEXT
    return isinstance(value, int) and value.bit_length() > _BITS


def _tight(expression: Expression, value: Any, domains: Mapping[str, Domain]) -> Any:
    """A value; that of a sum of floats within its domain."""
    from discreet.data.expression.function import FUNCTIONS

    if not isinstance(expression, Call) or not FUNCTIONS[expression.function].loose:
        return value
    return _inside(value, structural(expression, domains))


def _inside(value: Any, domain: Domain) -> Any:
    if value is None or domain.kind not in ("integer", "real", "date", "timestamp"):
        return value
    inside = max(domain.lower, min(domain.upper, value))
    return float(inside) if domain.kind == "real" else inside


def image(function: Any, domains: Iterable[Domain], kind: Kind) -> Domain | None:
    """The values a function has over all values of its arguments; None if these are too many to try."""
    parts = list(domains)
    lists = [part.listed(_TRIED) for part in parts]
    if any(values is None for values in lists) or math.prod(len(values or ()) for values in lists) > _TRIED:
        return None
    found = []
    letters = 0
    for values in itertools.product(*(values or () for values in lists)):
        found.append(function(*values))
        if isinstance(found[-1], str):
            letters += len(found[-1])
            if len(found[-1]) > LONGEST_TEXT or letters > _LETTERS:
                raise UnsuitableError(f"of texts of at most {LONGEST_TEXT:,} characters, and {_LETTERS:,} together")
    missing = any(part.missing for part in parts) or None in found
    return listed_domain(kind, (value for value in found if value is not None), missing)


def union(*domains: Domain) -> Domain:
    """What is in any of the domains; they must be of one kind, or numbers."""
    parts = [part for part in domains if part.kind != "nothing"]
    missing = any(part.missing for part in domains)
    if not parts:
        return Domain("nothing", values=(), missing=True)
    kinds = {part.kind for part in parts}
    if kinds == {"integer", "real"}:
        kind: Kind = "real"
    elif len(kinds) == 1:
        kind = parts[0].kind
    else:
        raise UnsuitableError(f"of one type, not {' and '.join(sorted(kinds))}", "Use CAST(... AS ...).")
    if kind == "timestamp" and len({part.timezone for part in parts}) > 1:
        raise UnsuitableError("times of one zone", f"Write AT TIME ZONE '{parts[0].timezone}' after the others.")
    lists = [part.values for part in parts]
    if all(values is not None for values in lists):
        return listed_domain(kind, (value for values in lists for value in values or ()), missing)
    if kind == "text":
        return Domain("text", missing=missing)
    return Domain(kind, min(part.lower for part in parts), max(part.upper for part in parts), None, missing)


class UnsuitableError(Exception):
    """A function of what it cannot take: what would be allowed, and what to do."""

    def __init__(self, allowed: str, hint: str = "") -> None:
        super().__init__(allowed)
        self.allowed, self.hint = allowed, hint
