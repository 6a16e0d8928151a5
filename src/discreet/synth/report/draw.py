"""Small pictures as SVG text: bars with intervals, questions with their spread, dots by group, squares of a matrix.

Everything that came from outside goes through `tag`, which escapes it. Colours are classes of the page's style sheet.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.synth.calibrate import Floats

__all__ = ["Bar", "Markup", "Row", "bars", "dots", "matrix", "spans", "tag"]


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


def tag(name: str, attributes: Mapping[str, Any] | None = None, *content: str) -> Markup:
    """An element; attributes and content are escaped unless the content is markup.

    >>> tag("b", {"class": 'x"'}, "<a>", tag("i"))
    '<b class="x&quot;">&lt;a&gt;<i></i></b>'
    """
    given = "".join(f' {key}="{html.escape(_shown(value), quote=True)}"' for key, value in (attributes or {}).items())
    inside = "".join(one if isinstance(one, Markup) else html.escape(clean(one), quote=False) for one in content)
    return Markup(f"<{name}{given}>{inside}</{name}>")


def clean(text: str) -> str:
    """Text that UTF-8 can hold and a page can show: no halves of pairs, no control characters."""
    return "".join(one if one.isprintable() or one == " " else "\ufffd" for one in str(text))


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) and abs(value) < 1e4 else clean(str(value))


def _place(value: float) -> float:
    return round(value, 2)


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: how high, the interval that the true height lies in, a second height to compare, what it says."""

    label: str
    value: float
    lower: float | None = None
    upper: float | None = None
    other: float | None = None
    tip: str = ""
    tick: str | None = None


def bars(title: str, data: Sequence[Bar], wide: int = 320, high: int = 132) -> Markup:
    """Upright bars over their labels; of many labels the first, the middle and the last are written."""
    top = max([*(max(one.value, one.upper or 0, one.other or 0) for one in data), 1e-9])
    floor, room = high - 20, high - 28
    step = wide / max(len(data), 1)
    parts = [Markup(f'<line class="axis" x1="0" y1="{floor}" x2="{wide}" y2="{floor}"/>')]
    for place, one in enumerate(data):
        x, width = place * step + step * 0.12, step * 0.76
        height = room * max(one.value, 0) / top
        shown = [tag("title", None, one.tip or f"{one.label}: {one.value:,.0f}")]
        body = {"x": _place(x), "y": _place(floor - height), "width": _place(width), "height": _place(height)}
        shown.append(tag("rect", {"class": "bar", **body, "rx": 1}))
        if one.lower is not None and one.upper is not None:
            middle = _place(x + width / 2)
            low, up = (_place(floor - room * min(max(end, 0), top) / top) for end in (one.lower, one.upper))
            line = {"x1": middle, "x2": middle, "y1": low, "y2": up}
            shown += [tag("line", {"class": "halo", **line}), tag("line", {"class": "span", **line})]
        if one.other is not None:
            level = _place(floor - room * max(one.other, 0) / top)
            shown.append(
                tag(
                    "line",
                    {"class": "real", "x1": _place(x - 1), "x2": _place(x + width + 1), "y1": level, "y2": level},
                )
            )
        shown.append(
            tag("rect", {"class": "hit", "x": _place(place * step), "y": 0, "width": _place(step), "height": high})
        )
        parts.append(tag("g", None, *shown))
    parts += _labels([one.label if one.tick is None else one.tick for one in data], step, high)
    return _svg(f"{title}: counts by value", wide, high, parts)


