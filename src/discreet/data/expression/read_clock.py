"""Days and times as text, and times of day that are compared, as each dialect writes them."""

from __future__ import annotations

import functools
import itertools
import re
from typing import Any

from discreet.data.expression.calendar import CODES
from discreet.data.expression.node import Call, Constant, Expression
from discreet.errors import InputError

__all__ = ["ClockReader"]

_CLOCK = {"%H": "hour", "%-H": "hour", "%M": "minute", "%S": "second"}
_PERCENT = ("duckdb", "bigquery", "sqlite", "mysql", "trino")
"""Dialects whose formats have codes after a %, so that other letters are themselves."""
_ISO_CODES = ("duckdb", "bigquery", "postgres")
"""Dialects in which %G and %V, or IYYY and IW, are the year and the week of ISO 8601."""
_UPPER = (("YYYY", "%Y"), ("MM", "%m"), ("DD", "%d"), ("HH24", "%H"), ("MI", "%M"), ("SS", "%S"))
_SUCH = {
    "duckdb": "STRFTIME(day, '%Y-%m')",
    "postgres": "TO_CHAR(day, 'YYYY-MM')",
    "snowflake": "TO_CHAR(day, 'YYYY-MM')",
    "bigquery": "FORMAT_DATE('%Y-%m', day)",
    "spark": "DATE_FORMAT(day, 'yyyy-MM')",
    "mysql": "DATE_FORMAT(day, '%Y-%m')",
    "trino": "DATE_FORMAT(day, '%Y-%m')",
    "tsql": "FORMAT(day, 'yyyy-MM')",
    "sqlite": "STRFTIME('%Y-%m', day)",
}
_TIME = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2})(?:\.0+)?)?", re.ASCII)


class ClockReader:
    """What a reader of expressions knows of times of day, and of text made of days."""

    dialect: str

    def read(self, node: Any) -> Expression:
        """The expression a parsed piece stands for."""
        raise NotImplementedError

    def refuse(self, node: Any, allowed: str = "", hint: str = "") -> InputError:
        """The error that points at a piece."""
        raise NotImplementedError

    def only(self, node: Any, *allowed: str) -> None:
        """Every argument that is set must be one that is read."""
        raise NotImplementedError

    def _inner(self, node: Any) -> Expression:
        raise NotImplementedError

    def _written(self, node: Any) -> Expression:
        """STRFTIME, TO_CHAR, DATE_FORMAT and FORMAT_DATE: a day, then perhaps a time, by the codes of strftime."""
        self.only(node, "this", "format")
        form = str(node.args["format"].this) if getattr(node.args.get("format"), "is_string", False) else ""
        if type(node).__name__ == "ToChar":  # of which the parser leaves the format as it is
            form = functools.reduce(lambda text, pair: text.replace(*pair), _UPPER, form)
        if self.dialect == "spark":  # the parser says there that two digits are meant
            form = re.sub("(%-?[A-Za-z])strict", r"\1", form)
        pieces = re.findall(r"%-?.|[^%]+|%", form)
        codes = [piece for piece in pieces if piece.startswith("%")]
        letters = any(mark.isalpha() for piece in pieces if not piece.startswith("%") for mark in piece)
        known = {*CODES, *_CLOCK} - (set() if self.dialect in _ISO_CODES else {"%G", "%V"})
        known -= set() if self.dialect == "duckdb" else {"%u", "%w", "%%"}
        if not codes or not known.issuperset(codes) or (letters and self.dialect not in _PERCENT):
            shown = (
                " ".join(sorted(known)) if self.dialect in _PERCENT else "a year, month, day, hour, minute and second"
            )
            hint = f"Such as {_SUCH.get(self.dialect, _SUCH['duckdb'])}, or DATE_TRUNC."
            raise self.refuse(node, f"a format of {shown}", hint)
        value = self._inner(node.this)
        if codes in (["%A"], ["%B"]) and len(pieces) == 1:
            return Call("dayname" if codes == ["%A"] else "monthname", (value,))
        parts: list[Expression] = []
        for timed, group in itertools.groupby(pieces, key=lambda piece: piece in _CLOCK):
            for text in group if timed else ["".join(group)]:
                if timed:
                    number = Call("as_text", (Call(_CLOCK[text], (value,)),))
                    padded = Call("right", (Call("concat", (Constant("0"), number)), Constant(2)))
                    parts.append(number if text.startswith("%-") else padded)
                else:
                    parts.append(Call("strftime", (value, Constant(text))) if "%" in text else Constant(text))
        return parts[0] if len(parts) == 1 else Call("concat", tuple(parts))

    def clock(self, node: Any) -> Expression | None:
        """The time of day that a piece is, in seconds; None if it is none."""
        from sqlglot import exp

        if not isinstance(node, exp.Cast) or not node.to.is_type("time"):
            return None
        return (
            self._seconds(node.this)
            if isinstance(node.this, exp.Literal)
            else Call("time_of_day", (self._inner(node.this),))
        )

    def _seconds(self, node: Any) -> Expression:
        found = _TIME.fullmatch(str(node.this)) if getattr(node, "is_string", False) else None
        if found is None:
            raise self.refuse(node, "a time of day, such as '18:30'")
        hours, minutes, seconds = (int(part or 0) for part in found.groups())
        if hours > 23 or minutes > 59 or seconds > 59:
            raise self.refuse(node, "a time of day, such as '18:30'")
        return Constant(hours * 3600 + minutes * 60 + seconds)

    def clocks(self, *nodes: Any) -> list[Expression] | None:
        """Times of day that are compared with each other, where one is said to be one."""
        from sqlglot import exp

        found = [self.clock(node) for node in nodes]
        if all(each is None for each in found):
            return None
        made = []
        for node, each in zip(nodes, found, strict=True):
            if each is None and not (isinstance(node, exp.Literal) and node.is_string):
                raise self.refuse(node, "a time of day beside a time of day", "Such as CAST(x AS TIME) > TIME '18:30'.")
            made.append(self._seconds(node) if each is None else each)
        return made
