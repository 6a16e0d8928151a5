"""Shapes compared with codes before there are numbers."""

import pytest
from map_layers import geojson

from discreet.errors import InputError
from discreet.show.map.fit import fit_shapes

LEFT = [[0, 0], [1, 0], [1, 1], [0, 0]]
RIGHT = [[1, 0], [2, 0], [2, 1], [1, 0]]
TOWNS = geojson(L=LEFT, R=RIGHT)


def test_what_has_a_shape_and_what_has_none_is_told_by_level():
    all_towns, some, none = fit_shapes({"town": ["L", "R"], "part": ["L", "x", "y", "z", "w"], "block": ["1"]}, TOWNS)
    assert (str(all_towns), all_towns.missing) == ("town: all of 2 regions", ())
    assert str(some) == "part: 1 of 5 regions (none for 'x', 'y', 'z', ...)"
    assert str(none) == "block: 0 of 1 region"


def test_what_a_map_could_not_be_drawn_by_is_refused():
    with pytest.raises(InputError, match="ids such as 'L', 'R'; regions of town have codes such as 'x'"):
        fit_shapes({"town": ["x"]}, TOWNS)
    with pytest.raises(InputError, match="geometry"):
        fit_shapes({"town": ["L"]}, geojson(L=[[0, 0], [0, 0], [0, 0]]))
