"""Forms that are made from the fields of an ask: every kind of job, from its form to what was released."""

import re
from urllib.parse import unquote

import pyarrow as pa
import pytest

import discreet
from discreet import Allotment, Budget, Category, Integer, Schema, Text, Unit
from grid_files import lay_out_grid
from numbers_files import lay_out_prices

pytest.importorskip("fastapi", reason="needs discreet[server]")
pytest.importorskip("jinja2", reason="needs discreet[server]")
pytest.importorskip("httpx", reason="needs httpx")

from job_pages import begun, waited
from visitor import Visitor

from discreet.apps.server.jobs import Jobs
from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Tokens
from discreet.apps.web.job_input import fields_of
from discreet.apps.web.job_page import NEW
from discreet.apps.web.site import application

SCHEMA = Schema(
    "people",
    {
        "age": Integer(0, 9, nullable=False),
        "home": Category(["east", "west"], nullable=False),
        "work": Category(["east", "west"], nullable=False),
    },
)
TABLE = pa.table({"age": [1, 5, 9] * 20, "home": ["east", "west"] * 30, "work": ["west", "east", "east"] * 20})
SQL = "SELECT COUNT(*) AS n FROM people"
PLACES = "place,x,y\neast,0,0\nwest,1,0"
ENDS = {"origin": "home", "destination": "work"}
RUN = {"target": "home", "examples": "60", "lot": "20", "steps": "2", "features": "age"}
PRICE = {"way": "epsilon", "epsilon": "0.25"}
FILLED = {
    "choose": {"score": "CASE WHEN age > option THEN 1 ELSE 0 END", "options": "3,5", **PRICE},
    "batch": {"questions": f"n={SQL}\nages={SQL} WHERE age = 5", **PRICE},
    "stream": {"query": SQL, "period": "age/5", **PRICE},
    "detail": {"levels": "home", "groups": "old: age = 5", "details": "work: work", **PRICE},
    "census": {"levels": "home", "tables": '[ages]\ncounts = "persons"\nby = ["age/5"]', "household": "work", **PRICE},
    "flows": {**ENDS, "zones": "place,zone\neast,inner\nwest,outer", **PRICE},
    "commute": {**ENDS, "coordinates": PLACES, **PRICE},
    "relations": {"parent": "home", "child": "work", "limit": "2", **PRICE},
    "train": {**RUN, **PRICE},
    "search": {**RUN, "settings": "rate=0.5\nrate=2", **PRICE},
    "loads": {"cost": "800", **PRICE},
    "hidden": {"highest": "100", "step": "0.25", "optimum": "30.3", **PRICE},
}


def dataset_of(kind):
    """The dataset that a kind is about."""
    return {"loads": "ring", "hidden": "prices", "relations": "visits"}.get(kind, "people")


@pytest.fixture
def service(tmp_path):
    parts = [Allotment("team", "pure", epsilon=4), Allotment("models", "plan", epsilon=3, delta=1e-5)]
    budget = Budget(7, delta=1e-5, allotments=parts)
    curator = discreet.open(TABLE, SCHEMA, ledger=tmp_path / "b.db", budget=budget, create=True)
    tokens = Tokens(tmp_path / "tokens.db")
    grid, schema = lay_out_grid(tmp_path)
    ring = discreet.open(str(grid), schema, ledger=curator.ledger, create=True)
    visits = discreet.open(
        TABLE.append_column("who", pa.array([f"p{place // 2}" for place in range(60)])),
        Schema("visits", {**SCHEMA.columns, "who": Text()}, Unit("who", groups=2, rows=1)),
        ledger=curator.ledger,
        budget=Budget(7, delta=1e-5, allotments=parts),
        create=True,
    )
    folder = tmp_path / "numbers"
    folder.mkdir()
    data = lay_out_prices(folder)
    prices = discreet.open(str(data), folder / "discreet.toml", ledger=curator.ledger, create=True)
    served = {"people": curator, "ring": ring, "prices": prices, "visits": visits}
    return Service(served, tokens, jobs=Jobs(tmp_path / "jobs.db")).within(rate=500.0, burst=500.0)


@pytest.fixture
def ann(service):
    visitor = Visitor(application(service))
    assert visitor.sign_in(service.tokens.create("ann", "analyst")).status_code == 303
    return visitor


@pytest.mark.parametrize("kind", NEW)
def test_a_form_has_every_field_of_its_ask_and_the_jobs_page_leads_there(kind, ann):
    dataset = dataset_of(kind)
    page = ann.get(f"/d/{dataset}/new/{kind}")
    assert page.status_code == 200
    for name in fields_of(kind):
        assert f'name="{name}"' in page.text, name
    assert f"/d/{dataset}/new/{kind}" in ann.get(f"/d/{dataset}/jobs").text


