"""Words of SQL that dialects mean differently: read as what they mean in the dialect that is named, or refused."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from discreet.data.expression.domain import Domain
from discreet.data.expression.node import Call, Constant, Expression
from discreet.data.expression.read_date import DateReader
from discreet.data.expression.rounding import MOST_DIGITS
from discreet.data.expression.words import pattern

__all__ = ["COMPARISONS", "CONDITIONS", "DialectReader"]

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
CONDITIONS = (*COMPARISONS, "and", "or", "not", "in", "missing", "like", "ilike")
CONDITIONS += ("starts_with", "ends_with", "contains", "as_boolean")  # type: ignore[assignment]
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?", re.ASCII)

_NULL_WINS = ("bigquery", "mysql", "snowflake", "trino", "sqlite")
"""GREATEST and LEAST are missing as soon as one value is."""
_CUT_OFF = ("spark", "tsql", "sqlite")
"""A fraction that is cast to a whole number is cut off; elsewhere it is rounded."""
_HALF_AWAY = ("bigquery", "snowflake", "trino")
"""It is rounded, halves away from zero; elsewhere to the even number."""
_WHOLE_DECIMAL = ("spark", "tsql", "mysql", "trino")
"""DECIMAL without digits has none after the point."""
_ANY_CASE = ("mysql", "tsql")
"""Text is compared without regard to case, unless a collation says otherwise."""
_ANY_CASE_LIKE = (*_ANY_CASE, "sqlite")
_MOST_PARTS = 10_000
_SHORT_NAMES = ("spark", "snowflake")
"""DAYNAME is Mon, MONTHNAME is Jan."""
_CASE_HINT = "Declare its values as a category. STARTS_WITH, ENDS_WITH and CONTAINS regard case in every dialect."


class DialectReader(DateReader):
    """What a reader of expressions knows of the differences between dialects."""

    def domain_of(self, value: Expression) -> Domain | None:
        """What an expression can be, where that is known while it is read."""
        if isinstance(value, Constant) and isinstance(value.value, str):
            return Domain("text", values=(value.value,))
        return None

    def by_dialect(self, node: Any) -> Expression | None:
        """A piece that dialects mean differently, as this one means it; None if it is no such piece."""
        from sqlglot import exp

        match node:
            case exp.Least() | exp.Greatest():
                self.only(node, "this", "expressions", "ignore_nulls")
                return self._extreme(node)
            case exp.ConcatWs():
                self.only(node, "expressions", "safe", "coalesce", "flatten")
                return self._joined(node)
            case exp.Round():
                self.only(node, "this", "decimals", "casts_non_integer_decimals")
                digits = node.args.get("decimals")
                number = Constant(0) if digits is None else self.read(digits)
                self.need_whole(node, number, range(-MOST_DIGITS, MOST_DIGITS + 1), f"digits up to {MOST_DIGITS}")
                if self.dialect == "sqlite" and isinstance(number, Constant) and number.value < 0:
                    number = Constant(0)  # there, digits before the point are not rounded
                return Call("round", (self.read(node.this), number))
            case _ if type(node).__name__ in ("Dayname", "Monthname"):
                self.only(node, "this", "abbreviated")
                name = Call(type(node).__name__.lower(), (self._inner(node.this),))
                short = self.dialect in _SHORT_NAMES or node.args.get("abbreviated")
                return Call("left", (name, Constant(3))) if short else name
            case exp.Length():
                self.only(node, "this", "binary", "encoding")
                return self._length(node)
            case exp.Substring():
                self.only(node, "this", "start", "length", "zero_start")
                return self._substring(node)
            case exp.Left() | exp.Right():
                self.only(node, "this", "expression", "negative_length_returns_empty")
                return self._end(node)
            case exp.StrPosition():
                self.only(node, "this", "substr", "clamp_position")
                text, part = self.read(node.this), self.read(node.args["substr"])
                if self.dialect in _ANY_CASE and isinstance(part, Constant):
                    text, part = Call("upper", (text,)), Constant(_text(part).upper())
                return Call("position", (text, part))
            case _ if type(node).__name__ == "Replace":
                self.only(node, "this", "expression", "replacement")
                pieces = (node.this, node.expression, node.args.get("replacement"))
                made = Call("replace", tuple(self.read(part) for part in pieces if part is not None))
                if self.dialect == "tsql" and any(mark.isalpha() for mark in _text(made.arguments[1])):
                    hint = "There, it disregards case. Write CASE x WHEN 'old' THEN 'new' END."
                    raise self.refuse(node, "REPLACE of text without letters in tsql", hint)
                return made
            case _ if type(node).__name__ == "WidthBucket":
                self.only(node, "this", "min_value", "max_value", "num_buckets")
                return self._bucket(node)
            case exp.Nullif():
                self.only(node, "this", "expression")
                value, other = self._day(node.this), self._day(node.expression)
                same = self.compared("eq", value, other, node)
                if str(same) == str(Call("eq", (value, other))):
                    return Call("nullif", (value, other))
                return Call("case", (same, Constant(None), value))
        return None

    def need_whole(self, node: Any, number: Expression, among: range, allowed: str) -> None:
        """Refuse a constant that is not one of these whole numbers: of digits, or of a power."""
        if isinstance(number, Constant) and not (isinstance(number.value, int) and number.value in among):
            raise self.refuse(node, allowed)

    def _bucket(self, node: Any) -> Expression:
        """WIDTH_BUCKET(x, low, high, n): which of n equal parts; 0 below them and n + 1 above."""
        ends = [self.read(node.args[name]) for name in ("min_value", "max_value", "num_buckets")]
        constants: list[Any] = [each.value if isinstance(each, Constant) else None for each in ends]
        low, high, many = constants
        numbers = all(isinstance(end, int | float | Decimal) and not isinstance(end, bool) for end in (low, high))
        if not numbers or low >= high or type(many) is not int or not 1 <= many <= _MOST_PARTS:
            raise self.refuse(node, f"WIDTH_BUCKET(x, low, high, n) of constants: low < high, n up to {_MOST_PARTS:,}")
        value = self.read(node.this)
        share = Call("divide", (Call("multiply", (Call("subtract", (value, ends[0])), ends[2])), Constant(high - low)))
        inside = Call("clip", (Call("add", (Call("floor", (share,)), Constant(1))), Constant(1), ends[2]))
        below, above = Call("lt", (value, ends[0])), Call("ge", (value, ends[1]))
        return Call("case", (below, Constant(0), above, Constant(many + 1), inside))

    # Missing values.

    def _extreme(self, node: Any) -> Expression:
        """GREATEST and LEAST: of the values that are there, or missing as soon as one is."""
        parts = tuple(self.read(part) for part in (node.this, *node.expressions))
        made = Call(type(node).__name__.lower(), parts)
        if self.dialect not in _NULL_WINS or (self.dialect == "snowflake" and node.args.get("ignore_nulls")):
            return made
        unsure = [Call("missing", (part,)) for part in parts if self._may_miss(part)]
        if not unsure:
            return made
        missing = unsure[0] if len(unsure) == 1 else Call("or", tuple(unsure))
        return Call("case", (missing, Constant(None), made))

    def _may_miss(self, value: Expression) -> bool:
        if isinstance(value, Constant):
            return value.value is None
        domain = self.domain_of(value)
        return domain is None or domain.missing

    def _joined(self, node: Any) -> Expression:
        """CONCAT_WS(separator, texts): those that are there, with the separator between them."""
        between, *parts = (self.read(part) for part in node.expressions)
        if not isinstance(between, Constant) or not isinstance(between.value, str) or not parts:
            raise self.refuse(node, "CONCAT_WS of a constant and texts")
        pieces: list[Expression] = []
        for part in parts:
            piece = Call("concat", (between, part))
            skips = self.dialect != "snowflake" and self._may_miss(part)
            pieces.append(Call("coalesce", (piece, Constant(""))) if skips else piece)
        whole = pieces[0] if len(pieces) == 1 else Call("concat", tuple(pieces))
        return Call("substring", (whole, Constant(len(between.value) + 1))) if between.value else whole

    # Casts.

    def as_integer(self, value: Expression, node: Any) -> Expression:
        """A value as a whole number: rounded or cut off."""
        if self.dialect not in (*_CUT_OFF, *_HALF_AWAY, "mysql"):
            return Call("as_integer", (value,))
        domain = self.domain_of(value)
        condition = isinstance(value, Call) and value.function in CONDITIONS
        kind = domain.kind if domain else "boolean" if condition else ""
        if kind == "text":
            self._need_numbers(value, node)
            real = Call("as_real", (value,))
            return Call("trunc", (real,)) if self.dialect in _CUT_OFF else Call("as_integer", (value,))
        if kind in ("", "real") and self.dialect in _CUT_OFF:
            return Call("trunc", (value,))
        if kind in ("", "real") and self.dialect in _HALF_AWAY:
            return Call("round", (value, Constant(0)))
        return Call("as_integer", (value,))

    def as_real(self, value: Expression, name: str, sizes: Sequence[str], node: Any) -> Expression:
        """A value as a number, rounded to the digits of DECIMAL."""
        self._need_numbers(value, node)
        made = Call("as_real", (value,))
        if name != "DECIMAL" or self.dialect == "sqlite":
            return made
        if len(sizes) == 2 and sizes[1].isdigit():
            return Call("round", (made, Constant(int(sizes[1]))))
        if len(sizes) == 1 or self.dialect in _WHOLE_DECIMAL:
            return Call("round", (made, Constant(0)))
        return made

    def as_text(self, value: Expression) -> Expression:
        """A value as text: some dialects write truth values as 1 and 0."""
        if self.dialect in _ANY_CASE_LIKE and self._are("boolean", value):  # the same dialects
            value = Call("as_integer", (value,))
        return Call("as_text", (value,))

    def _need_numbers(self, value: Expression, node: Any) -> None:
        """Text that is no number is missing here; to some it is 0, or the digits it begins with."""
        domain = self.domain_of(value) if self.dialect in ("mysql", "sqlite") else None
        values = () if domain is None or domain.kind != "text" else domain.values or ()
        if not all(_NUMBER.fullmatch(str(value)) for value in values):
            hint = "Write CASE x WHEN '1' THEN 1 END."
            raise self.refuse(node, f"a cast of text that holds numbers alone: {self.dialect} makes 0 of other", hint)

    # Text.

    def _folded(self, text: str) -> str:
        """What is the same of texts that are equal."""
        if self.dialect == "mysql":
            parts = unicodedata.normalize("NFKD", text)
            return "".join(mark for mark in parts if not unicodedata.combining(mark)).casefold()
        return text.rstrip(" ").casefold()

    def compared(self, function: str, left: Expression, right: Expression, node: Any) -> Expression:
        """A comparison of two values; of text, as the dialect compares text."""
        plain = Call(function, (left, right))
        if self.dialect not in _ANY_CASE:
            return plain
        first, second = self.domain_of(left), self.domain_of(right)
        if first is None or second is None or (first.kind, second.kind) != ("text", "text"):
            return plain
        if isinstance(left, Constant) and function in ("eq", "ne"):
            left, right, first, second = right, left, second, first
        if isinstance(right, Constant) and function in ("eq", "ne"):
            alike = self._alike(first, str(right.value), node)
            if set(alike) <= {right.value}:
                return plain
            among = Call("in", (left, *map(Constant, alike)))
            return among if function == "eq" else Call("not", (among,))
        values = sorted({*(first.values or ()), *(second.values or ())})
        folded = [self._folded(value) for value in values]
        known = first.values is not None and second.values is not None
        if known and len(set(folded)) == len(folded) and (function in ("eq", "ne") or folded == sorted(folded)):
            return plain
        hint = "Compare it with listed values: x IN ('a', 'b')."
        raise self.refuse(node, f"a comparison with a constant: {self.dialect} compares text in any case", hint)

    def _alike(self, domain: Domain, text: str, node: Any) -> list[str]:
        """The declared values that equal a text."""
        if domain.values is not None:
            return [value for value in domain.values if self._folded(value) == self._folded(text)]
        if self.dialect == "mysql" and text.isascii() and not any(mark.isalpha() for mark in text):
            return []
        raise self.refuse(node, f"of declared values: {self.dialect} compares text in any case", _CASE_HINT)

    def among(self, value: Expression, others: Sequence[Expression], node: Any) -> Expression:
        """Whether a value is one of a list."""
        listed = list(others)
        domain = self.domain_of(value) if self.dialect in _ANY_CASE else None
        if domain is not None and domain.kind == "text":
            texts = [str(other.value) for other in others if isinstance(other, Constant)]
            alike = dict.fromkeys(each for text in texts for each in self._alike(domain, text, node))
            listed += [Constant(each) for each in alike if each not in texts]
        return Call("in", (value, *listed))

    def like(self, function: str, text: Expression, like: Expression, node: Any) -> Expression:
        """LIKE, with or without regard to case."""
        marks = _text(like)
        if self.dialect == "tsql" and "[" in marks:
            raise self.refuse(node, "a pattern without brackets", "Write text LIKE 'a%' OR text LIKE 'b%'.")
        if function != "like" or self.dialect not in _ANY_CASE_LIKE:
            return Call(function, (text, like))
        domain = self.domain_of(text)
        if domain is not None and domain.kind == "text":
            if domain.values is None:
                raise self.refuse(node, f"of declared values: LIKE disregards case in {self.dialect}", _CASE_HINT)
            usual = pattern(marks, any_case=True)
            if any((usual.fullmatch(value) is None) == self._matches(marks, value) for value in domain.values):
                raise self.refuse(node, "LIKE of plain letters", "List the values: x IN ('a', 'b').")
        return Call("ilike", (text, like))

    def _matches(self, marks: str, value: str) -> bool:
        if self.dialect == "sqlite":  # there, only A to Z have another case
            ascii_only = re.compile(pattern(marks).pattern, re.DOTALL | re.IGNORECASE | re.ASCII)
            return ascii_only.fullmatch(value) is not None
        if self.dialect == "tsql":
            return pattern(marks.casefold()).fullmatch(value.casefold()) is not None
        return pattern(self._folded(marks)).fullmatch(self._folded(value)) is not None

    def _length(self, node: Any) -> Expression:
        """Characters of a text; in some dialects bytes, or without blanks at the end."""
        text = self._inner(node.this)
        if self.dialect == "tsql":
            return Call("length", (Call("rtrim", (text,)),))
        if self.dialect == "mysql" and node.args.get("binary"):
            domain = self.domain_of(text)
            if domain is None or domain.values is None or not all(str(value).isascii() for value in domain.values):
                raise self.refuse(node, f"a length in characters: {self.dialect} counts bytes", "Write CHAR_LENGTH(x).")
        return Call("length", (text,))

    def _substring(self, node: Any) -> Expression:
        """A part of a text; dialects differ in what lies before its first character."""
        if node.args.get("start") is None:
            raise self.refuse(node, "SUBSTRING(text, start, length)")
        text, start = self.read(node.this), self.read(node.args["start"])
        length = () if node.args.get("length") is None else (self.read(node.args["length"]),)
        first = start.value if isinstance(start, Constant) and isinstance(start.value, int) else 1
        made = Call("substring", (text, start, *length))
        if first >= 1 or self.dialect == "duckdb":
            return made
        if first == 0 and self.dialect in ("spark", "bigquery", "snowflake"):
            return Call("substring", (text, Constant(1), *length))
        if first == 0 and self.dialect in ("postgres", "tsql", "sqlite"):
            return made
        if first < 0 and (self.dialect == "bigquery" or (self.dialect in ("spark", "sqlite") and not length)):
            return made
        if first < 0 and self.dialect in ("mysql", "trino"):
            short = Call("lt", (Call("length", (text,)), Constant(-first)))
            return Call("case", (short, Constant(""), made))
        raise self.refuse(node, "a start of 1 or more", f"Write RIGHT(x, {-first})." if first < 0 else "")

    def _end(self, node: Any) -> Expression:
        """LEFT and RIGHT; a negative count means something in few dialects."""
        count = self.read(node.expression)
        negative = isinstance(count, Constant) and isinstance(count.value, int) and count.value < 0
        if negative and self.dialect not in ("duckdb", "postgres"):
            raise self.refuse(node, "a count of 0 or more")
        return Call(type(node).__name__.lower(), (self._inner(node.this), count))

    # Sums.

    def added(self, function: str, left: Expression, right: Expression, node: Any) -> Expression:
        """A sum or difference; of text and of days, as the dialect has it."""
        if self.dialect not in ("tsql", "mysql", "sqlite"):
            return Call(function, (left, right))
        kinds = {domain.kind for part in (left, right) if (domain := self.domain_of(part)) is not None}
        if self.dialect == "tsql" and function == "add" and "text" in kinds and kinds <= {"text"}:
            return Call("concat", (left, right))
        if self.dialect in ("mysql", "sqlite") and kinds & {"date", "timestamp"}:
            hint = "Write DATE_ADD(day, INTERVAL 1 DAY), or DATEDIFF(later, earlier)."
            raise self.refuse(node, f"made of numbers: {self.dialect} makes numbers of dates before it adds", hint)
        return Call(function, (left, right))


def _text(value: Expression) -> str:
    return str(value.value) if isinstance(value, Constant) else ""
