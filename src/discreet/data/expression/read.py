"""Text as an expression, through an allow-list: every piece that is not understood is refused, with its place.

The text is parsed as SQL, in the dialect of DuckDB or another one; it never reaches an engine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from discreet.data.expression.function import FUNCTIONS
from discreet.data.expression.node import INFIX, Call, Constant, Expression, Name
from discreet.data.expression.read_dialect import COMPARISONS, DialectReader
from discreet.data.expression.rounding import MOST_POWER
from discreet.data.text import read_constant, read_statement
from discreet.errors import InputError, nearest

__all__ = ["Reader", "read_expression"]

_BINARY = {
    "Add": "add",
    "Sub": "subtract",
    "Mul": "multiply",
    "IntDiv": "quotient",
    "Mod": "remainder",
    "EQ": "eq",
    "NEQ": "ne",
    "LT": "lt",
    "LTE": "le",
    "GT": "gt",
    "GTE": "ge",
    "DPipe": "concat",
    "Pow": "power",
    "Like": "like",
    "ILike": "ilike",
    "StartsWith": "starts_with",
    "EndsWith": "ends_with",
    "Contains": "contains",
    "SafeDivide": "divide",
}
_UNARY = {
    "Neg": "negate",
    "Abs": "abs",
    "Sign": "sign",
    "Sqrt": "sqrt",
    "Trunc": "trunc",
    "Ln": "ln",
    "Exp": "exp",
    "Upper": "upper",
    "Lower": "lower",
    "Reverse": "reverse",
    "Year": "year",
    "Month": "month",
    "Day": "day",
    "DayOfMonth": "day",
    "DayOfYear": "dayofyear",
    "DayOfWeekIso": "isodow",
    "Quarter": "quarter",
    "Hour": "hour",
    "Minute": "minute",
    "Second": "second",
    "TimeToUnix": "epoch",
}
_NAMED = {
    "clip": "clip",
    "trunc": "trunc",
    "log10": "log10",
    "log2": "log2",
    "isodow": "isodow",
    "starts_with": "starts_with",
    "prefix": "starts_with",
    "suffix": "ends_with",
    "ends_with": "ends_with",
    "contains": "contains",
    "position": "position",
    "add_months": "add_months",
    "truncate": "truncate",
    "ltrim": "ltrim",
    "rtrim": "rtrim",
    "add_seconds": "add_seconds",
    "at_timezone": "at_time_zone",
    "at_time_zone": "at_time_zone",
    "calendar_day": "calendar_day",
    "days_between": "days_between",
    "time_of_day": "time_of_day",
}
"""Functions that the parser has no word for, and those that expressions are written with."""
FORMS = (
    "columns, constants, + - * / // %, comparisons, AND, OR, NOT, IN, BETWEEN, IS NULL, LIKE, CASE, CAST, COALESCE, "
    "LEAST, GREATEST, ABS, ROUND, FLOOR, functions of text, dates and timestamps"
)


def read_expression(text: str, field: str = "expression", dialect: str = "duckdb") -> Expression:
    """The expression a text stands for, still to be resolved against a schema.

    >>> read_expression("cost*hours + 1")
    cost * hours + 1
    """
    from sqlglot import exp

    tree = read_statement(f"SELECT {text}", field, text, dialect)
    if type(tree) is not exp.Select or {name for name, value in tree.args.items() if value} != {"expressions"}:
        raise InputError(field, text, f"one expression, made of {FORMS}")
    if len(tree.expressions) != 1:
        raise InputError(field, text, f"one expression, made of {FORMS}")
    try:
        return Reader(field, dialect).read(tree.expressions[0])
    except RecursionError:
        raise InputError(field, text, "a shorter expression") from None


class Reader(DialectReader):
    """Reads parsed pieces of a statement as expressions. `name` says what a column stands for."""

    def __init__(
        self, field: str = "expression", dialect: str = "duckdb", name: Callable[[Any], Expression] | None = None
    ) -> None:
        self.field = field
        self.dialect = dialect
        self.name = name or self._column

    def _column(self, node: Any) -> Expression:
        from sqlglot import exp

        if isinstance(node.this, exp.Identifier) and not node.table:
            return Name(str(node.name))
        raise self.refuse(node, "a plain column name")

    def refuse(self, node: Any, allowed: str = "", hint: str = "") -> InputError:
        """The error that points at a piece."""
        from discreet.data.text import place

        written = node.sql(self.dialect) if hasattr(node, "sql") else str(node)
        return InputError(self.field, written, allowed or f"made of {FORMS}", hint, at=place(node))

    def only(self, node: Any, *allowed: str) -> None:
        """Every argument that is set must be one that is read."""
        for name, value in node.args.items():
            if value and name.rstrip("_") not in (*allowed, "_type", "type"):
                raise self.refuse(node)

    def read(self, node: Any) -> Expression:
        """The expression a parsed piece stands for."""
        from sqlglot import exp

        kind = type(node).__name__
        if (made := self.by_dialect(node)) is not None:
            return made
        if kind in _BINARY:
            return self._binary(node, _BINARY[kind])
        if kind in _UNARY:
            self.only(node, "this", "fractions_supported")
            return Call(_UNARY[kind], (self._inner(node.this),)) if kind != "Neg" else self._negated(node)
        match node:
            case exp.Paren():
                self.only(node, "this")
                return self.read(node.this)
            case exp.Literal() | exp.Boolean():
                return Constant(read_constant(node, self.field))
            case exp.Null():
                return Constant(None)
            case exp.Column():
                return self.name(node)
            case exp.And() | exp.Or():
                self.only(node, "this", "expression")
                return Call(kind.lower(), tuple(self.read(part) for part in (node.left, node.right)))
            case exp.Not():
                self.only(node, "this")
                return Call("not", (self.read(node.this),))
            case exp.Div():
                self.only(node, "this", "expression", "typed", "safe")
                whole = "quotient" if node.args.get("typed") else "divide"
                return Call(whole, (self.read(node.left), self.read(node.right)))
            case exp.Cast() | exp.TryCast():
                return self._cast(node)
            case exp.Case() | exp.If():
                return self._case(node)
            case exp.Is():
                return self._is(node)
            case exp.In():
                return self._in(node)
            case exp.Between():
                self.only(node, "this", "low", "high")
                if (times := self.clocks(node.this, node.args["low"], node.args["high"])) is not None:
                    return Call("and", (Call("ge", (times[0], times[1])), Call("le", (times[0], times[2]))))
                value = self.read(node.this)
                low, high = self.read(node.args["low"]), self.read(node.args["high"])
                return Call("and", (self.compared("ge", value, low, node), self.compared("le", value, high, node)))
            case exp.Coalesce():
                self.only(node, "this", "expressions", "is_null", "is_nvl")
                return Call("coalesce", tuple(self.read(part) for part in (node.this, *node.expressions)))
            case exp.Concat():
                self.only(node, "expressions", "safe", "coalesce")
                parts = [self.read(part) for part in node.expressions]
                if node.args.get("coalesce"):
                    parts = [
                        part if isinstance(part, Constant) else Call("coalesce", (part, Constant(""))) for part in parts
                    ]
                return Call("concat", tuple(parts))
            case exp.Floor() | exp.Ceil():
                self.only(node, "this")
                return Call(kind.lower(), (self.read(node.this),))
            case exp.Log():
                return self._log(node)
            case exp.Trim():
                self.only(node, "this", "position")
                side = str(node.args.get("position") or "").upper()
                return Call({"LEADING": "ltrim", "TRAILING": "rtrim"}.get(side, "trim"), (self.read(node.this),))
            case exp.NullSafeEQ() | exp.NullSafeNEQ():
                return self._same(node)
            case exp.Anonymous():
                return self._named(node)
        return self._calendar(node)

    def _inner(self, node: Any) -> Expression:
        """The argument of a function of dates or text, without the cast that some dialects put around it."""
        from sqlglot import exp

        if isinstance(node, exp.TsOrDsToDate | exp.TimeStrToTime | exp.TsOrDsToTimestamp):
            return self.read(node.this)
        if isinstance(node, exp.Cast) and self.dialect == "tsql" and node.to.is_type("text"):
            return self.read(node.this)
        return self.read(node)

    def _binary(self, node: Any, function: str) -> Expression:
        from sqlglot import exp

        self.only(node, "this", "expression", "safe", "typed", "flag", *(("negate",) if "like" in function else ()))
        if "like" in function:
            made = self.like(function, self.read(node.this), self.read(node.expression), node)
            return Call("not", (made,)) if node.args.get("negate") else made
        left, right = node.this, node.expression
        if function in ("add", "subtract") and isinstance(right, exp.Interval):
            return self._later(self._inner(left), right, 1 if function == "add" else -1)
        if function in COMPARISONS and (type(left) is exp.Null or type(right) is exp.Null):
            raise self.refuse(node, "a comparison with a value", "Write IS NULL.")
        if function in COMPARISONS and (times := self.clocks(left, right)) is not None:
            return Call(function, tuple(times))
        if function in COMPARISONS:
            return self.compared(function, self._day(left), self._day(right), node)
        if function in ("add", "subtract"):
            return self.added(function, self._day(left), self._day(right), node)
        made = Call(function, (self._day(left), self._day(right)))
        if function == "power":
            allowed = f"a power from 0 to 8, or to {MOST_POWER} of published numbers"
            self.need_whole(node, made.arguments[1], range(MOST_POWER + 1), f"{allowed}: a whole number")
        return made

    def _negated(self, node: Any) -> Expression:
        inner = self.read(node.this)
        number = isinstance(inner, Constant) and not isinstance(inner.value, bool | str) and inner.value is not None
        return Constant(-inner.value) if number and isinstance(inner, Constant) else Call("negate", (inner,))

    def _cast(self, node: Any) -> Expression:
        from sqlglot import exp

        self.only(node, "this", "to", "safe", "action")
        to = node.to
        if to.is_type("time"):
            hint = "Such as CAST(x AS TIME) >= TIME '18:30', or HOUR(x) >= 18."
            raise self.refuse(node, "a time of day that is compared with another", hint)
        if to.is_type("date") and isinstance(node.this, exp.Literal) and node.this.is_string:
            return Call("as_date", (Constant(str(node.this.this)),))
        name = to.this.name if hasattr(to.this, "name") else str(to.this)
        kinds = {
            "as_integer": (
                "TINYINT",
                "SMALLINT",
                "INT",
                "BIGINT",
                "INT128",
                "UINT",
                "UBIGINT",
                "USMALLINT",
                "UTINYINT",
            ),
            "as_real": ("FLOAT", "DOUBLE", "DECIMAL", "BIGDECIMAL", "MONEY"),
            "as_text": ("TEXT", "VARCHAR", "CHAR", "NVARCHAR", "NCHAR", "NAME"),
            "as_boolean": ("BOOLEAN", "BIT"),
            "as_date": ("DATE", "DATE32"),
            "as_timestamp": ("TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMPNTZ", "TIMESTAMPLTZ", "DATETIME", "DATETIME2"),
        }
        for function, names in kinds.items():
            if name in names:
                inner = self.read(node.this)
                match function:
                    case "as_integer":
                        return self.as_integer(inner, node)
                    case "as_real":
                        return self.as_real(inner, name, [str(part.this.this) for part in to.expressions], node)
                    case "as_text":
                        return self.as_text(inner)
                return Call(function, (inner,))
        raise self.refuse(node, "a cast to BIGINT, DOUBLE, VARCHAR, BOOLEAN, DATE or TIMESTAMP")

    def _case(self, node: Any) -> Expression:
        from sqlglot import exp

        if isinstance(node, exp.If):
            self.only(node, "this", "true", "false")
            other = node.args.get("false")
            parts = (self.read(node.this), self.read(node.args["true"]))
            return Call("case", (*parts, Constant(None) if other is None else self.read(other)))
        self.only(node, "this", "ifs", "default")
        subject = None if node.this is None else self.read(node.this)
        branches: list[Expression] = []
        for branch in node.args["ifs"]:
            condition = self.read(branch.this)
            branches += [
                condition if subject is None else self.compared("eq", subject, condition, branch),
                self.read(branch.args["true"]),
            ]
        default = node.args.get("default")
        return Call("case", (*branches, Constant(None) if default is None else self.read(default)))

    def _is(self, node: Any) -> Expression:
        from sqlglot import exp

        self.only(node, "this", "expression")
        value = self.read(node.this)
        match node.expression:
            case exp.Null():
                return Call("missing", (value,))
            case exp.Boolean():
                return Call("coalesce", (Call("eq", (value, Constant(bool(node.expression.this)))), Constant(False)))
        raise self.refuse(node, "IS NULL, IS TRUE or IS FALSE")

    def _same(self, node: Any) -> Expression:
        from sqlglot import exp

        a, b = self.read(node.this), self.read(node.expression)
        same = Call(
            "or",
            (
                Call("coalesce", (self.compared("eq", a, b, node), Constant(False))),
                Call("and", (Call("missing", (a,)), Call("missing", (b,)))),
            ),
        )
        return same if isinstance(node, exp.NullSafeEQ) else Call("not", (same,))

    def _in(self, node: Any) -> Expression:
        self.only(node, "this", "expressions")
        return self.among(self.read(node.this), [self.read(part) for part in node.expressions], node)

    def _log(self, node: Any) -> Expression:
        self.only(node, "this", "expression")
        if node.expression is None:
            natural = self.dialect in ("bigquery", "mysql", "tsql", "spark", "databricks")
            return Call("ln" if natural else "log10", (self.read(node.this),))
        base = self.read(node.this)
        if isinstance(base, Constant) and base.value in (2, 10):
            return Call(f"log{base.value}", (self.read(node.expression),))
        raise self.refuse(node, "a logarithm to base 2, 10 or e")

    def _named(self, node: Any) -> Expression:
        self.only(node, "this", "expressions")
        name = str(node.this).lower()
        if name in ("datepart", "date_part") and len(node.expressions) == 2:
            return self._part(str(node.expressions[0].name), node.expressions[1], node)
        if name == "isoyear" and len(node.expressions) == 1:
            return self._part("isoyear", node.expressions[0], node)
        if name == "yearweek" and node.expressions:
            return self.yearweek(node)
        if name in ("weekday", "dayofweek") and len(node.expressions) == 1:
            return self.weekday(name, node.expressions[0], node)
        if name in ("dayname", "monthname") and len(node.expressions) == 1:
            from sqlglot import exp

            kind = getattr(exp, name.capitalize(), None)  # older parsers have none
            if kind is None:
                return Call(name, (self._inner(node.expressions[0]),))
            return self.read(kind(this=node.expressions[0]))
        if name in _NAMED:
            return Call(_NAMED[name], tuple(self.read(part) for part in node.expressions))
        raise self.unknown(node)

    def unknown(self, node: Any) -> InputError:
        """What is said of a function that is not known."""
        known = sorted({*FUNCTIONS.names(), *_NAMED} - set(INFIX))
        close = nearest(str(node.this).lower(), known)
        return self.refuse(node, hint=f"Did you mean `{close.upper()}`?" if close else "")
