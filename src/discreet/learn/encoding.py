"""A table as numbers for a model: from the schema alone, so that nothing is learned about the data by laying it out.

Numbers and days go from -1 to 1 between their declared bounds, categories have a column for each declared value,
booleans one; what may be missing has a column that says so. The target is a class or a number.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.column import Boolean, Category, Column, Date, Integer, Real, Text, Timestamp, column_from, column_to
from discreet.data.columns import Columns
from discreet.data.expression.domain import value_of
from discreet.data.expression.time import parts_hint
from discreet.data.schema import Schema
from discreet.errors import InputError, Phrase

__all__ = ["MISSING", "STEPS", "Encoding", "Part", "place_of", "word_of"]

STEPS = 2**20
"""How many steps there are between the bounds of a number."""
MISSING = -1
_EXACT = 2**53  # beyond, floats skip whole numbers
_TRUE, _FALSE = ("true", "t", "1", "yes"), ("false", "f", "0", "no")
_TRUTHS = {"1": ("1", "True", "true", "TRUE"), "0": ("0", "False", "false", "FALSE")}


@dataclass(frozen=True, slots=True)
class Part:
    """A column of the table: whole numbers in (`codes`), columns of numbers out.

    Codes are the place among the declared values, 0 or 1, or steps from the lower to the upper bound; -1 is missing.
    """

    name: str
    column: Column
    read: tuple[tuple[str, Column], ...] = ()
    """The columns that it is computed of, where it is an expression."""

    @property
    def stored(self) -> list[str]:
        """The columns of a table in hand that it takes."""
        return [name for name, _ in self.read] or [self.name]

    @property
    def numeric(self) -> bool:
        """Whether it is laid out on a line."""
        return isinstance(self.column, (Integer, Real, Date))

    @property
    def origin(self) -> float:
        """The lower bound of a number, or of a day as its ordinal."""
        low: Any = self._bounds[0]
        return float(low)

    @property
    def step(self) -> float:
        """How wide a step is."""
        low, high = self._bounds
        return (float(high) - float(low)) / STEPS

    @property
    def _bounds(self) -> tuple[Any, Any]:
        column: Any = self.column
        if isinstance(column, Date):
            return column.lower.toordinal(), column.upper.toordinal()
        return column.lower, column.upper

    def to_list(self) -> list[Any]:
        """Plain values: the name, the declaration, and those of the columns it is computed of."""
        read = {name: column_to(column) for name, column in self.read}
        return [self.name, column_to(self.column), *([read] if read else [])]

    @classmethod
    def from_list(cls, entry: Sequence[Any]) -> Part:
        """What `to_list` wrote."""
        name, declared, *read = entry
        columns = read[0] if read else {}
        return cls(name, column_from(name, declared), tuple((one, column_from(one, columns[one])) for one in columns))

    @property
    def labels(self) -> tuple[str, ...]:
        """What the columns stand for."""
        match self.column:
            case Category(values=values):
                named = tuple(f"{self.name}={value}" for value in values)
            case _:
                named = (self.name,)
        return (*named, f"{self.name} missing") if self.column.nullable else named

    def laid_out(self, codes: NDArray[np.int64]) -> NDArray[np.float32]:
        """Codes as columns. Missing is zero everywhere but in the column that says so."""
        there = codes >= 0
        match self.column:
            case Category(values=values):
                out = (codes[:, None] == np.arange(len(values))).astype(np.float32)
            case Boolean():
                out = np.where(there, 2.0 * codes - 1, 0.0)[:, None].astype(np.float32)
            case _:
                out = np.where(there, codes * (2.0 / STEPS) - 1, 0.0)[:, None].astype(np.float32)
        return np.column_stack([out, ~there]).astype(np.float32) if self.column.nullable else out

    def values(self, table: Any) -> list[Any]:
        """Its values in a table in hand; an expression's are computed, by the rules that the engine goes by."""
        if not self.read:
            return _in_hand(table, self.name)
        columns = Columns(dict(self.read))
        expression, domains = columns.expression(self.name), {name: columns.domain(name) for name in columns}
        read = [[Part(name, column).declared(value) for value in _in_hand(table, name)] for name, column in self.read]
        rows = (dict(zip(columns, row, strict=True)) for row in zip(*read, strict=True))
        return [value_of(expression, row, domains) for row in rows]

    def declared(self, value: Any) -> Any:
        """A value as the schema declares its column, moved into the bounds; None if it is missing or none of it."""
        column = self.column
        code = self._code(value)
        if code == MISSING or isinstance(column, Text):
            return None
        match column:
            case Category(values=values):
                return values[code]
            case Boolean():
                return bool(code)
            case Date():
                return date.fromordinal(int(min(max(_ordinal(value) or 0, self._bounds[0]), self._bounds[1])))
            case _:
                number = min(max(_number(value) or 0.0, float(column.lower)), float(column.upper))
                return int(np.floor(number + 0.5)) if isinstance(column, Integer) else number

    def codes(self, values: Iterable[Any]) -> NDArray[np.int64]:
        """Values in hand as codes, by the rules that the engine goes by."""
        return np.array([self._code(value) for value in values], dtype=np.int64)

    def _code(self, value: Any) -> int:
        column = self.column
        if value is None or (isinstance(value, float) and np.isnan(value)):
            return MISSING
        match column:
            case Category(values=values):
                place = place_of(value, values)
                return MISSING if place is None or _is_fraction(value) else place
            case Boolean():
                word = word_of(value).lower()
                return 1 if word in _TRUE else 0 if word in _FALSE else MISSING
            case Date():
                return self._place(_ordinal(value))
            case Integer() | Real():
                return self._place(_number(value))
            case Text() | Timestamp():
                return MISSING

    def _place(self, value: float | None) -> int:
        if value is None:
            return MISSING
        low, high = (float(bound) for bound in self._bounds)
        if not low <= value <= high:
            return 0 if value < low else STEPS
        inside = float(np.floor(value + 0.5)) if isinstance(self.column, Integer) else value
        return int(np.floor((inside - self.origin + self.step / 2) * (1 / self.step)))


