"""The pages themselves: what a question costs before it is asked, what came of it, what is left, and for whom."""

import html
import io
import re

import pyarrow as pa
import pyarrow.parquet
import pytest

import discreet
from discreet import Allotment, Budget, Category, Date, Integer, Real, Schema, Text, Unit

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")
from visitor import Visitor

from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Tokens
from discreet.apps.web.frame import Frame
from discreet.apps.web.site import application

EVIL = "<img src=x onerror=alert(1)>"
ROWS = 400
TABLE = pa.table(
    {
        "person": [f"p{i}" for i in range(ROWS)],
        "age": [i % 90 for i in range(ROWS)],
        "pay": [float(i) for i in range(ROWS)],
        "county": [("Ash", "Elm", EVIL)[i % 3] for i in range(ROWS)],
        "remark": [("fine", "Xyzzy-7431")[i == 7] for i in range(ROWS)],
        "height": [170] * ROWS,
    }
)
COLUMNS = {
    "age": Integer(0, 100, nullable=False),
    "pay": Real(0, 1000, nullable=False),
    "county": Category(["Ash", "Elm", EVIL], nullable=False),
    "remark": Text(),
}


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A service for what spends nothing."""
    return made(tmp_path_factory.mktemp("shared"))


@pytest.fixture
def service(tmp_path):
    return made(tmp_path)


def made(folder, budget=None, name="people", unit=None):
    schema = Schema(name, COLUMNS, unit=unit or Unit("person", groups=1, rows=1))
    parts = [Allotment("team", "pure", epsilon=1), Allotment("guests", "zcdp", epsilon=1, delta="1e-6")]
    budget = budget or Budget(2, delta="1e-6", allotments=parts)
    curator = discreet.open(TABLE, schema, ledger=folder / "b.db", budget=budget, create=True)
    return Service({name: curator}, Tokens(folder / "t.db"))


APPLICATIONS = {}


def served(service):
    """The application of a service: made once, for making one takes longer than a request."""
    if id(service) not in APPLICATIONS:
        APPLICATIONS[id(service)] = (
            service,
            application(service),
        )  # an id is its own as long as the service lives
    return APPLICATIONS[id(service)][1]


def signed(service, name="ann", role="analyst", allotment=None):
    visitor = Visitor(served(service))
    token = service.tokens.create(f"{name}{len(service.tokens)}" if name == "ann" else name, role, allotment)
    assert visitor.sign_in(token).status_code == 303
    return visitor


def spent(service, part=0):
    (desk,) = service.curators.values()
    return desk.standing()[part].spent.amount


def told(page):
    """A page as a person reads it."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page.text)).split())


def test_names_in_a_message_are_code_and_everything_else_is_text(service):
    shown = Frame(service).templates.from_string("{{ problem|code }}").render(problem="`pay` must be <b>; got '`x`'.")
    assert shown == "<code>pay</code> must be &lt;b&gt;; got &#39;<code>x</code>&#39;."


def hidden(page, name):
    return html.unescape(re.search(rf'name="{name}" value="([^"]*)"', page.text)[1])


ASK = {"of0": "count", "by0": "county", "way": "epsilon", "epsilon": "0.25", "allotment": "team"}


def confirmed(visitor, asked, typed=None, why="a test", **more):
    """Price a question, then type what the page says."""
    page = visitor.post("/d/people/ask", asked)
    assert page.status_code == 200
    amount = re.search(r"Type <b[^>]*>([^<]*)</b>", page.text)[1]
    sent = {**asked, "release": hidden(page, "release"), "digest": hidden(page, "digest"), "why": why}
    return visitor.post("/d/people/ask/release", {**sent, "confirm": amount if typed is None else typed, **more})


# --- data and schema


