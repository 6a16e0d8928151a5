"""Maps: shapes are where they belong, data stays data, and input that makes no sense is refused."""

import gzip
import json
import math
import re
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.show.map import Layer, choropleth
from discreet.show.map.atlas import LATER, atlas, fits
from discreet.show.map.projection import Grid, project
from discreet.show.map.topojson import collections
from discreet.show.page import embedded

ATLAS = ("us-atlas-states-albers-10m.json.gz", "us-atlas-counties-albers-10m.json.gz")
STATES = sorted(atlas(False)[0].rings)
COUNTY, STATE = (next(part for part in atlas(True) if code in part.rings) for code in ("01001", "01"))


def layer(name, codes, outputs=("people",), **more):
    value = np.arange(len(codes)) * 100 + 50
    return Layer(name, codes, dict.fromkeys(outputs, (value, value - 20, value + 30)), **more)


def content(drawn):
    """What the page carries, read as a browser reads it."""
    return json.loads(Reader.of(drawn.html).scripts[0])


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


def area(rings):
    """The shoelace: holes run the other way round."""
    return abs(sum((r[:-1, 0] * r[1:, 1] - r[1:, 0] * r[:-1, 1]).sum() for r in rings)) / 2


def box(rings):
    points = np.concatenate(rings)
    return np.concatenate([points.min(axis=0), points.max(axis=0)])


# Decoding


def test_the_atlas_has_every_state_and_county_in_closed_rings():
    assert len(STATES) == len(STATE) == 51
    assert len(COUNTY) == 3142
    for part in (*atlas(False), *atlas(True)):
        for rings in part.rings.values():
            assert all((ring[0] == ring[-1]).all() for ring in rings)
    flat = sorted(name for code, name in COUNTY.names.items() if area(COUNTY.rings[code]) == 0)
    assert flat == ["Falls Church", "Lexington", "Manassas Park"]  # the atlas itself; each gets a small square


def test_arcs_meet_where_they_are_joined():
    raw = json.loads(gzip.decompress((files("discreet.show.map") / ATLAS[1]).read_bytes()))
    arcs = [np.cumsum(arc, axis=0) for arc in raw["arcs"]]
    for thing in raw["objects"]["counties"]["geometries"]:
        for polygon in [thing["arcs"]] if thing["type"] == "Polygon" else thing["arcs"]:
            for ring in polygon:
                pieces = [arcs[index] if index >= 0 else arcs[~index][::-1] for index in ring]
                for before, after in zip(pieces, pieces[1:] + pieces[:1], strict=True):
                    assert (before[-1] == after[0]).all(), thing["id"]


def test_counties_tile_their_state():
    for code in STATES:
        counties = [rings for county, rings in COUNTY.rings.items() if county[:2] == code]
        assert math.isclose(sum(map(area, counties)), area(STATE.rings[code]), rel_tol=1e-9), code
        extent = box([ring for rings in counties for ring in rings])
        assert np.allclose(extent, box(STATE.rings[code])), code


def albers(longitude, latitude):
    """The conic projection of the atlas (parallels 29.5 and 45.5, centre 96.6 W 38.7 N, scale 1300)."""
    first, second, middle = (math.radians(x) for x in (29.5, 45.5, 38.7))
    n = (math.sin(first) + math.sin(second)) / 2
    c = math.cos(first) ** 2 + 2 * n * math.sin(first)

    def place(west, north):
        reach, angle = math.sqrt(c - 2 * n * math.sin(north)) / n, n * math.radians(west)
        return reach * math.sin(angle), -reach * math.cos(angle)

    x, y = place(longitude + 96, math.radians(latitude))
    x0, y0 = place(-0.6, middle)
    return 487.5 + 1300 * (x - x0), 305 + 1300 * (y0 - y)


