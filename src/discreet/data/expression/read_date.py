"""Dates in parsed text: parts of a day, periods, intervals and differences, as each dialect writes them."""

from __future__ import annotations

from typing import Any

from discreet.data.expression.domain import Domain
from discreet.data.expression.node import Call, Constant, Expression
from discreet.data.expression.read_clock import ClockReader

__all__ = ["DateReader"]

_PARTS = {
    "year": "year",
    "quarter": "quarter",
    "month": "month",
    "week": "week",
    "isoweek": "isoweek",
    "weekiso": "isoweek",
    "iso_week": "isoweek",
    "day": "day",
    "doy": "dayofyear",
    "dayofyear": "dayofyear",
    "isodow": "isodow",
    "dayofweekiso": "isodow",
    "dow_iso": "isodow",
    "dayofweek_iso": "isodow",
    "dow": "dayofweek",
    "day_of_week": "dayofweek",
    "dayofweek": "dayofweek",
    "weekday": "dayofweek",
    "hour": "hour",
    "minute": "minute",
    "second": "second",
    "epoch": "epoch",
    "date": "as_date",
    "isoyear": "isoyear",
    "iso_year": "isoyear",
    "yearofweekiso": "isoyear",
}
_FROM_ONE = ("bigquery", "spark", "tsql", "mysql")
"""Dialects whose days of the week are 1 to 7, Sunday first."""


UNITS = {"second": 1, "minute": 60, "hour": 3600}
_FIRST = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_INTERVAL = "an interval of a whole number of seconds, minutes, hours, days, weeks, months or years"


def _is_whole(node: Any) -> bool:
    """Whether a piece is a whole number in quotes, as some dialects put it beside a unit."""
    text = str(node.this) if getattr(node, "is_string", False) else ""
    return text.isascii() and text.isdigit() and len(text) < 19


