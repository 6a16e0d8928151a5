"""What a question may ask about the order of a column's values: a quantile, or how far two quantiles lie apart.

The smallest and the largest value are one person's, so nobody is told them. What stands for them are quantiles close to
the ends: `minimum` is the value below which 1% of the rows lie (`tail`), `maximum` the one above which 1% do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from discreet.core.exact import Number, as_written
from discreet.core.wire import fraction
from discreet.data.column import Date, Integer, Numeric, Real, Timestamp
from discreet.data.schema import Schema
from discreet.data.text import read_constant
from discreet.errors import InputError, Phrase
from discreet.query.function import Argument, Function, Sampled, register
from discreet.query.grid import DECADES, grid_for
from discreet.query.key import published
from discreet.query.modes import Mode
from discreet.query.sql_hint import only, refuse

__all__ = [
    "BINS",
    "At",
    "Between",
    "Ordered",
    "Quantile",
    "example_of",
    "maximum",
    "median",
    "minimum",
    "ordered_from",
    "ordered_to",
    "quantile",
    "quantile_name",
    "quantiles",
    "read_quantile",
    "spread",
]

BINS = 1024
GUARANTEED = "guaranteed"
METHODS = ("auto", "tree", "flip", "exponential")
TAKES = ("middle", "start", "end")
SORTABLE = (Integer, Real, Date, Timestamp)
_QUANTILES = ("QUANTILE_CONT", "PERCENTILE", "APPROX_PERCENTILE")  # by name, where a dialect does not know them
_FINEST = 10**6  # the denominator of a quantile


def _rank(q: Number) -> Fraction:
    share = as_written(q, "quantile")
    if not 0 < share < 1:
        hint = "The smallest and the largest value are one person's; 0.01 and 0.99 are nobody's."
        raise InputError("quantile", q, "strictly between 0 and 1", hint)
    if share.denominator > _FINEST:
        raise InputError("quantile", q, f"a fraction with a denominator of at most {_FINEST:,}", "Round it.")
    return share


class _ByOrder(Sampled):
    """What all outputs have that are found by the order of values."""

    __slots__ = ()

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Quantile:
        """From its JSON values."""
        return ordered_from(entry)

    @classmethod
    def read_sql(cls, node: Any, scope: Any) -> At | None:
        """What a parsed piece of SQL stands for: by default, SQL has no word for it."""
        return None


@register
@dataclass(frozen=True, slots=True)
class At(_ByOrder):
    """The value at the quantile `q`: the middle of its bin of the grid (or, to be outside of it, its start or end)."""

    functions: ClassVar[tuple[Function, ...]] = (
        Function(name="median", call="median()", words="median of", takes=SORTABLE, sql={"MEDIAN": {}}, place=70),
        Function(
            name="quantile",
            call="quantile()",
            words="quantile of",
            takes=SORTABLE,
            sql={name: {} for name in _QUANTILES},
            argument=Argument("q", "0.9", "a share", required=True, usual="0.5", read=_rank),
            label=lambda output: quantile_name(output.q),
            place=80,
        ),
    )

    column: str
    q: Fraction
    grid: int | str = BINS
    method: str = "auto"
    interval: bool | str = True
    take: str = "middle"

    @property
    def ranks(self) -> tuple[Fraction, ...]:
        """The quantiles it is made from."""
        return (self.q,)

    @property
    def label(self) -> str:
        """What it is called in SQL where it has no other name."""
        return "median" if 2 * self.q == 1 else quantile_name(self.q)

    @classmethod
    def read_sql(cls, node: Any, scope: Any) -> At | None:
        """MEDIAN(x), QUANTILE_CONT(x, q) or PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY x)."""
        found = read_quantile(node, scope)
        return None if found is None else quantile(*found)


@register
@dataclass(frozen=True, slots=True)
class Between(_ByOrder):
    """How far the quantile `high` lies above the quantile `low`."""

    functions: ClassVar[tuple[Function, ...]] = (
        Function(name="spread", call="spread()", words="spread of", takes=SORTABLE, listed=False, place=90),
    )

    column: str
    low: Fraction
    high: Fraction
    grid: int | str = BINS
    method: str = "auto"
    interval: bool | str = True

    @property
    def ranks(self) -> tuple[Fraction, ...]:
        """The quantiles it is made from."""
        return self.low, self.high

    @property
    def label(self) -> str:
        """What it is called where it has no other name."""
        return "spread"


Quantile = At | Between
Ordered = Quantile | Mode
"""What is found by a search among the values of a group."""
Search = tuple[Any, ...]


def search_of(output: Ordered) -> Search:
    """What outputs must share to be found by one search."""
    if isinstance(output, Mode):
        return ("mode", output.column)
    return output.column, output.grid, output.method, output.interval


def sortable(schema: Schema, name: str) -> Numeric | Date | Timestamp:
    """A column whose values have an order that can be measured: numbers, days and times."""
    column = schema.column(name, "quantile")
    if not isinstance(column, SORTABLE):
        known = [key for key, kind in schema.columns.items() if isinstance(kind, SORTABLE)]
        raise InputError("quantile", name, "a numeric column, a date or a timestamp", among=sorted(known))
    return column


def example_of(output: Ordered, schema: Schema) -> Any:
    """A value as it might be published, of the type that it has."""
    if isinstance(output, Mode):
        return published(output.values(schema).labels(schema)[0])
    return "2024-12-31" if isinstance(sortable(schema, output.column), Date | Timestamp) else 1.5


def check_ordered(output: Ordered, schema: Schema) -> None:
    """Refuse what is not allowed, before anything is spent."""
    if isinstance(output, Mode):
        output.values(schema)
        return
    grid_for(sortable(schema, output.column), output.grid)
    if output.method not in METHODS:
        raise InputError("method", output.method, among=METHODS)
    if not isinstance(output.interval, bool) and output.interval != GUARANTEED:
        raise InputError("interval", output.interval, f"True, False or {GUARANTEED!r}")
    if isinstance(output, At) and output.take not in TAKES:
        raise InputError("take", output.take, among=TAKES)
    for q in output.ranks:
        _rank(q)
    if isinstance(output, Between) and output.low >= output.high:
        raise InputError("spread", [float(output.low), float(output.high)], "a pair with the lower quantile first")


def quantile(
    column: str, q: Number, *, grid: int | str = BINS, method: str = "auto", interval: bool | str = True
) -> At:
    """The value that a share `q` of the rows do not exceed: a number, or a day.

    `grid` is the number of bins between the column's declared bounds: finer ones see more, and cost some noise. With
    `interval=False` nothing is paid for an interval, and the value may be closer. Intervals are calibrated: they hold
    about as often as stated, which is measured; with `interval="guaranteed"` at least as often, whatever the data.
    """
    return At(column, _rank(q), grid, method, interval)


def median(column: str, *, grid: int | str = BINS, method: str = "auto", interval: bool | str = True) -> At:
    """The value in the middle."""
    return At(column, Fraction(1, 2), grid, method, interval)


def minimum(column: str, *, tail: Number = Fraction(1, 100), grid: int | str = BINS, method: str = "auto") -> At:
    """The value below which a share `tail` of the rows lie."""
    return At(column, _tail(tail), grid, method)


def maximum(column: str, *, tail: Number = Fraction(1, 100), grid: int | str = BINS, method: str = "auto") -> At:
    """The value above which a share `tail` of the rows lie."""
    return At(column, 1 - _tail(tail), grid, method)


def spread(column: str, *, tail: Number = Fraction(1, 100), grid: int | str = BINS, method: str = "auto") -> Between:
    """How far `maximum` lies above `minimum`; with `tail=0.25`, the interquartile range."""
    return Between(column, _tail(tail), 1 - _tail(tail), grid, method)


def quantiles(
    column: str,
    listed: Iterable[Number] | Number,
    *,
    grid: int | str = BINS,
    method: str = "auto",
    interval: bool | str = True,
) -> dict[str, At]:
    """Several quantiles of one column, each under its name.

    >>> list(quantiles("pay", [0.25, 0.5, 0.999]))
    ['q25', 'q50', 'q99_9']
    """
    several = listed if isinstance(listed, Iterable) and not isinstance(listed, str) else [listed]
    found = [quantile(column, q, grid=grid, method=method, interval=interval) for q in several]
    if not found:
        raise InputError("quantiles", Phrase("none"), "at least one quantile, such as [0.25, 0.5, 0.75]")
    if len({each.q for each in found}) < len(found):
        raise InputError("quantiles", [float(each.q) for each in found], "a list with each quantile once")
    return {quantile_name(each.q): each for each in found}


def bounds_of(column: str, tail: Number, method: str = "auto") -> dict[str, At]:
    """Round numbers that all but a share `tail` of the rows lie within, on each side."""
    share = _tail(tail)
    return {
        "low": At(column, share, DECADES, method, take="start"),
        "high": At(column, 1 - share, DECADES, method, take="end"),
    }


def quantile_name(q: Fraction) -> str:
    """q25, q50, q99_9."""
    percent = f"{float(q * 100):.12g}"
    return "q" + "".join(mark if mark.isalnum() else "_" for mark in percent)


def ordered_to(output: Ordered) -> dict[str, Any]:
    """As plain JSON values."""
    if isinstance(output, Mode):
        return output.to_dict()
    entry: dict[str, Any] = {"of": "quantile" if isinstance(output, At) else "spread", "column": output.column}
    if isinstance(output, At):
        entry |= {"q": str(output.q), "take": output.take}
    else:
        entry |= {"low": str(output.low), "high": str(output.high)}
    return {**entry, "grid": output.grid, "method": output.method, "interval": output.interval}


def ordered_from(entry: Any) -> Quantile:
    """From its JSON values; `q`, `low` and `high` may be numbers."""
    forms = "{'of': 'quantile', 'column': ..., 'q': ...} or {'of': 'spread', 'column': ..., 'low': ..., 'high': ...}"
    of = entry.get("of") if isinstance(entry, Mapping) else None
    own = {"quantile": {"q", "take"}, "spread": {"low", "high"}, "median": {"take"}}.get(of if of else "", set())
    if (
        not own
        or set(entry) - {"of", "column", "grid", "method", "interval", *own}
        or not isinstance(entry.get("column"), str)
    ):
        raise InputError("outputs", entry, forms)
    how = {"grid": entry.get("grid", BINS), "method": entry.get("method", "auto")}
    how["interval"] = entry.get("interval", True)
    if of == "spread":
        return Between(entry["column"], _read(entry, "low"), _read(entry, "high"), **how)
    q = Fraction(1, 2) if of == "median" else _read(entry, "q")
    return At(entry["column"], q, **how, take=entry.get("take", "middle"))


def _read(entry: Mapping[str, Any], field: str) -> Fraction:
    value = entry.get(field)
    if isinstance(value, str):
        return _rank(fraction(value, field))
    if value is None:
        raise InputError("outputs", dict(entry), f"an object with {field!r}, a quantile")
    return _rank(value)


def _tail(tail: Number) -> Fraction:
    share = _rank(tail)
    if share >= Fraction(1, 2):
        raise InputError("tail", tail, "less than a half")
    return share


def read_quantile(node: Any, scope: Any) -> tuple[str, Any] | None:
    """The column and the quantile of MEDIAN(x), QUANTILE_CONT(x, q) or PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY x)."""
    from sqlglot import exp

    if type(node) is exp.Median:
        only(node, "this")
        return scope.column(node.this), "1/2"
    if type(node) in (exp.PercentileCont, exp.PercentileDisc) and node.expression:
        only(node, "this", "expression")
        return scope.column(node.this), _share(node, node.expression, node.this)
    if type(node) in (exp.ApproxQuantile, exp.Quantile):
        only(node, "this", "quantile")
        return scope.column(node.this), _share(node, node.args["quantile"], node.this)
    if type(node) is exp.Anonymous and str(node.this).upper() in _QUANTILES and len(node.expressions) == 2:
        return scope.column(node.expressions[0]), _share(node, node.expressions[1], node.expressions[0])
    if type(node) is exp.Bracket and type(node.this).__name__ == "ApproxQuantiles":
        return _of_several(node, scope)
    if type(node) is exp.WithinGroup and type(node.this) in (exp.PercentileCont, exp.PercentileDisc):
        only(node, "this", "expression")
        only(node.this, "this")
        order = node.expression
        if type(order) is not exp.Order or len(order.expressions) != 1 or type(order.expressions[0]) is not exp.Ordered:
            raise refuse(node, "PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY column)")
        only(order, "expressions")
        only(order.expressions[0], "this", "nulls_first", "desc")
        share = _share(node, node.this.this, order.expressions[0].this)
        down = bool(order.expressions[0].args.get("desc"))
        return scope.column(order.expressions[0].this), 1 - as_written(share, "quantile") if down else share
    return None


def _share(node: Any, q: Any, column: Any) -> Any:
    from sqlglot import exp

    if type(q) in (exp.Array, exp.Tuple):
        of = column.sql("duckdb")
        each = ", ".join(f"QUANTILE_CONT({of}, {one.sql('duckdb')})" for one in q.expressions[:3])
        raise refuse(q, "one quantile; each is a column of its own", f"Write {each}.")
    share = read_constant(q, "sql")
    if isinstance(share, (str, bool)):
        raise refuse(node, "a quantile given as a number strictly between 0 and 1")
    return share


def _of_several(node: Any, scope: Any) -> tuple[str, Any]:
    """APPROX_QUANTILES(x, n)[OFFSET(k)]: the quantile k/n."""
    only(node, "this", "expressions", "offset", "safe")
    only(node.this, "this", "expression")
    parts, places = read_constant(node.this.expression, "sql"), [read_constant(e, "sql") for e in node.expressions]
    place = places[0] - int(node.args.get("offset") or 0) if len(places) == 1 and type(places[0]) is int else 0
    if type(parts) is not int or not 0 < place < parts:
        raise refuse(node, "APPROX_QUANTILES(x, n)[OFFSET(k)] with k from 1 to n - 1")
    return scope.column(node.this.this), Fraction(place, parts)