@pytest.mark.parametrize(
    ("code", "west", "east", "south", "north"),
    [("56", -111.056, -104.052, 40.995, 45.006), ("08", -109.060, -102.041, 36.992, 41.003)],
    ids=["Wyoming", "Colorado"],
)
def test_states_with_known_borders_are_where_they_belong(code, west, east, south, north):
    sides = [albers(west + (east - west) * t / 20, edge) for t in range(21) for edge in (south, north)]
    low, high = np.min(sides, axis=0), np.max(sides, axis=0)
    assert np.allclose(box(atlas(False)[0].rings[code]), [*low, *high], atol=0.6)


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


def geojson(**rings):
    def feature(code, ring):
        return {"type": "Feature", "id": code, "geometry": {"type": "Polygon", "coordinates": [ring]}}

    return {"type": "FeatureCollection", "features": [feature(*pair) for pair in rings.items()]}


def test_topojson_and_geojson_of_the_same_squares_are_the_same_picture():
    towns = layer("town", ["L", "R"])
    first = content(choropleth([towns], title="t", geometry=SQUARES, projection="screen"))
    second = content(choropleth([towns], title="t", geometry=geojson(L=LEFT, R=RIGHT), projection="screen"))
    assert first["layers"][0]["shapes"] == second["layers"][0]["shapes"]
    assert first["box"] == [20_000, 10_000]
    third = content(choropleth([towns], title="t", geometry=geojson(L=LEFT, R=RIGHT)))  # northward, as maps are
    assert third["layers"][0]["shapes"] != second["layers"][0]["shapes"]


def points(path):
    """The corners of a path, by a reader of its own."""
    for part in re.findall(r"M([^l]+)l([^z]+)z", path):
        start, moves = ([int(x) for x in re.findall(r"-?\d+", text)] for text in part)
        yield np.cumsum(np.array(start + moves).reshape(-1, 2), axis=0)


def test_a_path_keeps_every_corner_to_half_a_step():
    rings = STATE.rings["48"]
    grid = Grid.around(rings)
    drawn = list(points(grid.path(rings)))
    wanted = [(ring - (grid.left, grid.top)) * grid.scale for ring in rings]
    assert len(drawn) == len(rings)
    for ring, corners in zip(wanted, drawn, strict=True):
        apart = np.abs(ring[:, None] - corners[None]).max(axis=2)
        assert apart.min(axis=1).max() <= 0.5
        assert apart.min(axis=0).max() <= 0.5


def test_a_region_too_small_for_the_grid_can_still_be_seen():
    speck = np.array([[5, 5], [5.001, 5], [5.001, 5.001], [5, 5]])
    assert Grid(0, 0, 1, 10, 10).path([speck]) == "M-3 -3l16 0 0 16-16 0z"


def test_degrees_stay_together_across_the_date_line():
    east = np.array([[179, -17], [180, -17], [180, -16], [179, -17.0]])
    west = np.array([[-180, -17], [-179, -17], [-179, -16], [-180, -17.0]])
    grid = Grid.around(project([east, west], "auto", False))
    assert grid.width < 2.1 * grid.height  # two degrees wide, not 360
    apart = Grid.around(project([east, west], "map", False))
    assert apart.width > 300 * apart.height


def test_degrees_are_as_wide_as_they_are_on_the_ground():
    square = np.array([[10, 59.5], [11, 59.5], [11, 60.5], [10, 60.5], [10, 59.5]])
    grid = Grid.around(project([square], "degrees", False))
    assert math.isclose(grid.width / grid.height, 0.5, rel_tol=0.01)


# What belongs where


def test_regions_without_a_shape_are_listed_and_named():
    states = layer("state", [*STATES, "72"])
    counties = layer("county", ["01001", "02063", "09110", "72001"])
    drawn = choropleth([states, counties], title="t")
    assert drawn.unmapped == {"state": ("72",), "county": ("02063", "09110", "72001")}
    shown = content(drawn)["layers"]
    assert shown[0]["labels"][-1] == "Puerto Rico"
    assert shown[1]["labels"] == ["Autauga", "Chugach", "Capitol", ""]
    assert [bool(shape) for shape in shown[1]["shapes"]] == [True, False, False, False]
    assert len(shown[1]["context"]) == 3142 - 1  # counties that have no number stay visible as such
    assert "3 regions" not in repr(choropleth([states], title="t"))
    assert "4 regions not on the map" in repr(drawn)


