"""Intervals on a line: how far an answer that nobody knows yet may be off, and where a true answer lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from discreet.errors import InputError
from discreet.show.bars import whisker
from discreet.show.picture import Picture
from discreet.show.scale import Format, Scale, brief, round_up, share
from discreet.show.svg import Markup, element, shorten
from discreet.show.table import Table

__all__ = ["Error", "Span", "errors", "span", "span_key"]

_WIDTH, _ROW = 640, 64
_MINUS = "\u2212"


@dataclass(frozen=True, slots=True)
class Error:
    """How far a number may be off, `half` to either side, in words; those to be compared share the `widest`.

    What can only be `below` is drawn to one side.
    """

    label: str
    words: str
    half: float
    widest: float | None = None
    below: bool = False

    @property
    def end(self) -> float:
        """Where the axis ends, to either side: a round number with room for the widest."""
        return round_up((self.half if self.widest is None else self.widest) * 1.02)


def errors(title: str, data: Sequence[Error], *, format: Format = brief, middle: str = "") -> Picture:
    """Intervals of a known width around answers that are not known: `middle` says what stands in the middle, once."""
    if not data:
        raise InputError("data", 0, "at least one error")
    said_at = next((index for index, error in enumerate(data) if not error.below), 0)
    parts = [
        _error(error, index * _ROW, format, middle if index == said_at else "") for index, error in enumerate(data)
    ]
    said = "; ".join(f"{error.label} {error.words}" for error in data)
    table = Table.of(["", "error"], [[error.label, error.words] for error in data], title)
    height = _ROW * len(data)
    return Picture(title, _WIDTH, height, tuple(parts), said, fluid=True, kind="errors", table=table)


def _error(error: Error, top: int, format: Format, middle: str) -> Markup:
    end = error.end
    axis = Scale(-end, 0 if error.below else end)
    half = min(error.half, end)
    high = 0 if error.below else half
    y = top + 33
    edge: list[dict[str, Any]] = [
        {"x1": 0, "x2": "100%", "y1": y, "y2": y},
        {"x1": 0, "x2": 0, "y1": y - 4, "y2": y + 4},
        {"x1": "100%", "x2": "100%", "y1": y - 4, "y2": y + 4},
    ]
    width = f"{round(100 * (axis.at(high) - axis.at(-half)), 3):g}%"
    body = {"x": axis.percent(-half), "width": width, "y": y - 6, "height": 12, "rx": 3}
    last = "the best" if error.below else f"+{format(end)}"
    ends = ((0, "start", f"{_MINUS}{format(end)}"), ("50%", "middle", middle), ("100%", "end", last))
    return element(
        "g",
        None,
        element("title", None, f"{error.label}: {error.words}"),
        element("text", {"class": "name", "x": 0, "y": top + 14}, shorten(error.label, 60)),
        element("text", {"class": "value", "x": "100%", "y": top + 14, "text-anchor": "end"}, error.words),
        *(element("line", {"class": "axis", **line}) for line in edge),
        element("rect", {"class": "band", **body}),
        *whisker(axis, -half, high, y, 8),
        element("circle", {"class": "point s0", "cx": axis.percent(0), "cy": y, "r": 4.5}),
        *(
            element("text", {"class": "tick", "x": x, "y": y + 20, "text-anchor": at}, text)
            for x, at, text in ends
            if text
        ),
    )


@dataclass(frozen=True, slots=True)
class Span:
    """One answer on a line: the interval that is known, one that was tried out, other draws, and the true answer."""

    answer: float
    known: tuple[float, float] | None = None
    about: tuple[float, float] | None = None
    draws: tuple[float, ...] = ()
    real: float | None = None

    def reach(self, part: bool) -> Scale:
        """A line that shows everything, with a little room; a `part` of one stays between zero and one."""
        every = [self.answer, *self.draws, *(self.known or ()), *(self.about or ())]
        every += [] if self.real is None else [self.real]
        low, high = min(every), max(every)
        room = max((high - low) * 0.08, abs(high) * 0.01, 1e-6)
        low, high = low - room, high + room
        return Scale(max(low, 0.0), min(high, 1.0)) if part else Scale(low, high)


def span(title: str, data: Span, *, part: bool = False, width: int = 420, height: int = 46) -> Picture:
    """One answer on a line; the ends are written as percentages if it is a `part` of one."""
    axis = data.reach(part)

    def at(value: float) -> float:
        return 8 + (width - 16) * axis.at(value)

    middle = height / 2 - 4
    base = height - 13
    parts = [element("line", {"class": "axis", "x1": 8, "y1": base, "x2": width - 8, "y2": base})]
    if data.about is not None:
        x = at(data.about[0])
        body = {"x": x, "y": middle - 8, "width": max(at(data.about[1]) - x, 1.5), "height": 16, "rx": 3}
        parts.append(element("rect", {"class": "band", **body}))
    if data.known is not None:
        x, end = (round(at(value), 2) for value in data.known)
        outline = f"M{x} {middle - 6}v12M{x} {middle}H{end}M{end} {middle - 6}v12"
        parts.append(element("path", {"class": "interval", "d": outline}))
    parts += [element("circle", {"class": "dot", "cx": at(value), "cy": middle, "r": 2.6}) for value in data.draws]
    parts.append(element("path", {"class": "diamond", "d": _diamond(round(at(data.answer), 2), middle, 6.5)}))
    if data.real is not None:
        parts.append(element("path", {"class": "reference", "d": f"M{round(at(data.real), 2)} {middle - 13}v26"}))
    shown = share if part else brief
    for value, anchor in ((axis.low, "start"), (axis.high, "end")):
        here = {"class": "tick", "x": at(value), "y": height - 1, "text-anchor": anchor}
        parts.append(element("text", here, shown(value)))
    return Picture(title, width, height, tuple(parts), "The answer and where the true one lies")


def span_key(*, known: str, about: str = "", draws: str = "", real: str = "") -> Markup:
    """What the marks of a span mean, in words."""
    shapes = [
        (element("path", {"class": "diamond", "d": _diamond(11, 7, 5)}), "from these rows"),
        (element("path", {"class": "interval", "d": "M2 2v10M2 7H20M20 2v10"}), known),
        (element("rect", {"class": "band", "x": 1, "y": 1, "width": 20, "height": 12, "rx": 3}), about),
        (element("circle", {"class": "dot", "cx": 11, "cy": 7, "r": 3}), draws),
        (element("path", {"class": "reference", "d": "M11 1v12"}), real),
    ]
    frame = {"class": "chart", "viewBox": "0 0 22 14", "width": 22, "height": 14, "aria-hidden": "true"}
    items = (element("li", None, element("svg", frame, shape), words) for shape, words in shapes if words)
    return element("ul", {"class": "key"}, *items)


def _diamond(x: float, y: float, half: float) -> str:
    return f"M{x:g} {y - half:g}l{half} {half}l-{half} {half}l-{half}-{half}z"
