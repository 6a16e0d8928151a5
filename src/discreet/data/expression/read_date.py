"""Dates in parsed text: parts of a day, periods, intervals and differences, as each dialect writes them."""

from __future__ import annotations

from typing import Any

from discreet.data.expression.node import Call, Constant, Expression
from discreet.errors import InputError

__all__ = ["DateReader"]

_PARTS = {
    "year": "year",
    "quarter": "quarter",
    "month": "month",
    "week": "week",
    "isoweek": "week",
    "day": "day",
    "doy": "dayofyear",
    "dayofyear": "dayofyear",
    "isodow": "isodow",
    "dayofweekiso": "isodow",
    "dow": "dayofweek",
    "dayofweek": "dayofweek",
    "weekday": "dayofweek",
    "hour": "hour",
    "minute": "minute",
    "second": "second",
    "epoch": "epoch",
    "date": "as_date",
}
_FROM_ONE = ("bigquery", "spark", "databricks", "tsql", "mysql", "snowflake")
"""Dialects whose days of the week are 1 to 7, Sunday first."""


UNITS = {"second": 1, "minute": 60, "hour": 3600}
_INTERVAL = "an interval of a whole number of seconds, minutes, hours, days, weeks, months or years"


def _is_whole(node: Any) -> bool:
    """Whether a piece is a whole number in quotes, as some dialects put it beside a unit."""
    text = str(node.this) if getattr(node, "is_string", False) else ""
    return text.isascii() and text.isdigit() and len(text) < 19


class DateReader:
    """What a reader of expressions knows of dates."""

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

    def _part(self, unit: str, day: Any, node: Any) -> Expression:
        function = _PARTS.get(unit.lower())
        if function is None:
            raise self.refuse(node, f"a part of a day: {', '.join(dict.fromkeys(_PARTS))}")
        made = Call(function, (self._inner(day),))
        if function == "dayofweek" and self.dialect in _FROM_ONE:
            return Call("add", (made, Constant(1)))
        return made

    def _calendar(self, node: Any) -> Expression:
        from sqlglot import exp

        match node:
            case exp.Extract():
                self.only(node, "this", "expression")
                return self._part(str(node.this.name), node.expression, node)
            case exp.DayOfWeek():
                self.only(node, "this")
                return self._part("dow", node.this, node)
            case exp.DateTrunc() | exp.TimestampTrunc() | exp.DatetimeTrunc():
                self.only(node, "this", "unit", "zone", "unabbreviate", "input_type_preserved")
                unit = str(node.args["unit"].name).lower()
                unit = "week" if unit.startswith("week") else unit
                return Call("truncate", (Constant(unit), self._zoned(node)))
            case (
                exp.DateAdd()
                | exp.DateSub()
                | exp.TsOrDsAdd()
                | exp.TimestampAdd()
                | exp.TimestampSub()
                | exp.DatetimeAdd()
                | exp.DatetimeSub()
            ):
                self.only(node, "this", "expression", "unit", "return_type")
                sign = -1 if isinstance(node, exp.DateSub | exp.TimestampSub | exp.DatetimeSub) else 1
                amount = node.expression
                if isinstance(amount, exp.Interval):
                    return self._later(self._inner(node.this), amount, sign)
                unit = str(node.args["unit"].name) if node.args.get("unit") else "DAY"
                number = Constant(int(amount.this)) if _is_whole(amount) else self.read(amount)
                return self._steps(self._inner(node.this), number, unit, sign, node)
            case exp.DateDiff() | exp.TimestampDiff() | exp.DatetimeDiff():
                return self._difference(node)
            case exp.TsOrDsToDate() | exp.Date() | exp.TimeStrToTime():
                self.only(node, "this", "zone", "safe")
                return Call("as_date", (self._zoned(node),))
            case exp.Timestamp():
                self.only(node, "this", "zone", "with_tz")
                return Call("as_timestamp", (self._zoned(node),))
            case exp.AtTimeZone():
                self.only(node, "this", "zone")
                return self._zoned(node)
        raise self.refuse(node)

    def _day(self, node: Any) -> Expression:
        """What is compared or taken apart: of a timestamp that is read as a day, its day."""
        from sqlglot import exp

        inner = self._inner(node)
        return Call("calendar_day", (inner,)) if isinstance(node, exp.TsOrDsToDate) else inner

    def _zoned(self, node: Any) -> Expression:
        """The argument of a function, on the clocks of the zone that is named beside it."""
        zone = node.args.get("zone")
        inner = self._inner(node.this)
        return inner if zone is None else Call("at_time_zone", (inner, self.read(zone)))

    def _later(self, day: Expression, interval: Any, sign: int) -> Expression:
        self.only(interval, "this", "unit")
        unit = str(interval.args["unit"].name) if interval.args.get("unit") else ""
        amount = interval.this
        if amount is not None and getattr(amount, "is_string", False):
            parts = str(amount.this).split()
            try:
                number: Expression = Constant(int(parts[0]))
            except (ValueError, IndexError):
                raise self.refuse(interval, _INTERVAL) from None
            unit = unit or (parts[1] if len(parts) == 2 else "")
        else:
            number = self.read(amount)
        return self._steps(day, number, unit, sign, interval)

    def _steps(self, day: Expression, amount: Expression, unit: str, sign: int, node: Any) -> Expression:
        unit = unit.lower().rstrip("s")
        days, months = {"day": 1, "week": 7}.get(unit), {"month": 1, "quarter": 3, "year": 12}.get(unit)
        seconds = UNITS.get(unit)
        scale = days or months or seconds
        if scale is None:
            raise self.refuse(node, _INTERVAL)
        if isinstance(amount, Constant):
            if isinstance(amount.value, bool) or not isinstance(amount.value, int):
                raise self.refuse(node, _INTERVAL)
            number: Expression = Constant(sign * scale * amount.value)
        else:
            number = amount if sign * scale == 1 else Call("multiply", (amount, Constant(sign * scale)))
        return Call("add" if days else "add_months" if months else "add_seconds", (day, number))

    def _difference(self, node: Any) -> Expression:
        from sqlglot import exp

        self.only(node, "this", "expression", "unit", "date_part_boundary", "big_int")
        later, earlier = self._day(node.this), self._day(node.expression)
        unit = str(node.args["unit"].name).lower() if node.args.get("unit") else "day"
        match unit:
            case "day":
                return Call("days_between", (later, earlier))
            case "second":
                return Call("subtract", (later, earlier))
            case "minute" | "hour":
                if isinstance(node, exp.DateDiff):  # counts the hours that began, as all engines do
                    later, earlier = (Call("truncate", (Constant(unit), each)) for each in (later, earlier))
                return Call("quotient", (Call("subtract", (later, earlier)), Constant(UNITS[unit])))
            case "week":
                first, last = (Call("truncate", (Constant("week"), each)) for each in (earlier, later))
                return Call("quotient", (Call("subtract", (last, first)), Constant(7)))
            case "month" | "quarter" | "year":
                per = {"month": 12, "quarter": 4, "year": 1}[unit]

                def number(each: Expression) -> Expression:
                    years = Call("year", (each,))
                    return (
                        years
                        if per == 1
                        else Call("add", (Call("multiply", (years, Constant(per))), Call(unit, (each,))))
                    )

                return Call("subtract", (number(later), number(earlier)))
        raise self.refuse(node, "a difference in seconds, minutes, hours, days, weeks, months, quarters or years")
