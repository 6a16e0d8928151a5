"""Every page there is, in a real browser: clean to axe, inside its window and from one host, light, dark and narrow."""

import re

import pyarrow as pa
import pytest

import discreet
from discreet import Allotment, Budget, Category, Integer, Schema, Unit

pytest.importorskip("fastapi", reason="needs discreet[server]")
pytest.importorskip("uvicorn", reason="needs discreet[server]")
pytest.importorskip("jinja2", reason="needs discreet[server]")
from small_survey import report, survey

from axe import violations
from browser import Site, screenshot
from discreet.apps.server.jobs import Jobs
from discreet.apps.server.service import Service
from discreet.apps.server.surveys import Survey
from discreet.apps.server.tokens import Tokens
from discreet.apps.survey.store import open_reports
from discreet.apps.web.job_page import NEW
from discreet.apps.web.site import application

WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
LOOKS = {"light": ("light", WIDE), "dark": ("dark", WIDE), "narrow": ("light", NARROW)}

ASK = "/d/{dataset}/ask"
RELEASE = "/d/{dataset}/releases/{identity:path}"
PAGES = {
    "/": ["/"],
    "/login": [],  # has a test of its own: whoever is signed in is sent on
    "/d/{dataset}": ["/d/people"],
    ASK: [
        "/d/people/ask",
        "/d/people/ask?of0=count&of1=mean&column1=age&by0=sex&by1=age&bins1=10&way=percent&percent=5",
        "/d/people/ask?tab=sql",
        "/d/people/ask?tab=limits",
        "/d/people/ask?of0=count&way=epsilon&epsilon=99",  # more than is left
        "/d/people/ask?from=work",  # an answer that is there already
        "/d/people/ask?of0=count&way=rho&rho=0.01&allotment=teams",
        "/d/people/ask?of0=mean&column0=nothing",
    ],
    f"{ASK}/saved": ["/d/people/ask/saved"],
    "/d/{dataset}/map": ["/d/people/map", "/d/people/map?release=tree"],
    "/d/{dataset}/synthetic": ["/d/people/synthetic", "/d/people/synthetic?release=rows"],
    f"{RELEASE}/decide": ["/d/people/releases/tree/decide?what=fund&amount=1000&by=state&price=2"],
    "/d/{dataset}/releases": ["/d/people/releases", "/d/people/releases?find=none+of+these"],
    RELEASE: [
        "/d/people/releases/work",
        "/d/people/releases/work?sort=-n&output=age",
        "/d/people/releases/many",
        "/d/people/releases/everyone",
    ],
    "/d/{dataset}/jobs": ["/d/people/jobs"],
    "/d/{dataset}/jobs/{release:path}": ["/d/people/jobs/done"],
    **{f"/d/{{dataset}}/new/{kind}": [f"/d/people/new/{kind}"] for kind in NEW if kind != "loads"},
    "/d/{dataset}/new/loads": [],  # of grids, not of tables: the same template
    "/d/{dataset}/ledger": ["/d/people/ledger"],
    "/audit": ["/audit"],
    "/attacks": ["/attacks"],
    "/attacks/{name}": ["/attacks/heatmap"],
    "/surveys": ["/surveys"],
    "/help": ["/help", "/help?q=epsilon"],
    "/help/glossary": ["/help/glossary"],
    "/help/{name:path}": ["/help/guides/pages", "/help/proofs/gaussian", "/help/guides/nothing"],
    "/custodian": ["/custodian"],
    "/custodian/datasets": ["/custodian/datasets"],
    "/custodian/datasets/uploads/{identity}": [],  # driven in test_custodian_browser.py
    "/custodian/datasets/schemas/{name}": [],
    "/custodian/budgets": ["/custodian/budgets"],
    "/custodian/budgets/{dataset}": ["/custodian/budgets/people"],
    "/custodian/total": ["/custodian/total"],
    "/custodian/ledger": ["/custodian/ledger", "/custodian/ledger?who=nobody"],
    "/custodian/tokens": ["/custodian/tokens"],
    "/custodian/surveys": ["/custodian/surveys"],
    "/custodian/surveys/new": ["/custodian/surveys/new"],
    "/custodian/registry": ["/custodian/registry"],
}
OWN = ["/surveys/night/", "/surveys/night/results", "/d/nobody"]  # for respondents, and where there is nothing
FILES = {  # what is downloaded; those that are pages are opened below
    "/static/{name}",
    "/d/{dataset}/map/content",
    "/d/{dataset}/map/file",
    "/d/{dataset}/map/table",
    "/d/{dataset}/map/files",
    "/d/{dataset}/synthetic/rows",
    "/d/{dataset}/synthetic/report",
    f"{RELEASE}/decide.csv",
    "/help/file/{name:path}",
    "/custodian/surveys/{name}/file",
    "/custodian/surveys/{name}/reports.{kind}",
    "/custodian/registry/{dataset}/{kind}",
}
SAVED = {
    "release": "/d/people/releases/work/download.html",
    "map": "/d/people/map/file?release=tree",
    "report": "/d/people/synthetic/report?release=rows",
}
CUT = """[...document.querySelectorAll('h1, h2, h3, label, button, .value, .budget')]
  .filter((e) => e.offsetParent && !e.classList.contains('unseen') && getComputedStyle(e).display != 'inline')
  .filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent.trim())"""