def test_shapes_near_the_picture_are_shown_without_a_number_and_others_are_not():
    new_england = [code for code in STATES if code in ("09", "23", "25", "33", "50")]  # all but Rhode Island
    shown = content(choropleth([layer("state", new_england)], title="t"))["layers"][0]
    names = [name for name, _ in shown["context"]]
    assert "Rhode Island" in names
    assert "Texas" not in names


def test_parents_come_from_codes_or_are_given():
    shown = content(choropleth([layer("state", ["01", "44"]), layer("county", ["44001", "01001"])], title="t"))
    assert shown["layers"][1]["parents"] == [1, 0]
    towns = layer("town", ["x", "y"], parents=["south", "south"])
    shown = content(choropleth([layer("region", ["north", "south"]), towns], title="t"))
    assert shown["layers"][1]["parents"] == 1
    assert not any(level["shapes"] for level in shown["layers"])


def test_counties_alone_get_the_borders_of_states():
    shown = content(choropleth([layer("county", ["44001", "44003", "44005", "44007", "44009"])], title="t"))
    assert len(shown["outline"]) == 1
    assert shown["layers"][0]["parents"] == 0


@pytest.mark.parametrize(
    ("name", "codes", "american"),
    [
        ("state", ["44"], True),
        ("place", ["44"], False),
        ("place", ["01", "02", "04"], True),
        ("departement", ["01", "02", "03"], False),
        ("county", ["44001", "72001", "02063"], True),
        ("commune", [f"440{n:02d}" for n in range(1, 10)], False),  # INSEE codes have five digits too
        ("tract", ["44001030100", "44001030200", "44001030300"], False),
        ("state", ["RI", "MA", "CT"], False),
    ],
)
def test_only_codes_that_are_plainly_american_get_the_american_map(name, codes, american):
    assert fits(layer(name, codes)) is american
    drawn = content(choropleth([layer(name, codes)], title="t"))
    assert bool(drawn["layers"][0]["shapes"]) is american
    assert not content(choropleth([layer(name, codes)], title="t", geometry=None))["layers"][0]["shapes"]


def test_names_without_shapes_are_not_in_the_atlas():
    assert not set(LATER) & (set(STATE.rings) | set(COUNTY.rings))


def test_geometry_may_be_a_file_a_level_or_a_property(tmp_path):
    towns = layer("town", ["L", "R"])
    path = tmp_path / "towns.json.gz"
    path.write_bytes(gzip.compress(json.dumps(SQUARES).encode()))
    for geometry in (path, str(path), {"town": path}, {"town": SQUARES}):
        drawn = content(choropleth([towns], title="t", geometry=geometry))
        assert all(drawn["layers"][0]["shapes"])
    by_property = choropleth([layer("town", ["t1", "t2"])], title="t", geometry=SQUARES, code_property="town")
    assert by_property.unmapped == {"town": ("t1",)}


def test_intervals_arrive_as_they_were_published():
    value = np.array([7, -3, 2**53 - 1])
    towns = Layer("town", ["a", "b", "c"], {"n": (value, value - [1, 2, 3], value), "m": (value, value, value)})
    (n, m) = content(choropleth([towns], title="t"))["layers"][0]["data"]
    assert n == [[7, -3, 2**53 - 1], [1, 2, 3], 0]
    assert m == [[7, -3, 2**53 - 1], 0, 0]


def test_numbers_without_an_interval_claim_none():
    towns = Layer("town", ["a", "b"], {"n": ([1, 2], None, None)})
    page = content(choropleth([towns], title="t", confidence=0.95))
    assert page["layers"][0]["data"] == [[[1, 2], None, None]]
    assert "No intervals are stated" in page["about"]
    mixed = Layer("town", ["a", "b"], {"n": ([1, 2], None, None), "m": ([1, 2], [0, 0], [3, 3])})
    assert "95% interval" in content(choropleth([mixed], title="t", confidence=0.95))["about"]


