"""How the text of a CSV file is written, where it is not the usual way: delimiter, decimal mark, order of days.

A value written in the declared way is read as the same value in a plain file. One that is written in another way is
missing, rather than taken for something else: with a decimal comma, 1.5 is no number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from discreet.data.column import Column, Date, Integer, Real, Timestamp
from discreet.errors import GIVEN, InputError

__all__ = ["LAYOUT", "Layout"]

Expression = Any  # ibis expressions carry no useful static types here

_DELIMITERS = (",", ";", "\t", "|", ":", "^", "~")
_DECIMALS = (".", ",")
_GROUPS = {"": "", ",": ",", ".": "[.]", " ": "[ \u00a0\u202f]", "'": "['\u2019]"}
_DAYS = {"yyyy-mm-dd": "", "dd/mm/yyyy": r"\3-0\2-0\1\4", "mm/dd/yyyy": r"\3-0\1-0\2\4"}
_PADDED = r"^([0-9]{4})-0?([0-9]{2})-0?([0-9]{2})($|[^0-9])"
_DAY = r"^\s*([0-9]{1,2})[./-]([0-9]{1,2})[./-]([0-9]{4})($|[^0-9].*$)"
_SHORT_DAY = r"^\s*[0-9]{1,2}[./-][0-9]{1,2}[./-]"


@dataclass(frozen=True, slots=True)
class Layout:
    """How a CSV file is written.

    `delimiter` divides values: a comma in .csv files and a tab in .tsv files unless given. `decimal` is the decimal
    mark, `thousands` what stands between groups of three digits (a blank stands for all kinds of blanks), `dates` the
    order of day, month and year, which may be divided by / . or - in all of them.

    >>> Layout(delimiter=";", decimal=",", thousands=".").given
    {'delimiter': ';', 'decimal': ',', 'thousands': '.'}
    """

    delimiter: str = ""
    decimal: str = "."
    thousands: str = ""
    dates: str = "yyyy-mm-dd"

    def __post_init__(self) -> None:
        allowed = {"delimiter": ("", *_DELIMITERS), "decimal": _DECIMALS, "thousands": _GROUPS, "dates": _DAYS}
        for field, values in allowed.items():
            value = getattr(self, field)
            if not isinstance(value, str) or value not in values:
                among = [repr(one)[1:-1] if field == "dates" else repr(one) for one in values if one]
                raise InputError(f"dataset.{field}", value, among=among)
        if self.decimal == self.thousands:
            raise InputError("dataset.thousands", self.thousands, "another mark than `decimal`")

    @property
    def given(self) -> dict[str, str]:
        """What is not the usual way, by name."""
        usual = {field.name: field.default for field in fields(self)}
        return {name: value for name in usual if (value := getattr(self, name)) != usual[name]}

    def check_kind(self, kind: str) -> None:
        """Refuse a layout for data that is no CSV file: its values are stored, not written."""
        if kind != "csv" and self.given:
            raise InputError(f"dataset.{min(self.given)}", GIVEN, "left out unless the data is a CSV or TSV file")

    def plain(self, table: Expression, columns: Mapping[str, Column]) -> Expression:
        """The table with numbers and days of these columns written as in a plain file; missing where they are not so.

        No value fails: patterns are matched, and nothing is cast.
        """
        changed = {}
        for name, column in columns.items():
            if name not in table.columns or not table[name].type().is_string():
                continue
            if isinstance(column, (Integer, Real)) and (self.decimal != "." or self.thousands):
                changed[name] = self._number(table[name])
            elif isinstance(column, (Date, Timestamp)) and _DAYS[self.dates]:
                changed[name] = self._day(table[name])
        return table.mutate(**changed) if changed else table

    @property
    def number_pattern(self) -> str:
        """What a number looks like that has a decimal mark or groups of digits."""
        groups = _GROUPS[self.thousands]
        whole = f"([0-9]+|[0-9]{{1,3}}({groups}[0-9]{{3}})+)" if groups else "[0-9]+"
        mark = re.escape(self.decimal)
        return rf"^\s*[-+]?({whole}({mark}[0-9]*)?|{mark}[0-9]+)([eE][-+]?[0-9]+)?\s*$"

    def _number(self, raw: Expression) -> Expression:
        import ibis

        groups = _GROUPS[self.thousands]
        digits = raw.re_replace(groups, "") if groups else raw
        point = digits.replace(self.decimal, ".") if self.decimal != "." else digits
        marked = raw.re_search(f"[.,]|{groups}" if groups else "[.,]")
        return ibis.cases((raw.re_search(self.number_pattern), point), (marked, ibis.null("string")), else_=raw)

    def _day(self, raw: Expression) -> Expression:
        import ibis

        ordered = raw.re_replace(_DAY, _DAYS[self.dates]).re_replace(_PADDED, r"\1-\2-\3\4")
        return ibis.cases((raw.re_search(_DAY), ordered), (raw.re_search(_SHORT_DAY), ibis.null("string")), else_=raw)


LAYOUT = tuple(field.name for field in fields(Layout))
"""What a schema's [dataset] may say of it."""