class DateReader(ClockReader):
    """What a reader of expressions knows of dates."""

    def domain_of(self, value: Expression) -> Domain | None:
        """What an expression can be, where that is known while it is read."""
        raise NotImplementedError

    def _part(self, unit: str, day: Any, node: Any) -> Expression:
        function = _PARTS.get(unit.lower())
        if function is None:
            raise self.refuse(node, f"a part of a day: {', '.join(dict.fromkeys(_PARTS))}")
        inner = self._inner(day)
        match function:
            case "week":
                return self._week(inner)
            case "isoweek":
                return Call("week", (inner,))
            case "isoyear":  # that of the Thursday of the week
                return Call("year", (Call("add", (Call("truncate", (Constant("week"), inner)), Constant(3))),))
            case "dayofweek" if self.dialect == "trino":
                return Call("isodow", (inner,))
            case "dayofweek" if self.dialect in _FROM_ONE:
                return Call("add", (Call("dayofweek", (inner,)), Constant(1)))
        return Call(function, (inner,))

    def _week(self, day: Expression, mode: int | None = None) -> Expression:
        """The number of a week: that of ISO 8601, but in dialects whose weeks begin with Sunday and the year."""
        usual = {"bigquery": 0, "mysql": 0, "tsql": None}.get(self.dialect, 3)
        mode = usual if mode is None else mode
        if mode == 3:
            return Call("week", (day,))
        # how many of the weekday that decides have been, up to the end of this week
        shift, weekday = {None: (12, "dayofweek"), 0: (6, "dayofweek"), 1: (10, "isodow"), 5: (7, "isodow")}[mode]
        days = Call("subtract", (Call("add", (Call("dayofyear", (day,)), Constant(shift))), Call(weekday, (day,))))
        return Call("quotient", (days, Constant(7)))

    def yearweek(self, node: Any) -> Expression:
        """YEARWEEK: a year and the number of a week in it, 202452. In MySQL weeks begin with Sunday, unless told."""
        day = self._inner(node.expressions[0])
        mode = str(node.expressions[1].name) if len(node.expressions) > 1 else "0" if self.dialect == "mysql" else "3"
        if self.dialect not in ("duckdb", "mysql") or mode not in ("0", "1", "2", "3") or len(node.expressions) > 2:
            raise self.refuse(node, "YEARWEEK(day), and in mysql with mode 0, 1, 2 or 3")
        if mode in ("1", "3"):
            year, week = self._part("isoyear", node.expressions[0], node), Call("week", (day,))
        else:
            sunday = Call("add", (self._begun("week", day, 1), Constant(-1)))
            days = Call("add", (Call("dayofyear", (sunday,)), Constant(6)))
            year, week = Call("year", (sunday,)), Call("quotient", (days, Constant(7)))
        return Call("add", (Call("multiply", (year, Constant(100))), week))

    def weekday(self, name: str, day: Any, node: Any) -> Expression:
        """WEEKDAY and DAYOFWEEK as functions."""
        if name == "dayofweek":
            return self._part("dow", day, node)
        if self.dialect == "duckdb":
            return Call("dayofweek", (self._inner(day),))
        if self.dialect in ("mysql", "spark"):
            return Call("subtract", (Call("isodow", (self._inner(day),)), Constant(1)))
        raise self.refuse(node, "a function of the dialect", "Write ISODOW(day), 1 is Monday, or DAYOFWEEK(day).")

    def _starts(self, unit: Any, node: Any) -> tuple[str, int]:
        """A period, and how many days before Monday its weeks begin."""

        name = str(unit.name).lower()
        if type(unit).__name__ == "WeekStart":
            if name not in _FIRST:
                raise self.refuse(node, "a week that begins with a day: WEEK(MONDAY)")
            return "week", -_FIRST.index(name) % 7
        if name in ("isoweek", "weekiso", "iso_week", "week_iso"):
            return "week", 0
        return name, 1 if name == "week" and self.dialect in ("tsql", "bigquery") else 0

    def _begun(self, unit: str, day: Expression, shift: int) -> Expression:
        """The period that a day is in; weeks may begin some days before Monday."""
        if not shift:
            return Call("truncate", (Constant(unit), day))
        return Call("truncate", (Constant(unit), Call("add", (day, Constant(shift)))))

    def _calendar(self, node: Any) -> Expression:
        from sqlglot import exp

        match node:
            case exp.Extract():
                self.only(node, "this", "expression")
                if type(node.this).__name__ == "WeekStart":
                    modes = {"sunday": 0, "monday": 5}
                    if (first := str(node.this.name).lower()) not in modes:
                        raise self.refuse(node, "WEEK, WEEK(SUNDAY), WEEK(MONDAY) or ISOWEEK")
                    return self._week(self._inner(node.expression), modes[first])
                return self._part(str(node.this.name), node.expression, node)
            case exp.DayOfWeek():
                self.only(node, "this")
                return self.weekday("dayofweek", node.this, node)
            case exp.Week():
                self.only(node, "this", "mode")
                mode = node.args.get("mode")
                if mode is not None and (self.dialect != "mysql" or str(mode.name) not in ("0", "1", "3", "5")):
                    raise self.refuse(node, "WEEK(day), and in mysql with mode 0, 1, 3 or 5")
                return self._week(self._inner(node.this), None if mode is None else int(mode.name))
            case exp.WeekOfYear():
                self.only(node, "this")
                return Call("week", (self._inner(node.this),))
            case exp.DateTrunc() | exp.TimestampTrunc() | exp.DatetimeTrunc():
                self.only(node, "this", "unit", "zone", "unabbreviate", "input_type_preserved")
                unit, shift = self._starts(node.args["unit"], node)
                begun = self._begun(unit, self._zoned(node), shift)
                return Call("add", (begun, Constant(-shift))) if shift else begun
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
            case _ if isinstance(node, exp.TimeToStr) or type(node).__name__ == "ToChar":
                return self._written(node)
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
        bare = isinstance(node.this, exp.Column) and not node.this.this.args.get("quoted")
        units = ("day", "week", "month", "quarter", "year", *UNITS)
        if self.dialect == "mysql" and bare and str(node.this.name).lower() in units:
            hint = "A column of that name is written in quotes, `day`; with a unit, TIMESTAMPDIFF(DAY, a, b)."
            raise self.refuse(node, "DATEDIFF(later, earlier) in mysql", hint)
        unit, shift = self._starts(node.args["unit"], node) if node.args.get("unit") else ("day", 0)
        passed = self.dialect in ("spark", "trino") and node.args.get("unit") is not None
        if passed or isinstance(node, exp.TimestampDiff):
            return self._passed(node, unit)
        pair = (node.this, node.expression)
        dated = unit in ("day", "week", "month", "quarter", "year")
        later, earlier = (self._dated(each) if dated else self._day(each) for each in pair)
        match unit:
            case "day":
                return Call("days_between", (later, earlier))
            case "second":
                if self._are("date", later, earlier):
                    return Call("multiply", (Call("days_between", (later, earlier)), Constant(86400)))
                return Call("subtract", (later, earlier))
            case "minute" | "hour":  # counts the hours that began, as all engines do
                later, earlier = (Call("truncate", (Constant(unit), each)) for each in (later, earlier))
                return Call("quotient", (Call("subtract", (later, earlier)), Constant(UNITS[unit])))
            case "week":
                first, last = (self._begun("week", each, shift) for each in (earlier, later))
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

    def _dated(self, node: Any) -> Expression:
        """A day, which may be written as text."""
        from sqlglot import exp

        inner = node.this if isinstance(node, exp.TimeStrToTime | exp.TsOrDsToDate | exp.TsOrDsToTimestamp) else node
        if getattr(inner, "is_string", False):
            return Call("as_date", (Constant(str(inner.this)),))
        return self._day(node)

    def _are(self, kind: str, *values: Expression) -> bool:
        """Whether one of some values is known to be of a kind."""
        domains = [self.domain_of(value) for value in values]
        return any(domain is not None and domain.kind == kind for domain in domains)

    def _passed(self, node: Any, unit: str) -> Expression:
        """A difference that counts the whole units that have passed, not those that began."""
        from sqlglot import exp

        # a unit makes of DATEDIFF in Spark a difference of times; the parser has made days of them
        pair = [each.this if isinstance(each, exp.TsOrDsToDate) else each for each in (node.this, node.expression)]
        later, earlier = (self._inner(each) for each in pair)
        days = {"day": 1, "week": 7}.get(unit)
        if days is None and unit not in UNITS:
            hint = "Such as (YEAR(b) - YEAR(a)) * 12 + MONTH(b) - MONTH(a), the months that began."
            raise self.refuse(node, "a difference in seconds, minutes, hours, days or weeks", hint)
        if self._are("timestamp", later, earlier):
            seconds = Call("subtract", (later, earlier))
            size = 86400 * days if days else UNITS[unit]
            return seconds if size == 1 else Call("quotient", (seconds, Constant(size)))
        between = Call("days_between", (later, earlier))
        if days is None:
            return Call("multiply", (between, Constant(86400 // UNITS[unit])))
        return between if days == 1 else Call("quotient", (between, Constant(days)))
