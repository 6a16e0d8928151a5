"""Maps of flows: homes as dots, flows as lines, shades where many live."""

import math
import re

import pytest
from svg_parts import parts, texts

from discreet.errors import InputError
from discreet.show import Home, flow_map

HOMES = [Home("north", 0, 10, 100, 90, 110), Home("south", 0, 0, 25, 15, 35), Home("nobody", 5, 5, 0, 0, 9)]
WORKS = [("mill", 10.0, 0.0)]


def drawn(flows=((100,), (25,), (0,)), homes=HOMES, works=WORKS):
    return flow_map("Where they live", homes, works, flows)


def test_lines_are_as_wide_as_the_roots_of_flows_and_nobody_has_none():
    outlines = [one.get("d") for one in parts(drawn(), "path") if one.get("class") == "bar s0"]
    ends = [[float(number) for number in re.findall(r"[-0-9.]+", outline)] for outline in outlines]
    widths = [math.dist(one[4:6], one[6:8]) for one in ends]  # where the outline turns back
    assert len(widths) == 2
    assert widths[0] == pytest.approx(2 * widths[1], abs=0.3)


def test_north_is_up_and_every_home_has_a_dot_with_its_interval():
    dots = {one[0].text: one for one in parts(drawn(), "circle")}
    assert set(dots) == {
        "north: 100, from 90 to 110",
        "south: 25, from 15 to 35",
        "nobody: 0, from 0 to 9",
    }
    north, south = (next(one for words, one in dots.items() if words.startswith(name)) for name in ("north", "south"))
    assert float(north.get("cy")) < float(south.get("cy"))
    assert {"north", "south", "mill"} <= set(texts(drawn()))


def test_it_is_darkest_where_most_live():
    shades = [one for one in parts(drawn(), "rect") if one.get("fill-opacity")]
    darkest = max(shades, key=lambda one: int(one.get("class")[1]))
    middle = next(one for one in parts(drawn(), "circle") if one[0].text.startswith("north"))
    assert darkest.get("class").startswith("n8")
    assert abs(float(darkest.get("y")) - float(middle.get("cy"))) < 30


def test_no_shade_is_cut_off_at_an_edge_and_it_is_said_what_they_are():
    picture = drawn()
    shades = [one for one in parts(picture, "rect") if one.get("fill-opacity")]
    for corner, size in (("x", picture.width), ("y", picture.height)):
        assert min(float(one.get(corner)) for one in shades) > 0
        assert max(float(one.get(corner)) + 11 for one in shades) < size
    assert "Darker where more people live" in " ".join(texts(picture))


def test_places_in_one_point_and_empty_flows_are_drawn():
    alone = [Home("here", 1, 1, 0, 0, 0)]
    assert drawn(flows=[[0]], homes=alone, works=[("there", 1.0, 1.0)]).height > 0


@pytest.mark.parametrize(
    ("homes", "flows"),
    [([], []), (HOMES, [[1]]), (HOMES[:1], [[1, 2]]), ([Home("x", float("nan"), 0, 1, 1, 1)], [[1]])],
)
def test_what_cannot_be_drawn_is_refused(homes, flows):
    with pytest.raises(InputError):
        drawn(flows=flows, homes=homes)