def test_the_unit_comes_first_and_what_is_missing_is_named(shared):
    page = signed(shared).get("/d/people")
    text = told(page)
    assert text.index("Everything of one person is protected") < text.index("Columns")
    assert "One person added or removed" in text
    assert "0 to 1,000" in text
    assert (
        "height has no lower and no upper bound: sums, means and quantiles of it cannot be asked; add [columns.height] "
        'with type = "integer", lower = ... and upper = ... to the schema file' in text
    )
    assert "remark has no list of values" in text
    assert "Xyzzy-7431" not in page.text
    assert EVIL not in page.text
    assert html.escape(EVIL) in page.text or "&lt;img src=x" in page.text


def test_a_row_as_unit_and_replacement_are_said(tmp_path):
    unit = Unit(neighbours="replace")
    text = told(signed(made(tmp_path, unit=unit)).get("/d/people"))
    assert "One row is protected" in text
    assert "How many there are is public" in text


def test_numbers_declared_as_text_are_told_what_they_lack(tmp_path):
    schema = Schema("people", {"pay": Text(), "day": Date("2024-01-01", "2024-12-31", nullable=False)})
    table = pa.table({"pay": [1.5], "day": ["2024-03-01"]})
    curator = discreet.open(table, schema, ledger=tmp_path / "b.db", budget=Budget(1), create=True)
    text = told(signed(Service({"people": curator}, Tokens(tmp_path / "t.db"))).get("/d/people"))
    assert "pay is declared as text, so it has no lower and no upper bound: sums, means and quantiles" in text
    assert 'set type = "real", lower = ... and upper = ... under [columns.pay]' in text
    assert "2024-01-01 to 2024-12-31" in text


# --- the price, both ways


def test_the_budget_left_is_on_every_page(shared):
    ann = signed(shared)
    for path in ("/", "/d/people", "/d/people/ask", "/d/people/releases", "/d/people/ledger", "/nowhere", "/d/nobody"):
        text = told(ann.get(path))
        assert "1 of 1 epsilon left" in text, path
        assert "rho left, delta" in text, path


def test_epsilon_gives_the_accuracy_and_accuracy_gives_the_epsilon(shared):
    ann = signed(shared)
    ann.get("/d/people/ask")
    page = ann.post("/d/people/ask", ASK)
    within = re.search(r'id="within" name="within" value="([^"]*)"', page.text)[1]
    assert 0 < float(within) < 100
    assert f"± {within}" in told(page)
    back = ann.post("/d/people/ask", {**ASK, "way": "within", "within": within, "epsilon": "9"})
    epsilon = re.search(r'id="epsilon" name="epsilon" value="([^"]*)"', back.text)[1]
    assert 0 < float(epsilon) <= 0.25
    share = re.search(r'id="share" name="share" value="([^"]*)"', back.text)[1]
    assert abs(float(share) - float(epsilon)) < 1e-3  # the allotment has epsilon 1
    assert spent(shared) == 0


def test_errors_are_drawn_before_anything_is_spent_and_odds_said(shared):
    ann = signed(shared)
    ann.get("/d/people/ask")
    page = ann.post("/d/people/ask", {**ASK, "epsilon": "0.5"})
    text = told(page)
    assert "whatever the answer is" in text
    assert "moves to at most 62.3%" in text  # e^0.5 / (1 + e^0.5) is 62.25%
    assert "All answers together, ever, cost at most epsilon = 2" in text
    assert "Left: epsilon = 1 now, epsilon = 0.5 after" in text
    assert '<rect class="band"' in page.text
    mean = told(ann.post("/d/people/ask", {**ASK, "of0": "mean", "column0": "pay"}))
    assert "mean_pay, at 1,000 rows in the group" in mean
    median = told(ann.post("/d/people/ask", {**ASK, "of0": "median", "column0": "age"}))
    assert "ranks of the one asked for" in median
    guest = told(ann.post("/d/people/ask", {**ASK, "allotment": "guests", "way": "rho", "rho": "0.01"}))
    assert "is right at most" in guest
    assert "of the time" in guest


