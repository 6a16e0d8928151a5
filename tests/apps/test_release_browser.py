"""The page of a release in a real browser: sorted in place and by links, copied, downloaded, edited, in every look."""

import json

import pyarrow as pa
import pytest

import discreet
from discreet import Budget, Category, Integer, Schema, count, mean

pytest.importorskip("fastapi", reason="needs discreet[server]")
pytest.importorskip("uvicorn", reason="needs discreet[server]")
pytest.importorskip("jinja2", reason="needs discreet[server]")

from browser import Site, screenshot
from discreet.apps.server.service import Service
from discreet.apps.web.site import application

SCHEMA = Schema(
    "people",
    {
        "county": Category([f"c{place:02}" for place in range(60)], nullable=False),
        "sex": Category(["f", "m"], nullable=False),
        "age": Integer(0, 99, nullable=False),
    },
)
TABLE = pa.table(
    {
        "county": [f"c{place % 60:02}" for place in range(6000)],
        "sex": ["f" if place % 3 else "m" for place in range(6000)],
        "age": [place % 100 for place in range(6000)],
    }
)
LOOKS = {
    "light": {},
    "dark": {"color_scheme": "dark"},
    "narrow": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("service")
    curator = discreet.open(TABLE, SCHEMA, ledger=folder / "b.db", budget=Budget(50), create=True)
    asked = {
        "ages": curator.table().where("sex = 'f'").histogram("age", width=10),
        "counties": curator.table().group_by("county").agg(n=count()),
        "both": curator.table().group_by("county", "sex").agg(n=count(), age=mean("age")),
    }
    for name, question in asked.items():
        question.plan(epsilon=5).release(release=name)
    here = Site(application(Service({"people": curator}, None).within(rate=500.0, burst=500.0)))
    yield here
    here.stop()


def numbers(page):
    """The first number of each row of the table."""
    return [
        int(cell.split()[0].replace(",", "")) for cell in page.locator("tbody td.number:nth-child(2)").all_inner_texts()
    ]


def test_a_table_is_sorted_in_place_its_code_is_copied_and_its_question_edited(guest, browser):
    desk = guest(accept_downloads=True, permissions=["clipboard-read", "clipboard-write"])
    page = desk.go("/d/people/releases/ages")
    assert page.title().startswith("Number of rows by age (steps of 10), where sex = 'f'")
    before = numbers(page)
    page.get_by_role("link", name="count", exact=True).click()
    assert numbers(page) == sorted(before, reverse=True)
    assert page.url.endswith("/releases/ages")  # nothing was loaded
    assert page.locator("th[aria-sort='descending'] a.sort").inner_text() == "count"
    page.get_by_role("button", name="Copy").first.click()
    page.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()").startswith("SELECT BIN(age, 10), COUNT(*) AS count")
    page.get_by_text("Download", exact=True).click()
    with page.expect_download() as waiting:
        page.get_by_role("link", name="JSON numbers as numbers").click()
    assert json.loads(waiting.value.path().read_text("utf-8"))["metadata"]["epsilon"] == 5
    page.get_by_role("link", name="Edit this question").click()
    page.wait_for_url("**/ask?**")
    assert page.locator("#where").input_value() == "sex = 'f'"


def test_without_scripts_heads_and_pages_are_links(guest):
    page = guest(java_script_enabled=False).go("/d/people/releases/counties")
    assert page.locator("tbody tr").count() == 25
    assert page.locator("rect.bar").count() == 25
    page.get_by_role("link", name="n", exact=True).click()
    first = numbers(page)
    assert first == sorted(first, reverse=True)
    page.get_by_role("navigation", name="Pages of the table").get_by_role("link", name="Page 3").click()
    assert page.locator("tbody tr").count() == 10
    assert max(numbers(page)) <= min(first)
    assert page.get_by_role("button", name="Copy").count() == 0


@pytest.mark.parametrize("look", LOOKS)
def test_no_page_is_wider_than_its_window(guest, look):
    desk = guest(**LOOKS[look])
    for name in ("ages", "counties", "both", ""):
        page = desk.go(f"/d/people/releases/{name}".rstrip("/"))
        wide, window = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert wide <= window, name
        screenshot(page, f"release-{name or 'list'}-{look}")
