"""Maps as pages: priced, confirmed, run in the background, read."""

import io
import zipfile
from fractions import Fraction

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")


from job_pages import (
    TREE,
    WHY,
    begun,
    confirmation,
    result_of,
    service_fixture,  # noqa: F401
    signed,
    spent,
    waited,
)

from discreet.trees.export import level_table

# A hierarchy: planned both ways, released as a job, read as a map


def test_a_hierarchy_from_its_price_to_its_map(service):
    ann = signed(service)
    first = ann.get("/d/people/map")
    assert "county" in first.text
    assert "Spend and begin" in first.text
    priced = ann.post("/d/people/map", TREE)
    assert "epsilon = 0.5" in priced.text
    assert "county, a cell" in priced.text
    assert spent(service) == 0
    # Without the price typed, nothing is spent and what was filled in stays.
    sent = confirmation(priced)
    unsure = ann.post("/d/people/map/release", [*sent, ("why", WHY), ("confirm", "yes")])
    assert unsure.status_code == 422
    assert spent(service) == 0
    assert 'value="state=1, county=2"' in unsure.text
    assert "&lt;script&gt;alert" in unsure.text
    assert "<script>alert" not in unsure.text
    # A plan that is not the one shown is not paid for.
    other = [(name, "x" if name == "digest" else value) for name, value in sent]
    assert ann.post("/d/people/map/release", [*other, ("confirm", "0.5")]).status_code == 422
    done = ann.post("/d/people/map/release", [*sent, ("why", WHY), ("confirm", "0.5")])
    page = waited(ann, done.headers["location"])
    assert "<b>Done</b>" in page.text
    assert spent(service) == Fraction(1, 2)
    # Sent twice, it is charged once.
    assert ann.post("/d/people/map/release", [*sent, ("why", WHY), ("confirm", "0.5")]).status_code == 303
    assert spent(service) == Fraction(1, 2)

    shown = ann.get(result_of(page))
    identity = result_of(page).partition("release=")[2]
    tree = service.curators["people"].release(identity)
    assert f"{tree.totals('state').columns['count'][0]:,}" in shown.text
    assert WHY not in shown.text
    inside = ann.get(f"/d/people/map?release={identity}&level=county&inside=A")
    table = inside.text.split('aria-label="Numbers"')[1]
    assert "A1" in table
    assert "A2" in table
    assert "B1" not in table
    # Links without scripts lead from a state to its counties.
    states = ann.get(f"/d/people/map?release={identity}&level=state")
    assert f"release={identity}&amp;level=county&amp;inside=A" in states.text
    at = f"/d/people/map/table?release={identity}&level=county"
    assert ann.get(f"{at}&format=csv").text == level_table(tree, "county").to_csv()
    assert ann.get(f"{at}&format=parquet").content[:4] == b"PAR1"
    guest = signed(service, name="guest", allotment="another")
    left = [one.get(f"{at}&format=json").json()["remaining"] for one in (ann, guest)]
    assert left == [tree.remaining, ""]
    assert ann.get(f"{at}&format=exe").status_code == 422
    assert ann.get(f"/d/people/map/table?release={identity}&level=moon").status_code == 422
    for kind, name in (
        ("csv", "county.csv"),
        ("parquet", "dictionary.md"),
        ("measurements", "measurements.json"),
        ("replicates", "county-replicates.csv"),
    ):
        link = f"/d/people/map/files?release={identity}&format={kind}"
        assert link.replace("&", "&amp;") in shown.text
        assert name in zipfile.ZipFile(io.BytesIO(ann.get(link).content)).namelist()
    totals = ann.get(f"/d/people/map/table?release={identity}&level=county-totals&format=csv")
    assert totals.text == tree.tables()["county-totals"].to_csv()
    own = ann.get(f"/d/people/map?release={identity}&of=county%3DA1&share_of=state%3DA").text
    assert str(tree.sum({"county": ["A1"]}) / tree.sum({"state": ["A"]})) in own
    assert "`sum` must be" in ann.get(f"/d/people/map?release={identity}&of=town%3D%3Cb%3E").text
    content = ann.get(f"/d/people/map/content?release={identity}").json()
    assert [layer["size"] for layer in content["layers"]] == [1, 2, 3]  # levels are fetched when they are opened
    counties = ann.get(f"/d/people/map/content?release={identity}&level=2").json()
    assert counties["codes"] == ["A1", "A2", "B1"]
    for level in ("3", "-1"):
        assert ann.get(f"/d/people/map/content?release={identity}&level={level}").status_code == 404
    saved = ann.get(f"/d/people/map/file?release={identity}")
    assert "attachment" in saved.headers["content-disposition"]
    assert saved.headers["content-type"] == "application/octet-stream"
    # It is found again from the list of releases, and by others, who are not told who paid for it and why.
    assert ann.get(f"/d/people/releases/{identity}").headers["location"] == result_of(page)
    bob = signed(service, "viewer", "bob")
    assert f"release={identity}" in bob.get("/d/people/map").text
    assert "<dd>analyst</dd>" in ann.get(result_of(page)).text
    assert "<dd>analyst</dd>" not in bob.get(result_of(page)).text


def test_a_map_of_another_kind_or_dataset_is_not_there(service):
    ann = signed(service)
    service.curators["people"].sql("SELECT COUNT(*) AS n FROM people").plan(epsilon="0.1").release(release="n")
    for path in ("map?release=n", "map?release=none", "synthetic?release=n", "map/content?release=n", "jobs?release=n"):
        assert ann.get(f"/d/people/{path}").status_code == 404
    assert ann.get("/d/nowhere/map").status_code == 404


