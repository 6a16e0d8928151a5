"""Expressions as values: a column's name, a constant, a function of expressions; and the operators that build them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn

from discreet.data.instant import Instant
from discreet.errors import InputError, Phrase

if TYPE_CHECKING:
    from discreet.data.expression.accessor import Calendar, Words

__all__ = ["Call", "Constant", "Expression", "Name", "call", "col", "columns_in", "expression_of", "when"]

_Text = str  # inside a class that has `.str`

INFIX = {
    "or": ("OR", 1),
    "and": ("AND", 2),
    "eq": ("=", 4),
    "ne": ("<>", 4),
    "lt": ("<", 4),
    "le": ("<=", 4),
    "gt": (">", 4),
    "ge": (">=", 4),
    "concat": ("||", 5),
    "add": ("+", 6),
    "subtract": ("-", 6),
    "multiply": ("*", 7),
    "divide": ("/", 7),
    "quotient": ("//", 7),
    "remainder": ("%", 7),
}
"""How functions of two arguments are written, and how tightly they bind."""
_MOST = 50_000
_LISTED = 1_000
"""Columns and constants of one list that are counted: a public table may have very many values."""
_WORDS = {"not", "is", "in", "like", "case", "when", "then", "else", "end", "and", "or", "null", "true", "false"}
_WORDS |= {"date", "timestamp", "interval", "between", "from", "select", "where", "group", "order", "by", "as", "on"}
# Other words of SQL that are no names where they stand without quotation marks.
_WORDS |= {"all", "alter", "any", "create", "cross", "distinct", "drop", "except", "fetch", "for", "force", "glob"}
_WORDS |= {"grant", "having", "ilike", "inner", "insert", "install", "intersect", "into", "join", "lateral", "map"}
_WORDS |= {"notnull", "only", "outer", "positional", "qualify", "regexp", "returning", "revoke", "rlike", "rollback"}
_WORDS |= {"summarize", "tablesample", "uncache", "union", "using", "with", "xor", "partitioned_by", "connect_by_root"}
_WORDS |= {"current_catalog", "current_date", "current_time", "current_timestamp", "current_user", "localtime"}
_WORDS |= {"localtimestamp", "session_user"}


class Expression:
    """What is computed of one row. `+ - * / // %`, comparisons, `& | ~` and methods make larger ones of it."""

    __slots__ = ()
    in_words = "an expression, such as col('age') * 2"

    def __add__(self, other: Any) -> Call:
        if isinstance(other, timedelta):
            return _later(self, other)
        return call("add", self, other)

    def __radd__(self, other: Any) -> Call:
        return call("add", other, self)

    def __sub__(self, other: Any) -> Call:
        if isinstance(other, timedelta):
            return _later(self, -other)
        return call("subtract", self, other)

    def __rsub__(self, other: Any) -> Call:
        return call("subtract", other, self)

    def __mul__(self, other: Any) -> Call:
        return call("multiply", self, other)

    def __rmul__(self, other: Any) -> Call:
        return call("multiply", other, self)

    def __truediv__(self, other: Any) -> Call:
        return call("divide", self, other)

    def __rtruediv__(self, other: Any) -> Call:
        return call("divide", other, self)

    def __floordiv__(self, other: Any) -> Call:
        return call("floor", call("divide", self, other))

    def __mod__(self, other: Any) -> Call:
        return call("subtract", self, call("multiply", self // other, other))

    def __neg__(self) -> Call:
        return call("negate", self)

    def __abs__(self) -> Call:
        return call("abs", self)

    def __eq__(self, other: object) -> Call:  # type: ignore[override]
        return call("eq", self, other)

    def __ne__(self, other: object) -> Call:  # type: ignore[override]
        return call("ne", self, other)

    def __lt__(self, other: Any) -> Call:
        return call("lt", self, other)

    def __le__(self, other: Any) -> Call:
        return call("le", self, other)

    def __gt__(self, other: Any) -> Call:
        return call("gt", self, other)

    def __ge__(self, other: Any) -> Call:
        return call("ge", self, other)

    def __and__(self, other: Any) -> Call:
        return call("and", self, other)

    def __rand__(self, other: Any) -> Call:
        return call("and", other, self)

    def __or__(self, other: Any) -> Call:
        return call("or", self, other)

    def __ror__(self, other: Any) -> Call:
        return call("or", other, self)

    def __invert__(self) -> Call:
        return call("not", self)

    def __str__(self) -> str:
        return write(self)

    __repr__ = __str__

    def __hash__(self) -> int:
        return hash(str(self))

    def __bool__(self) -> NoReturn:
        raise InputError(
            "where", Phrase("a condition used as true/false"), "conditions joined with &, | and ~, in brackets"
        )

    def isin(self, values: Iterable[Any]) -> Call:
        """One of the values."""
        return call("in", self, *values)

    def between(self, low: Any, high: Any) -> Call:
        """From low to high, both included."""
        return call("and", self >= low, self <= high)

    def missing(self) -> Call:
        """No value."""
        return call("missing", self)

    def fill_missing(self, value: Any) -> Call:
        """The value where there is none."""
        return call("coalesce", self, value)

    def clip(self, low: Any, high: Any) -> Call:
        """Moved into bounds; what is missing stays so."""
        return call("clip", self, low, high)

    def abs(self) -> Call:
        """Without its sign."""
        return call("abs", self)

    def floor(self) -> Call:
        """The whole number below."""
        return call("floor", self)

    def ceil(self) -> Call:
        """The whole number above."""
        return call("ceil", self)

    def round(self, digits: int = 0) -> Call:
        """Rounded to so many digits after the point, halves away from zero."""
        return call("round", self, digits)

    def sqrt(self) -> Call:
        """The square root; missing below zero."""
        return call("sqrt", self)

    def cast(self, kind: _Text) -> Call:
        """Read as `integer`, `real`, `text`, `boolean`, `date` or `timestamp`."""
        return call(f"as_{kind}", self)

    if not TYPE_CHECKING:  # which sees what there is

        def __getattr__(self, name: _Text) -> NoReturn:
            from discreet.data.expression.accessor import absent

            raise absent(name, Expression)

    @property
    def dt(self) -> Calendar:
        """Parts of a day or a time: `.dt.year`, `.dt.weekday`, `.dt.hour`, `.dt.date`, `.dt.truncate("month")`."""
        from discreet.data.expression.accessor import Calendar

        return Calendar(self)

    @property
    def str(self) -> Words:
        """Functions of text: `.str.upper()`, `.str.startswith("A")`."""
        from discreet.data.expression.accessor import Words

        return Words(self)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Name(Expression):
    """A column, by its name."""

    name: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Constant(Expression):
    """A number, a text, a truth value, a day, or nothing (None)."""

    value: Any


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Call(Expression):
    """A function of other expressions, by its name in `discreet.data.expression.function`."""

    function: str
    arguments: tuple[Expression, ...]
    pieces: int = field(init=False)
    """How many it is made of, written out: what stands for a column is repeated wherever the column is used."""

    def __post_init__(self) -> None:
        calls = sum(part.pieces for part in self.arguments if isinstance(part, Call))
        plain = sum(_size(part) for part in self.arguments if not isinstance(part, Call))
        count = 1 + calls + min(plain, _LISTED)
        if count > _MOST:
            hint = "Each column of a subquery is written out wherever it is used."
            raise InputError("expression", Phrase("a long expression"), f"made of at most {_MOST:,} pieces", hint)
        object.__setattr__(self, "pieces", count)


def _size(part: Any) -> int:
    """As how many pieces a column or a constant counts: a long text as several."""
    return 1 + len(part.value) // 50 if isinstance(part, Constant) and isinstance(part.value, str) else 1


def col(name: str) -> Name:
    """A column in an expression: `col("age") >= 18`, `col("cost") * col("hours")`, `col("day").dt.month`."""
    if not isinstance(name, str) or not name:
        raise InputError("col", name, "the name of a column, as text")
    return Name(name)


def expression_of(value: Any) -> Expression:
    """An expression, or a constant as one."""
    if isinstance(value, Expression):
        return value
    if value is None or isinstance(value, bool | int | float | Decimal | Fraction | str | date):
        return Constant(value)
    raise InputError("expression", value, "a column, a number, a text, a date or true and false")


def _later(time: Expression, by: timedelta) -> Call:
    if by.microseconds:
        raise InputError("expression", str(by), "a duration of whole seconds")
    if by.seconds:
        return call("add_seconds", time, by // timedelta(seconds=1))
    return call("add", time, by.days)


def call(function: str, *arguments: Any) -> Call:
    """A function of expressions and of constants."""
    return Call(function, tuple(expression_of(each) for each in arguments))


@dataclass(frozen=True, slots=True)
class When:
    """Branches of a choice that has no end yet."""

    branches: tuple[Expression, ...]

    def then(self, value: Any) -> Branched:
        """What it is where the condition holds."""
        return Branched("case", (*self.branches, expression_of(value), Constant(None)))


class Branched(Call):
    """A choice that may go on, or end with what it is otherwise: missing, where nothing is said."""

    __slots__ = ()

    def when(self, condition: Any) -> When:
        """Where no former condition holds and this one does."""
        return When((*self.arguments[:-1], expression_of(condition)))

    def otherwise(self, value: Any) -> Call:
        """What it is where no condition holds."""
        return Call("case", (*self.arguments[:-1], expression_of(value)))


def when(condition: Any) -> When:
    """A choice by conditions: `when(col("age") < 18).then("young").otherwise("old")`."""
    return When((expression_of(condition),))


def columns_in(expression: Expression) -> list[str]:
    """The columns it reads, each once."""
    return list(dict.fromkeys(_names(expression)))


def _names(expression: Expression) -> Iterator[str]:
    match expression:
        case Name(name):
            yield name
        case Call(_, arguments):
            for each in arguments:
                yield from _names(each)


def write(expression: Expression) -> str:
    """The expression as text, in the one form that every way of writing it has."""
    return _written(expression)[0]


def quoted(name: str) -> str:
    """A column's name as an expression writes it."""
    plain = name.isidentifier() and name.isascii() and name.lower() not in _WORDS
    return name if plain else '"' + name.replace('"', '""') + '"'


