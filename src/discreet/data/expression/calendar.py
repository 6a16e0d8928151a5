"""Parts of days, and days computed from days: by arithmetic of whole numbers, so that no engine's calendar matters."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

from discreet.data.expression.domain import Domain, UnsuitableError, listed_domain
from discreet.data.expression.function import Function, Operand

__all__ = ["FUNCTIONS", "PARTS", "day_number", "day_of"]

_EPOCH = date(1970, 1, 1)
_FEW = 20_000
UNITS = ("day", "week", "month", "quarter", "year", "decade")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = ("January", "February", "March", "April", "May", "June")
MONTHS += ("July", "August", "September", "October", "November", "December")  # type: ignore[assignment]


def day_number(day: Any) -> Any:
    """How many days after 1970-01-01."""
    return (day.cast("timestamp").epoch_seconds().cast("int64").cast("float64") / 86400.0).floor().cast("int64")


def day_of(number: Any) -> Any:
    """The day so many after 1970-01-01."""
    import ibis

    return (ibis.literal(_EPOCH).cast("timestamp") + number.as_interval("D")).cast("date")


def _day(part: Domain) -> None:
    if part.kind != "date":
        raise UnsuitableError(f"of a date, not of {part.kind}", "Use CAST(... AS DATE).")


def _part(
    value: Callable[[date], Any],
    engine: Callable[[Any], Any],
    least: int,
    most: int,
    grows: bool = False,
) -> Function:
    """A whole number that a day has."""

    def domain(day: Domain) -> Domain:
        _day(day)
        if grows:
            return Domain("integer", value(day.lower), value(day.upper), None, day.missing)
        known = day.listed(400)
        if known is not None:
            return listed_domain("integer", map(value, known), day.missing)
        return Domain("integer", least, most, None, day.missing)

    return Function(domain, value, lambda operands, _: engine(operands[0].engine).cast("int64"))


def _floor(number: Any, by: int) -> Any:
    return (number.cast("float64") / float(by)).floor().cast("int64")


def _iso_weekday(day: Any) -> Any:
    number = day_number(day) + 3  # 1970-01-01 was a Thursday
    return number - _floor(number, 7) * 7 + 1


def _named(names: Sequence[str], value: Callable[[date], int], engine: Callable[[Any], Any]) -> Function:
    """The name of a part."""

    def domain(day: Domain) -> Domain:
        _day(day)
        known = day.listed(_FEW)
        there = set(range(1, len(names) + 1)) if known is None else {value(each) for each in known}
        return Domain("text", values=tuple(name for i, name in enumerate(names, 1) if i in there), missing=day.missing)

    def run(operands: Sequence[Operand], _: Domain) -> Any:
        import ibis

        return engine(operands[0].engine).cases(*enumerate(names, 1), else_=ibis.null("string"))

    return Function(domain, lambda day: names[value(day) - 1], run)


def truncated(unit: str, day: date) -> date:
    """The first day of the period that a day is in."""
    match unit:
        case "day":
            return day
        case "week":
            return date.fromordinal(max(1, day.toordinal() - day.weekday()))
        case "month":
            return day.replace(day=1)
        case "quarter":
            return date(day.year, (day.month - 1) // 3 * 3 + 1, 1)
        case "year":
            return date(day.year, 1, 1)
        case _:
            return date(max(1, day.year // 10 * 10), 1, 1)


def _unit(part: Domain) -> str:
    unit = str(part.values[0]).lower() if part.kind == "text" and part.values and len(part.values) == 1 else ""
    if unit not in UNITS:
        raise UnsuitableError(f"a unit of {', '.join(UNITS)}")
    return unit


def _truncate_domain(unit: Domain, day: Domain) -> Domain:
    _day(day)
    name = _unit(unit)
    known = day.listed(_FEW)
    if known is not None:
        return listed_domain("date", (truncated(name, each) for each in known), day.missing)
    return Domain("date", truncated(name, day.lower), truncated(name, day.upper), None, day.missing)


def _truncate_engine(operands: Sequence[Operand], _: Domain) -> Any:
    import ibis

    unit, day = _unit(operands[0].domain), operands[1].engine
    if unit == "day":
        return day
    number = day_number(day)
    if unit == "week":
        return day_of(number - _iso_weekday(day) + 1)
    year = day.year().cast("int64")
    month = ibis.literal(1, "int64")
    if unit == "month":
        month = day.month().cast("int64")
    elif unit == "quarter":
        month = _floor(day.month().cast("int64") - 1, 3) * 3 + 1
    elif unit == "decade":
        year = _floor(year, 10) * 10
    return day_of(_number_of(year, month))


def _number_of(year: Any, month: Any) -> Any:
    """The number of the first day of a month, by the rules of the calendar alone."""
    shifted = year * 12 + month - 3  # years that begin in March end with February
    years, months = _floor(shifted, 12), None
    months = shifted - years * 12
    leap = _floor(years, 4) - _floor(years, 100) + _floor(years, 400)
    return years * 365 + leap + _floor(months * 153 + 2, 5) - 719468


def _later(day: date, months: int) -> date | None:
    total = day.year * 12 + day.month - 1 + months
    year, month = divmod(total, 12)
    if not 1 <= year <= 9999:
        return None
    last = (
        date(year + month // 11, (month + 1) % 12 + 1, 1).toordinal() if (year, month) != (9999, 11) else 3652060
    ) - 1
    return date.fromordinal(min(date(year, month + 1, 1).toordinal() + day.day - 1, last))


def _later_domain(day: Domain, months: Domain) -> Domain:
    _day(day)
    if months.kind != "integer" or months.values is None or len(months.values) != 1:
        raise UnsuitableError("a constant number of months")
    known = day.listed(_FEW)
    if known is not None:
        found = [_later(each, months.values[0]) for each in known]
        if None not in found:
            return listed_domain("date", found, day.missing)
    first, last = _later(day.lower, months.values[0]), _later(day.upper, months.values[0])
    if first is None or last is None:
        raise UnsuitableError("a day between the years 1 and 9999")
    return Domain("date", first, last, None, day.missing)


def _later_engine(operands: Sequence[Operand], _: Domain) -> Any:
    import ibis

    day, months = operands[0].engine, (operands[1].domain.values or (0,))[0]
    total = day.year().cast("int64") * 12 + day.month().cast("int64") - 1 + months
    year = _floor(total, 12)
    month = total - year * 12 + 1
    first, after = _number_of(year, month), _number_of(year, month + 1)
    return day_of(ibis.least(first + day.day().cast("int64") - 1, after - 1))


# Days as text.


def _short(names: Sequence[str]) -> list[str]:
    return [name[:3] for name in names]


CODES: dict[str, Callable[[date], str]] = {
    "%Y": lambda day: f"{day.year:04d}",
    "%y": lambda day: f"{day.year % 100:02d}",
    "%m": lambda day: f"{day.month:02d}",
    "%-m": lambda day: str(day.month),
    "%d": lambda day: f"{day.day:02d}",
    "%-d": lambda day: str(day.day),
    "%j": lambda day: f"{day.timetuple().tm_yday:03d}",
    "%B": lambda day: MONTHS[day.month - 1],
    "%b": lambda day: MONTHS[day.month - 1][:3],
    "%A": lambda day: DAYS[day.weekday()],
    "%a": lambda day: DAYS[day.weekday()][:3],
    "%G": lambda day: f"{day.isocalendar().year:04d}",
    "%V": lambda day: f"{day.isocalendar().week:02d}",
    "%u": lambda day: str(day.isoweekday()),
    "%w": lambda day: str(day.isoweekday() % 7),
    "%%": lambda day: "%",
}
"""What is written for a day, by the codes of strftime."""
_CODE = re.compile("%-?.|[^%]+|%")


def _piece(code: str, day: Any) -> Any:
    """What a code stands for, in an engine: digits with zeros before them, or one of some names."""
    import ibis

    def digits(number: Any, many: int) -> Any:
        whole = number.cast("int64").cast("string")
        for power in range(1, many):
            whole = (number < 10**power).ifelse(ibis.literal("0"), ibis.literal("")) + whole
        return whole

    thursday = day_of(day_number(day) - _iso_weekday(day) + 4)
    match code:
        case "%Y" | "%G":
            return digits((day if code == "%Y" else thursday).year(), 4)
        case "%y":
            return digits(day.year().cast("int64") - _floor(day.year().cast("int64"), 100) * 100, 2)
        case "%m" | "%d":
            return digits(day.month() if code == "%m" else day.day(), 2)
        case "%-m" | "%-d":
            return (day.month() if code == "%-m" else day.day()).cast("int64").cast("string")
        case "%j":
            return digits(PARTS["dayofyear"].engine([Operand(day, _ANY_DAY)], _ANY_DAY), 3)  # type: ignore[misc]
        case "%V":
            return digits(_iso_week(day), 2)
        case "%u" | "%w":
            return (_iso_weekday(day) if code == "%u" else _sunday_first(day)).cast("int64").cast("string")
        case "%B" | "%b":
            names = MONTHS if code == "%B" else _short(MONTHS)
            return day.month().cast("int64").cases(*enumerate(names, 1), else_=ibis.null("string"))
        case "%A" | "%a":
            return _iso_weekday(day).cases(
                *enumerate(DAYS if code == "%A" else _short(DAYS), 1), else_=ibis.null("string")
            )
    return ibis.literal("%" if code == "%%" else code)


_ANY_DAY = Domain("date", date(1, 1, 1), date(9999, 12, 31))


def _codes(form: str) -> list[str]:
    return _CODE.findall(form)


def _text_of(day: date, form: str) -> str:
    return "".join(CODES[code](day) if code in CODES else code for code in _codes(form))


def _text_domain(day: Domain, form: Domain) -> Domain:
    _day(day)
    if form.kind != "text" or form.values is None or len(form.values) != 1 or form.missing:
        raise UnsuitableError("a constant format", "Such as STRFTIME(day, '%Y-%m').")
    strange = [code for code in _codes(form.values[0]) if code.startswith("%") and code not in CODES]
    if strange:
        raise UnsuitableError(f"a format of {' '.join(CODES)}", "Such as STRFTIME(day, '%Y-%m').")
    known = day.listed(_FEW) if day.lower.year >= 1000 else None
    if known is None:
        raise UnsuitableError(f"of at most {_FEW:,} days, from the year 1000 on", "Use DATE_TRUNC('month', day).")
    return Domain(
        "text", values=tuple(dict.fromkeys(_text_of(each, form.values[0]) for each in known)), missing=day.missing
    )


def _text_engine(operands: Sequence[Operand], _: Domain) -> Any:
    import ibis

    whole = ibis.literal("")
    for code in _codes(str((operands[1].domain.values or ("",))[0])):
        whole = whole + _piece(code, operands[0].engine)
    return operands[0].engine.isnull().ifelse(ibis.null("string"), whole)


PARTS = {
    "year": _part(lambda day: day.year, lambda day: day.year(), 1, 9999, grows=True),
    "quarter": _part(lambda day: (day.month + 2) // 3, lambda day: _floor(day.month().cast("int64") + 2, 3), 1, 4),
    "month": _part(lambda day: day.month, lambda day: day.month(), 1, 12),
    "week": _part(
        lambda day: day.isocalendar().week,
        lambda day: _iso_week(day),
        1,
        53,
    ),
    "day": _part(lambda day: day.day, lambda day: day.day(), 1, 31),
    "dayofyear": _part(
        lambda day: day.timetuple().tm_yday,
        lambda day: day_number(day) - _number_of(day.year().cast("int64"), _one()) + 1,
        1,
        366,
    ),
    "dayofweek": _part(lambda day: day.isoweekday() % 7, lambda day: _sunday_first(day), 0, 6),
    "isodow": _part(lambda day: day.isoweekday(), _iso_weekday, 1, 7),
    "weekday": _part(lambda day: day.weekday(), lambda day: _iso_weekday(day) - 1, 0, 6),
}
"""Whole numbers of a day. Weeks are those of ISO 8601; `dayofweek` begins with Sunday, 0, `weekday` with Monday."""

FUNCTIONS = {
    **PARTS,
    "dayname": _named(DAYS, lambda day: day.isoweekday(), _iso_weekday),
    "monthname": _named(MONTHS, lambda day: day.month, lambda day: day.month().cast("int64")),
    "truncate": Function(_truncate_domain, lambda unit, day: truncated(unit.lower(), day), _truncate_engine),
    "add_months": Function(_later_domain, _later, _later_engine),
    "strftime": Function(_text_domain, _text_of, _text_engine),
}


def _one() -> Any:
    import ibis

    return ibis.literal(1, "int64")


def _sunday_first(day: Any) -> Any:
    number = _iso_weekday(day)
    return (number == 7).ifelse(0, number)


def _iso_week(day: Any) -> Any:
    """The week of ISO 8601: that of the Thursday beside the day."""
    thursday = day_of(day_number(day) - _iso_weekday(day) + 4)
    first = _number_of(thursday.year().cast("int64"), _one())
    return _floor(day_number(thursday) - first, 7) + 1