def test_sql_has_a_tab_of_its_own(shared):
    ann = signed(shared)
    page = ann.get("/d/people/ask?tab=sql")
    assert "<textarea" in page.text
    asked = {"tab": "sql", "sql": "SELECT county, COUNT(*) AS n FROM people GROUP BY county", "way": "share"}
    found = ann.post("/d/people/ask", {**asked, "share": "0.1", "allotment": "team"})
    assert found.status_code == 200
    assert "epsilon = 0.1" in told(found)
    wrong = ann.post("/d/people/ask", {**asked, "sql": f"SELECT {EVIL} FROM people", "share": "0.1"})
    assert wrong.status_code == 422
    assert EVIL not in wrong.text
    assert html.escape(EVIL, quote=False) in wrong.text  # kept as it was written
    assert 'aria-invalid="true"' in wrong.text


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"where": f"age > {EVIL}"}, "where", "where"),
        ({"epsilon": ""}, "epsilon", "a number"),
        ({"epsilon": "much"}, "epsilon", "epsilon"),
        ({"epsilon": "-1"}, "epsilon", "more than zero"),
        ({"of0": "mean"}, "of0", "with a column"),
        ({"of0": "quantile", "column0": "age", "q0": "7"}, "", "q"),
        ({"of0": EVIL}, "of0", "one of count"),
        ({"by0": EVIL}, "by0", "declared column"),
        ({"of0": "mean", "column0": "pay", "way": "within", "within": "3"}, "within", "depends on data"),
        ({"delta": "2"}, "delta", "delta"),
        ({"confidence": "7"}, "confidence", "less than 1"),
        ({"allotment": EVIL}, "allotment", "one of"),
        ({"by0": "remark"}, "by0", "remark"),
    ],
)
def test_what_is_wrong_is_said_at_its_field_and_the_form_is_kept(shared, change, field, words):
    ann = signed(shared)
    ann.get("/d/people/ask")
    page = ann.post("/d/people/ask", {**ASK, "where": "age > 3", **change})
    assert page.status_code == 422
    assert words in told(page)
    assert EVIL not in page.text
    assert "Spend and release" not in page.text
    if field:
        assert re.search(rf'id="{field}"[^>]*aria-invalid="true" aria-describedby="problem"', page.text), field
    if "where" not in change:
        assert 'value="age &gt; 3"' in page.text
    assert spent(shared) == 0


def test_a_discovered_key_needs_a_delta_and_a_budget_that_has_one(shared):
    ann = signed(shared)
    ann.get("/d/people/ask")
    asked = {"of0": "count", "by0": "remark", "bins0": "?", "allotment": "guests", "way": "rho", "rho": "0.02"}
    assert ann.post("/d/people/ask", asked).status_code == 422
    assert "how many is itself private" in told(ann.post("/d/people/ask", {**asked, "delta": "1e-7"}))


def test_the_panel_alone_is_for_the_script(shared):
    ann = signed(shared)
    ann.get("/d/people/ask")
    csrf = ann.csrf
    part = ann.post("/d/people/ask/price", ASK, csrf=csrf)
    assert 'data-epsilon="0.25"' in part.text
    assert "<html" not in part.text
    assert hidden(part, "csrf") == csrf
    wrong = ann.post("/d/people/ask/price", {**ASK, "where": EVIL}, csrf=csrf)
    assert 'role="alert"' in wrong.text
    assert EVIL not in wrong.text


def test_a_question_can_be_linked_to_and_is_not_asked_by_it(shared):
    ann = signed(shared)
    page = ann.get("/d/people/ask?of0=sum&column0=pay&way=epsilon&epsilon=0.5&allotment=team")
    assert "sum_pay" in told(page)
    assert ann.get("/d/people/ask?of0=sum&way=epsilon&epsilon=0.5").status_code == 200
    assert spent(shared) == 0


# --- releases


