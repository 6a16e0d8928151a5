"""A choropleth of a release in one HTML file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from discreet.errors import InputError, Phrase, kind_of
from discreet.show.map.content import KINDS, head_of, layer_parts, meaning, united
from discreet.show.map.layer import Layer
from discreet.show.map.projection import Projection
from discreet.show.map.shading import map_picture
from discreet.show.map.shapes import shapes
from discreet.show.page import frame
from discreet.show.page import page as shell
from discreet.show.picture import Picture
from discreet.show.svg import Markup, element

__all__ = ["MOST_NUMBERS", "Map", "choropleth", "controls", "page", "script"]

# More numbers than this, ends of intervals among them, make a page that browsers open slowly: some 25 MB.
MOST_NUMBERS = 16_000_000
_SCRIPTS = ("model.js", "scale.js", "map.js", "table.js", "image.js", "main.js")
_PART = '(level) => JSON.parse(document.getElementById("level-" + level).textContent)'
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
    intervals: str = "each",
    label: str = "",
    compare: Mapping[str, Sequence[Layer]] | None = None,
    sources: Sequence[str] | None = None,
    geometry: Any = "auto",
    projection: Projection = "auto",
    code_property: str | None = None,
) -> Map:
    """Draw layers from the top level down; a region opens into the next level.

    `output` is shown first; a list offers the others. `geometry` is "us" for states and counties (which "auto" finds by
    their FIPS codes), TopoJSON or GeoJSON (a path or a dictionary, whose features' ids, or `code_property`, are codes),
    such a thing for each level by name, or None. Without shapes the page shows bars with intervals. `privacy` is the
    sentence on what the release guarantees; `about` replaces the one on what an interval means.
    `intervals` says which are shown first where layers have `typical` ones too.
    `compare` holds other editions of the same numbers by name (years, methods): the same levels and outputs. Regions
    that an edition does not have are said to be missing there. The page then has a list of editions, of which the first
    is called `label`. Any two maps can be put side by side, or subtracted. `sources` names what each edition was
    measured by: noises of different sources are taken to be independent, all others not.

    Post-processing: it reads published numbers only and costs nothing.

    >>> states = Layer("state", ["44", "72"], {"people": ([10, 20], [8, 15], [12, 25])})
    >>> drawn = choropleth([states], title="People", confidence=0.95)
    >>> drawn.unmapped, drawn.html.startswith("<!doctype html>")
    ({'state': ('72',)}, True)
    """
    layers = _checked(layers, output)
    editions = _editions(layers, label, compare)
    if not isinstance(title, str) or not title.strip():
        raise InputError("title", title, "text that says what is shown")
    if confidence is not None and not 0 < confidence < 1:
        raise InputError("confidence", confidence, "a number between 0 and 1")
    if intervals not in KINDS:
        raise InputError("intervals", intervals, among=KINDS)
    texts = isinstance(sources, (list, tuple)) and all(isinstance(one, str) for one in sources)
    if sources is not None and (not texts or len(sources) != len(editions)):
        raise InputError("sources", kind_of(sources), f"a list with a text for each of {len(editions)} editions")
    outputs = list(layers[0].outputs)
    layers = united(list(editions.values()))
    found = shapes(layers, geometry, projection, code_property)
    level = "" if confidence is None else f"{float(str(confidence)) * 100:.12g}%"
    said = meaning(list(editions.values()), level)
    content = {
        "title": title,
        "privacy": privacy,
        "about": said if about is None else [about] * len(said),
        "confidence": level,
        "outputs": outputs,
        "first": outputs.index(output) if output is not None else 0,
        "editions": list(editions),
        "sources": 0 if sources is None else [list(sources).index(one) for one in sources],
        "kinds": list(KINDS[: len(said)]),
        "kind": min(KINDS.index(intervals), len(said) - 1),
        "box": [found.width, found.height],
        "outline": found.outline,
        "note": found.note,
        "layers": layer_parts(editions, found),
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
    return layers


def _editions(
    layers: list[Layer], label: str, compare: Mapping[str, Sequence[Layer]] | None
) -> dict[str, Sequence[Layer]]:
    """All editions by name, the first one first: each with its levels, regions and outputs."""
    if compare is not None and not isinstance(compare, Mapping):
        raise InputError("compare", kind_of(compare), "a dictionary of layers by the name of their edition")
    if not isinstance(label, str):
        raise InputError("label", label, "the name of the first edition as text")
    editions: dict[str, Sequence[Layer]] = {label: layers}
    for name, given in (compare or {}).items():
        if not isinstance(name, str) or not name or name in editions:
            raise InputError("compare", name, "a name that no other edition has", "Name the first one with label=.")
        other = _checked(given, None)
        if [(one.name, list(one.outputs)) for one in other] != [(one.name, list(one.outputs)) for one in layers]:
            raise InputError("compare", name, "the same levels and outputs in every edition")
        for ours, theirs in zip(layers, other, strict=True):
            if not set(ours.codes) & set(theirs.codes):
                hint = f"Of the level {ours.name!r} it has none of the regions."
                raise InputError("compare", name, "an edition with regions of the first", hint)
        editions[name] = other
    if len(editions) > 1 and not label:
        raise InputError("label", label, "the name of the first edition, where there are several")
    numbers = sum(
        len(layer) * (3 * len(layer.outputs) + 2 * len(layer.typical) + 2 * len(layer.linear))
        for one in editions.values()
        for layer in one
    )
    if numbers > MOST_NUMBERS:
        raise InputError(
            "layers",
            Phrase(f"{numbers:,} numbers, ends of intervals among them"),
            f"layers of at most {MOST_NUMBERS:,} numbers on one page",
            "Leave out the lowest level or some outputs.",
        )
    return editions


def page(title: str, content: Mapping[str, Any]) -> str:
    """One self-contained page: no request, no script and no style but its own."""
    code = script('JSON.parse(document.getElementById("data").textContent)', _PART)
    parts = {f"level-{level}": part for level, part in enumerate(content["layers"])}
    heading = element("h1", {"id": "title"}, title)
    note = element("noscript", None, element("p", {"class": "care"}, _UNABLE))
    atlas = element("div", {"id": "atlas", "class": "atlas"}, controls())
    return shell(title, [heading, note, atlas], kind="wide", data=head_of(content), parts=parts, script=code)


def controls() -> Markup:
    """What the script fills in: choices, the map, its key and its table. The same on every page that has a map."""
    return Markup((files(__package__) / "atlas.html").read_text("utf-8"))


def script(data: str, part: str, before: str = "") -> str:
    """The script of a map: `data` is JavaScript that gives the head of the content, `part` a function that gives a
    level of it, or a promise of one; `before` comes first, with the content at hand.

    >>> script("await found()", "(level) => level").endswith("})(await found(), (level) => level);\\n")
    True
    """
    folder = files(__package__)
    body = "\n".join((folder / name).read_text("utf-8") for name in _SCRIPTS)
    return f'"use strict";\n((data, part) => {{\n{before}{body}}})({data}, {part});\n'
