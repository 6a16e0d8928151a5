"""The shipped atlas: every state and county, where it belongs, for codes that are plainly American."""

import math
from importlib.resources import files

import numpy as np
import pytest
from map_layers import ATLAS, COUNTY, STATE, STATES, box, content, layer

from discreet.show.map import choropleth
from discreet.show.map.atlas import LATER, atlas, fits


def area(rings):
    """The shoelace: holes run the other way round."""
    return abs(sum((r[:-1, 0] * r[1:, 1] - r[1:, 0] * r[:-1, 1]).sum() for r in rings)) / 2


# Decoding


def test_the_atlas_has_every_state_and_county_in_closed_rings():
    assert len(STATES) == len(STATE) == 51
    assert len(COUNTY) == 3142
    for part in (*atlas(False), *atlas(True)):
        for rings in part.rings.values():
            assert all((ring[0] == ring[-1]).all() for ring in rings)
    flat = sorted(name for code, name in COUNTY.names.items() if area(COUNTY.rings[code]) == 0)
    assert flat == ["Falls Church", "Lexington", "Manassas Park"]  # the atlas itself; each gets a small square


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


def test_the_licence_of_the_shapes_is_beside_them():
    folder = files("discreet.show.map")
    assert "Michael Bostock" in (folder / "us-atlas-LICENSE").read_text()
    assert set(ATLAS) <= {path.name for path in folder.iterdir()}