def test_a_release_needs_the_price_typed_and_is_then_free_to_read(service):
    ann = signed(service, "anna")
    ann.get("/d/people/ask")
    wrong = confirmed(ann, ASK, typed="0.26")
    assert wrong.status_code == 422
    assert "Nothing was spent" in told(wrong)
    assert 'value="a test"' in wrong.text  # what was typed is kept
    assert confirmed(ann, ASK, typed="").status_code == 422
    assert spent(service) == 0
    page = ann.follow(confirmed(ann, ASK, why=f"for {EVIL}"))
    text = told(page)
    assert "Released. epsilon = 0.25 was spent" in text
    assert "0.75 of 1 epsilon left" in text
    assert page.text.count('<rect class="bar s0"') == 3
    assert EVIL not in page.text
    assert f"for {EVIL}" in text
    (identity,) = service.curators["people"].releases()
    again = told(ann.get(f"/d/people/releases/{identity}"))
    assert "Reading this again is free" in again
    assert "discrete Laplace" in again
    assert service.curators["people"].release(identity).digest in again
    assert spent(service) == 0.25


def test_the_same_form_sent_twice_is_charged_once(service):
    ann = signed(service)
    ann.get("/d/people/ask")
    page = ann.post("/d/people/ask", ASK)
    sent = {**ASK, "release": hidden(page, "release"), "digest": hidden(page, "digest"), "confirm": "0.25"}
    csrf = ann.csrf
    first = ann.post("/d/people/ask/release", sent, csrf=csrf)
    second = ann.post("/d/people/ask/release", sent, csrf=csrf)
    assert first.headers["location"] == second.headers["location"]
    assert spent(service) == 0.25


def test_what_was_not_shown_is_not_asked(service):
    ann = signed(service)
    ann.get("/d/people/ask")
    found = confirmed(ann, ASK, of0="sum", column0="pay")  # changed after it was priced
    assert found.status_code == 422
    assert "the one that was shown" in told(found)
    assert spent(service) == 0


def test_files_hold_what_the_page_shows(service):
    ann = signed(service)
    ann.get("/d/people/ask")
    ann.follow(confirmed(ann, ASK))
    (identity,) = service.curators["people"].releases()
    release = service.curators["people"].release(identity)
    base = f"/d/people/releases/{identity}/download"
    csv = ann.get(f"{base}.csv")
    assert csv.text == release.to_csv()
    assert csv.headers["content-disposition"] == f'attachment; filename="people-{identity}.csv"'
    assert ann.get(f"{base}.json").json()["columns"] == release.to_dict()["columns"]
    table = pyarrow.parquet.read_table(io.BytesIO(ann.get(f"{base}.parquet").content))
    assert table.to_pydict() == dict(release.columns)
    assert ann.get("/d/people/releases/nothing/download.csv").status_code == 404
    assert ann.get(f"{base}.exe").status_code == 404


def test_keys_that_are_not_there_are_explained(service):
    ann = signed(service)
    ann.get("/d/people/ask")
    asked = {"of0": "count", "by0": "remark", "bins0": "?", "allotment": "guests", "way": "rho", "rho": "0.02"}
    page = ann.follow(confirmed(ann, {**asked, "delta": "1e-7"}))
    assert "Rows that are not here" in told(page)
    assert "fine" in told(page)
    assert "Xyzzy-7431" not in page.text  # one person's remark


