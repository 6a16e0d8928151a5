"""A choropleth of a release in one HTML file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from discreet.errors import InputError, Phrase
from discreet.show.map.atlas import LATER
from discreet.show.map.layer import Layer, lineage
from discreet.show.map.projection import Projection
from discreet.show.map.shading import map_picture
from discreet.show.map.shapes import Shapes, shapes
from discreet.show.page import frame
from discreet.show.page import page as shell
from discreet.show.picture import Picture
from discreet.show.svg import Markup, element

__all__ = ["Map", "choropleth", "controls", "page", "script"]

# More numbers than this make a page that browsers open slowly.
_MOST = 1_000_000
_SCRIPTS = ("model.js", "scale.js", "map.js", "table.js", "main.js")
_UNABLE = "This map is drawn by the script in this file: allow scripts, or read the numbers from the release."


@dataclass(frozen=True, slots=True)
class Map:
    """A page that needs nothing but a browser: no network, no other file. Shows itself in a notebook."""

    html: str
    title: str
    unmapped: Mapping[str, tuple[str, ...]]
    """Codes without a shape, by level: the page lists them under "Not on the map"."""
    content: Mapping[str, Any] = field(default_factory=dict)
    """What the page's script draws, as plain values: for a server whose pages hold no scripts of their own."""

    def picture(self, level: str | None = None, output: str | None = None) -> Picture:
        """One level as a picture that stands still, for print: the lowest one on the map unless another is named."""
        return map_picture(self.content, level, output)

    def save(self, path: str | Path) -> Path:
        """Write the page (UTF-8), or its `picture` where the name ends in .svg, .png or .pdf, and say where."""
        path = Path(path)
        if path.suffix.lower() in (".svg", ".png", ".pdf"):
            return self.picture().save(path)
        path.write_bytes(self.html.encode())
        return path

    def _repr_html_(self) -> str:
        return frame(self.title, self.html, 760, scripts=True)

    def __repr__(self) -> str:
        missing = sum(len(codes) for codes in self.unmapped.values())
        note = f", {missing} regions not on the map" if missing else ""
        return f"Map({self.title!r}, {len(self.html.encode()):,} bytes{note})"


def choropleth(
    layers: Sequence[Layer],
    *,
    title: str,
    output: str | None = None,
    confidence: float | None = None,
    privacy: str = "",
    about: str | None = None,
    geometry: Any = "auto",
    projection: Projection = "auto",
    code_property: str | None = None,
) -> Map:
    """Draw layers from the top level down; a region opens into the next level.

    `output` is shown first; a list offers the others. `geometry` is "us" for states and counties (which "auto" finds by
    their FIPS codes), TopoJSON or GeoJSON (a path or a dictionary, whose features' ids, or `code_property`, are codes),
    such a thing for each level by name, or None. Without shapes the page shows bars with intervals. `privacy` is the
    sentence on what the release guarantees; `about` replaces the one on what an interval means.

    Post-processing: it reads published numbers only and costs nothing.

    >>> states = Layer("state", ["44", "72"], {"people": ([10, 20], [8, 15], [12, 25])})
    >>> drawn = choropleth([states], title="People", confidence=0.95)
    >>> drawn.unmapped, drawn.html.startswith("<!doctype html>")
    ({'state': ('72',)}, True)
    """
    layers = _checked(layers, output)
    if not isinstance(title, str) or not title.strip():
        raise InputError("title", title, "text that says what is shown")
    if confidence is not None and not 0 < confidence < 1:
        raise InputError("confidence", confidence, "a number between 0 and 1")
    outputs = list(layers[0].outputs)
    parents = lineage(layers)
    found = shapes(layers, geometry, projection, code_property)
    level = "" if confidence is None else f"{float(str(confidence)) * 100:.12g}%"
    content = {
        "title": title,
        "privacy": privacy,
        "about": _about(layers, level) if about is None else about,
        "confidence": level,
        "outputs": outputs,
        "first": outputs.index(output) if output is not None else 0,
        "box": [found.width, found.height],
        "outline": found.outline,
        "note": found.note,
        "layers": [
            _layer(layer, above, found, position)
            for position, (layer, above) in enumerate(zip(layers, parents, strict=True))
        ],
    }
    unmapped = {
        layer.name: tuple(code for code in layer.codes if code not in paths)
        for layer, paths in zip(layers, found.paths, strict=True)
        if paths and not all(code in paths for code in layer.codes)
    }
    return Map(page(title, content), title, unmapped, content)


