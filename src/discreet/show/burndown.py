"""A budget over time: what is left, as it goes down with every charge, under what there was in all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from discreet.errors import InputError
from discreet.show.picture import Picture
from discreet.show.plot import Axis, Plot
from discreet.show.scale import Scale, compact
from discreet.show.svg import element
from discreet.show.table import Table

__all__ = ["Moment", "burndown"]

_DAY = 86400
_STEPS = (60, 300, 900, 3600, 3 * 3600, 6 * 3600, _DAY, 2 * _DAY, 7 * _DAY, 14 * _DAY)
_MONTHS = (1, 2, 3, 6, 12, 24, 60, 120)
_TICKS = 5


@dataclass(frozen=True, slots=True)
class Moment:
    """What was left from a time on (seconds since 1970), of how much, and words for what happened then."""

    time: float
    left: float
    whole: float
    words: str = ""


def burndown(title: str, data: Sequence[Moment], until: float, *, width: float = 370, height: float = 130) -> Picture:
    """What is left over time, from the first moment until now; the whole, where it changed, is a broken line above."""
    if not data:
        raise InputError("data", 0, "at least one moment")
    start, end = data[0].time, max(until, data[-1].time, data[0].time + 1)
    most = max(moment.whole for moment in data)
    if not most > 0:
        raise InputError("data", most, "a whole of more than zero")
    plot = Plot(Axis(Scale(start, end)), Axis(Scale(0, most), "", compact, 3), width, height)
    parts = plot.frame(across=False)
    ends = [moment.time for moment in data[1:]] + [end]
    whole: list[tuple[float, float]] = []
    for number, (moment, close) in enumerate(zip(data, ends, strict=True)):
        (left, top), (right, bottom) = plot.at(moment.time, moment.left), plot.at(close, 0)
        area = element(
            "rect", {"class": "area", "x": left, "y": top, "width": max(right - left, 0), "height": bottom - top}
        )
        before = data[number - 1].left if number else moment.left
        stair = plot.outline([(moment.time, before), (moment.time, moment.left), (close, moment.left)])
        line = element("path", {"class": "line s0", "d": stair})
        drawn = [element("title", None, moment.words)] if moment.words else []
        parts.append(element("g", None, *drawn, area, line))
        whole += [(moment.time, moment.whole), (close, moment.whole)]
    parts.append(element("path", {"class": "line dashed s1", "d": plot.outline(whole)}))
    base = plot.top + plot.height
    for time, words, anchor in _ticks(start, end):
        x = plot.at(time, 0)[0]
        parts.append(element("line", {"class": "axis", "x1": x, "x2": x, "y1": base, "y2": base + 4}))
        parts.append(element("text", {"class": "tick", "x": x, "y": base + 17, "text-anchor": anchor}, words))
    rows = [[_moment(one.time), one.words, compact(one.left), compact(one.whole)] for one in data]
    table = Table.of(["time", "", "left", "of"], rows, title)
    said = "What is left over time: a step down for each charge, under a broken line for the whole."
    return Picture(title, *plot.size, tuple(parts), said, kind="burndown", table=table)


def _ticks(start: float, end: float) -> list[tuple[float, str, str]]:
    """Round times between two, as many as are read easily, how to write them, and where the words stand.

    Where no two round times lie between them, both ends are written.
    """
    marks = _clock(start, end) or _calendar(start, end)
    near = (end - start) / 25
    inside = [(at.timestamp(), words) for at, words in marks if start + near <= at.timestamp() <= end - near]
    if len(inside) < 2:
        return [(start, _moment(start), "start"), (end, _moment(end), "end")]
    return [(time, words, "middle") for time, words in inside]


def _clock(start: float, end: float) -> list[tuple[datetime, str]]:
    """Hours and days; none where months would be read more easily."""
    step = next((step for step in _STEPS if (end - start) / step <= _TICKS), None)
    if step is None:
        return []
    first = datetime.fromtimestamp(start, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    skipped = int((start - first.timestamp()) // step)
    marks = [first + timedelta(seconds=step * number) for number in range(skipped, skipped + _TICKS + 2)]
    return [(at, f"{at:%H:%M}" if at.hour or at.minute else f"{at.day} {at:%b}") for at in marks]


def _calendar(start: float, end: float) -> list[tuple[datetime, str]]:
    """The first days of months or of years."""
    step = next((months for months in _MONTHS if (end - start) / (months * 30.4 * _DAY) <= _TICKS), _MONTHS[-1])
    first = datetime.fromtimestamp(start, UTC)
    month = -(-(12 * first.year + first.month - 1) // step) * step
    marks = [datetime(at // 12, at % 12 + 1, 1, tzinfo=UTC) for at in range(month, month + step * (_TICKS + 2), step)]
    return [(at, f"{at:%Y}" if step >= 12 else f"{at:%b %Y}" if at.month <= step else f"{at:%b}") for at in marks]


def _moment(time: float) -> str:
    return f"{datetime.fromtimestamp(time, UTC):%Y-%m-%d %H:%M}"
