"""A file that cannot be written is found out before anything is spent on what would go into it."""

import json
import shutil
from importlib.resources import files
from pathlib import Path

import pytest

import discreet.apps.cli.output as output
from discreet.apps.cli import main
from discreet.ledger.ledger import Ledger

ASK = ("ask", "people.csv", "count", "--by", "sex", "--epsilon", "0.1", "--yes")
SQL = ("sql", "people.csv", "SELECT COUNT(*) FROM people", "--epsilon", "0.1", "--yes")
TREE = ("tree", "release", "people.csv", "--levels", "county", "--epsilon", "0.1", "--yes")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    for name in ("people.csv", "discreet.toml"):
        shutil.copy(Path(str(files("discreet.apps.demo"))) / name, tmp_path / name)
    Ledger.open(tmp_path / ".discreet" / "ledger.db", create=True).close()
    (tmp_path / "there").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def spent():
    if not Path(".discreet/ledger.db").exists():
        return False
    from discreet import Ledger

    ledger = Ledger.open(".discreet/ledger.db")
    return bool(ledger.releases())


def run(*words):
    with pytest.raises(SystemExit) as end:
        main(words)
    return end.value.code


@pytest.mark.parametrize(
    ("asked", "option", "path"),
    [
        (ASK, "--csv", "nowhere/x.csv"),
        (ASK, "--csv", "there"),
        (ASK, "--plot", "nowhere/x.svg"),
        (ASK, "--plot", "x.gif"),
        (SQL, "--csv", "nowhere/x.csv"),
        (SQL, "--plot", "x"),
        (TREE, "--map", "nowhere/map.html"),
        (TREE, "--map", "map.png"),
        (TREE, "--out", "people.csv"),
    ],
)
def test_nothing_is_spent(asked, option, path, capsys):
    assert run(*asked, option, path) == 2
    said = capsys.readouterr().err
    assert option in said
    assert path in said
    assert "Nothing was spent." in said
    assert not spent()


def test_a_picture_without_the_extra(monkeypatch, capsys):
    monkeypatch.setattr(output, "find_spec", lambda name: None)
    assert run(*ASK, "--plot", "x.png") == 1
    assert "discreet[charts]" in capsys.readouterr().err
    assert not spent()


def test_what_can_be_written_is(folder):
    assert run(*ASK, "--csv", "there/x.csv") == 0
    assert Path("there/x.csv").exists()
    assert run(*TREE, "--out", "new/folder", "--format", "csv", "--map", "there/map.html") == 0
    assert Path("new/folder/county.csv").exists()
    assert Path("there/map.html").exists()
    assert spent()


def test_an_output_that_is_none(capsys):
    assert run("ask", "people.csv", "coun", "--epsilon", "0.1", "--yes") == 2
    assert "`outputs` must be one of count, people, distinct, sum, mean" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("--geometry", "counties.geojson"), "--geometry"),  # without a map
        (("--map", "map.html", "--geometry", "nowhere.json"), "--geometry"),
        (("--map", "map.html", "--geometry", "people.csv"), "--geometry"),
        (("--map", "map.html", "--geometry", "counties.geojson", "--code-property", "fips"), "--geometry"),
        (("--map", "map.html", "--geometry", "elsewhere.json"), "such as 'new Ash'"),
        (("--map", "map.html", "--geometry", "coded.json"), "property 'code' has 12 of the codes"),
        (("--map", "map.html", "--geometry", "coded.json"), "with --code-property"),
    ],
)
def test_shapes_that_cannot_be_drawn_by_are_found_out_before_anything_is_spent(folder, words, option, capsys):
    shapes = (Path(str(files("discreet.apps.demo"))) / "counties.geojson").read_text()
    (folder / "counties.geojson").write_text(shapes)
    (folder / "elsewhere.json").write_text(shapes.replace('"id":"', '"id":"new '))
    coded = json.loads(shapes)
    for one in coded["features"]:
        one["properties"] = {"code": one.pop("id")}
    (folder / "coded.json").write_text(json.dumps(coded))
    assert run(*TREE, *words) == 2
    assert option in capsys.readouterr().err
    assert not spent()


def test_a_plan_says_which_regions_have_shapes(folder, capsys):
    shapes = (Path(str(files("discreet.apps.demo"))) / "counties.geojson").read_text()
    (folder / "some.json").write_text(shapes.replace('"id":"Ash"', '"id":"Oakland"'))
    words = ("tree", "plan", "people.csv", "--levels", "county", "--epsilon", "0.1", "--geometry", "some.json")
    assert run(*words) == 0
    assert "Shapes for the map: county: 11 of 12 regions (none for 'Ash')" in capsys.readouterr().out
    assert run(*words, "--json") == 0
    assert any("none for 'Ash'" in note for note in json.loads(capsys.readouterr().out)["notes"])


