"""The screen of a work area, LODES files and priors, as a person types them."""

import json

import pytest
from shell import run

SCHEMA = """
[dataset]
name = "workers"
[budget]
epsilon = 100000
[columns.home]
type = "category"
values = ["A", "B"]
nullable = false
[columns.work]
type = "category"
values = ["A", "B"]
nullable = false
[columns.age]
type = "category"
values = ["young", "old"]
nullable = false
"""
OD = """w_geocode,h_geocode,S000,SA01,SA02,SA03,SE01,SE02,SE03,SI01,SI02,SI03,createdate
360610001001000,360610002001000,3,1,1,1,0,1,2,0,1,2,20231016
360610001001000,360470003001001,2,0,2,0,1,0,1,1,0,1,20231016
"""
ASKED = ["workers.csv", "--origin", "home", "--destination", "work", "--coordinates", "places.csv"]


@pytest.fixture
def folder(tmp_path):
    rows = ["home,work,age", *["A,B,old"] * 30, *["B,B,young"] * 10, *["A,A,young"] * 5]
    (tmp_path / "workers.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "places.csv").write_text("place,x,y\nA,0,0\nB,3,4\n")
    (tmp_path / "discreet.toml").write_text(SCHEMA)
    (tmp_path / "od.csv").write_text(OD)
    run("ledger", "create", cwd=tmp_path)
    return tmp_path


def test_a_work_area_is_shown_drawn_and_read_again(folder):
    paid = ["--profile", "age", "--epsilon", "20000", "--id", "c", "--yes"]
    text = run("commute", "release", *ASKED, *paid, "--work", "B", "--page", "b.html", cwd=folder).stdout
    for part in ("Who works in B", "30 [30, 30]", "0.750", "Where people who work in B live", "Wrote b.html"):
        assert part in text, text
    assert "Work area: B" in (folder / "b.html").read_text()
    shown = json.loads(run("commute", "show", "c", "--work", "A", "--work", "B", "--json", cwd=folder).stdout)
    assert shown["homes"]["columns"]["count"] == [35, 10]
    assert shown["profile"]["columns"]["count"] == [15, 30]
    run("commute", "show", "c", "--work", "B", "--out", "tables", cwd=folder)
    assert (folder / "tables" / "profile.csv").exists()
    assert "characteristic" in run("commute", "show", "c", "--part", "profile", cwd=folder).stdout
    found = run("commute", "show", "c", "--work", "C", cwd=folder, code=2)
    assert "`--work` must be" in found.stderr


@pytest.mark.parametrize(
    ("options", "flag"), [(["--page", "b.html"], "--work"), (["--page", "b.txt", "--work", "B"], "--page")]
)
def test_a_page_that_cannot_be_written_is_refused_before_anything_is_spent(folder, options, flag):
    found = run("commute", "release", *ASKED, "--epsilon", "1", "--yes", *options, cwd=folder, code=2)
    assert f"`{flag}` must be" in found.stderr
    assert json.loads(run("ledger", "show", "--json", cwd=folder).stdout)["charges"] == []


def test_a_lodes_file_becomes_a_table_rows_and_a_page(folder):
    files = ["--out", "counties.csv", "--workers", "rows.csv", "--page", "m.html"]
    text = run("commute", "lodes", "od.csv", "--work", "36061", *files, cwd=folder).stdout
    for part in ("2 rows, 5 workers", "29 or younger", "20.0%", "Wrote m.html"):
        assert part in text, text
    assert (folder / "counties.csv").read_text().splitlines()[1].startswith('"36047","36061",2')
    assert len((folder / "rows.csv").read_text().splitlines()) == 6
    told = json.loads(run("commute", "lodes", "od.csv", "--level", "state", "--json", cwd=folder).stdout)
    assert (told["kind"], told["rows"]) == ("od", 1)
    for wrong, flag in (
        (["--page", "m.html"], "--work"),
        (["--level", "moon"], "level"),
        (["--out", "x.txt"], "--out"),
    ):
        assert f"`{flag}` must be" in run("commute", "lodes", "od.csv", *wrong, cwd=folder, code=2).stderr


def test_a_million_workers_at_epsilon_seven_need_913_made_up_ones_in_every_block(tmp_path):
    text = run("commute", "prior", "--workers", "1000000", "--epsilon", "7", cwd=tmp_path).stdout
    assert "912.7" in text
    found = json.loads(run("commute", "prior", "--workers", "1000", "--epsilon", "2", "--json", cwd=tmp_path).stdout)
    assert found["approximate"] < found["probabilistic"] <= found["accepted"] < found["pure"]
    for wrong in (["--epsilon", "0"], ["--chance", "2"], ["--origins", "0"], ["--workers", "0"]):
        given = {"--workers": "10", "--epsilon": "1"} | dict([wrong])
        words = [word for pair in given.items() for word in pair]
        assert f"`{wrong[0]}` must be" in run("commute", "prior", *words, cwd=tmp_path, code=2).stderr
