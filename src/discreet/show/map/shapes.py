"""Which shapes belong to which level, as SVG paths on one grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.errors import InputError, Phrase
from discreet.show.map.atlas import Regions, atlas, fits
from discreet.show.map.projection import Grid, Projection, project
from discreet.show.map.topojson import Collection, collections, properties

__all__ = ["Shapes", "shapes"]

# Characters of all paths together; a page beyond this is slow to open.
_MOST = 8_000_000
_FEW = 3  # codes that a message shows


@dataclass(frozen=True, slots=True)
class Shapes:
    """Paths, names and neighbours without a number (name, path), level by level; empty where a level has no shapes."""

    paths: list[dict[str, str]]
    names: list[Mapping[str, str]]
    context: list[list[list[str]]]
    outline: list[str]
    width: int
    height: int
    us: bool
    note: str


def shapes(layers: Sequence[Regions], geometry: Any, projection: Projection, code_property: str | None) -> Shapes:
    """Match the codes of each level with features, and draw the features on one grid."""
    us = isinstance(geometry, str) and (geometry == "us" or (geometry == "auto" and any(map(fits, layers))))
    found: list[Collection | None] = [None] * len(layers)
    if us:
        known = atlas(any(len(code) == 5 for layer in layers for code in layer.codes))
        # Unasked, only levels that are plainly American; else another level's codes could land in Alabama.
        found = [_best(layer, known) if geometry == "us" or fits(layer) else None for layer in layers]
        projection = "screen"
    elif geometry is not None and not (isinstance(geometry, str) and geometry == "auto"):
        found = _own(layers, geometry, code_property)
    if not any(found):
        if us or not (geometry is None or geometry == "auto"):
            raise _unmatched(layers, geometry, us, code_property)
        return Shapes([{}] * len(layers), [{}] * len(layers), [[]] * len(layers), [], 0, 0, False, "")
    return _draw(layers, found, projection, us)


def _draw(layers: Sequence[Regions], found: list[Collection | None], projection: Projection, us: bool) -> Shapes:
    border = _border(found) if us else None
    used = {id(part): part for part in (*found, border) if part is not None}
    keys = [(key, code, len(rings)) for key, part in used.items() for code, rings in part.rings.items()]
    flat = [ring for part in used.values() for rings in part.rings.values() for ring in rings]
    topological = all(part.topological for part in used.values())
    placed = iter(project(flat, projection, topological))
    rings = {(key, code): [next(placed) for _ in range(count)] for key, code, count in keys}
    matched = [
        ring
        for layer, part in zip(layers, found, strict=True)
        if part is not None
        for code in layer.codes
        for ring in rings.get((id(part), code), [])
    ]
    grid = Grid.around(matched)
    paths: list[dict[str, str]] = []
    context: list[list[list[str]]] = []
    for layer, part in zip(layers, found, strict=True):
        if part is None:
            paths.append({})
            context.append([])
            continue
        ours = set(layer.codes)
        paths.append({code: grid.path(rings[id(part), code]) for code in layer.codes if code in part.rings})
        others = [(code, rings[id(part), code]) for code in part.rings if code not in ours]
        context.append([[part.names.get(code, code), grid.path(own)] for code, own in others if grid.near(own)])
    outline = []
    if border is not None:
        outline = [grid.path(rings[id(border), code]) for code in border.rings if grid.near(rings[id(border), code])]
    size = sum(len(path) for level in paths for path in level.values()) + sum(len(p) for c in context for _, p in c)
    if size > _MOST:
        hint = "Simplify it first (with mapshaper, say) or leave out the lowest level."
        raise InputError("geometry", Phrase(f"{size:,} characters of paths"), f"at most {_MOST:,}", hint)
    note = "Boundaries: U.S. Census Bureau, 2017 edition (us-atlas)." if us else ""
    names = [part.names if part is not None else {} for part in found]
    return Shapes(paths, names, context, outline, grid.width, grid.height, us, note)


def _border(found: list[Collection | None]) -> Collection | None:
    """States to draw around counties where no level of states does."""
    here = [part for part in found if part is not None]
    return None if any("01" in part.rings for part in here) else next(p for p in atlas(True) if "01" in p.rings)


def _best(layer: Regions, known: Sequence[Collection]) -> Collection | None:
    """The collection that has most of a layer's codes; none where it has none of them."""
    hits = [sum(code in part.rings for code in layer.codes) for part in known]
    most = max(hits, default=0)
    return known[hits.index(most)] if most else None


def _own(layers: Sequence[Regions], geometry: Any, code_property: str | None) -> list[Collection | None]:
    if isinstance(geometry, Mapping) and "type" not in geometry:
        unknown = set(geometry) - {layer.name for layer in layers}
        if unknown:
            allowed = "one of the levels " + ", ".join(layer.name for layer in layers)
            raise InputError("geometry", min(map(str, unknown)), allowed)
        parts = {name: collections(part, code_property) for name, part in geometry.items()}
        return [_best(layer, parts.get(layer.name, [])) for layer in layers]
    known = collections(geometry, code_property)
    return [_best(layer, known) for layer in layers]


def _unmatched(layers: Sequence[Regions], geometry: Any, us: bool, code_property: str | None) -> InputError:
    asked = ", ".join(repr(code) for code in layers[-1].codes[:3])
    if us:
        allowed = "FIPS codes as text: two digits for a state, five for a county"
        return InputError("geometry", "us", allowed, f"The layers have codes such as {asked}.")
    codes: list[str] = []
    beside: dict[str, set[str]] = {}
    if not (isinstance(geometry, Mapping) and "type" not in geometry):
        codes = [code for part in collections(geometry, code_property) for code in part.rings]
        beside = properties(geometry)
    whose = "ids" if code_property is None else f"values of {code_property!r}"
    have = f"{whose} such as {', '.join(map(repr, codes[:_FEW]))}" if codes else f"no {whose}"
    expected = f"regions of {layers[-1].name} have codes such as {asked}"
    hint = f"Features have {have}; {expected}. {_advice(layers, codes, beside)}"
    what = geometry if isinstance(geometry, str) else Phrase("none such")
    return InputError("geometry", what, "features whose id is a region's code", hint)


def _advice(layers: Sequence[Regions], codes: Sequence[str], beside: Mapping[str, set[str]]) -> str:
    """What to name instead: the property that has most codes of a level; or what became of the codes."""
    hits = [(len(values & set(one.codes)), name, one.name) for name, values in beside.items() for one in layers]
    many, name, level = max(hits, default=(0, "", ""))
    if many:
        return f"The property {name!r} has {many:,} of the codes of {level}: name it with code_property=."
    bare = {code.lstrip("0") for code in codes}
    if any(code.lstrip("0") in bare for layer in layers for code in layer.codes):
        return "They differ in leading zeros: write codes as text, with their zeros."
    listed = ", ".join(list(beside)[:8])
    return "Name a property with code_property=." + (f" There are {listed}." if listed else "")