def test_a_map_has_the_shapes_given_and_other_methods_and_releases_beside_it(folder, capsys):
    shutil.copy(Path(str(files("discreet.apps.demo"))) / "counties.geojson", folder)
    assert run(*TREE, "--id", "a", "--map", "a.html", "--geometry", "counties.geojson") == 0
    page = Path("a.html").read_text(encoding="utf-8")
    assert "people: counts by county" in page
    assert page.count('"mapped":true') == 1
    assert run(*TREE, "--id", "b") == 0
    shown = ("tree", "show", "a", "--map", "b.html", "--compare", "2020=b", "--compare", "topdown", "--label", "2010")
    assert run(*shown) == 0
    assert '"editions":["2010","2020","topdown"]' in Path("b.html").read_text(encoding="utf-8")
    capsys.readouterr()
    assert run("tree", "show", "a", "--map", "c.html", "--compare", "nothing") == 2
    assert "--compare" in capsys.readouterr().err
    assert run("tree", "show", "a", "--map", "c.html", "--geometry", "elsewhere.json") == 2
    elsewhere = (folder / "counties.geojson").read_text().replace('"id":"', '"id":"new ')
    (folder / "elsewhere.json").write_text(elsewhere)
    capsys.readouterr()
    assert run("tree", "show", "a", "--map", "c.html", "--geometry", "elsewhere.json") == 2
    told = capsys.readouterr()
    assert "new Ash" in told.err
    assert "discreet tree show a --map c.html" in told.out


def test_a_hierarchy_gives_noisy_counts_sums_and_replicates(capsys, folder):
    from discreet.trees import read_measurements

    assert run(*TREE, "--by", "sex", "--id", "regions") == 0
    capsys.readouterr()
    show = ("tree", "show", "regions")
    assert run(*show, "--sum", "county=Ash,Elm; sex=female", "--share-of", "county=Ash,Elm") == 0
    said = capsys.readouterr().out
    assert said.startswith("county=Ash,Elm; sex=female, as a share of county=Ash,Elm: 0.")
    assert "95% interval" in said
    assert run(*show, "--sum", "", "--json") == 0
    assert json.loads(capsys.readouterr().out)["sum"]["confidence"] == 0.95
    files = ("--out", "tables", "--format", "csv", "--measurements", "noisy", "--replicates", "10")
    assert run(*show, "--method", "topdown", *files) == 0
    said = capsys.readouterr().out
    for name in ("tables/dictionary.md", "tables/county-replicates.csv", "noisy/measurements.parquet"):
        assert f"Wrote {name}" in said
    assert read_measurements("noisy").method == "topdown"
    for wrong, option in (
        (("--share-of", "sex=female"), "--sum"),
        (("--replicates", "10"), "--out"),
        (("--sum", "town=3"), "--sum"),
        (("--sum", "", "--share-of", "sex"), "--share-of"),
        (("--measurements", "people.csv"), "--measurements"),
        (("--replicates", "5", "--out", "tables"), "--replicates"),
        (("--part", "town"), "--part"),
    ):
        assert run(*show, *wrong) == 2
        assert option in capsys.readouterr().err


def test_a_stored_hierarchy_shows_both_intervals_flags_totals_and_sums(capsys, folder):
    assert run(*TREE, "--by", "sex", "--id", "regions") == 0
    capsys.readouterr()
    assert run("releases", "show", "regions") == 0
    said = capsys.readouterr().out
    for word in ("county-totals:", "count [each]", "typical", "quality", "reliable", "each for one region"):
        assert word in said
    assert run("releases", "show", "regions", "--part", "county-totals", "--format", "csv") == 0
    head = capsys.readouterr().out.splitlines()[0]
    assert head == "county,count,count_lower,count_upper,count_typical_lower,count_typical_upper,count_quality"
    assert run("releases", "show", "regions", "--part", "county", "--format", "markdown") == 0
    assert capsys.readouterr().out.startswith("| county | sex | count [each] | typical | quality |")
    assert run("tree", "show", "regions", "--part", "all-totals") == 0
    assert "typical" in capsys.readouterr().out
    asked = ("--sum", "county=Ash; sex=male", "--share-of", "county=Ash")
    assert run("releases", "show", "regions", *asked) == 0
    in_words = capsys.readouterr().out
    assert run("tree", "show", "regions", *asked) == 0
    assert capsys.readouterr().out == in_words
    assert run("releases", "show", "regions", *asked, "--json") == 0
    assert json.loads(capsys.readouterr().out)["confidence"] == 0.95
    assert run("releases", "show", "regions", "--share-of", "county=Ash") == 2
    assert "--sum" in capsys.readouterr().err
    assert run(*ASK, "--id", "plain") == 0
    capsys.readouterr()
    assert run("releases", "show", "plain", "--sum", "") == 2
    assert "only hierarchies have sums" in capsys.readouterr().err


def test_what_is_wrong_with_replicates_is_said_before_anything_is_spent(capsys):
    assert run(*TREE, "--out", "tables", "--replicates", "5") == 2
    assert "--replicates" in capsys.readouterr().err
    assert not spent()


def test_what_noise_does_to_small_regions_is_shown_for_free(capsys):
    assert run(*TREE, "--id", "regions") == 0
    capsys.readouterr()
    assert run("tree", "show", "regions", "--simulation") == 0
    said = capsys.readouterr().out
    assert "are placed in a county that is empty" in said
    assert run("tree", "show", "regions", "--simulation", "--json") == 0
    found = json.loads(capsys.readouterr().out)["simulation"]
    assert found["leaf"] == "county"
    assert f"{found['misplaced']:.1%} are placed" in said
    assert run("tree", "show", "regions", "--json") == 0
    assert "simulation" not in json.loads(capsys.readouterr().out)