def test_a_refusal_says_what_is_left_and_what_could_be_asked(service):
    ann = signed(service)
    ann.get("/d/people/ask")
    asked = {**ASK, "epsilon": "0.7"}
    first, second = ann.post("/d/people/ask", asked), ann.post("/d/people/ask", asked)
    csrf = ann.csrf
    for page, status in ((first, 303), (second, 409)):
        sent = {**asked, "release": hidden(page, "release"), "digest": hidden(page, "digest"), "confirm": "0.7"}
        found = ann.post("/d/people/ask/release", sent, csrf=csrf)
        assert found.status_code == status
    text = told(found)
    assert "Refused: the budget does not cover this" in text
    assert "Nothing was spent, and no data was read" in text
    assert "The same question at epsilon = 0.3" in text
    link = html.unescape(re.search(r'class="button" href="([^"]*)"', found.text)[1])
    offered = ann.get(link)
    assert "epsilon = 0.3" in told(offered)
    assert "epsilon = 0 after" in told(offered)
    early = ann.post("/d/people/ask", asked)  # said before anything is tried, too
    assert "More than is left" in told(early)
    assert "Spend and release" not in early.text
    ann.get("/d/people/ask")
    assert confirmed(ann, {**ASK, "epsilon": "0.3"}).status_code == 303
    nothing = told(ann.post("/d/people/ask", ASK))
    assert "Nothing is left in this allotment" in nothing


def test_a_run_that_fails_stays_spent_and_says_no_more(service, monkeypatch):
    ann = signed(service)
    ann.get("/d/people/ask")

    def broken(*given, **more):
        raise ValueError("Xyzzy-7431")

    monkeypatch.setattr("discreet.query.plan.QueryPlan.measure", broken)
    found = confirmed(ann, ASK)
    assert found.status_code == 500
    assert "Xyzzy" not in found.text
    listed = ann.get("/d/people/releases")
    assert "failed" in told(listed)
    identity = re.search(r"/releases/([0-9a-f]{32})", listed.text)[1]
    page = told(ann.get(f"/d/people/releases/{identity}"))
    assert "stays spent" in page


def test_a_release_that_is_not_done_yet_can_be_looked_at_later(service):
    ann = signed(service, "anna")
    desk = service.curators["people"]
    offer = desk.table().agg(n=discreet.count()).plan(epsilon=0.1, allotment="team")
    desk.ledger.spend(
        "people",
        offer.plan.cost,
        release="slow",
        who="anna",
        digest=offer.plan.digest,
        allotment="team",
        unit=offer.plan.unit,
    )
    assert "Not done yet" in told(ann.get("/d/people/releases/slow"))
    assert "no answer yet" in told(ann.get("/d/people/releases"))


def test_what_is_no_table_is_named_for_what_it_is(service):
    ann = signed(service)
    desk = service.curators["people"]
    books, more = desk.ledger, {"release": "flows", "who": "anna", "allotment": "team"}
    books.spend("people", discreet.Pure("0.1"), query={"mobility": {}}, digest="d", unit=desk.schema.unit, **more)
    books.answer("flows", '{"mobility": {}}', who="anna")
    page = ann.get("/d/people/releases/flows")
    assert page.status_code == 200
    assert "of another kind" in told(page)
    assert ann.get("/d/people/releases/flows/download.csv").status_code == 422


def test_ids_of_the_callers_choice_are_found(service):
    ann = signed(service)
    desk = service.curators["people"]
    for name in (EVIL, "a/b c?d#e%2F", "äöü"):
        desk.table().agg(n=discreet.count()).plan(epsilon="0.01", allotment="team").release(release=name, why=EVIL)
    page = ann.get("/d/people/releases")
    assert EVIL not in page.text
    for link in re.findall(r'href="(/d/people/releases/[^"]*)"', page.text):
        found = ann.get(html.unescape(link))
        assert found.status_code == 200, link
        assert EVIL not in found.text


# --- roles


def test_a_viewer_reads_and_prices_and_does_not_spend(service):
    vic = signed(service, "vic", "viewer")
    vic.get("/d/people/ask")
    page = vic.post("/d/people/ask", ASK)
    assert "it may not spend" in told(page)
    assert "Spend and release" not in page.text
    assert vic.post("/d/people/ask/release", {**ASK, "confirm": "0.25"}).status_code == 403
    assert vic.get("/d/people/releases").status_code == 200
    assert spent(service) == 0