@pytest.mark.parametrize("kind", NEW)
def test_a_form_of_another_kind_of_data_is_refused_and_not_offered(kind, ann):
    same = {"people", "visits"} if dataset_of(kind) in ("people", "visits") else {dataset_of(kind)}
    for other in {"people", "ring", "prices"} - same:
        assert ann.get(f"/d/{other}/new/{kind}").status_code == 422
        assert "this one is" in ann.page.text
        assert f"/new/{kind}" not in ann.get(f"/d/{other}/jobs").text


@pytest.mark.parametrize("path", ["ask", "map", "synthetic"])
@pytest.mark.parametrize(("dataset", "words"), [("ring", "the loads of a power grid"), ("prices", "private numbers")])
def test_pages_about_tables_are_refused_for_data_that_is_none(path, dataset, words, ann):
    page = ann.get(f"/d/{dataset}/{path}")
    assert page.status_code == 422
    assert words in page.text
    assert f"/d/{dataset}/{path}" not in ann.get(f"/d/{dataset}").text


def test_the_page_of_a_grid_says_what_is_protected_and_what_is_public(ann):
    shown = ann.get("/d/ring").text
    assert "1 MW" in shown
    assert "<dt>Loads</dt><dd>3</dd>" in shown
    assert "ends at no more than" in shown
    assert "3 loads of a power grid" in ann.get("/").text


def test_the_page_of_private_numbers_says_what_is_protected_and_what_is_public(ann):
    shown = ann.get("/d/prices").text
    assert "Each of 4 numbers is protected" in shown
    assert "2 EUR" in shown
    assert "41.5" not in shown
    assert all(f'<span class="chip">{name}</span>' in shown for name in ("north", "south", "east", "west"))
    for cells in (("total", "1", "0", "equal to 100"), ("coast", "north 1, west 1; of others 0", "0", "at most 60")):
        name, *others = cells
        assert re.search(rf">{name}</th>" + "".join(rf"<td[^>]*>{cell}</td>" for cell in others), shown)
    assert re.search(r">losses \(objective\)</th><td[^>]*>0</td><td[^>]*>0.01</td>", shown)
    home = ann.get("/").text
    assert "4 private numbers" in home
    assert 'href="/d/prices/new/hidden">Plan a release' in home


def test_numbers_are_not_planned_where_the_public_optimum_is_out_of_reach(ann):
    ann.get("/d/prices/new/hidden")
    refused = ann.post("/d/prices/new/hidden", {"highest": "100", "step": "0.25", "optimum": "1", **PRICE})
    assert "contradict each other" in refused.text
    assert "to spend" not in refused.text


def test_loads_are_not_planned_without_their_cost(ann):
    form = ann.get("/d/ring/new/loads").text
    assert form.count('id="cost"') == 1
    assert form.index('id="cost"') < form.index("<summary>How it is released</summary>")  # not folded away
    assert 'for="cost">Cost<span class="muted"></span>' in form  # not optional
    refused = ann.post("/d/ring/new/loads", PRICE)
    assert "<code>cost</code> must be given" in refused.text
    assert "to spend" not in refused.text


@pytest.mark.parametrize("kind", FILLED)
def test_a_job_goes_from_its_form_to_what_was_released(kind, ann, service):
    if kind in ("train", "search"):
        pytest.importorskip("jax", reason="needs discreet[learn]")
    dataset = dataset_of(kind)
    address = begun(ann, f"new/{kind}", FILLED[kind], why="a test", dataset=dataset)
    page = waited(ann, address)
    assert "Done" in page.text
    made = unquote(address.rpartition("/")[2])
    assert made.endswith("/1") == (kind == "stream")
    assert service.curators[dataset].releases() == [made]
    assert f"/d/{dataset}/releases/{made}" in page.text
    shown = ann.get(f"/d/{dataset}/releases/{made}")
    if kind == "census":  # whose tables are hierarchies, with maps
        shown = ann.follow(shown)
    assert shown.status_code == 200
    assert ("Model card" in shown.text) == (kind in ("train", "search"))


@pytest.mark.parametrize(
    ("kind", "changes", "said"),
    [
        ("flows", {"origin": "hom"}, "home"),
        ("flows", {"zones": "/etc/passwd"}, "place,value"),
        ("commute", {"coordinates": "place,x,y\neast,0,0"}, "west"),
        ("batch", {"questions": "SELECT 1"}, "NAME=SQL"),
        ("stream", {"period": "home"}, "period"),
        ("train", {"target": "shoe"}, "shoe"),
        ("train", {"steps": "many"}, "whole number"),
        ("search", {"settings": "fast"}, "NAME=VALUE"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_spent(kind, changes, said, ann, service):
    if kind in ("train", "search"):
        pytest.importorskip("jax", reason="needs discreet[learn]")
    ann.get(f"/d/people/new/{kind}")
    answer = ann.post(f"/d/people/new/{kind}", {**FILLED[kind], **changes})
    assert answer.status_code == 422
    assert said in answer.text
    assert service.curators["people"].releases() == []
