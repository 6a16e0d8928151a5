"""Arcs are deltas that meet where they are joined; TopoJSON and GeoJSON of the same shapes are the same."""

import gzip
import json
from importlib.resources import files

import numpy as np
import pytest
from map_layers import ATLAS, SQUARES, A, content, geojson, layer

from discreet.errors import InputError
from discreet.show.map import choropleth
from discreet.show.map.topojson import collections


def test_arcs_meet_where_they_are_joined():
    raw = json.loads(gzip.decompress((files("discreet.show.map") / ATLAS[1]).read_bytes()))
    arcs = [np.cumsum(arc, axis=0) for arc in raw["arcs"]]
    for thing in raw["objects"]["counties"]["geometries"]:
        for polygon in [thing["arcs"]] if thing["type"] == "Polygon" else thing["arcs"]:
            for ring in polygon:
                pieces = [arcs[index] if index >= 0 else arcs[~index][::-1] for index in ring]
                for before, after in zip(pieces, pieces[1:] + pieces[:1], strict=True):
                    assert (before[-1] == after[0]).all(), thing["id"]


LEFT = [[110, 200], [110, 210], [100, 210], [100, 200], [110, 200]]


RIGHT = [[110, 200], [120, 200], [120, 210], [110, 210], [110, 200]]


def test_arcs_are_deltas_and_a_negative_index_runs_backwards():
    (towns,) = collections(SQUARES)
    assert {code: [ring.tolist() for ring in rings] for code, rings in towns.rings.items()} == {
        "L": [LEFT],
        "R": [RIGHT],
    }
    assert towns.names == {"L": "Left"}
    forgetful = json.loads(json.dumps(SQUARES))
    forgetful["objects"]["towns"]["geometries"][1]["arcs"] = [[[2, 0]]]  # the same arc, not turned round
    assert collections(forgetful)[0].rings["R"][0].tolist() != RIGHT


def test_topojson_and_geojson_of_the_same_squares_are_the_same_picture():
    towns = layer("town", ["L", "R"])
    first = content(choropleth([towns], title="t", geometry=SQUARES, projection="screen"))
    second = content(choropleth([towns], title="t", geometry=geojson(L=LEFT, R=RIGHT), projection="screen"))
    assert first["layers"][0]["shapes"] == second["layers"][0]["shapes"]
    assert first["box"] == [20_000, 10_000]
    third = content(choropleth([towns], title="t", geometry=geojson(L=LEFT, R=RIGHT)))  # northward, as maps are
    assert third["layers"][0]["shapes"] != second["layers"][0]["shapes"]


def test_a_file_that_is_no_json_is_refused(tmp_path):
    for raw in (b"", b"{", b"[]", b"\x1f\x8bxx", b"\x1f\x8b"):
        path = tmp_path / "bad.json"
        path.write_bytes(raw)
        with pytest.raises(InputError, match="geometry"):
            choropleth([A], title="t", geometry=path)
