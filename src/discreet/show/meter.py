"""One number against a limit, in one line: a budget that is left, a job under way, how much of a claim was shown."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.errors import InputError
from discreet.show.scale import Scale
from discreet.show.svg import Markup, element

__all__ = ["Reach", "meter", "reach", "reach_axis"]

_FAR = 1.5
"""How far the axis of a reach goes: half as much again as the limit."""


def meter(share: float | None, label: str, *, going: float | None = None, low: bool = False) -> Markup:
    """A bar that is full at a share of 1; None is a bar of which nothing is known yet.

    `going` is a share that is about to be left: the part between it and `share` is drawn in another colour.
    """
    parts = [element("rect", {"class": "track", "width": "100%", "height": "100%"})]
    shares = [(share, "fill low" if low else "fill")] if going is None else [(share, "going"), (going, "fill")]
    for value, kind in shares:
        if value is not None:
            width = f"{100 * min(max(value, 0.0), 1.0):.2f}%"
            parts.append(element("rect", {"class": kind, "width": width, "height": "100%"}))
    return element("svg", {"class": "chart meter", "role": "img", "aria-label": label}, *parts)


@dataclass(frozen=True, slots=True)
class Reach:
    """How much of a limit was reached, as a part of it (None: it has no limit), and what is said about it."""

    share: float | None
    words: str
    bad: bool = False


def reach(data: Reach) -> Markup:
    """A line up to what was reached, over the room that the limit leaves."""
    if data.share is not None and not data.share >= 0:
        raise InputError("share", data.share, "zero or more")
    axis = Scale(0, _FAR)
    limit = axis.percent(1)
    colour = "bad" if data.bad else "s0"
    parts = [
        element("title", None, data.words),
        element("line", {"class": "axis", "x1": 0, "x2": "100%", "y1": 10, "y2": 10}),
        element("rect", {"class": "track", "x": 0, "width": limit, "y": 5, "height": 10, "rx": 2}),
    ]
    if data.share is not None:
        at = axis.percent(data.share)
        parts.append(element("line", {"class": f"thick {colour}", "x1": 0, "x2": at, "y1": 10, "y2": 10}))
        if data.share <= _FAR:
            parts.append(element("circle", {"class": f"point {colour}", "cx": at, "cy": 10, "r": 4}))
    parts.append(element("line", {"class": "interval", "x1": limit, "x2": limit, "y1": 2, "y2": 18}))
    return element("svg", {"class": "chart reach", "width": "100%", "height": 20, "role": "img"}, *parts)


def reach_axis(*words: str) -> Markup:
    """What the start, the limit and the end of a reach mean."""
    ends = zip(("0", Scale(0, _FAR).percent(1), "100%"), ("start", "middle", "end"), words, strict=True)
    texts = (element("text", {"class": "tick", "x": x, "y": 13, "text-anchor": at}, text) for x, at, text in ends)
    return element("svg", {"class": "chart", "width": "100%", "height": 18, "aria-hidden": "true"}, *texts)
