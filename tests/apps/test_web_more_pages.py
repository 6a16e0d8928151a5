"""Maps, synthetic data, jobs, the audit and surveys as pages: priced, confirmed, run in the background, read."""

import re
import sqlite3
import time
from fractions import Fraction
from functools import partial

import pyarrow as pa
import pytest

import discreet
from discreet import Allotment, Budget, Category, Integer, Schema

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")
from small_survey import report, survey
from visitor import Visitor

from discreet.apps.server.jobs import Jobs
from discreet.apps.server.service import Service
from discreet.apps.server.surveys import Survey
from discreet.apps.server.tokens import Caller, Tokens
from discreet.apps.survey.store import open_reports
from discreet.apps.web import audit_page
from discreet.apps.web.cache import Cache
from discreet.apps.web.form import Form
from discreet.apps.web.job_input import JobInput
from discreet.apps.web.site import application
from discreet.apps.web.store import Store
from discreet.errors import InputError
from discreet.query.price import amount_within

SCHEMA = Schema(
    "people",
    {
        "age": Integer(0, 9, nullable=False),
        "county": Category(["A1", "A2", "B1"], nullable=False),
        "state": Category(["A", "B"], nullable=False),
        "works": discreet.Boolean(nullable=False),
    },
)
TABLE = pa.table(
    {
        "age": [n % 10 for n in range(300)],
        "county": [("A1", "A2", "B1")[n % 3] for n in range(300)],
        "state": [("A", "A", "B")[n % 3] for n in range(300)],
        "works": [n % 10 > 4 for n in range(300)],
    }
)
TREE = {"levels": "state=1, county=2", "by": "works", "way": "epsilon", "epsilon": "0.5"}
ROWS = {"columns": "age", "method": "independent", "rows": "40", "way": "epsilon", "epsilon": "0.5"}
WHY = "<script>alert(1)</script>"


@pytest.fixture
def service(tmp_path):
    curator = discreet.open(TABLE, SCHEMA, ledger=tmp_path / "b.db", budget=Budget(2), create=True)
    tokens = Tokens(tmp_path / "tokens.db")
    return Service({"people": curator}, tokens, jobs=Jobs(tmp_path / "jobs.db")).within(rate=500.0, burst=500.0)


def signed(service, role="analyst", name=None, allotment=None):
    visitor = Visitor(application(service))
    assert visitor.sign_in(service.tokens.create(name or role, role, allotment)).status_code == 303
    return visitor


def spent(service):
    (one,) = service.curators["people"].standing()
    return one.spent.amount


def confirmation(answer):
    """What the panel's form would send, without its hidden value for the session."""
    form = answer.text.split('class="confirm"')[1].split("</form>")[0]
    pairs = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form)
    return [(name, value) for name, value in pairs if name != "csrf"]


def begun(visitor, place, fields, why=""):
    """Price, type the price, spend; the address of the job."""
    visitor.get(f"/d/people/{place}")
    priced = visitor.post(f"/d/people/{place}", fields)
    assert priced.status_code == 200
    typed = re.search(r'<b class="figure">([^<]+)</b> to spend', priced.text)[1]
    sent = [*confirmation(priced), ("why", why), ("confirm", typed)]
    answer = visitor.post(f"/d/people/{place}/release", sent)
    assert answer.status_code == 303
    return answer.headers["location"]


def waited(visitor, address):
    for _ in range(2400):
        page = visitor.get(address)
        if "data-running" not in page.text:
            return page
        time.sleep(0.05)
    raise AssertionError(page.text)