def _labels(labels: Sequence[str], step: float, high: int) -> list[Markup]:
    """As many labels as there is room for."""
    longest = max((len(label) for label in labels), default=0)
    if longest * 6.2 + 6 <= step:
        chosen = list(range(len(labels)))
    elif len(labels) * step / 3 >= longest * 6.2 / 1.4:
        chosen = sorted({0, len(labels) // 2, len(labels) - 1})
    else:
        chosen = sorted({0, len(labels) - 1})
    found = []
    for place in chosen:
        first, last = place == 0, place == len(labels) - 1
        ends = len(chosen) < len(labels)
        anchor = "start" if first and ends else "end" if last and ends else "middle"
        x = place * step + (step * 0.12 if anchor == "start" else step * 0.88 if anchor == "end" else step / 2)
        text = labels[place] if len(labels[place]) <= 18 else labels[place][:17] + "\u2026"
        found.append(tag("text", {"x": _place(x), "y": high - 5, "text-anchor": anchor}, text))
    return found


@dataclass(frozen=True, slots=True)
class Row:
    """One question: the answer, the interval known, the one found by trials, answers of other draws, the real one."""

    answer: float
    known: tuple[float, float] | None = None
    about: tuple[float, float] | None = None
    draws: tuple[float, ...] = ()
    real: float | None = None


def spans(row: Row, low: float, high: float, share: bool, wide: int = 420, tall: int = 46) -> Markup:
    """One question on a line from `low` to `high`; the ends are written as percentages if it is a share."""
    room = wide - 16

    def at(value: float) -> float:
        share = (min(max(value, low), high) - low) / (high - low) if high > low else 0.5
        return _place(8 + room * share)

    middle = tall / 2 - 4
    parts = [Markup(f'<line class="axis" x1="8" y1="{tall - 13}" x2="{wide - 8}" y2="{tall - 13}"/>')]
    if row.about is not None:
        x = at(row.about[0])
        body = {"x": x, "y": middle - 8, "width": _place(max(at(row.about[1]) - x, 1.5)), "height": 16, "rx": 3}
        parts.append(tag("rect", {"class": "about", **body}))
    if row.known is not None:
        x, end = at(row.known[0]), at(row.known[1])
        path = f"M{x} {middle - 6}v12M{x} {middle}H{end}M{end} {middle - 6}v12"
        parts.append(tag("path", {"class": "known", "d": path}))
    parts += [tag("circle", {"class": "draw", "cx": at(one), "cy": middle, "r": 2.6}) for one in row.draws]
    x = at(row.answer)
    parts.append(tag("path", {"class": "answer", "d": f"M{x} {middle - 6.5}l6.5 6.5l-6.5 6.5l-6.5-6.5z"}))
    if row.real is not None:
        x = at(row.real)
        parts.append(tag("path", {"class": "truth", "d": f"M{x} {middle - 13}v26"}))
    for value, anchor in ((low, "start"), (high, "end")):
        parts.append(
            tag(
                "text",
                {"x": at(value), "y": tall - 1, "text-anchor": anchor},
                f"{100 * value:.3g}%" if share else brief(value),
            )
        )
    return _svg("The answer and where the true one lies", wide, tall, parts)


def dots(title: str, groups: Mapping[str, Sequence[tuple[float, str]]], *, mark: float | None = None) -> Markup:
    """Dots on a line for each group, higher values to the right; those that would cover each other are stacked."""
    wide, tall, left = 720, 64, 94
    values = [value for group in groups.values() for value, _ in group if math.isfinite(value)]
    top = _round_up(max([*values, mark or 0, 1e-9]))
    high, room = tall * len(groups) + 22, 720 - 94 - 16
    parts: list[Markup] = []
    for tick in np.linspace(0, top, 5):
        x = _place(left + room * float(tick) / top)
        parts.append(tag("line", {"class": "grid", "x1": x, "x2": x, "y1": 4, "y2": high - 18}))
        parts.append(tag("text", {"x": x, "y": high - 4, "text-anchor": "middle"}, brief(float(tick))))
    if mark is not None:
        x = _place(left + room * mark / top)
        parts.append(tag("line", {"class": "mark", "x1": x, "x2": x, "y1": 4, "y2": high - 18}))
    for place, (name, group) in enumerate(groups.items()):
        base = place * tall + tall / 2 + 2
        parts.append(tag("text", {"class": "name", "x": 0, "y": base + 4}, name))
        seen: dict[int, int] = {}
        for value, tip in sorted((one for one in group if math.isfinite(one[0])), key=lambda one: one[0]):
            x = left + room * value / top
            slot = round(x / 7)
            stack = seen.get(slot, 0)
            seen[slot] = stack + 1
            offset = min((stack + 1) // 2 * 6.4, tall / 2 - 4) * (1 if stack % 2 else -1)
            circle = {"class": "dot", "cx": _place(x), "cy": _place(base + offset), "r": 3.4}
            parts.append(tag("circle", circle, tag("title", None, tip)))
    return _svg(title, wide, high, parts, "wide")


def matrix(title: str, names: Sequence[str], values: Floats, scale: str = "both", tips: str = "{:.2f}") -> Markup:
    """A square of squares: from -1 to 1 (`both`), or from 0 up to the largest (`up`). Nothing on the diagonal."""
    many = len(names)
    cell = 34 if many <= 8 else 24 if many <= 16 else 14
    left = min(max(len(name) for name in names), 14) * 6.6 + 8
    wide = high = left + cell * many + 4
    top = float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
    parts: list[Markup] = []
    for row in range(many):
        name = names[row] if len(names[row]) <= 14 else names[row][:13] + "\u2026"
        middle = left + row * cell + cell / 2
        parts.append(tag("text", {"x": _place(left - 6), "y": _place(middle + 4), "text-anchor": "end"}, name))
        turn = {"transform": f"translate({_place(middle + 4)} {_place(left - 6)}) rotate(-90)"}
        parts.append(tag("text", turn, name))
        for column in range(many):
            value = float(values[row, column])
            if row == column:
                continue
            share = value if scale == "both" else value / top
            kind = "none" if math.isnan(value) else f"{'n' if share < 0 else 'p'}{min(int(abs(share) * 8 + 0.5), 8)}"
            told = "does not vary" if math.isnan(value) else tips.format(value)
            body = {"class": kind, "x": _place(left + column * cell + 1), "y": _place(left + row * cell + 1)}
            body |= {"width": cell - 2, "height": cell - 2, "rx": 2}
            text = tag("title", None, f"{names[row]}, {names[column]}: {told}")
            parts.append(tag("rect", body, text))
            if cell == 34 and not math.isnan(value):
                ink = {"class": "in" + kind, "x": _place(left + column * cell + cell / 2)}
                ink |= {"y": _place(left + row * cell + cell / 2 + 3.5), "text-anchor": "middle"}
                parts.append(tag("text", ink, _short(value)))
    return _svg(title, wide, high, parts, natural=True)


def _short(value: float) -> str:
    text = f"{value:.2f}".replace("0.", ".", 1)
    return "0" if text in (".00", "-.00") else text


def brief(value: float) -> str:
    """A number in few digits, as people read it.

    >>> brief(0.01234), brief(51234.5), brief(3), brief(0.25)
    ('0.0123', '51,234', '3', '0.25')
    """
    if not math.isfinite(value):
        return "none"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _round_up(value: float) -> float:
    """The next number that reads well: 1, 2, 2.5 or 5 times a power of ten."""
    power = 10 ** math.floor(math.log10(value))
    return float(power) * next(step for step in (1, 2, 2.5, 4, 5, 8, 10) if step * power >= value * (1 - 1e-9))


def _svg(
    title: str, wide: float, high: float, parts: Sequence[Markup], kind: str = "", natural: bool = False
) -> Markup:
    size: dict[str, Any] = {"viewBox": f"0 0 {_place(wide)} {_place(high)}", "role": "img", "aria-label": title}
    if natural:
        size |= {"width": str(_place(wide)), "height": str(_place(high))}
    if kind:
        size["class"] = kind
    return tag("svg", size, *parts)
