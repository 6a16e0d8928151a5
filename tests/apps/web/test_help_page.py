"""Help in the browser: found from every page, searched, and only for those who are signed in."""

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")
pytest.importorskip("markdown_it")

from people_pages import EVIL, shared_fixture, signed, told  # noqa: F401
from visitor import Visitor, served

from discreet.core.glossary import TERMS


def test_help_is_linked_from_every_page_and_lists_guides(shared):
    ann = signed(shared)
    assert 'href="/help"' in ann.get("/d/people/ledger").text
    page = ann.get("/help")
    assert "Ask questions" in told(page)
    assert ann.get("/help/guides/questions").status_code == 200
    assert "Set a budget" in told(ann.get("/help/guides/budget.md"))


def test_the_glossary_has_every_term_with_its_anchor(shared):
    page = signed(shared).get("/help/glossary")
    for term in TERMS.values():
        assert f'<div id="{term.anchor}">' in page.text


def test_a_search_shows_where_words_are_and_text_stays_text(shared):
    ann = signed(shared)
    assert "<mark>" in ann.get("/help?q=bins").text
    odd = ann.get("/help?q=%3Cimg+src%3Dx+onerror%3Dalert(1)%3E")
    assert "No pages with" in told(odd)
    assert EVIL not in odd.text


def test_pictures_are_served_and_no_other_file_is(shared):
    ann = signed(shared)
    picture = ann.get("/help/file/concepts/epsilon-odds.svg")
    assert picture.headers["content-type"] == "image/svg+xml"
    for name in ("../pyproject.toml", "%2e%2e/pyproject.toml", "hooks/build_reference.py", "nothing.svg"):
        assert ann.get(f"/help/file/{name}").status_code == 404
    assert ann.get("/help/nothing").status_code == 404
    assert Visitor(served(shared)).get("/help").status_code == 303