def result_of(page):
    return re.search(r'href="(/d/people/\w+\?release=[^"]+)"', page.text)[1]


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
    assert ann.get(f"{at}&format=csv").text == tree["county"].to_csv()
    assert ann.get(f"{at}&format=parquet").content[:4] == b"PAR1"
    assert ann.get(f"{at}&format=exe").status_code == 422
    assert ann.get(f"/d/people/map/table?release={identity}&level=moon").status_code == 422
    content = ann.get(f"/d/people/map/content?release={identity}").json()
    assert content["layers"][2]["codes"] == ["A1", "A2", "B1"]
    saved = ann.get(f"/d/people/map/file?release={identity}")
    assert "attachment" in saved.headers["content-disposition"]
    assert saved.headers["content-type"] == "application/octet-stream"
    # It is found again from the list of releases, and by others, who are not told who paid for it and why.
    assert ann.get(f"/d/people/releases/{identity}").headers["location"] == result_of(page)
    bob = signed(service, "viewer", "bob")
    assert f"release={identity}" in bob.get("/d/people/map").text
    assert "ann" not in bob.get(result_of(page)).text.split("<main")[1]


def test_a_map_of_another_kind_or_dataset_is_not_there(service):
    ann = signed(service)
    service.curators["people"].sql("SELECT COUNT(*) AS n FROM people").plan(epsilon="0.1").release(release="n")
    for path in ("map?release=n", "map?release=none", "synthetic?release=n", "map/content?release=n", "jobs?release=n"):
        assert ann.get(f"/d/people/{path}").status_code == 404
    assert ann.get("/d/nowhere/map").status_code == 404


def test_an_accuracy_buys_the_least_price_that_keeps_it(service):
    curator = service.curators["people"]
    for kind, fields, within in (("tree", TREE, "20"), ("synth", ROWS, "30")):
        wish = JobInput.read(kind, Form([*fields.items(), ("within", within)])).with_texts(way="within")
        offer, _ = wish.offer(curator, None)
        assert wish.error(offer) <= float(within)
        dearer = offer.plan.charge.amount
        cheaper = wish.with_texts(way="epsilon", epsilon=str(float(dearer * Fraction(98, 100))))
        assert wish.error(cheaper.offer(curator, None)[0]) > float(within)