SCHEMA = Schema(
    "people",
    {
        "age": Integer(0, 99, nullable=False),
        "sex": Category(["female", "male"], nullable=False),
        "county": Category(["A1", "A2", "B1"], nullable=False),
        "state": Category(["A", "B"], nullable=False),
    },
    unit=Unit("person", groups=1, rows=1),
)
MANY = range(600)
TABLE = pa.table(
    {
        "person": [f"p{n}" for n in MANY],
        "age": [n % 100 for n in MANY],
        "sex": [("female", "male")[n % 2] for n in MANY],
        "county": [("A1", "A2", "B1")[n % 3] for n in MANY],
        "state": [("A", "A", "B")[n % 3] for n in MANY],
    }
)


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    parts = [Allotment("questions", "pure", epsilon=9), Allotment("teams", "zcdp", epsilon=1, delta="1e-6")]
    budget = Budget(10, delta="1e-6", allotments=parts)
    curator = discreet.open(TABLE, SCHEMA, ledger=folder / "b.db", budget=budget, create=True)
    asked = curator.table().group_by("sex")
    work = asked.agg(n=discreet.count(), age=discreet.mean("age")).plan(epsilon=1, allotment="questions")
    work.release(release="work", why="who is here")
    keys = ("sex", "county", discreet.bins("age", width=10))
    many = curator.table().group_by(*keys).agg(n=discreet.count()).plan(epsilon=1, allotment="questions")
    many.release(release="many")
    curator.table().agg(n=discreet.count()).plan(epsilon=1, allotment="questions").release(release="everyone")
    tree = curator.tree(["state", "county"]).plan(epsilon=1, allotment="questions")
    tree.release(release="tree", why="a map")
    rows = curator.synthesize("independent", columns=["age", "sex"], rows=100)
    rows.plan(epsilon=1, allotment="questions").release(release="rows")
    night = survey()
    kept = open_reports(str(folder / "r.db"), night.digest)
    for number in range(30):
        sent = report(night, number)
        kept.keep(sent["token"], night.digest, night.written(sent["answers"]))
    jobs, tokens = Jobs(folder / "jobs.db"), Tokens(folder / "t.db")
    surveys = {"night": Survey("night", night, kept)}
    made = Service({"people": curator}, tokens, jobs=jobs, surveys=surveys, state=folder / "state")
    return made.complete().within(rate=5000.0, burst=5000.0)