def _part(name: str, schema: Schema) -> Part:
    read = () if name in schema.columns else tuple((one, schema.columns[one]) for one in schema.read_by([name]))
    return Part(name, schema.columns[name], read)


def _in_hand(table: Any, name: str) -> list[Any]:
    try:
        column = table[name]
    except (KeyError, IndexError, TypeError):
        raise InputError("table", Phrase("one without it"), f"a table with the column {name!r}") from None
    return column.to_pylist() if hasattr(column, "to_pylist") else list(column)


def word_of(value: Any) -> str:
    """A value as text, from itself alone: however the others of its column make a table hold it.

    A column of whole numbers is one of floats in some tables as soon as one row lacks a value: 1 and 1.0 are one word,
    and so are whole numbers that are one float.

    >>> word_of(1), word_of(1.0), word_of(2**53 + 1) == word_of(2.0**53)
    ('1', '1', True)
    """
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and abs(int(value)) > _EXACT:
        value = _number(value)
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        value = int(value)
    return str(value)


def place_of(value: Any, words: Sequence[str]) -> int | None:
    """Where the word of a value is among declared ones, from that value alone; None if it is none of them.

    A yes is True, 1 or 1.0, whichever the others of its column make a table hold: the first word for any of these.

    >>> place_of(True, ["no", "1"]), place_of(1.0, ["True"]), place_of("True", ["1"])
    (1, 0, None)
    """
    word = word_of(value)
    if isinstance(value, (bool, np.bool_)):
        word = str(int(value))
    if isinstance(value, str) or word not in _TRUTHS:
        return words.index(word) if word in words else None
    return min((words.index(one) for one in _TRUTHS[word] if one in words), default=None)


def _is_fraction(value: Any) -> bool:
    return isinstance(value, (float, np.floating)) and not float(value).is_integer()


def _number(value: Any) -> float | None:
    try:
        found = float(value)
    except OverflowError:  # a whole number beyond all floats
        return math.inf if value > 0 else -math.inf
    except (TypeError, ValueError):
        return None
    return None if np.isnan(found) else found