def test_a_public_list_of_regions_can_be_pasted(service):
    ann = signed(service)
    ann.get("/d/people/map")
    table = "state,county\r\nA,A1\r\nA,A2\r\nB,B1\r\n"
    found = ann.post("/d/people/map", {**TREE, "levels": "state, county", "geography": table})
    assert "county (3 regions)" in found.text
    codes = ann.post("/d/people/map", {**TREE, "geography": "A1\nB1"})
    assert "county (2 regions)" in codes.text


def test_what_is_public_about_the_counts_can_be_pasted(service):
    ann = signed(service)
    ann.get("/d/people/map")
    regions = {**TREE, "levels": "state, county", "geography": "state,county\r\nA,A1\r\nA,A2\r\nB,B1\r\n"}
    public = {"covariate": "county,units\nA1,3\nA2,5\nB1,9", "rules": 'by = "the office"\n[totals]\nall = 50'}
    found = ann.post("/d/people/map", {**regions, **public, "expected": "50"})
    assert "Covariate of the leaf regions" in found.text
    assert "Totals of all: declared public by the office" in found.text
    assert "is measured first" not in found.text
    placed = ann.post("/d/people/map", {**regions, "targets": "county,place\nA1,Old\nB1,Old", "spine": "optimised"})
    assert "place, off the tree (1): made of 2.0 regions" in placed.text
    wrong = ann.post("/d/people/map", {**regions, "covariate": "county,units\nA1,3"})
    assert wrong.status_code == 422
    assert "A2" in wrong.text


def test_sums_and_weights_can_be_asked_for_and_are_named(service):
    ann = signed(service)
    assert "Sums or sampling weights" in ann.get("/d/people/map").text
    asked = {**TREE, "measure": "age", "bounds": "0, 8"}
    assert "Each number is a sum of age." in ann.post("/d/people/map", asked).text
    page = ann.get(result_of(waited(ann, begun(ann, "map", asked))))
    assert "people: sum of age by state and county, by works" in page.text
    assert "sum_age" in page.text
    wrong = ann.post("/d/people/map", {**TREE, "measure": "age", "weight": "age"})
    assert wrong.status_code == 422
    assert "left out where measure is given" in wrong.text


def test_what_noise_does_to_small_regions_is_shown_when_asked_for(service):
    ann = signed(service)
    offer = service.curators["people"].tree(["county"]).plan(epsilon="0.1")
    tree = offer.release(release="small")
    page = ann.get("/d/people/map?release=small").text
    assert "simulation=true#small" in page
    assert "placed in a county that is empty" not in page
    tried = ann.get("/d/people/map?release=small&simulation=true").text
    assert f"{100 * tree.simulation.misplaced:.1f}% of all are placed in a county that is empty" in tried
    for size in tree.simulation.sizes:
        assert f'<th scope="row">{size}</th>' in tried


def test_a_census_has_a_map_page_for_each_table_and_a_zip_of_them_all(service):
    ann, curator = signed(service), service.curators["people"]
    tables = {"people": {"counts": "persons", "by": ["works"]}, "homes": {"counts": "households"}}
    offer = curator.census(["county"], tables, household="state", most=5).plan(epsilon="0.5")
    census = offer.release(release="census")
    moved = ann.get("/d/people/releases/census")
    assert moved.headers["location"] == "/d/people/map?release=census"
    first, second = (ann.get(f"/d/people/map?release=census{more}").text for more in ("", "&part=homes"))
    assert "(people)</h1>" in first
    assert "(homes)</h1>" in second
    assert f"{census['homes'].totals('county').columns['count'][0]:,}" in second
    head = ann.get("/d/people/map/content?release=census&part=homes").json()
    assert head["outputs"] == ["count"]
    assert head["title"].endswith("(homes)")
    assert "(homes)" not in ann.get("/d/people/map/file?release=census&part=people").text
    assert ann.get("/d/people/map?release=census&part=cars").status_code == 422
    with zipfile.ZipFile(io.BytesIO(ann.get("/d/people/map/files?release=census&format=csv").content)) as packed:
        assert {"people/county.csv", "homes/county.csv"} <= set(packed.namelist())
    with zipfile.ZipFile(io.BytesIO(ann.get("/d/people/map/files?release=census&part=homes").content)) as packed:
        assert "county.csv" in packed.namelist()
    assert ann.get("/d/people/map/files?release=census&format=replicates").status_code == 404


def test_population_groups_have_files_a_map_and_sums_on_their_page(service):
    ann, curator = signed(service), service.curators["people"]
    asked = curator.detail(["county"], groups={"all": "age >= 0"}, details={"work": ["works"]})
    made = asked.plan(epsilon="0.5").release(release="groups")
    at = "/d/people/releases/groups"
    page = ann.get(f"{at}?of=county%3DA1%2CB1").text
    assert str(made.sum({"county": ["A1", "B1"]})) in page
    assert "must be a level, group or cell" in ann.get(f"{at}?of=town%3DA1").text
    for name in ("map.html", "csv.zip", "parquet.zip", "measurements.zip"):
        assert f'href="{at}/{name}"' in page
        assert ann.get(f"{at}/{name}").status_code == 200
    with zipfile.ZipFile(io.BytesIO(ann.get(f"{at}/measurements.zip").content)) as packed:
        assert set(packed.namelist()) == {"measurements.json", "measurements.parquet", "regions.parquet"}
    curator.tree(["county"]).plan(epsilon="0.1").release(release="tree")
    assert ann.get("/d/people/releases/tree/csv.zip").status_code == 404
