"""Regions get their shapes, from the atlas or a file; those without are listed and named."""

import gzip
import json

import pytest
from map_layers import SQUARES, STATES, A, content, geojson, layer

from discreet.errors import InputError
from discreet.show.map import choropleth

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


def test_counties_alone_get_the_borders_of_states():
    shown = content(choropleth([layer("county", ["44001", "44003", "44005", "44007", "44009"])], title="t"))
    assert len(shown["outline"]) == 1
    assert not any(shown["layers"][0]["parents"])


def test_geometry_may_be_a_file_a_level_or_a_property(tmp_path):
    towns = layer("town", ["L", "R"])
    path = tmp_path / "towns.json.gz"
    path.write_bytes(gzip.compress(json.dumps(SQUARES).encode()))
    for geometry in (path, str(path), {"town": path}, {"town": SQUARES}):
        drawn = content(choropleth([towns], title="t", geometry=geometry))
        assert all(drawn["layers"][0]["shapes"])
    by_property = choropleth([layer("town", ["t1", "t2"])], title="t", geometry=SQUARES, code_property="town")
    assert by_property.unmapped == {"town": ("t1",)}


def test_geometry_that_matches_nothing_says_what_both_sides_have():
    with pytest.raises(InputError, match=r"ids such as 'L', 'R'; regions of a have codes such as '1', '2'"):
        choropleth([A], title="t", geometry=SQUARES)


def test_the_property_that_has_the_codes_is_named():
    with pytest.raises(InputError, match=r"property 'town' has 1 of the codes of town: name it with code_property="):
        choropleth([layer("town", ["t2", "t3"])], title="t", geometry=SQUARES)
    with pytest.raises(InputError, match="values of 'name' such as 'Left'"):
        choropleth([layer("town", ["t2", "t3"])], title="t", geometry=SQUARES, code_property="name")


def test_codes_that_lost_their_zeros_are_said_to_have():
    with pytest.raises(InputError, match="leading zeros"):
        choropleth(
            [layer("town", ["01", "02"])], title="t", geometry=geojson(**{"1": [[0, 0], [1, 0], [1, 1], [0, 0]]})
        )