def _ordinal(value: Any) -> int | None:
    try:
        if isinstance(value, datetime):
            return value.date().toordinal()  # a moment that is missing, as pandas has it, raises here
        return (value if isinstance(value, date) else date.fromisoformat(str(value)[:10])).toordinal()
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Encoding:
    """The columns a model sees and the one it is to tell, all of them public.

    >>> schema = Schema("t", {"age": Integer(0, 100), "sex": Category(["f", "m"]), "rich": Boolean()})
    >>> encoding = Encoding.of(schema, "rich")
    >>> encoding.labels, encoding.classes
    (('age', 'age missing', 'sex=f', 'sex=m', 'sex missing'), ('False', 'True'))
    """

    features: tuple[Part, ...]
    target: Part

    @classmethod
    def of(cls, schema: Schema, target: str, features: Sequence[str] | None = None) -> Encoding:
        """What a schema declares: the features named, or all columns that can be, besides the target."""
        person = schema.unit.column
        if isinstance(features, str):
            raise InputError("features", features, "a list of columns")
        target = schema.canonical(target, "target")
        aim = schema.column(target, "target")
        named = None if features is None else [schema.canonical(name, "features") for name in features]
        if named is None:
            named = [
                name
                for name, column in schema.columns.items()
                if name not in (target, person) and not isinstance(column, Text | Timestamp)
            ]
        if not named:
            raise InputError("features", [], "at least one column")
        if len(set(named)) != len(named):
            raise InputError("features", list(named), "a list with each column once")
        if target in named:
            raise InputError("features", target, "columns other than the target, which is to be predicted")
        for name in (*named, target):
            if isinstance(declared := schema.column(name, "features"), Text | Timestamp) or name == person:
                timed = isinstance(declared, Timestamp) and name != person
                hint = parts_hint(name) if timed else "Declare its values as a category, or leave it out."
                raise InputError("features" if name != target else "target", name, "a column of declared values", hint)
        if isinstance(aim, Date):
            raise InputError("target", target, "a category, a boolean or a number")
        return cls(tuple(_part(name, schema) for name in named), _part(target, schema))

    @property
    def labels(self) -> tuple[str, ...]:
        """What each number that the model sees stands for."""
        return tuple(label for part in self.features for label in part.labels)

    @property
    def width(self) -> int:
        """How many numbers a model sees of a row."""
        return len(self.labels)

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes to tell apart; none where the target is a number."""
        match self.target.column:
            case Category(values=values):
                return values
            case Boolean():
                return ("False", "True")
            case _:
                return ()

    @property
    def parts(self) -> tuple[Part, ...]:
        """Every column that is read, the target last."""
        return (*self.features, self.target)

    def inputs(self, codes: Mapping[str, NDArray[np.int64]]) -> NDArray[np.float32]:
        """What the model sees, one row an example."""
        columns = [part.laid_out(codes[part.name]) for part in self.features]
        return np.ascontiguousarray(np.column_stack(columns), dtype=np.float32)

    def outputs(self, codes: Mapping[str, NDArray[np.int64]]) -> NDArray[Any]:
        """What the model is to tell: a class from zero on, or a number from -1 to 1."""
        found = codes[self.target.name]
        return found.astype(np.int32) if self.classes else (found * (2.0 / STEPS) - 1).astype(np.float32)

    def rows(self, table: Any) -> NDArray[np.float32]:
        """What the model sees of a table in hand: columns by name, or an Arrow, pandas or Polars table."""
        columns: dict[str, list[Any]] = {}
        for part in self.features:
            columns[part.name] = part.values(table)
        if len({len(column) for column in columns.values()}) > 1:
            raise InputError(
                "table", Phrase("columns of several lengths"), "a table with as many values in each column"
            )
        return self.inputs({part.name: part.codes(columns[part.name]) for part in self.features})

    def truths(self, table: Any) -> list[str | None]:
        """The class that each row of a table in hand truly has, read as the schema declares it; None if it has none."""
        codes = self.target.codes(self.target.values(table))
        return [self.classes[code] if code != MISSING else None for code in codes.tolist()]

    def number(self, output: NDArray[Any]) -> NDArray[np.float64]:
        """A number that a model gives, in the units of the target."""
        column: Any = self.target.column
        low, high = float(column.lower), float(column.upper)
        return low + (np.clip(np.asarray(output, dtype=np.float64), -1, 1) + 1) / 2 * (high - low)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "features": [part.to_list() for part in self.features],
            "target": self.target.to_list(),
        }

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Encoding:
        """What `to_dict` wrote."""
        return cls(tuple(Part.from_list(one) for one in entry["features"]), Part.from_list(entry["target"]))