def _written(node: Expression) -> tuple[str, int]:
    """The text, and how tightly its outermost operator binds."""
    match node:
        case Name(name):
            return quoted(name), 9
        case Constant(value):
            text = _constant(value)
            return text, 8 if text.startswith("-") else 9
        case Call("not", (one,)):
            return f"NOT {_inside(one, 3)}", 3
        case Call("negate", (one,)):
            inner = _inside(one, 8)  # two signs would begin a comment
            return f"-({inner})" if inner.startswith("-") else f"-{inner}", 8
        case Call("missing", (one,)):
            return f"{_inside(one, 5)} IS NULL", 4
        case Call("in", (one, *others)):
            return f"{_inside(one, 5)} IN ({', '.join(write(each) for each in others)})", 4
        case Call("like" | "ilike" as function, (one, pattern)):
            return f"{_inside(one, 5)} {function.upper()} {_inside(pattern, 5)}", 4
        case Call("case", (*branches, last)):
            pairs = zip(branches[::2], branches[1::2], strict=True)
            text = " ".join(f"WHEN {write(condition)} THEN {write(value)}" for condition, value in pairs)
            other = "" if isinstance(last, Constant) and last.value is None else f" ELSE {write(last)}"
            return f"CASE {text}{other} END", 9
        case Call(function, (left, right)) if function in INFIX:
            sign, level = INFIX[function]
            return f"{_inside(left, level)} {sign} {_inside(right, level + 1)}", level
        case Call(function, (one,)) if function.startswith("as_"):
            kinds = {"integer": "BIGINT", "real": "DOUBLE", "text": "VARCHAR", "boolean": "BOOLEAN", "date": "DATE"}
            kinds |= {"timestamp": "TIMESTAMP"}
            return f"CAST({write(one)} AS {kinds[function[3:]]})", 9
        case Call("concat", (*parts,)) if parts:  # CONCAT reads a missing text as an empty one
            return " || ".join(_inside(part, 6) for part in parts), 5
        case Call("position", (text, part)):  # POSITION has them the other way round
            return f"INSTR({write(text)}, {write(part)})", 9
        case Call("truncate", (unit, day)):
            return f"DATE_TRUNC({write(unit)}, {write(day)})", 9
        case Call("add_months", (day, Constant(int(months)))):
            sign = "-" if months < 0 else "+"
            return f"{_inside(day, 6)} {sign} INTERVAL {abs(months)} MONTH", 6
        case Call("add_seconds", (time, Constant(int(seconds)))):
            return f"{_inside(time, 6)} {'-' if seconds < 0 else '+'} INTERVAL {abs(seconds)} SECOND", 6
        case Call("at_time_zone", (time, Constant() as zone)):
            return f"{_inside(time, 9)} AT TIME ZONE {write(zone)}", 8
        case Call(function, arguments):
            return f"{function.upper()}({', '.join(write(each) for each in arguments)})", 9
    raise TypeError(f"no expression: {type(node).__name__}")


def _inside(node: Expression, level: int) -> str:
    text, own = _written(node)
    return text if own >= level else f"({text})"


def _constant(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, Instant | datetime):
        return f"TIMESTAMP '{value.isoformat()}'"
    if isinstance(value, date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, Fraction):
        value = int(value) if value.denominator == 1 else float(value)
    return repr(value) if isinstance(value, float) else str(value)
