"""Dots on a line for each group: a whole distribution, and every one of its members to be read off."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from discreet.errors import InputError
from discreet.show.picture import Picture
from discreet.show.scale import Scale, brief, round_up
from discreet.show.svg import Markup, element, shorten

__all__ = ["dots"]

_WIDTH, _TALL, _LEFT, _RIGHT = 560, 58, 96, 16
_APART = 7


def dots(
    title: str, groups: Mapping[str, Sequence[tuple[float, str]]], *, mark: float | None = None, axis: str = ""
) -> Picture:
    """Values from zero up, each with its words, higher ones to the right.

    Those that would cover each other are stacked. A `mark` is a value to compare with.
    """
    if not groups:
        raise InputError("groups", 0, "at least one group")
    values = [value for group in groups.values() for value, _ in group if math.isfinite(value)]
    scale = Scale(0, round_up(max([*values, mark or 0, 1e-9])))
    height, room = _TALL * len(groups) + (36 if axis else 22), _WIDTH - _LEFT - _RIGHT
    base = _TALL * len(groups) + 4
    parts: list[Markup] = []
    for tick in scale.ticks():
        x = _LEFT + room * scale.at(tick)
        parts.append(element("line", {"class": "gridline", "x1": x, "x2": x, "y1": 4, "y2": base}))
        parts.append(element("text", {"class": "tick", "x": x, "y": base + 14, "text-anchor": "middle"}, brief(tick)))
    if axis:
        middle = _LEFT + room / 2
        parts.append(element("text", {"class": "tick", "x": middle, "y": base + 30, "text-anchor": "middle"}, axis))
    if mark is not None:
        x = _LEFT + room * scale.at(mark)
        parts.append(element("line", {"class": "reference dashed", "x1": x, "x2": x, "y1": 4, "y2": base}))
    for row, (name, group) in enumerate(groups.items()):
        middle = row * _TALL + _TALL / 2 + 2
        parts.append(element("text", {"class": "name", "x": 0, "y": middle + 4}, shorten(name, 14)))
        stacks: dict[int, int] = {}
        for value, words in sorted((pair for pair in group if math.isfinite(pair[0])), key=lambda pair: pair[0]):
            x = _LEFT + room * scale.at(value)
            slot = round(x / _APART)
            stack = stacks.get(slot, 0)
            stacks[slot] = stack + 1
            offset = min((stack + 1) // 2 * 6.4, _TALL / 2 - 4) * (1 if stack % 2 else -1)
            here = {"class": "dot", "cx": x, "cy": middle + offset, "r": 3.4}
            parts.append(element("circle", here, element("title", None, words)))
    said = "; ".join(f"{name}: {len(group)} values" for name, group in groups.items())
    return Picture(title, _WIDTH, height, tuple(parts), said)
