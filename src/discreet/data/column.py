"""What a custodian declares about a column. Nothing here is ever read off the data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.core.exact import Number, as_written
from discreet.data.instant import DAY, FIRST, LAST, Instant, check_timezone, read_instant
from discreet.data.toml import toml_table
from discreet.data.values_file import read_values
from discreet.errors import GIVEN, MISSING, InputError, Phrase

__all__ = ["Boolean", "Category", "Column", "Date", "Integer", "Numeric", "Real", "Text", "Timestamp", "column_from"]


_FARTHEST = 2**52
_MOST_SPIKES = 256


def read_flag(value: bool, field: str = "nullable") -> bool:
    """True or false, and nothing that merely counts as either: "no" would be true."""
    if not isinstance(value, bool):
        raise InputError(field, value, "true or false")
    return value


def _bounds(kind: object, lower: Number, upper: Number) -> None:
    low, high = as_written(lower, "lower"), as_written(upper, "upper")
    if low >= high:
        raise InputError("upper", upper, f"more than lower = {lower}")
    if max(abs(low), abs(high)) > _FARTHEST:
        field, value = ("upper", upper) if abs(high) >= abs(low) else ("lower", lower)
        raise InputError(field, value, "within +-2**52")
    object.__setattr__(kind, "lower", low)
    object.__setattr__(kind, "upper", high)


def _values(kind: object, step: Number | None, spikes: Iterable[Number]) -> None:
    """The step between values, and the values that many rows share."""
    low, high = getattr(kind, "lower"), getattr(kind, "upper")  # noqa: B009
    read = None if step is None else as_written(step, "step")
    if read is not None and not 0 < read <= high - low:
        raise InputError("step", step, f"more than zero and at most upper - lower = {_shortest(high - low)}")
    if isinstance(spikes, str) or not hasattr(spikes, "__iter__"):
        raise InputError("spikes", spikes, "a list of numbers")
    listed = tuple(dict.fromkeys(as_written(one, "spikes") for one in spikes))
    if outside := [one for one in listed if not low <= one <= high]:
        raise InputError(
            "spikes", _shortest(outside[0]), f"between lower = {_shortest(low)} and upper = {_shortest(high)}"
        )
    if len(listed) > _MOST_SPIKES:
        raise InputError("spikes", Phrase(f"{len(listed):,} of them"), f"at most {_MOST_SPIKES}")
    object.__setattr__(kind, "step", read)
    object.__setattr__(kind, "spikes", tuple(sorted(listed)))


@dataclass(frozen=True, slots=True)
class Integer:
    """Whole numbers from `lower` to `upper`. Others are moved to the nearest bound, fractions rounded (halves up).

    Infinities are moved too. NaN, and text that is no number, is missing. In a sum or a mean a missing value is left
    out. Who knows that none is missing says `nullable=False`: then a mean needs no count of its own, and one that is
    missing all the same counts as the middle of the bounds.
    """

    lower: Fraction
    upper: Fraction
    nullable: bool = True
    step: Fraction | None = None
    spikes: tuple[Fraction, ...] = ()

    def __init__(
        self,
        lower: Number,
        upper: Number,
        nullable: bool = True,
        step: Number | None = None,
        spikes: Iterable[Number] = (),
    ) -> None:
        _bounds(self, lower, upper)
        for field in ("lower", "upper"):
            if getattr(self, field).denominator != 1:
                raise InputError(field, getattr(self, field), "a whole number", "Declare the column as real.")
        object.__setattr__(self, "nullable", read_flag(nullable))
        _values(self, step, spikes)
        for field, value in (("step", self.step), *(("spikes", one) for one in self.spikes)):
            if value is not None and value.denominator != 1:
                raise InputError(field, value, "a whole number", "Declare the column as real.")


@dataclass(frozen=True, slots=True)
class Real:
    """Numbers from `lower` to `upper`. Others, infinities too, are moved to the nearest bound.

    NaN, and text that is no number, is missing: see `Integer` for what that means. Values that are rounded have a
    `step`, such as 0.01; `spikes` are values that many rows are known to share, such as 0. Synthetic rows have both.
    """

    lower: Fraction
    upper: Fraction
    nullable: bool = True
    step: Fraction | None = None
    spikes: tuple[Fraction, ...] = ()

    def __init__(
        self,
        lower: Number,
        upper: Number,
        nullable: bool = True,
        step: Number | None = None,
        spikes: Iterable[Number] = (),
    ) -> None:
        _bounds(self, lower, upper)
        object.__setattr__(self, "nullable", read_flag(nullable))
        _values(self, step, spikes)


@dataclass(frozen=True, slots=True)
class Category:
    """One of the `values` listed: text as it is, stored numbers as numbers (1.50 is 1.5), true and false in any case.

    Of text, 1.0 is also 1, where it is not listed itself, as CSV files have it. Anything else is missing.
    A row with a missing value belongs to a group of its own, or to none with `nullable=False`.
    """

    values: tuple[str, ...]
    nullable: bool = True

    def __init__(self, values: Any, nullable: bool = True) -> None:
        if isinstance(values, str) or not hasattr(values, "__iter__"):
            raise InputError("values", values, "a list of the values that may occur")
        listed = list(values)
        if type(None) in set(map(type, listed)):
            hint = "What is missing is a group of its own in a nullable column, and none with nullable=False."
            raise InputError("values", Phrase("a missing one"), "values that can occur", hint)
        names = tuple(map(str, listed))
        if not names:
            raise InputError("values", [], "at least one value")
        if not all(map(str.isprintable, names)):
            strange = next(name for name in names if not name.isprintable())
            raise InputError("values", strange, "printable text")
        if len(set(names)) != len(names):
            repeated = Counter(names).most_common(1)[0][0]
            raise InputError("values", repeated, "a list with each value once")
        object.__setattr__(self, "values", names)
        object.__setattr__(self, "nullable", read_flag(nullable))

    @classmethod
    def from_file(cls, path: str | Path, column: str | None = None, nullable: bool = True) -> Category:
        """The values of a public file: one a line or, of a CSV file, its first column, or a `column` of its header."""
        return cls(read_values(path, column), nullable)


@dataclass(frozen=True, slots=True)
class Boolean:
    """True or false; also 1 and 0, and as text true/t/1/yes and false/f/0/no in any case. Anything else is missing."""

    nullable: bool = True

    def __post_init__(self) -> None:
        read_flag(self.nullable)


@dataclass(frozen=True, slots=True)
class Date:
    """Days from `lower` to `upper`. Others are moved to the nearest bound; what is no date is missing.

    Of a moment in time the day counts, in UTC if it has a time zone.
    """

    lower: date
    upper: date
    nullable: bool = True

    def __init__(self, lower: date | str, upper: date | str, nullable: bool = True) -> None:
        low, high = _day(lower, "lower"), _day(upper, "upper")
        if low >= high:
            raise InputError("upper", Phrase(upper), f"after lower = {lower}")
        object.__setattr__(self, "lower", low)
        object.__setattr__(self, "upper", high)
        object.__setattr__(self, "nullable", read_flag(nullable))


@dataclass(frozen=True, slots=True)
class Timestamp:
    """Instants from `lower` to `upper`, in whole seconds, shown on the clocks of a `timezone`.

    What is stored with an offset or a zone is an instant. What is stored without is a local time of the zone `naive`,
    which is `timezone` unless another one is given, such as "UTC". A local time that a change of clocks repeats is the
    first of the two; one that it leaves out is as much later as the clocks were put forward. Others than between the
    bounds are moved to the nearest; what is no time is missing. A day as upper bound includes all of it. Times that are
    rounded have a `step` in seconds, such as 60: synthetic rows have it too.
    """

    lower: Instant
    upper: Instant
    timezone: str
    naive: str
    nullable: bool = True
    step: int | None = None

    def __init__(
        self,
        lower: date | str | Instant,
        upper: date | str | Instant,
        timezone: str,
        naive: str | None = None,
        nullable: bool = True,
        step: int | None = None,
    ) -> None:
        zone = check_timezone(timezone)
        low, high = read_instant(lower, zone, "lower"), read_instant(upper, zone, "upper", whole_day=True)
        if low >= high:
            raise InputError("upper", Phrase(upper), f"after lower = {lower}")
        object.__setattr__(self, "lower", low)
        object.__setattr__(self, "upper", high)
        object.__setattr__(self, "timezone", zone)
        object.__setattr__(self, "nullable", read_flag(nullable))
        object.__setattr__(self, "naive", zone if naive is None else check_timezone(naive, "naive"))
        if step is not None and (isinstance(step, bool) or not isinstance(step, int) or step < 1 or DAY % step):
            raise InputError("step", step, "a whole number of seconds that divides a day, such as 60")
        object.__setattr__(self, "step", step)

    @property
    def reach(self) -> tuple[int, int]:
        """How far beyond the bounds a condition tells instants apart: a year."""
        return max(int(self.lower) - 366 * DAY, FIRST + DAY), min(int(self.upper) + 366 * DAY, LAST - DAY)

    def compared(self, value: Any, field: str) -> Instant:
        """A constant that stored values are compared with; beyond their reach all are alike."""
        first, last = self.reach
        found = read_instant(value, self.timezone, field)
        return Instant(max(first - 1, min(last + 1, int(found))), self.timezone)


@dataclass(frozen=True, slots=True)
class Text:
    """Free text: usable as the column that identifies a person, or as a key whose values are discovered."""

    nullable: bool = False

    def __post_init__(self) -> None:
        read_flag(self.nullable)


Column = Integer | Real | Category | Boolean | Date | Timestamp | Text
Numeric = Integer | Real


def _day(value: date | str, field: str) -> date:
    try:
        if isinstance(value, datetime):
            raise ValueError
        return value if isinstance(value, date) else date.fromisoformat(value)
    except (TypeError, ValueError):
        raise InputError(field, value, "a date such as 2024-12-31") from None


_KINDS: dict[str, type[Any]] = {
    "integer": Integer,
    "real": Real,
    "category": Category,
    "boolean": Boolean,
    "date": Date,
    "timestamp": Timestamp,
    "text": Text,
}
_FIELDS = {
    "integer": ("lower", "upper"),
    "real": ("lower", "upper"),
    "category": ("values",),
    "boolean": (),
    "date": ("lower", "upper"),
    "timestamp": ("lower", "upper", "timezone"),
    "text": (),
}
_OPTIONAL = {
    "integer": ("nullable", "step", "spikes"),
    "real": ("nullable", "step", "spikes"),
    "timestamp": ("naive", "nullable", "step"),
    "category": ("values_file", "values_column", "nullable"),
}


def column_from(name: str, declared: Mapping[str, Any], folder: Path = Path()) -> Column:
    """A column from its entry in a schema file; every error names the column and the field.

    A file of values is looked for in `folder`. The column has its values, and the file is not needed again.
    """
    where = f"columns.{name}"
    if not isinstance(declared, Mapping):
        raise InputError(where, declared, f"a table: {toml_table('columns', name)} with type = ...")
    entry = dict(declared)
    kind = entry.pop("type", None)
    if not isinstance(kind, str) or kind not in _KINDS:
        raise InputError(f"{where}.type", kind, among=_KINDS)
    if kind == "category":
        entry = _with_values(where, entry, folder)
    for field in _FIELDS[kind]:
        if field not in entry or entry[field] in ("", "?"):
            hint = f"Add `{field} = ...` under {toml_table('columns', name)}; it must not be read off the data."
            raise InputError(f"{where}.{field}", MISSING, f"given where type = {kind!r}", hint)
    known = (*_FIELDS[kind], *_OPTIONAL.get(kind, ("nullable",)))
    if unknown := set(entry) - set(known):
        raise InputError.unknown(f"{where}.{min(unknown)}", known)
    read_flag(entry.get("nullable", False), f"{where}.nullable")
    try:
        column: Column = _KINDS[kind](**{"nullable": False} | entry)  # as files without the key always meant
    except InputError as problem:
        raise problem.about(f"{where}.{problem.field}") from None
    return column


def _with_values(where: str, entry: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The entry of a category with the values of its file in the place of the file."""
    path, column = entry.pop("values_file", None), entry.pop("values_column", None)
    if path is None:
        if column is not None:
            raise InputError(f"{where}.values_column", GIVEN, "left out where there is no values_file")
        return entry
    if "values" in entry:
        raise InputError(f"{where}.values_file", GIVEN, "left out where values are listed")
    if not isinstance(path, str) or not path:
        raise InputError(f"{where}.values_file", path, "the path of a file of public values")
    try:
        return {**entry, "values": read_values(folder / path, column)}
    except InputError as problem:
        raise problem.about(f"{where}.{problem.field}") from None


