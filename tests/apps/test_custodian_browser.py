"""The custodian's pages in a real browser: without scripts, by keys alone."""

import pytest

pytest.importorskip("fastapi", reason="needs discreet[server]")
pytest.importorskip("uvicorn", reason="needs discreet[server]")
pytest.importorskip("jinja2", reason="needs discreet[server]")
from custodian_pages import asked, made

from browser import Site
from discreet.apps.web.site import application


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    service = made(tmp_path_factory.mktemp("custodian"))
    asked(service, "SELECT town, AVG(age) AS age FROM people WHERE age > 17 GROUP BY town", "0.25")
    return service


@pytest.fixture(scope="module")
def site(service):
    here = Site(application(service))
    yield here
    here.stop()


def sign_in(one, service, name):
    page = one.go("/")
    page.get_by_label("Token").fill(service.tokens.create(name, "custodian"))
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="Custodian", exact=True).click()
    page.get_by_role("heading", name="Custodian", exact=True).wait_for()
    return page


def test_without_scripts_a_table_is_drafted_checked_and_written(guest, service):
    window = guest(java_script_enabled=False)
    page = sign_in(window, service, "carla")
    page.get_by_role("link", name="Datasets", exact=True).click()
    table = service.state.parent / "people.csv"
    page.get_by_label("A table: CSV, TSV or Parquet").set_input_files(str(table))
    page.get_by_role("button", name="Upload it, and draft a schema").click()
    page.get_by_label("Names of the columns").check()
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("Who is protected").select_option("person")
    page.get_by_label("Groups one person counts in").fill("1")
    page.get_by_label("Rows one person has in a group").fill("1")
    page.get_by_role("button", name="Draft the schema").click()
    box = page.get_by_role("textbox", name="Schema")
    text = box.input_value()
    assert "[columns.town]" in text
    page.get_by_role("button", name="Check", exact=True).click()
    page.get_by_role("alert").wait_for()  # what is to be filled in is said
    head = text.partition("[columns.")[0].replace('epsilon = "?"', "epsilon = 1").replace('"people"', '"visits"')
    filled = head + '[columns.person]\ntype = "text"\n[columns.age]\ntype = "integer"\nlower = 0\nupper = 120\n'
    page.get_by_role("textbox", name="Schema").fill(filled)
    page.get_by_role("button", name="Check", exact=True).click()
    page.get_by_text("The schema is complete.").wait_for()
    page.get_by_text("1 row (2.4%): above 120").wait_for()
    page.get_by_role("button", name="Write it to this server").click()
    page.get_by_role("button", name="Yes, write it").click()
    page.get_by_role("heading", name="Schema of visits").wait_for()
    assert (service.state / "schemas" / "visits.toml").read_text() == filled


def test_a_budget_is_raised_by_keys_alone(guest, service):
    page = sign_in(guest(), service, "dora")
    page.goto(page.url.replace("/custodian", "/custodian/budgets/people"))
    page.get_by_label("epsilon", exact=True).first.focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("1.5")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Raise the budget of people").wait_for()
    page.get_by_label("Reason").focus()
    page.keyboard.type("the board said so")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Yes, raise it"
    page.keyboard.press("Enter")
    page.get_by_text("is raised, and that is on record").wait_for()
    last = [record for record in service.curators["people"].ledger.records() if record.kind == "open"][-1]
    assert (last.who, last.why) == ("dora", "the board said so")
