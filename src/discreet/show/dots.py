"""Dots on a line for each group: a whole distribution, and every one of its members to be read off."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from discreet.errors import InputError
from discreet.show.picture import Picture
from discreet.show.scale import Scale, brief, round_up, ticks
from discreet.show.svg import Markup, element, shorten

__all__ = ["dots"]

_WIDTH, _TALL, _NAME = 640, 52, 22
_APART = 7  # between two dots side by side, at the width of a file


def dots(
    title: str, groups: Mapping[str, Sequence[tuple[float, str]]], *, mark: float | None = None, axis: str = ""
) -> Picture:
    """Values from zero up, each with its words, higher ones to the right.

    Those that would cover each other are stacked. A `mark` is a value to compare with.
    """
    if not groups:
        raise InputError("groups", 0, "at least one group")
    values = [value for group in groups.values() for value, _ in group if math.isfinite(value)]
    end = round_up(max([*values, mark or 0, 1e-9]))
    scale = Scale(-0.02 * end, 1.02 * end)  # room for dots at the ends
    base = (_TALL + _NAME) * len(groups) + 4
    parts: list[Markup] = []
    for tick in ticks(0, end):
        x = scale.percent(tick)
        parts.append(element("line", {"class": "gridline", "x1": x, "x2": x, "y1": 4, "y2": base}))
        parts.append(element("text", {"class": "tick", "x": x, "y": base + 15, "text-anchor": "middle"}, brief(tick)))
    if axis:
        parts.append(element("text", {"class": "tick", "x": "50%", "y": base + 32, "text-anchor": "middle"}, axis))
    if mark is not None:
        x = scale.percent(mark)
        parts.append(element("line", {"class": "reference dashed", "x1": x, "x2": x, "y1": 4, "y2": base}))
    for row, (name, group) in enumerate(groups.items()):
        top = row * (_TALL + _NAME)
        parts.append(element("text", {"class": "name", "x": 0, "y": top + 18}, shorten(name, 60)))
        parts += _group(group, scale, top + _NAME + _TALL / 2)
    said = "; ".join(f"{name}: {len(group)} values" for name, group in groups.items())
    return Picture(title, _WIDTH, base + (38 if axis else 22), tuple(parts), said, fluid=True, kind="dots")


def _group(group: Sequence[tuple[float, str]], scale: Scale, middle: float) -> list[Markup]:
    stacks: dict[int, int] = {}
    parts = []
    for value, words in sorted((pair for pair in group if math.isfinite(pair[0])), key=lambda pair: pair[0]):
        slot = round(_WIDTH * scale.at(value) / _APART)
        stack = stacks.get(slot, 0)
        stacks[slot] = stack + 1
        offset = min((stack + 1) // 2 * 6.4, _TALL / 2 - 4) * (1 if stack % 2 else -1)
        here = {"class": "dot", "cx": scale.percent(value), "cy": middle + offset, "r": 3.4}
        parts.append(element("circle", here, element("title", None, words)))
    return parts