def _checked(layers: Sequence[Layer], output: str | None) -> list[Layer]:
    layers = [layers] if isinstance(layers, Layer) else list(layers) if isinstance(layers, Iterable) else []
    if not layers or not all(isinstance(layer, Layer) for layer in layers):
        raise InputError("layers", layers, "at least one Layer, from the top level down")
    names = [layer.name for layer in layers]
    if len(set(names)) < len(names):
        raise InputError("layers", names, "a list with each level once")
    outputs = list(layers[0].outputs)
    for layer in layers[1:]:
        if list(layer.outputs) != outputs:
            raise InputError(f"{layer.name}.outputs", list(layer.outputs), f"the same outputs as above: {outputs}")
    if output is not None and output not in outputs:
        raise InputError("output", output, among=outputs)
    numbers = sum(len(layer) for layer in layers) * len(outputs)
    if numbers > _MOST:
        hint = "Leave out the lowest level or some outputs."
        raise InputError(
            "layers", Phrase(f"{numbers:,} numbers"), f"layers of at most {_MOST:,} numbers on one page", hint
        )
    return layers


def _about(layers: Sequence[Layer], level: str) -> str:
    ends = [lower for layer in layers for _, lower, _ in layer.outputs.values()]
    if all(end is None for end in ends):
        return (
            "Every number was made uncertain on purpose, to protect the people behind it. No intervals are stated here."
        )
    interval = f"the {level} interval" if level else "its interval"
    holds = f"with {level} confidence" if level else "with the stated confidence"
    return (
        f"Every number was made uncertain on purpose, to protect the people behind it; {interval} says by how much. It "
        f"holds the true number {holds} for each region (not for all at once). The error is half the "
        "interval's width. It counts the noise added for privacy, not mistakes made when the data was collected."
    )


def _layer(layer: Layer, above: list[int] | None, found: Shapes, position: int) -> dict[str, Any]:
    paths, names = found.paths[position], found.names[position]
    labels = layer.labels or tuple(names.get(code, LATER.get(code, "") if found.us else "") for code in layer.codes)
    data: list[list[Any]] = []
    for value, lower, upper in layer.outputs.values():
        if lower is None or upper is None:
            data.append([value.tolist(), None, None])
            continue
        # An interval is mostly narrow beside its value: distances are shorter to write than ends.
        data.append([value.tolist(), _short((value - lower).tolist()), _short((upper - value).tolist())])
    return {
        "name": layer.name,
        "codes": list(layer.codes),
        "labels": list(labels) if any(labels) else 0,
        "parents": _short(above) if above is not None else 0,
        "shapes": [paths.get(code, 0) for code in layer.codes] if paths else 0,
        "context": found.context[position],
        "data": data,
    }


def _short(numbers: list[int]) -> list[int] | int:
    """One number for a list that repeats it."""
    return numbers[0] if len(set(numbers)) == 1 else numbers


def page(title: str, content: Mapping[str, Any]) -> str:
    """One self-contained page: no request, no script and no style but its own."""
    code = script('JSON.parse(document.getElementById("data").textContent)')
    heading = element("h1", {"id": "title"}, title)
    note = element("noscript", None, element("p", {"class": "care"}, _UNABLE))
    atlas = element("div", {"id": "atlas", "class": "atlas"}, controls())
    return shell(title, [heading, note, atlas], kind="wide", data=dict(content), script=code)


def controls() -> Markup:
    """What the script fills in: choices, the map, its key and its table. The same on every page that has a map."""
    return Markup((files(__package__) / "atlas.html").read_text("utf-8"))


def script(data: str, before: str = "") -> str:
    """The script of a map: `data` is JavaScript that gives the content, `before` comes first, with the content at hand.

    >>> script("await found()").endswith("})(await found());\\n")
    True
    """
    folder = files(__package__)
    body = "\n".join((folder / name).read_text("utf-8") for name in _SCRIPTS)
    return f'"use strict";\n((data) => {{\n{before}{body}}})({data});\n'
