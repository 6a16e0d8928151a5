"""The page that asks, in a real browser: rows in place, completions, form and SQL, help by keys, and without script."""

import pyarrow as pa
import pytest

import discreet
from discreet import Budget, Category, Integer, Real, Schema

pytest.importorskip("fastapi", reason="needs discreet[server]")
pytest.importorskip("uvicorn", reason="needs discreet[server]")
pytest.importorskip("jinja2", reason="needs discreet[server]")

from browser import Site, counted, screenshot
from discreet.apps.server.service import Service
from discreet.apps.web.site import application

COLUMNS = {
    "age": Integer(0, 100, nullable=False),
    "pay": Real(0, 1000, nullable=False),
    "sector": Category(["care", "trade"], nullable=False),
}
TABLE = pa.table({"age": [30, 40], "pay": [1.0, 2.0], "sector": ["care", "trade"]})


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("asked")
    curator = discreet.open(TABLE, Schema("people", COLUMNS), ledger=folder / "b.db", budget=Budget(2), create=True)
    here = Site(application(Service({"people": curator}, None).within(rate=500.0, burst=500.0)))
    yield here
    here.stop()


def test_rows_come_in_place_words_complete_and_the_form_becomes_sql(guest):
    page = guest().go("/d/people/ask")
    assert not page.locator("#column0").is_visible()  # a count has none
    page.get_by_role("button", name="Add a measure").click()
    counted(page.locator(".measure"), 2)
    page.locator("#of1").select_option("mean")
    page.locator("#column1").select_option("pay")
    page.locator("#by0").select_option("age")
    page.locator("#bins0").fill("0,18,65")
    page.get_by_role("button", name="Add a key").click()
    page.locator("#by1").select_option("sector")
    assert not page.locator("#bins1").is_visible()  # its values are groups as they are
    page.get_by_role("button", name="Remove measure 1").click()
    counted(page.locator(".measure"), 1)
    where = page.get_by_label("Only rows where")
    where.press_sequentially("sec")
    page.locator(".suggest li", has_text="sector").wait_for()
    where.press("ArrowDown")
    where.press("Enter")
    where.press_sequentially(" = ")
    where.press_sequentially("'t")
    page.locator(".suggest li", has_text="'trade'").click()
    assert where.input_value() == "sector = 'trade'"
    page.get_by_text("mean_pay, at least 1,000 rows", exact=True).wait_for()  # priced meanwhile
    screenshot(page, "ask-form")
    page.get_by_role("button", name="SQL", exact=True).click()
    page.get_by_label("Question in SQL").wait_for()
    text = page.get_by_label("Question in SQL").input_value()
    assert "BIN(age, 0, 18, 65), sector, AVG(pay) AS mean_pay" in text
    page.get_by_role("button", name="Form", exact=True).click()
    page.locator("#bins0").wait_for()
    assert [page.locator(f"#{name}").input_value() for name in ("of0", "column0", "by0", "bins0", "by1", "where")] == [
        "mean",
        "pay",
        "age",
        "0,18,65",
        "sector",
        "sector = 'trade'",
    ]


@pytest.mark.parametrize("script", [True, False])
def test_a_term_is_explained_by_keys_alone(guest, script):
    page = guest(java_script_enabled=script).go("/d/people/ask")
    page.get_by_role("button", name="What is epsilon?").focus()
    page.keyboard.press("Enter")
    tip = page.locator("#term-epsilon")
    tip.wait_for()
    assert "Smaller is more private" in tip.inner_text()
    page.keyboard.press("Escape")
    tip.wait_for(state="hidden")


def test_without_a_script_rows_are_added_and_nothing_typed_is_lost(guest):
    page = guest(java_script_enabled=False).go("/d/people/ask")
    page.get_by_label("Only rows where").fill("age > 3")
    page.get_by_role("button", name="Add a measure").click()
    page.locator("#of1").select_option("mean")
    assert page.locator("#column1").is_visible()
    page.locator("#column1").select_option("pay")
    page.get_by_label("Only rows where").press("Enter")  # the same as Price it
    page.get_by_text("mean_pay, at least 1,000 rows", exact=True).wait_for()
    assert page.get_by_label("Only rows where").input_value() == "age > 3"