# Data stays data

NASTY = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "<!--<script>",
    "a\u2028b\u2029c\0d",
    "\ud800",
    "\"'&amp;@script@@data@",
    "]]>",
]


def test_nothing_from_data_becomes_markup():
    codes = [f"{i}{text}" for i, text in enumerate(NASTY)]
    outputs = {text: (np.arange(7),) * 3 for text in NASTY}
    nasty = Layer(NASTY[1], codes, outputs, labels=NASTY)
    for text in NASTY:
        drawn = choropleth([nasty], title=text, privacy=text, about=text, output=text)
        reader = Reader.of(drawn.html)
        clean = Reader.of(choropleth([layer("a", ["b"])], title="t").html)
        assert reader.tags == clean.tags
        assert len(reader.scripts) == 2
        read = json.loads(reader.scripts[0])
        assert (read["title"], read["privacy"], read["layers"][0]["labels"]) == (text, text, NASTY)
        assert not re.search("[<>&\u2028\u2029]", reader.scripts[0])
        drawn.html.encode()  # half a surrogate pair would not go into a file


@pytest.mark.parametrize("text", NASTY)
def test_embedded_json_reads_back(text):
    assert json.loads(embedded([text, {text: 1}])) == [text, {text: 1}]


def test_a_notebook_gets_the_same_page_in_a_frame():
    drawn = choropleth([layer("state", STATES)], title='a "title" <b>')
    reader = Reader.of(drawn._repr_html_())
    assert reader.tags == ["iframe"]
    attributes = dict(reader.attributes)
    assert attributes["srcdoc"] == drawn.html
    assert attributes["sandbox"] == "allow-scripts"


def test_a_page_asks_for_nothing(tmp_path):
    drawn = choropleth([layer("state", STATES)], title="t")
    reader = Reader.of(drawn.html)
    assert not {"link", "img", "iframe", "object"} & set(reader.tags)
    assert not any(name in ("src", "href", "action") or name.startswith("on") for name, _ in reader.attributes)
    policy = re.search(r'Policy" content="([^"]+)"', drawn.html)[1]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    addresses = set(re.findall(r"https?://[^\s\"'<>]+", drawn.html))
    assert addresses == {"http://www.w3.org/2000/svg"}  # a name, not an address
    path = drawn.save(tmp_path / "map.html")
    assert path.read_bytes().decode() == drawn.html


def test_pages_are_small():
    states = layer("state", STATES)
    counties = layer("county", sorted(COUNTY.rings))
    assert len(choropleth([states], title="t").html.encode()) < 150_000
    assert len(choropleth([states, counties], title="t").html.encode()) < 2_000_000
    cells = [f"age {age}, {sex}" for age in range(8) for sex in "fm"]
    many = [layer("state", STATES, cells), layer("county", sorted(COUNTY.rings), cells)]
    assert len(choropleth(many, title="t").html.encode()) < 2_000_000


def test_the_licence_of_the_shapes_is_beside_them():
    folder = files("discreet.show.map")
    assert "Michael Bostock" in (folder / "us-atlas-LICENSE").read_text()
    assert set(ATLAS) <= {path.name for path in folder.iterdir()}


# Refusals

