"""Layers of a map, its content, and small shapes as TopoJSON and GeoJSON."""

import base64
import json
import re
from html.parser import HTMLParser

import numpy as np

from discreet.show.map import Layer
from discreet.show.map.atlas import atlas

ATLAS = ("us-atlas-states-albers-10m.json.gz", "us-atlas-counties-albers-10m.json.gz")


STATES = sorted(atlas(False)[0].rings)


COUNTY, STATE = (next(part for part in atlas(True) if code in part.rings) for code in ("01001", "01"))


def layer(name, codes, outputs=("people",), **more):
    value = np.arange(len(codes)) * 100 + 50
    return Layer(name, codes, dict.fromkeys(outputs, (value, value - 20, value + 30)), **more)


def content(drawn):
    """What the page carries, read as a browser reads it: the head with every level, its numbers written out."""
    head, *levels = map(json.loads, Reader.of(drawn.html).scripts[:-1])
    for found, level in zip(head["layers"], levels, strict=True):
        size = len(level["codes"])
        assert (found["name"], found["size"], found["mapped"]) == (level["name"], size, bool(level["shapes"]))
        data = [[[unpacked(one, size) for one in row] for row in rows] for rows in level["data"]]
        parents, children = (unpacked(level[key], size) for key in ("parents", "children"))
        found |= level | {"data": data, "parents": parents, "children": children}
    return head


def unpacked(text, size):
    """Numbers of a page, by a reader of its own: seven bits a byte, the lowest first, the sign in the lowest bit."""
    if not isinstance(text, str):
        return text if text is None else [text] * size
    numbers, number, shift = [], 0, 0
    for byte in base64.b64decode(text):
        number += (byte % 128) << shift
        shift += 7
        if byte < 128:
            numbers.append(-(number // 2) if number % 2 else number // 2)
            number, shift = 0, 0
    assert len(numbers) == size
    return numbers


class Reader(HTMLParser):
    """The tags of a page and the text of its scripts."""

    @classmethod
    def of(cls, text):
        reader = cls()
        reader.tags, reader.scripts, reader.attributes = [], [], []
        reader.feed(text)
        return reader

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, text):
        if self.tags and self.tags[-1] == "script":
            self.scripts[-1] += text


def box(rings):
    points = np.concatenate(rings)
    return np.concatenate([points.min(axis=0), points.max(axis=0)])


SQUARES = {
    "type": "Topology",
    "transform": {"scale": [10, 10], "translate": [100, 200]},
    # The shared side first, then the way round the left and the right square.
    "arcs": [[[1, 0], [0, 1]], [[1, 1], [-1, 0], [0, -1], [1, 0]], [[1, 0], [1, 0], [0, 1], [-1, 0]]],
    "objects": {
        "towns": {
            "type": "GeometryCollection",
            "geometries": [
                {"type": "Polygon", "id": "L", "arcs": [[0, 1]], "properties": {"name": "Left"}},
                {"type": "MultiPolygon", "id": "R", "arcs": [[[2, ~0]]], "properties": {"town": "t2"}},
                {"type": "Point", "id": "P", "coordinates": [0, 0]},
            ],
        }
    },
}


def geojson(**rings):
    def feature(code, ring):
        return {"type": "Feature", "id": code, "geometry": {"type": "Polygon", "coordinates": [ring]}}

    return {"type": "FeatureCollection", "features": [feature(*pair) for pair in rings.items()]}


def points(path):
    """The corners of a path, by a reader of its own."""
    for part in re.findall(r"M([^l]+)l([^z]+)z", path):
        start, moves = ([int(x) for x in re.findall(r"-?\d+", text)] for text in part)
        yield np.cumsum(np.array(start + moves).reshape(-1, 2), axis=0)


A, B = layer("a", ["1", "2"]), layer("b", ["11", "23"])
