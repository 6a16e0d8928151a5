"""Windows of the day: half hours, say, by the clocks of the zone in which a column of timestamps is declared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.core.note import Note
from discreet.data.column import Timestamp
from discreet.data.expression.node import quoted
from discreet.data.instant import DAY
from discreet.data.schema import Schema
from discreet.errors import MISSING, InputError
from discreet.query.duration import read_duration
from discreet.query.key import Bin, Key, bins

__all__ = ["DayWindows", "day_windows"]

_MINUTE = 60


@dataclass(frozen=True, slots=True)
class DayWindows:
    """A day in windows of so many minutes, by the clock of a column. Rows outside the column's bounds are in none."""

    column: str
    minutes: int

    @property
    def key(self) -> Key:
        """What rows are grouped by: minutes since midnight on the clocks of the column's zone, in even bins."""
        clock = f"HOUR({quoted(self.column)}) * 60 + MINUTE({quoted(self.column)})"
        edges = tuple(range(0, DAY // _MINUTE + 1, self.minutes))
        return Key(bins(clock, edges).column, edges=edges, missing=False, name=self.column)

    def condition(self, schema: Schema) -> str:
        """The rows that have a window. A value moved to a bound would be counted at midnight."""
        column, name = self._column(schema), quoted(self.column)
        return f"{name} >= '{column.lower}' and {name} <= '{column.upper}'"

    def label(self, window: Bin) -> str:
        """A window as people write it.

        >>> DayWindows("pickup", 30).label(Bin(480, 510))
        '08:00-08:30'
        """
        ends = (divmod(int(edge), _MINUTE) for edge in (window.start, window.end))
        return "-".join(f"{hour:02}:{minute:02}" for hour, minute in ends)

    def note(self, schema: Schema, outputs: Sequence[str]) -> Note:
        """Which rows are in no window."""
        column = self._column(schema)
        where = f"outside {column.lower}..{column.upper}, or missing,"
        return Note("outside", f"Rows whose {self.column} is {where} are left out.", tuple(outputs))

    def _column(self, schema: Schema) -> Timestamp:
        column = schema.column(self.column, "window")
        if not isinstance(column, Timestamp):
            raise TypeError("a window of the day is of a timestamp")
        return column


def day_windows(window: Key | None, every: str, schema: Schema) -> DayWindows:
    """The windows of a day that a column and a duration stand for; what they cannot stand for is refused by name."""
    if window is None:
        raise InputError("window", MISSING, "given where `every` is: the column of timestamps")
    if window != Key(window.column):
        raise InputError("every", every, "left out where the window has bins, values or a name of its own")
    name = schema.canonical(window.column, "window")
    if name not in schema.columns or not isinstance(schema.column(name, "window"), Timestamp):
        hint = "Declare it as a timestamp, with its first and last day and its zone; or give a window without `every`."
        raise InputError("window", window.column, "a column of timestamps where `every` is given", hint)
    seconds = read_duration(every, "every")
    if seconds % _MINUTE or DAY % seconds:
        hint = "For windows of days and longer give the window itself: pickup/day."
        raise InputError("every", every, "whole minutes that divide a day, such as '30 minutes'", hint)
    return DayWindows(name, seconds // _MINUTE)
