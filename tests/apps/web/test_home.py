"""The front page, and the budget that is left on every page."""

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")


from people_pages import service_fixture, shared_fixture, signed, told  # noqa: F401

# --- the price, both ways


def test_the_budget_left_is_on_every_page(shared):
    ann = signed(shared)
    for path in ("/", "/d/people", "/d/people/ask", "/d/people/releases", "/d/people/ledger", "/nowhere", "/d/nobody"):
        text = told(ann.get(path))
        assert "1 of 1 epsilon left" in text, path
        assert "rho left, delta" in text, path