def test_an_analyst_of_one_allotment_sees_and_spends_that_one(service):
    gus = signed(service, "gus", "analyst", "guests")
    page = gus.get("/d/people/ledger")
    assert "team" not in told(page)
    assert "guests" in told(page)
    gus.get("/d/people/ask")
    assert gus.post("/d/people/ask", ASK).status_code == 422  # names the other one
    assert confirmed(gus, {**ASK, "allotment": "", "epsilon": "0.1"}).status_code == 303
    assert spent(service) == 0
    assert spent(service, 1) > 0


def test_who_and_why_is_for_the_custodian_and_ones_own(service):
    ann, bob, carla = signed(service, "anna"), signed(service, "bob"), signed(service, "carla", "custodian")
    ann.get("/d/people/ask")
    ann.follow(confirmed(ann, ASK, why="secret plans"))
    for path in ("/d/people/ledger", "/d/people/releases"):
        assert "secret plans" in told(ann.get(path))
        assert "secret plans" in told(carla.get(path))
        assert "anna" in told(carla.get(path))
        assert "secret plans" not in told(bob.get(path))
        assert "anna" not in told(bob.get(path))
    (identity,) = service.curators["people"].releases()
    assert "secret plans" not in told(bob.get(f"/d/people/releases/{identity}"))


def test_the_ledger_burns_down_and_verifies(service):
    carla = signed(service, "carla", "custodian")
    carla.get("/d/people/ask")
    for part in ("0.25", "0.5"):
        carla.get("/d/people/ask")
        assert confirmed(carla, {**ASK, "epsilon": part}, why=EVIL).status_code == 303
    page = carla.get("/d/people/ledger")
    assert EVIL not in page.text
    assert page.text.count("<g><title>") == 2
    assert "0.25 left" in page.text
    assert "Verify the books" in page.text
    found = carla.post("/d/people/ledger/verify", {})
    assert "Ledger verified" in told(found)
    ann = signed(service)
    assert "Verify the books" not in ann.get("/d/people/ledger").text
    assert ann.post("/d/people/ledger/verify", {}).status_code == 403


def test_a_changed_ledger_is_found_out(service, tmp_path):
    import sqlite3

    carla = signed(service, "carla", "custodian")
    carla.get("/d/people/ask")
    confirmed(carla, ASK)
    with sqlite3.connect(tmp_path / "b.db") as books:
        for (name,) in books.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            books.execute(f'DROP TRIGGER "{name}"')
        books.execute("UPDATE discreet_record SET body = replace(body, 'a test', 'a joke')")
    books.close()
    carla.get("/d/people/ledger")
    found = carla.post("/d/people/ledger/verify", {})
    assert "The ledger does not verify" in told(found)


def test_names_are_no_markup(tmp_path):
    service = made(tmp_path, name=EVIL)
    carla = signed(service, f"c{EVIL}", "custodian")
    home = carla.get("/")
    assert EVIL not in home.text
    link = re.search(r'<h2><a href="([^"]*)"', home.text)[1]
    assert carla.get(html.unescape(link)).status_code == 200
    for end in ("/ask", "/releases", "/ledger"):
        page = carla.get(html.unescape(link) + end)
        assert page.status_code == 200
        assert EVIL not in page.text


def test_every_form_without_script_carries_the_whole_question(shared):
    """What the confirmation sends is what was priced, whatever the other form says meanwhile."""
    ann = signed(shared)
    ann.get("/d/people/ask")
    asked = {**ASK, "of1": "quantile", "column1": "age", "q1": "0.9", "by1": "age", "bins1": "50", "where": "age < 90"}
    page = ann.post("/d/people/ask", asked)
    confirm = page.text[page.text.index('class="confirm"') :]
    sent = {
        html.unescape(name): html.unescape(value)
        for name, value in re.findall(r'type="hidden" name="([^"]*)" value="([^"]*)"', confirm)
    }
    assert {name: sent.get(name) for name in asked} == asked
