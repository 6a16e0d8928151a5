"""Maps, jobs, synthetic rows and the audit in a real browser: live, by keys alone, without scripts."""

import re
import threading

import pyarrow as pa
import pytest

import discreet
from discreet import Budget, Category, Integer, Schema

pytest.importorskip("fastapi", reason="needs discreet[server]")
pytest.importorskip("uvicorn", reason="needs discreet[server]")
pytest.importorskip("jinja2", reason="needs discreet[server]")

from browser import Site, counted, screenshot
from discreet.apps.server.jobs import Job, Jobs
from discreet.apps.server.service import Service
from discreet.apps.web import audit_page
from discreet.apps.web.site import application

COUNTIES = ["44001", "44003", "44005", "09001", "09003", "10001", "10003"]
SCHEMA = Schema(
    "us",
    {
        "county": Category(COUNTIES, nullable=False),
        "age": Integer(0, 9, nullable=False),
        "town": Category(["Ash", "Elm"], nullable=False),
    },
)
ROWS = range(2000)
TABLE = pa.table(
    {
        "county": [COUNTIES[n % 7] for n in ROWS],
        "age": [n % 10 for n in ROWS],
        "town": ["Ash" if n % 3 else "Elm" for n in ROWS],
    }
)


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("service")
    curator = discreet.open(TABLE, SCHEMA, ledger=folder / "b.db", budget=Budget(8), create=True)
    curator.tree({"state": 2, "county": 5}).plan(epsilon=1).release(release="tree", why="a map")
    curator.tree(["town"]).plan(epsilon=1).release(release="towns")
    curator.synthesize("independent", columns=["age", "town"], rows=200).plan(epsilon=1).release(release="rows")
    return Service({"us": curator}, None, jobs=Jobs(folder / "jobs.db")).within(rate=500.0, burst=500.0)


@pytest.fixture(scope="module")
def site(service):
    here = Site(application(service))
    yield here
    here.stop()


def test_a_map_is_drilled_into_with_keys_and_with_the_pointer(guest):
    page = guest().go("/d/us/map?release=tree")
    counted(page.locator("#shapes .shape"), 3)
    page.locator("#plain:not([open])").wait_for(state="attached")
    page.locator("#below-title").get_by_text("all, by state", exact=True).wait_for()
    # Keys: a state opens into its counties, Escape goes back.
    page.locator("#shapes [tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    name = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert re.match(r"[A-Z].*: [\d,]+, 95% interval -?[\d,]+ to [\d,]+, error", name)
    page.keyboard.press("Enter")
    state = name.partition(":")[0]
    page.get_by_text(f"{state}, by county").wait_for()
    counted(page.locator("#rows tr"), {"Rhode Island": 3, "Connecticut": 2, "Delaware": 2}[state])
    page.keyboard.press("Escape")
    page.get_by_text("all, by state").wait_for()
    # The table beside it opens regions too, and every number has its interval.
    page.get_by_role("button", name="Delaware").click()
    page.get_by_text("Delaware, by county").wait_for()
    assert "to" in page.locator("#rows td.interval").first.inner_text()
    assert page.locator("#trail").inner_text().split() == ["all", "Delaware"]


def test_where_there_is_no_geometry_there_are_bars(guest):
    page = guest().go("/d/us/map?release=towns")
    counted(page.locator("#rows rect.plain"), 2)
    page.locator("#map").wait_for(state="hidden")


def test_without_scripts_a_map_is_bars_and_tables_with_links(guest):
    page = guest(java_script_enabled=False).go("/d/us/map?release=tree&level=state")
    assert page.locator("#atlas").is_hidden()
    assert page.locator("rect.bar").count() == 3
    page.get_by_role("link", name="44", exact=True).click()
    page.get_by_text("Inside state 44").first.wait_for()  # the page before had as many bars
    counted(page.locator("rect.bar"), 3)
    counted(page.get_by_role("row").filter(has_text="44001"), 1)


def test_a_job_tells_how_far_it_is_while_one_looks(guest, service, monkeypatch):
    go, shown = threading.Event(), threading.Event()

    def work(report):
        report("measuring", None)
        assert shown.wait(600)
        report("fitting", 0.5)
        assert go.wait(600)

    queue = service.queue("us")
    monkeypatch.setattr(queue, "perform", lambda ticket, report: work(report))
    slow = Job("us", "slow", "synth", "local", "to see", "waiting", "waiting", None, "", "now", "")
    queue.submit(slow, request="", digest="")
    page = guest().go("/d/us/jobs/slow")
    page.get_by_text("Running: measuring").wait_for()
    page.get_by_text("This page updates itself.").wait_for()
    shown.set()
    page.get_by_text("Running: fitting, 50%").wait_for()
    screenshot(page, "job-light")
    plain = guest(java_script_enabled=False).go("/d/us/jobs/slow")
    assert plain.get_by_role("link", name="Look again").is_visible()
    go.set()
    page.get_by_text("Done", exact=True).wait_for()
    page.get_by_role("link", name="Look at the result").wait_for()


def test_a_map_is_priced_as_one_types_and_begun_by_typing_the_price(guest):
    page = guest().go("/d/us/map")
    page.get_by_label("Levels, the widest first").fill("state=2, county=5")
    page.get_by_label("accuracy: lowest level within ±", exact=True).fill("60")
    page.get_by_role("status").get_by_text("Priced; nothing is spent.").wait_for()
    assert "county (7 regions)" in page.locator("#panel").inner_text()
    before = float(page.get_by_role("region", name="Budget left").locator(".figure").inner_text())
    typed = page.locator("label[for=confirm] .figure").inner_text()
    assert float(page.get_by_label("epsilon", exact=True).input_value()) == float(typed)
    page.get_by_label("Why").fill("the map of states")
    page.get_by_label(re.compile("^Type")).fill(typed)
    page.get_by_role("button", name="Spend and begin").click()
    page.get_by_role("link", name="Look at the result").wait_for()
    page.reload()  # what is left was perhaps written just before the job spent
    after = float(page.get_by_role("region", name="Budget left").locator(".figure").inner_text())
    assert after == pytest.approx(before - float(typed), abs=0.02)
    page.get_by_role("link", name="Look at the result").click()
    page.locator("#shapes .shape").first.wait_for()
    assert "the map of states" in page.locator("main").inner_text()


def test_an_audit_is_started_and_read(guest, service, monkeypatch):
    run = audit_page.run
    monkeypatch.setattr(audit_page, "_WORKERS", 1)
    monkeypatch.setattr(audit_page, "run", lambda report: run(report, only="reused seed"))
    page = guest().go("/audit")
    page.get_by_text("No audit has been run on this server yet").wait_for()
    page.get_by_role("button", name="Start the self-audit").click()
    page.get_by_text("1 of 1 planted bugs were caught").wait_for()
    page.get_by_text("reused seed").first.wait_for()


def test_an_attack_is_run_with_an_epsilon_and_drawn(guest):
    page = guest().go("/attacks")
    page.get_by_role("link", name="A heat map of runs").click()
    page.get_by_text("has not been run on this server yet").wait_for()
    page.get_by_label("Epsilon of the private version").fill("2")
    page.get_by_role("button", name="Run the attack").click()
    page.get_by_text("a base with more than about").wait_for()
    assert page.locator("figure svg rect").count() > 1000
    screenshot(page, "more-attack-run")
