"""Groups on a map: the totals of every group of every region, with their intervals."""

import pytest
from group_desk import GROUPS, ask, curator

from discreet.show.map.content import numbers_of


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    desk = curator(tmp_path_factory.mktemp("groups"))
    return ask(desk).plan(epsilon=5).release(release="groups")


def test_the_map_has_the_numbers_of_the_table(made):
    drawn = made.map()
    assert drawn.title == "people: population groups by county and tract"
    assert drawn.content["outputs"] == list(GROUPS)
    total = {(row["level"], row["region"], row["group"]): row for row in made.rows() if row["cell"] == "total"}
    for layer in drawn.content["layers"]:
        for place, group in enumerate(GROUPS):
            value, *_ = numbers_of(layer, place)
            assert list(value) == [total[layer["name"], code, group]["count"] for code in layer["codes"]]


def test_it_is_drawn_by_shapes(made):
    ring = [[0, 0], [1, 0], [1, 1], [0, 0]]
    shape = {"type": "Feature", "id": "00", "geometry": {"type": "Polygon", "coordinates": [ring]}}
    assert made.map(geometry=shape).html.count('"mapped":true') == 1
    assert "need not add up" in made.map().html
