"""What asks about regions have in common: levels, codes, and shapes that are compared with them beforehand."""

import json

import pytest
from tree_desk import COUNTIES, SCHEMA

from discreet.curator.request import request_to
from discreet.errors import InputError
from discreet.query.price import Price
from discreet.trees.ask import TreeAsk
from discreet.trees.census import CensusAsk
from discreet.trees.detail import DetailAsk
from discreet.trees.regions import RegionAsk


def squares(*codes):
    """Shapes of some regions."""
    ring = [[0, 0], [1, 0], [1, 1], [0, 0]]
    shape = {"type": "Polygon", "coordinates": [ring]}
    features = [{"type": "Feature", "id": code, "geometry": shape} for code in codes]
    return {"type": "FeatureCollection", "features": features}


SHAPES = squares(*COUNTIES[:2])


def asked(**more):
    return TreeAsk.of(["state", "county"], **more)


@pytest.mark.parametrize("kind", [TreeAsk, DetailAsk, CensusAsk])
def test_asks_about_regions_share_their_fields(kind):
    assert issubclass(kind, RegionAsk)


def test_shapes_of_other_regions_are_refused_with_what_both_have():
    with pytest.raises(InputError, match=r"such as 'Ash'.*'01000'") as problem:
        asked(geometry=squares("Ash")).checked(SCHEMA)
    assert problem.value.field == "geometry"
    with pytest.raises(InputError, match="left out unless geometry is given"):
        asked(code_property="GEOID").checked(SCHEMA)
    for sent in ({"county": "/etc/hostname"}, {}, {"county": {"file": "x"}}, 7):
        with pytest.raises(InputError, match="geometry"):
            TreeAsk.from_dict({"levels": ["county"], "geometry": sent}, SCHEMA)


def test_partial_matches_are_said_beside_the_plan(tmp_path):
    path = tmp_path / "counties.json"
    path.write_text(json.dumps(SHAPES))
    for geometry in (SHAPES, path, {"county": path}):
        (said,) = asked(geometry=geometry).checked(SCHEMA).remarks
        assert said.startswith("Shapes for the map: state: 0 of 2 regions; county: 2 of 8 regions (none for '01002', ")
    assert asked().checked(SCHEMA).remarks == ()


def test_shapes_stand_on_no_record_and_decide_nothing():
    price = Price.read(epsilon=1)
    assert request_to(asked(geometry=SHAPES), price) == request_to(asked(), price)
    assert "geometry" in asked(geometry=SHAPES).to_dict()  # a server is to compare them too