ONE = ([1], [0], [2])


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: Layer("", ["a"], {"n": ONE}), "layer"),
        (lambda: Layer("x", [], {"n": ([], [], [])}), "x.codes"),
        (lambda: Layer("x", "ab", {"n": ONE}), "x.codes"),
        (lambda: Layer("x", [1], {"n": ONE}), "x.codes"),
        (lambda: Layer("x", ["a", "a"], {"n": ([1, 1], [0, 0], [2, 2])}), "x.codes"),
        (lambda: Layer("x", ["a"], {"n": ONE}, labels=["b", "c"]), "x.labels"),
        (lambda: Layer("x", ["a"], {"n": ONE}, parents=[]), "x.parents"),
        (lambda: Layer("x", ["a"], {}), "x.outputs"),
        (lambda: Layer("x", ["a"], {1: ONE}), "x.outputs"),
        (lambda: Layer("x", ["a"], {"n": [1]}), "x.outputs['n']"),
        (lambda: Layer("x", ["a"], {"n": ([1], None, [2])}), "x.outputs['n']"),
        (lambda: Layer("x", ["a"], {"n": ([1, 2], [0, 0], [2, 2])}), "x.outputs['n']"),
        (lambda: Layer("x", ["a"], {"n": ([1], [3], [2])}), "x.outputs['n']"),
        (lambda: Layer("x", ["a"], {"n": ([float("nan")], [0], [2])}), "x.outputs['n']"),
        (lambda: Layer("x", ["a"], {"n": ([1], [0], [float("inf")])}), "x.outputs['n']"),
        (lambda: Layer("x", ["a"], {"n": ([1.5], [0], [2])}), "x.outputs['n']"),
        (lambda: Layer("x", ["a"], {"n": ([None], [0], [2])}), "x.outputs['n']"),
        (lambda: Layer("x", ["a"], {"n": ([2**53], [0], [2**53])}), "x.outputs['n']"),
        (lambda: Layer("x", ["a"], {"n": ([0], [-(2**63)], [0])}), "x.outputs['n']"),
    ],
)
def test_a_layer_that_makes_no_sense_is_refused(make, field):
    with pytest.raises(InputError) as refused:
        make()
    assert refused.value.field == field


A, B = layer("a", ["1", "2"]), layer("b", ["11", "23"])


@pytest.mark.parametrize(
    ("layers", "more", "field"),
    [
        ([], {}, "layers"),
        (["a"], {}, "layers"),
        ([A, A], {}, "layers"),
        ([A, layer("b", ["11"], ["other"])], {}, "b.outputs"),
        ([A, layer("b", ["31"])], {}, "b.codes"),
        ([A, layer("b", ["11"], parents=["3"])], {}, "b.parents"),
        ([A], {"output": "other"}, "output"),
        ([A], {"title": " "}, "title"),
        ([A], {"confidence": 95}, "confidence"),
        ([A], {"geometry": "us"}, "geometry"),
        ([A], {"geometry": "no-such-file.json"}, "geometry"),
        ([A], {"geometry": 7}, "geometry"),
        ([A], {"geometry": SQUARES}, "geometry"),
        ([A], {"geometry": {"c": SQUARES}}, "geometry"),
        ([A], {"geometry": {"type": "Topology"}}, "geometry"),
        ([A], {"geometry": {"type": "Point"}}, "geometry"),
        ([A], {"geometry": geojson(**{"1": [[0, 0], [1, "x"]]})}, "geometry"),
        ([A], {"geometry": geojson(**{"1": [[0, 0], [1, float("nan")]]})}, "geometry"),
        ([A], {"geometry": geojson(**{"1": [[0, 0], [0, 0], [0, 0]]})}, "geometry"),
        ([layer("town", ["L"])], {"geometry": SQUARES, "projection": "mercator"}, "projection"),
    ],
)
def test_a_map_that_makes_no_sense_is_refused(layers, more, field):
    with pytest.raises(InputError) as refused:
        choropleth(layers, **{"title": "t", **more})
    assert refused.value.field == field


def test_a_file_that_is_no_json_is_refused(tmp_path):
    for raw in (b"", b"{", b"[]", b"\x1f\x8bxx", b"\x1f\x8b"):
        path = tmp_path / "bad.json"
        path.write_bytes(raw)
        with pytest.raises(InputError, match="geometry"):
            choropleth([A], title="t", geometry=path)


def test_geometry_that_matches_nothing_says_what_both_sides_have():
    with pytest.raises(InputError, match=r"ids such as 'L', 'R'; layers have codes such as '1', '2'"):
        choropleth([A], title="t", geometry=SQUARES)


def test_more_numbers_than_a_browser_likes_are_refused():
    codes = [str(i) for i in range(100_000)]
    with pytest.raises(InputError, match="at most 1,000,000"):
        choropleth([layer("x", codes, [f"n{i}" for i in range(11)])], title="t")