@pytest.mark.parametrize("law", [lambda price: 7 / price, lambda price: 3 / price**0.5, lambda price: 100 // price])
@pytest.mark.parametrize("within", [0.5, 12, 4000])
def test_the_search_for_a_price_ends_at_the_least_in_three_digits(law, within):
    part = Allotment("all", "pure", epsilon=1)
    found = amount_within(lambda price: law(float(price)), within, part)
    assert law(float(found)) <= within
    assert law(float(found) * 0.985) > within
    with pytest.raises(InputError, match="within"):
        amount_within(lambda price: 5.0, 1, part)  # no price helps
    for nothing in (0, -1, float("nan"), float("inf")):
        with pytest.raises(InputError, match="within"):
            amount_within(lambda price: law(float(price)), nothing, part)


@pytest.mark.parametrize(
    ("place", "changes", "words"),
    [
        ("map", {"levels": ""}, "levels"),
        ("map", {"levels": "state=1, county"}, "NAME=VALUE"),
        ("map", {"levels": "<b>moon</b>"}, "&lt;b&gt;moon"),
        ("map", {"geography": "state,county\nA"}, "geography"),
        ("map", {"by": "pay"}, "pay"),
        ("map", {"epsilon": ""}, "epsilon"),
        ("map", {"epsilon": "-1"}, "epsilon"),
        ("map", {"way": "within", "within": "much"}, "within"),
        ("map", {"allotment": "moon"}, "allotment"),
        ("map", {"confidence": "2"}, "confidence"),
        ("synthetic", {"rows": "many"}, "rows"),
        ("synthetic", {"method": "magic"}, "method"),
        ("synthetic", {"columns": "pay"}, "pay"),
        ("synthetic", {"impossible": "age >"}, "impossible"),
    ],
)
def test_what_is_wrong_is_said_beside_the_form_which_is_kept(service, place, changes, words):
    vera = signed(service, "viewer")
    vera.get(f"/d/people/{place}")
    fields = {**(TREE if place == "map" else ROWS), **changes}
    found = vera.post(f"/d/people/{place}", fields)
    assert found.status_code == 422
    assert words in found.text.split('id="problem"')[1].split("</p>")[0]
    assert "<b>moon" not in found.text
    live = vera.post(f"/d/people/{place}/price", fields, csrf=vera.csrf)
    assert live.status_code == 200
    assert 'role="alert"' in live.text
    assert spent(service) == 0


def test_a_public_list_of_regions_can_be_pasted(service):
    ann = signed(service)
    ann.get("/d/people/map")
    table = "state,county\r\nA,A1\r\nA,A2\r\nB,B1\r\n"
    found = ann.post("/d/people/map", {**TREE, "levels": "state, county", "geography": table})
    assert "county (3 regions)" in found.text
    codes = ann.post("/d/people/map", {**TREE, "geography": "A1\nB1"})
    assert "county (2 regions)" in codes.text


# Who may


def test_a_viewer_prices_and_cannot_spend_and_no_form_of_elsewhere_is_taken(service):
    vera = signed(service, "viewer")
    vera.get("/d/people/map")
    priced = vera.post("/d/people/map", TREE)
    assert "may not spend" in priced.text
    assert "Spend and begin" not in priced.text
    for path in ("/d/people/map/release", "/d/people/synthetic/release", "/d/people/jobs/x/again", "/audit/run"):
        assert vera.post(path, {**TREE, "confirm": "0.5"}).status_code == 403
        ann = signed(service, "custodian", f"c{path}"[:60])
        assert ann.post(path, {**TREE, "confirm": "0.5"}, csrf="0" * 64).status_code == 403
    assert spent(service) == 0
    assert service.jobs.listed("people") == service.jobs.listed("") == []
    stranger = Visitor(application(service))
    for path in ("/d/people/map", "/d/people/synthetic", "/d/people/jobs", "/d/people/jobs/x", "/audit", "/surveys"):
        assert stranger.get(path).headers["location"].startswith("/login")


def test_more_than_is_left_is_refused_before_a_job_begins(service):
    ann = signed(service)
    ann.get("/d/people/map")
    dear = ann.post("/d/people/map", {**TREE, "epsilon": "3"})
    assert "More than is left" in dear.text
    assert "Spend and begin" not in dear.text
    assert "/d/people/map?" in dear.text
    fine = ann.post("/d/people/map", {**TREE, "epsilon": "1.5"})
    sent = [*confirmation(fine), ("confirm", "1.5")]
    service.curators["people"].sql("SELECT COUNT(*) AS n FROM people").plan(epsilon=1).release()
    refused = ann.post("/d/people/map/release", sent)
    assert refused.status_code == 409
    assert "More than is left" in refused.text
    assert spent(service) == 1
    assert service.jobs.listed("people") == []
    instead = re.search(r'href="(/d/people/map\?[^"]+)"', refused.text)[1].replace("&amp;", "&")
    assert "epsilon = 1 " in ann.get(instead).text.replace("</b>", " ")


# Synthetic rows


def test_synthetic_rows_from_their_price_to_their_report(service):
    ann = signed(service)
    assert "every pair of columns" in ann.get("/d/people/synthetic").text
    page = waited(ann, begun(ann, "synthetic", ROWS, WHY))
    assert spent(service) == Fraction(1, 2)
    shown = ann.get(result_of(page))
    identity = result_of(page).partition("release=")[2]
    rows = service.curators["people"].release(identity)
    for words in ("Questions asked of the rows", "Columns by themselves", "Rows against the noisy counts", "<svg"):
        assert words in shown.text
    assert "<script>alert" not in shown.text
    at = f"/d/people/synthetic/rows?release={identity}"
    assert ann.get(at).text == rows.to_csv()
    assert ann.get(f"{at}&format=parquet").content[:4] == b"PAR1"
    assert ann.get(f"/d/people/synthetic/report?release={identity}").text == rows.report().to_html()
    assert spent(service) == Fraction(1, 2)


# Jobs


def test_jobs_are_seen_by_those_who_began_them_and_by_custodians(service):
    ann = signed(service)
    assert "No job yet" in ann.get("/d/people/jobs").text
    address = begun(ann, "map", TREE, WHY)
    waited(ann, address)
    assert "Look at it" in ann.get("/d/people/jobs").text
    bob, carla = signed(service, name="bob"), signed(service, "custodian")
    assert "No job yet" in bob.get("/d/people/jobs").text
    assert bob.get(address).status_code == 404
    assert "analyst" in carla.get("/d/people/jobs").text
    assert "<b>Done</b>" in carla.get(address).text
    assert WHY not in carla.page.text


def test_a_job_that_runs_is_kept_up_to_date_with_a_script_and_without(service):
    ann = signed(service, name="ann")
    stuck = Jobs(service.jobs.path, most=0)  # nobody works here
    stuck.start(Caller("ann", "analyst"), "people", "tree", "x1", "", lambda report: None)
    page = ann.get("/d/people/jobs/x1")
    assert "Waiting for its turn" in page.text
    assert "Nothing was spent yet" in page.text
    assert re.search(r'<noscript><meta http-equiv="refresh"', page.text)
    assert "/static/job.js" in page.text
    assert "/static/job.js" in ann.get("/d/people/jobs").text
    with sqlite3.connect(service.jobs.path) as books:
        books.execute("UPDATE jobs SET state = 'running', stage = 'fitting', progress = 0.25")
    assert "Running: fitting, 25%" in ann.get("/d/people/jobs/x1").text
    with sqlite3.connect(service.jobs.path) as books:
        books.execute("UPDATE jobs SET state = 'failed', problem = 'no <i>way</i>', ended = 'now'")
    page = ann.get("/d/people/jobs/x1")
    assert "no &lt;i&gt;way&lt;/i&gt;. Nothing was spent." in page.text
    assert "refresh" not in page.text


def test_what_was_interrupted_goes_on_under_the_same_id_and_is_charged_once(service, tmp_path):
    service.jobs.most = 0  # a server that is stopped before it gets to it
    ann = signed(service, name="ann")
    address = begun(ann, "map", TREE, "for <b>us</b>")
    with sqlite3.connect(service.jobs.path) as books:
        books.execute("UPDATE jobs SET owner = 'gone', state = 'running'")
    page = ann.get(address)
    assert "Interrupted" in page.text
    assert "Nothing was spent yet; going on under the same id charges it once." in page.text
    assert "Go on with it" in page.text
    vera = signed(service, "viewer")
    assert vera.post(f"{address}/again", {}).status_code == 403
    later = Service(service.curators, service.tokens, service.limits, Jobs(service.jobs.path))
    again = Visitor(application(later))
    again.cookies = dict(ann.cookies)
    again.get(address)
    assert again.post(f"{address}/again", {}, csrf="1" * 64).status_code == 403
    again.get(address)
    assert again.post(f"{address}/again", {}).headers["location"] == address
    assert "<b>Done</b>" in waited(again, address).text
    assert spent(service) == Fraction(1, 2)
    (record,) = [one for one in service.curators["people"].ledger.records("people") if one.kind == "charge"]
    assert (record.who, record.why) == ("ann", "for <b>us</b>")
    # What someone else asked for under that id is not what is gone on with; nor what no version reads.
    for value in (["bob", "tree", {"levels": ["county"], "epsilon": "1"}], ["ann", "tree", {"moons": 1}]):
        Store(service.jobs.path).keep("wanted", "people", address.rpartition("/")[2], value)
        again.get("/d/people/jobs")
        assert again.post(f"{address}/again", {}).status_code == 404
    # Asked for by a program, it is not known here what it was.
    with sqlite3.connect(service.jobs.path) as books:
        books.execute("DELETE FROM kept")
    again.get("/d/people/jobs")
    assert again.post(f"{address}/again", {}).status_code == 404


def test_things_are_made_once_and_a_few_are_kept():
    shelf, made = Cache(2), []

    def make(name):
        return lambda: made.append(name) or len(made)

    with pytest.raises(ZeroDivisionError):
        shelf.get("a", lambda: 1 / 0)
    assert [shelf.get(name, make(name)) for name in "aabca"] == [1, 1, 2, 3, 4]
    assert made == ["a", "b", "c", "a"]


# The audit


def test_an_audit_is_run_by_a_custodian_kept_and_seen_by_all(service, monkeypatch):
    monkeypatch.setattr(audit_page, "_WORKERS", 1)
    monkeypatch.setattr(audit_page, "run", partial(audit_page.run, only="reused seed"))
    ann, carla = signed(service, name="ann"), signed(service, "custodian", "carla")
    none = ann.get("/audit")
    assert "No audit was run on this server yet" in none.text
    assert "discreet audit self" in none.text
    assert "Start the self-audit" not in none.text
    assert ann.post("/audit/run", {}).status_code == 403
    carla.get("/audit")
    assert carla.post("/audit/run", {}).headers["location"] == "/audit"
    page = waited(carla, "/audit")
    assert "1 of 1 planted bugs were caught" in page.text
    assert "by carla" in page.text
    assert "caught</td>" in page.text
    # It is kept for all processes and after a restart.
    later = Service(service.curators, service.tokens, service.limits, Jobs(service.jobs.path))
    bob = signed(later, "viewer", "bob")
    assert "1 of 1 planted bugs were caught" in bob.get("/audit").text


def test_a_claim_that_is_wrong_and_a_bug_that_escaped_stand_out(service):
    one = {"name": "<b>n</b>", "kind": "", "claim": "epsilon 1", "delta": 0.0, "claimed_epsilon": 1.0, "runs": 10}
    wrong = {**one, "planted": "", "found_epsilon": 1.2, "violated": True, "words": ""}
    missed = {**one, "planted": "half noise", "found_epsilon": None, "violated": False, "words": ""}
    told = {"passed": False, "words": "1 of 1 claims were refuted.", "tier": 1, "seconds": 1.0, "skipped": ["x: none"]}
    told |= {"findings": [wrong], "planted": [missed], "who": "carla", "version": "1"}
    Store(service.jobs.path).keep("audit", "", "last", told)
    page = signed(service).get("/audit").text
    assert 'class="alert" role="alert">1 of 1 claims' in page
    assert page.count("VIOLATED") == 2  # in the picture and in the table
    assert page.count("NOT CAUGHT") == 2
    assert "<b>n</b>" not in page
    (mark,) = audit_page.marks([wrong])
    assert mark.reach.share == 1.2
    assert mark.bad


# Surveys


def test_surveys_are_planned_and_read_and_their_own_pages_know_no_session(service, tmp_path):
    ann = signed(service)
    assert "No survey is open on this server" in ann.get("/surveys").text
    asked = survey()
    kept = open_reports(str(tmp_path / "r.db"), asked.digest)
    service = Service(
        service.curators, service.tokens, service.limits, service.jobs, {"night": Survey("night", asked, kept)}
    )
    carla = signed(service, "custodian")
    page = carla.get("/surveys")
    assert "No report yet" in page.text
    assert "Night &amp; &lt;day&gt;" in page.text
    assert 'href="/surveys/night/"' in page.text
    assert "people for ±0.05" in page.text
    for number in range(30):
        sent = report(asked, number)
        kept.keep(sent["token"], asked.digest, asked.written(sent["answers"]))
    page = carla.get("/surveys?people=250&within=0.1")
    assert "30 reports" in page.text
    assert "± with 250" in page.text
    assert page.text.count('class="bar s0"') >= 6
    wrong = carla.get("/surveys?people=few")
    assert wrong.status_code == 422
    assert 'value="few"' in wrong.text
    assert "people" in wrong.text.split('id="problem"')[1].split("</p>")[0]
    for bad in ("confidence=2", "within=0", "prior=x"):
        assert carla.get(f"/surveys?{bad}").status_code == 422
    own = carla.client.get("/surveys/night/", headers={"cookie": "discreet-session=" + "x" * 43})
    bare = carla.client.get("/surveys/night/")
    assert own.content == bare.content
    assert "set-cookie" not in own.headers
    assert "csrf" not in own.text