@pytest.fixture(scope="module")
def site(service):
    here = Site(application(service))
    yield here
    here.stop()


def paths_of(routes):
    """The paths of every page that is read, not of what programs ask for."""
    for route in routes:
        if "GET" in (getattr(route, "methods", None) or ()) and not re.match(
            r"/(api|livez|readyz|metrics)", route.path
        ):
            yield route.path


def test_no_page_is_forgotten(service):
    assert set(paths_of(application(service).routes)) == set(PAGES) | FILES


def signed(guest, service, name):
    from discreet.apps.server.tokens import Caller

    service.jobs.start(Caller("carla", "custodian"), "people", "synth", "done", "to see", lambda report: None)
    one = guest(viewport=WIDE)
    page = one.go("/")
    page.get_by_label("Token").fill(service.tokens.create(name, "custodian"))
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="Datasets").wait_for()
    return one, page


def looked_at(page, name, fits=True):
    """What is wrong with a page in any look, by look."""
    wrong = {}
    for look, (scheme, size) in LOOKS.items():
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme)
        found = violations(page)
        if fits and page.evaluate("document.documentElement.scrollWidth") > size["width"]:
            found.append("wider than its window")
        if fits and (cut := page.evaluate(CUT)):
            found.append(f"cut off: {cut}")
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        if (sum(map(int, re.findall(r"\d+", ground)[:3])) < 200) is not (look == "dark"):
            found.append(f"on a ground of {ground}")
        if found:
            wrong[f"{name} ({look})"] = found
        screenshot(page, f"every-{re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-') or 'home'}-{look}")
    page.set_viewport_size(WIDE)
    page.emulate_media(color_scheme="light")
    return wrong


def test_every_page_in_every_look(guest, service):
    one, page = signed(guest, service, "carla")
    wrong = {}
    for path in [path for several in PAGES.values() for path in several] + OWN:
        one.go(path)
        if "map?release" in path:
            page.locator("#rows tr").first.wait_for()
        wrong |= looked_at(page, path)
    assert wrong == {}


def test_pages_that_ask_for_a_yes_and_pages_that_refuse(guest, service):
    one, page = signed(guest, service, "cora")
    one.go("/custodian/budgets/people")
    page.get_by_label("epsilon", exact=True).first.fill("9.5")
    page.get_by_role("button", name="Preview the change").click()
    page.get_by_role("heading", name="Raise the budget of people").wait_for()
    wrong = looked_at(page, "raise")
    one.go("/d/people/ask?of0=count&way=epsilon&epsilon=0.5&allotment=questions")
    page.get_by_label(re.compile("^Type")).fill("yes")
    page.get_by_role("button", name="Spend and release").click()
    page.get_by_text("Nothing was spent").wait_for()
    wrong |= looked_at(page, "unconfirmed")
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("heading", name="Sign in").wait_for()
    wrong |= looked_at(page, "login")
    assert wrong == {}


def test_pages_that_are_saved_as_files(guest, service):
    one, page = signed(guest, service, "cilla")
    wrong = {}
    for name, path in SAVED.items():
        text = page.request.get(one.site.url + path).text()
        assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", text), name
        page.goto("about:blank")
        page.set_content(text)
        wrong |= looked_at(page, f"saved {name}", fits=name != "map")
    assert wrong == {}


def test_what_is_wrong_with_a_page_is_noticed(guest, service):
    one, page = signed(guest, service, "cleo")
    one.go("/d/people/ledger")
    page.evaluate("document.querySelector('h1').style.color = '#ddd'; document.body.style.background = '#fff'")
    found = looked_at(page, "ledger")
    assert "color-contrast" in str(found["ledger (light)"])
    assert "on a ground of" in str(found["ledger (dark)"])
    page.evaluate("document.querySelector('h1').style.width = '900px'")
    assert "wider than its window" in str(looked_at(page, "ledger")["ledger (narrow)"])
