"""Rings of TopoJSON and GeoJSON: what a geometry file says, as plain arrays of points."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, kind_of

__all__ = ["Collection", "Ring", "collections", "properties", "read"]

Ring = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Collection:
    """Features by code: the closed rings of each (outlines and holes alike), and its name where the file has one."""

    rings: Mapping[str, list[Ring]]
    names: Mapping[str, str]
    topological: bool

    def __len__(self) -> int:
        return len(self.rings)


def read(source: Any) -> Mapping[str, Any]:
    """The JSON of a path (`.gz` too) or a dictionary that holds it already."""
    if isinstance(source, Mapping):
        return source
    if not isinstance(source, str | Path):
        raise InputError("geometry", kind_of(source), "a path or a dictionary of TopoJSON or GeoJSON")
    path = Path(source)
    try:
        raw = path.read_bytes()
        found = json.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
    except OSError as error:
        raise InputError("geometry", str(source), f"a file that can be read ({error.strerror or error})") from None
    except (ValueError, EOFError):
        raise InputError("geometry", str(source), "a JSON file, gzipped or not") from None
    if not isinstance(found, Mapping):
        raise InputError("geometry", str(source), "a JSON object: TopoJSON or GeoJSON")
    return found


def collections(source: Any, code_property: str | None = None) -> list[Collection]:
    """Every collection of features in a TopoJSON or GeoJSON: one for each TopoJSON object.

    >>> square = {"type": "Polygon", "coordinates": [[[0, 0], [2, 0], [2, 1], [0, 0]]]}
    >>> found = collections({"type": "Feature", "id": "a", "properties": {"name": "Ash"}, "geometry": square})
    >>> dict(found[0].names), found[0].rings["a"][0].tolist()
    ({'a': 'Ash'}, [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 0.0]])
    """
    whole = read(source)
    try:
        if whole.get("type") == "Topology":
            arcs = _arcs(whole)
            return [
                _collection(((part, _stitched(arcs, part)) for part in _parts(thing)), code_property, True)
                for thing in whole["objects"].values()
            ]
        if whole.get("type") in ("FeatureCollection", "Feature"):
            features = whole["features"] if whole["type"] == "FeatureCollection" else [whole]
            return [_collection(((part, _plain(part["geometry"])) for part in features), code_property, False)]
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError):
        raise InputError("geometry", whole.get("type"), "well-formed TopoJSON or GeoJSON polygons") from None
    raise InputError("geometry", whole.get("type"), "TopoJSON (a Topology) or GeoJSON (a FeatureCollection)")


def properties(source: Any) -> dict[str, set[str]]:
    """The values of each property of the features, as codes would be written: which of them might be one.

    >>> place = {"type": "Feature", "properties": {"GEOID": "44001", "area": 1.5}, "geometry": None}
    >>> properties(place)
    {'GEOID': {'44001'}}
    """
    whole = read(source)
    if whole.get("type") == "Topology":
        parts = [part for thing in whole["objects"].values() for part in _parts(thing)]
    else:
        parts = whole["features"] if whole.get("type") == "FeatureCollection" else [whole]
    found: dict[str, set[str]] = {}
    for part in parts:
        known = part.get("properties")
        for name, value in known.items() if isinstance(known, Mapping) else ():
            if isinstance(value, str | int) and not isinstance(value, bool):
                found.setdefault(name, set()).add(str(value))
    return found


def _collection(pairs: Iterator[tuple[Any, list[Ring]]], code_property: str | None, topological: bool) -> Collection:
    rings: dict[str, list[Ring]] = {}
    names: dict[str, str] = {}
    for part, found in pairs:
        properties = part.get("properties") or {}
        code = part.get("id") if code_property is None else properties.get(code_property)
        if code is None or not found:
            continue  # points, lines and nameless features (a nation's outline) draw nothing that could be asked about
        rings.setdefault(str(code), []).extend(found)
        name = properties.get("name", properties.get("NAME"))
        if isinstance(name, str):
            names[str(code)] = name
    return Collection(rings, names, topological)


def _arcs(topology: Mapping[str, Any]) -> list[Ring]:
    """Arcs as points: a quantised topology stores steps between grid points."""
    arcs = [np.array([point[:2] for point in arc], dtype=np.float64).reshape(-1, 2) for arc in topology["arcs"]]
    if "transform" not in topology:
        return arcs
    scale = np.asarray(topology["transform"]["scale"], dtype=np.float64)
    shift = np.asarray(topology["transform"]["translate"], dtype=np.float64)
    return [np.cumsum(arc, axis=0) * scale + shift for arc in arcs]


def _parts(thing: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if thing["type"] == "GeometryCollection":
        for part in thing["geometries"]:
            yield from _parts(part)
    else:
        yield thing


def _stitched(arcs: list[Ring], part: Mapping[str, Any]) -> list[Ring]:
    match part["type"]:
        case "Polygon":
            polygons = [part["arcs"]]
        case "MultiPolygon":
            polygons = part["arcs"]
        case _:
            return []
    return [_ring(arcs, indices) for polygon in polygons for indices in polygon]


def _ring(arcs: list[Ring], indices: list[int]) -> Ring:
    """Arcs end to end: a negative index is its complement backwards, and joints are not repeated."""
    pieces = [arcs[index] if index >= 0 else arcs[~index][::-1] for index in indices]
    return _closed(np.concatenate([pieces[0], *(piece[1:] for piece in pieces[1:])]))


def _plain(geometry: Mapping[str, Any] | None) -> list[Ring]:
    match geometry["type"] if geometry else None:
        case "Polygon":
            polygons = [geometry["coordinates"]]  # type: ignore[index]
        case "MultiPolygon":
            polygons = geometry["coordinates"]  # type: ignore[index]
        case "GeometryCollection":
            return [ring for part in geometry["geometries"] for ring in _plain(part)]  # type: ignore[index]
        case _:
            return []
    return [_closed(np.array([point[:2] for point in ring], dtype=float)) for polygon in polygons for ring in polygon]


def _closed(ring: Ring) -> Ring:
    if ring.ndim != 2 or ring.shape[1] != 2 or not np.isfinite(ring).all():
        raise ValueError("a ring is a list of finite points")
    return ring if (ring[0] == ring[-1]).all() else np.concatenate([ring, ring[:1]])
