"""The page of the data."""

import html
import re

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")


from people_pages import EVIL, made, service_fixture, shared_fixture, signed, told  # noqa: F401

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
