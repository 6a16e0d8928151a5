"""A map that stands still: the regions of one level in colours, with a key and a table, for print and for files."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from discreet.errors import InputError
from discreet.show.bars import Bar, bars
from discreet.show.map.content import numbers_of
from discreet.show.picture import Picture
from discreet.show.scale import brief, compact
from discreet.show.svg import Markup, element
from discreet.show.table import Table

__all__ = ["breaks", "map_picture"]

_WIDTH, _TALL = 640, 480
_STEPS = 7
_MOST = 60  # bars of a level that has no shapes


def map_picture(content: Mapping[str, Any], level: str | None = None, output: str | None = None) -> Picture:
    """One output of one level (the lowest that has shapes, unless named), coloured by quantiles as the page does it.

    A level without shapes is drawn as bars.
    """
    layers = {layer["name"]: layer for layer in content["layers"]}
    outputs = content["outputs"]
    drawable = [name for name, layer in layers.items() if layer["shapes"]]
    chosen = level if level is not None else (drawable or list(layers))[-1]
    if chosen not in layers:
        raise InputError("level", chosen, among=layers)
    if output is not None and output not in outputs:
        raise InputError("output", output, among=outputs)
    index = outputs.index(output) if output is not None else content["first"]
    layer = layers[chosen]
    title = f"{content['title']}: {outputs[index]}, by {chosen}"
    rows = _rows(layer, index)
    if not layer["shapes"]:
        return bars(title, [Bar(name, value, *ends) for name, value, ends, _ in rows[:_MOST]])
    # Colours are those of all editions together, so that years can be compared.
    every = [numbers_of(layer, index, edition)[0] for edition in range(len(layer["data"]))]
    kept = [value for values in every for value, shape in zip(values, layer["shapes"], strict=True) if shape]
    edges = breaks([value for value in kept if value is not None])
    return _drawn(title, content, layer, rows, edges)


def breaks(values: Sequence[float]) -> list[float]:
    """Where one colour ends and the next begins: quantiles, rounded to two digits.

    >>> breaks([1, 2, 3, 4, 5, 6, 7])
    [2, 3, 4, 5, 6, 7]
    """
    ordered = sorted(values)
    edges: list[float] = []
    for step in range(1, _STEPS):
        edge = _rounded(ordered[step * len(ordered) // _STEPS])
        if ordered[0] < edge <= ordered[-1] and (not edges or edge > edges[-1]):
            edges.append(edge)
    return edges


def _drawn(
    title: str, content: Mapping[str, Any], layer: Mapping[str, Any], rows: Sequence[Any], edges: Sequence[float]
) -> Picture:
    wide, tall = content["box"]
    unit = min(_WIDTH / wide, _TALL / tall)
    height = unit * tall
    shapes = {code: shape for code, shape in zip(layer["codes"], layer["shapes"], strict=True) if shape}
    missing = layer["missing"][0] if layer["missing"] else []
    shown = [(row, shapes[row[3]]) for row in rows if row[3] in shapes]
    line = {"stroke-width": (0.5 if len(shown) > 300 else 0.9) / unit}
    bare = [shape for _, shape in layer["context"]]
    bare += [shapes[layer["codes"][place]] for place in missing if layer["codes"][place] in shapes]
    paths = [element("path", {"class": "land", "d": shape, **line}) for shape in bare]
    for (name, value, ends, _), shape in shown:
        words = f"{name}: {brief(value)}" + (f", {brief(ends[0])} to {brief(ends[1])}" if ends[0] is not None else "")
        kind = f"region-shape v{_colour(value, edges)}"
        paths.append(element("path", {"class": kind, "d": shape, **line}, element("title", None, words)))
    view = {"viewBox": f"0 0 {wide} {tall}", "width": unit * wide, "height": height}
    cells = [
        [name, brief(value), *("" if end is None else brief(end) for end in ends)] for name, value, ends, _ in rows
    ]
    table = Table.of(["", "value", "from", "to"], cells, title)
    parts = (element("svg", view, *paths), *_key(edges, height + 14))
    return Picture(title, _WIDTH, height + 44, parts, f"{title}: {len(shown)} regions in colours", table=table)


def _rows(layer: Mapping[str, Any], index: int) -> list[tuple[str, float, tuple[float | None, float | None], str]]:
    """Name, value, interval and code of each region that the first edition has."""
    values, below, above = numbers_of(layer, index)
    labels = layer["labels"] or [""] * len(values)
    rows = []
    for at, (code, label, value) in enumerate(zip(layer["codes"], labels, values, strict=True)):
        if value is None:
            continue
        ends = (None, None) if below is None or above is None else (value - below[at], value + above[at])
        rows.append((label or code, value, ends, code))
    return rows


def _key(edges: Sequence[float], top: float) -> list[Markup]:
    """A square for each colour, and what begins there."""
    width = min(90.0, _WIDTH / (len(edges) + 1))
    starts = ["less", *(compact(edge) for edge in edges)] if edges else ["all alike"]
    parts = []
    for step, text in enumerate(starts):
        kind = f"region-shape v{_colour(edges[step - 1] if step else -math.inf, edges)}"
        parts.append(element("rect", {"class": kind, "x": step * width, "y": top, "width": width, "height": 10}))
        parts.append(element("text", {"class": "tick", "x": step * width, "y": top + 25}, text))
    return parts


def _colour(value: float, edges: Sequence[float]) -> int:
    """Fewer classes than colours are spread over all of them, as on the page."""
    step = sum(value >= edge for edge in edges)
    return math.floor(step * (_STEPS - 1) / len(edges) + 0.5) if edges else 3


def _rounded(value: float) -> float:
    unit: int = 10 ** max(0, math.floor(math.log10(abs(value) or 1)) - 1)
    return math.floor(value / unit + 0.5) * unit
