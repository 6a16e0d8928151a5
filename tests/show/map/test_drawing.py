"""The page of a map: data stays data, intervals arrive as published, and nothing is requested."""

import json
import re

import numpy as np
import pytest
from map_layers import COUNTY, SQUARES, STATES, A, Reader, content, geojson, layer

from discreet.errors import InputError
from discreet.show.map import Layer, choropleth
from discreet.show.map.content import numbers_of
from discreet.show.page import embedded


def test_intervals_arrive_as_they_were_published():
    value = np.array([7, -3, 2**53 - 1])
    towns = Layer("town", ["a", "b", "c"], {"n": (value, value - [1, 2, 3], value), "m": (value, value, value)})
    ((n, m),) = content(choropleth([towns], title="t"))["layers"][0]["data"]
    assert n == [[7, -3, 2**53 - 1], [1, 2, 3], [0, 0, 0]]
    assert m == [[7, -3, 2**53 - 1], [0, 0, 0], [0, 0, 0]]


def test_both_kinds_of_intervals_arrive():
    towns = Layer("town", ["a", "b"], {"n": ([5, 6], [1, 2], [9, 9])}, typical={"n": ([4, 5], [6, 7])})
    page = content(choropleth([towns], title="t", confidence=0.9))
    assert page["layers"][0]["data"] == [[[[5, 6], [4, 4], [4, 3], [1, 1], [1, 1]]]]
    assert page["kinds"] == ["each", "typical"]
    each, typical = page["about"]
    assert "for each region (not for all at once)" in each
    assert "about 90% have their true number inside" in typical


def test_editions_are_put_in_the_order_of_the_first():
    first = Layer("town", ["a", "b"], {"n": ([5, 6], None, None)})
    second = Layer("town", ["b", "a"], {"n": ([7, 8], None, None)})
    page = content(choropleth([first], title="t", label="2010", compare={"2020": [second]}))
    assert page["editions"] == ["2010", "2020"]
    assert page["layers"][0]["data"] == [[[[5, 6], None, None]], [[[8, 7], None, None]]]


def test_regions_that_an_edition_does_not_have_are_said_to_be_missing_there():
    first = Layer("town", ["a", "b"], {"n": ([5, 6], [4, 4], [7, 7])}, parents=["X", "Y"])
    second = Layer("town", ["c", "b"], {"n": ([7, 8], [6, 6], [9, 9])}, parents=["Y", "Y"])
    above = Layer("part", ["X", "Y"], {"n": ([5, 6], [4, 4], [7, 7])})
    later = Layer("part", ["Y"], {"n": ([15], [14], [17])})
    drawn = choropleth([above, first], title="t", label="2010", compare={"2020": [later, second]}, sources=["p", "q"])
    page = content(drawn)
    parts, towns = page["layers"]
    assert (towns["codes"], towns["missing"], parts["missing"]) == (["a", "b", "c"], [[2], [0]], [[], [0]])
    assert towns["parents"] == [0, 1, 1]
    assert towns["data"] == [[[[5, 6, 0], [1, 2, 0], [2, 1, 0]]], [[[0, 8, 7], [0, 2, 1], [0, 1, 2]]]]
    assert page["sources"] == [0, 1]
    assert numbers_of(drawn.content["layers"][1], 0, 1)[0] == [None, 8, 7]
    same = content(choropleth([first], title="t", label="2010", compare={"2020": [first]}))
    assert (same["layers"][0]["missing"], same["sources"]) == (0, 0)


def test_numbers_without_an_interval_claim_none():
    towns = Layer("town", ["a", "b"], {"n": ([1, 2], None, None)})
    page = content(choropleth([towns], title="t", confidence=0.95))
    assert page["layers"][0]["data"] == [[[[1, 2], None, None]]]
    assert "No intervals are stated" in page["about"][0]
    mixed = Layer("town", ["a", "b"], {"n": ([1, 2], None, None), "m": ([1, 2], [0, 0], [3, 3])})
    assert "95% interval" in content(choropleth([mixed], title="t", confidence=0.95))["about"][0]


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
        assert len(reader.scripts) == 3
        read = content(drawn)
        assert (read["title"], read["privacy"], read["layers"][0]["labels"]) == (text, text, NASTY)
        assert not re.search("[<>&\u2028\u2029]", "".join(reader.scripts[:-1]))
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
    assert attributes["sandbox"] == "allow-scripts allow-downloads allow-modals"


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
        ([A], {"compare": [A]}, "compare"),
        ([A], {"compare": {"then": [A]}}, "label"),
        ([A], {"label": "now", "compare": {"now": [A]}}, "compare"),
        ([A], {"label": "now", "compare": {"then": [layer("a", ["3", "4"])]}}, "compare"),
        ([A], {"label": "now", "compare": {"then": [layer("a", ["1", "2"], ["other"])]}}, "compare"),
        ([A], {"label": 7}, "label"),
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


def test_more_numbers_than_a_browser_likes_are_refused():
    codes = [str(i) for i in range(100_000)]
    with pytest.raises(InputError, match="at most 16,000,000"):
        choropleth([layer("x", codes, [f"n{i}" for i in range(54)])], title="t")