def _shortest(value: Fraction) -> int | float | str:
    """A whole number or a float where it is exact, else the fraction as text: all are read back as they were."""
    if value.denominator == 1:
        return int(value)
    return float(value) if Fraction(repr(float(value))) == value else str(value)


def column_to(column: Column) -> dict[str, Any]:
    """A column as the entry a schema file would hold."""
    kind = next(name for name, cls in _KINDS.items() if type(column) is cls)
    entry: dict[str, Any] = {"type": kind}
    for field in _FIELDS[kind]:
        value = getattr(column, field)
        if isinstance(value, Fraction):
            value = _shortest(value)
        elif isinstance(value, date | Instant):
            value = value.isoformat()
        elif isinstance(value, tuple):
            value = list(value)
        entry[field] = value
    if isinstance(column, Timestamp) and column.naive != column.timezone:
        entry["naive"] = column.naive
    entry |= _values_to(column)
    return {**entry, "nullable": column.nullable}


def _values_to(column: Column) -> dict[str, Any]:
    """What is declared of single values, if anything: schemas without it have the digest they always had."""
    match column:
        case Integer(step=step, spikes=spikes) | Real(step=step, spikes=spikes):
            entry: dict[str, Any] = {} if step is None else {"step": _shortest(step)}
            return entry | ({"spikes": [_shortest(one) for one in spikes]} if spikes else {})
        case Timestamp(step=seconds) if seconds is not None:
            return {"step": seconds}
        case _:
            return {}
