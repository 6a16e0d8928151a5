"""In which way values are written that cannot be read: decimal commas, groups of digits, order of days, blanks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from discreet.data.column import Category
from discreet.data.layout import Layout
from discreet.errors import InputError

__all__ = ["date_advice", "label_advice", "number_advice"]

Values = Sequence[tuple[str, int]]

_DAY = re.compile(r"\s*([0-9]{1,2})[./-]([0-9]{1,2})[./-]([0-9]{4}|[0-9]{2})(?![0-9])", re.ASCII)
_AMOUNT = re.compile(r"\s*[€$£¥]?\s*[-+]?[0-9][0-9.,' \u00a0\u202f\u2019]*\s*(€|\$|£|¥|%|[A-Za-z]{1,4})?\s*", re.ASCII)
_MONTHS = 12


def number_advice(values: Values, layout: Layout) -> str:
    """The lines of the schema under which most of these values are numbers; nothing where there are none."""
    best, most = "", 0
    for decimal, thousands in ((",", ""), (",", "."), (".", ","), (",", " "), (".", " "), (".", "'"), (",", "'")):
        try:
            other = replace(layout, decimal=decimal, thousands=thousands)
        except InputError:
            continue
        pattern = re.compile(other.number_pattern)
        readable = _rows(values, lambda text, pattern=pattern: pattern.match(text) is not None)  # type: ignore[misc]
        if other != layout and readable > most:
            lines = [
                f'{field} = "{getattr(other, field)}"' for field in ("decimal", "thousands") if field in other.given
            ]
            best, most = f"{' and '.join(lines)} under [dataset]", readable
    if 2 * most > _rows(values, lambda _: True):
        return f"They are numbers with {best}."
    if 2 * _rows(values, lambda text: _AMOUNT.fullmatch(text) is not None) > _rows(values, lambda _: True):
        return "They carry a unit, such as % or a currency. Write the number alone."
    return ""


def date_advice(values: Values, layout: Layout) -> str:
    """The line of the schema under which most of these values are days; nothing where there is none."""
    parts = [(match, rows) for text, rows in values if (match := _DAY.match(text)) is not None]
    if 2 * sum(rows for _, rows in parts) <= _rows(values, lambda _: True):
        return ""
    days_first = sum(rows for match, rows in parts if int(match[1]) > _MONTHS)
    months_first = sum(rows for match, rows in parts if int(match[2]) > _MONTHS)
    if any(len(match[3]) < len("2024") for match, _ in parts):
        return "They have years of two digits. Write all four."
    if days_first and months_first:
        return "Some begin with the day, others with the month. Write them alike, best as 2024-12-31."
    if not days_first and not months_first:
        return 'They may be dates = "dd/mm/yyyy" or dates = "mm/dd/yyyy" under [dataset]: no day here is above 12.'
    order = "dd/mm/yyyy" if days_first else "mm/dd/yyyy"
    if layout.dates == order:
        return ""
    return f'They are days with dates = "{order}" under [dataset].'


def label_advice(values: Values, column: Category) -> str:
    """Which of these values are declared ones in another spelling; nothing where none is."""
    declared = {_folded(value): value for value in column.values}
    pairs = [(text, declared[same]) for text, _ in values if (same := _folded(text)) in declared]
    pairs += [(text, value) for text, _ in values if (value := _decoded_twice(text)) in column.values]
    if not pairs:
        return ""
    shown = ", ".join(f"{text!r} for {value!r}" for text, value in pairs[:3])
    return f"Some are declared in another spelling ({shown}). Values must be written exactly as declared."


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _decoded_twice(text: str) -> str:
    """What a text is that was read as Windows-1252 once too often, such as KÃ¶ln."""
    try:
        return text.encode("cp1252").decode("utf-8")
    except UnicodeError:
        return text


def _rows(values: Iterable[tuple[str, int]], holds: Callable[[str], bool]) -> int:
    return sum(rows for text, rows in values if holds(text))
