"""LODES files: read, added up to larger areas, told apart, refused by name."""

import gzip

import pytest

from discreet.errors import InputError
from discreet.flows.commuting.lodes import read_lodes

OD = """w_geocode,h_geocode,S000,SA01,SA02,SA03,SE01,SE02,SE03,SI01,SI02,SI03,createdate
360610001001000,360610002001000,3,1,1,1,0,1,2,0,1,2,20231016
360610001001000,360470003001001,2,0,2,0,1,0,1,1,0,1,20231016
360610001001001,360470003001001,5,2,2,1,1,2,2,0,2,3,20231016
360050009001000,360610002001000,1,0,0,1,0,0,1,0,0,1,20231016
"""
WAC = """w_geocode,C000,CA01,CA02,CA03,CE01,CE02,CE03,CNS01,CNS02,CNS18,createdate
360610001001000,5,1,3,1,1,1,3,0,1,4,20231016
360610001001001,5,2,2,1,1,2,2,2,0,3,20231016
"""


@pytest.fixture
def od(tmp_path):
    path = tmp_path / "ny_od_main_JT00_2021.csv.gz"
    path.write_bytes(gzip.compress(OD.encode()))
    return path


def test_blocks_are_added_up_to_counties(od):
    found = read_lodes(od, "county")
    assert (found.kind, len(found)) == ("od", 3)
    assert found.table.to_pylist()[1] == {
        "h_geocode": "36061",
        "w_geocode": "36005",
        "S000": 1,
        **dict(zip(["SA01", "SA02", "SA03", "SE01", "SE02", "SE03"], [0, 0, 1, 0, 0, 1], strict=True)),
        **{"SI01": 0, "SI02": 0, "SI03": 1},
    }
    assert repr(found) == "<LODES od file by county: 3 rows, 11 workers>"
    assert len(read_lodes(od)) == 4


def test_codes_keep_their_leading_zeros(tmp_path):
    path = tmp_path / "al_od_main_JT00_2021.csv"
    path.write_text(OD.replace("360", "010"))
    assert set(read_lodes(path, "state").table["w_geocode"].to_pylist()) == {"01"}


def test_a_work_area_has_homes_and_a_profile_that_add_up(od):
    found = read_lodes(od, "county")
    assert found.homes("36061") == {"36047": 7, "36061": 3}
    assert found.homes("36061", "36005") == {"36047": 7, "36061": 4}
    profile = found.profile("36061")
    assert profile[0] == ("age", "29 or younger", 3, 0.3)
    for name in ("age", "earnings", "industry"):
        assert sum(many for kind, _, many, _ in profile if kind == name) == 10
    assert sum(share for kind, _, _, share in profile if kind == "earnings") == pytest.approx(1)


def test_workers_are_one_row_each(od):
    rows = read_lodes(od, "county").workers().to_pylist()
    assert len(rows) == 11
    assert rows.count({"home": "36047", "work": "36061"}) == 7


def test_files_of_one_side_have_sectors(tmp_path):
    path = tmp_path / "ny_wac_S000_JT00_2021.csv"
    path.write_text(WAC)
    found = read_lodes(path, "tract")
    assert found.kind == "wac"
    assert ("industry", "accommodation and food services", 7, 0.7) in found.profile("36061000100")
    for verb in (found.workers, lambda: found.homes("36061000100")):
        with pytest.raises(InputError, match="an od file"):
            verb()
    home = tmp_path / "rac.csv"
    home.write_text(WAC.replace("w_geocode", "h_geocode"))
    assert read_lodes(home, "state").profile("36")[0][2] == 3


def test_the_screen_of_a_public_file_has_no_intervals(od):
    found = read_lodes(od, "county")
    where = {"36061": (40.8, -74.0), "36047": (40.6, -73.9)}
    text = found.to_html("36061", coordinates=where)
    assert "Work area: 36061" in text
    assert "<svg" in text
    assert "interval" not in text.split("<body")[1]
    assert "<svg" not in found.to_html("36061")
    with pytest.raises(InputError, match="coordinates"):
        found.to_html("36061", coordinates={"36047": (1, 1)})
    for wrong in (("north", 1), (1,), (float("nan"), 1), None):
        with pytest.raises(InputError, match="two numbers a place"):
            found.to_html("36061", coordinates={"36061": wrong, "36047": (1, 1)})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1,2\n", "columns a, b"),
        (OD.replace("S000", "T000"), "w_geocode"),
        (OD.replace(",3,1,1,1,", ",-3,1,1,1,"), "S000"),
        (OD.replace(",3,1,1,1,", ",many,1,1,1,"), "S000"),
        (OD.replace(",3,1,1,1,", ",,1,1,1,"), "S000"),
        (OD.replace("360610001001000", "36061"), "fifteen digits"),
        (OD + "1,2\n", "as many values on each line"),
        (OD.replace("SA02", "S000"), "columns that differ"),
        (OD.replace(",3,1,1,1,", f",{2**63 - 1},1,1,1,"), "add up to at most"),
    ],
)
def test_files_that_are_no_lodes_are_refused_by_what_they_lack(tmp_path, text, said):
    path = tmp_path / "file.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        read_lodes(path)


def test_files_levels_and_areas_that_do_not_exist_are_refused(od, tmp_path):
    for path in (tmp_path / "none.csv", tmp_path, od.with_name("x.txt")):
        with pytest.raises(InputError, match="a LODES file that exists"):
            read_lodes(path)
    with pytest.raises(InputError, match="county"):
        read_lodes(od, "countys")
    for areas in ((), ("36",), ("99999",)):
        with pytest.raises(InputError) as caught:
            read_lodes(od, "county").profile(*areas)
        assert caught.value.field == "areas"
