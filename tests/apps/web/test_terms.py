"""A question mark beside each term: what it means is on the page, once."""

import html
import re

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")

from people_pages import service_fixture, shared_fixture, signed  # noqa: F401

from discreet import count
from discreet.apps.web.terms import Terms
from discreet.core.glossary import TERMS
from discreet.errors import InputError


def test_a_mark_names_what_it_opens():
    terms = Terms()
    assert 'popovertarget="term-privacy-budget"' in terms.mark("budget")
    assert 'aria-label="What is privacy budget?"' in terms.mark("budget")
    assert terms.need("rho", "budget") == ""
    assert [term.name for term in terms.used] == ["privacy budget", "rho"]
    with pytest.raises(InputError):
        terms.mark("nonsense")


@pytest.mark.parametrize("path", ["", "/ask", "/ask?tab=sql", "/ledger", "/releases"])
def test_every_mark_of_a_page_has_what_it_opens(shared, path):
    page = signed(shared).get(f"/d/people{path}").text
    marks = set(re.findall(r'popovertarget="([^"]*)"', page))
    opened = re.findall(r'popover id="([^"]*)"', page)
    assert marks
    assert marks <= set(opened)
    assert len(opened) == len(set(opened))
    assert TERMS["privacy budget"].short in page


def test_what_a_script_puts_in_place_finds_its_terms_on_the_page(shared):
    ann = signed(shared)
    page = ann.get("/d/people/ask").text
    asked = {"of0": "count", "way": "rho", "rho": "0.01", "allotment": "guests"}
    part = ann.post("/d/people/ask/price", asked, csrf=ann.csrf).text
    assert "popover id=" not in part
    marks = set(re.findall(r'popovertarget="([^"]*)"', part))
    assert {"term-odds", "term-rho"} <= marks <= set(re.findall(r'popover id="([^"]*)"', page))


PAGES = ["/d/people", "/d/people/ask", "/d/people/ask?tab=sql", "/d/people/releases", "/d/people/releases/answer"]
PAGES += ["/d/people/ledger", "/d/people/map", "/d/people/synthetic", "/d/people/jobs", "/d/people/new/train"]
PAGES += ["/custodian/budgets/people", "/custodian/ledger", "/custodian/total", "/custodian/tokens"]
PLAIN = {"group", "plan", "confidence"}  # everyday words, and what is said with "confidence interval"


def test_a_term_that_names_something_has_its_mark_on_the_page(service):
    """Heads, names of fields and of facts: where a term stands there, the page explains it."""
    curator = service.curators["people"]
    curator.table().group_by("county").agg(n=count()).plan(epsilon=0.1, allotment="team").release(release="answer")
    carla = signed(service, "carla", "custodian")
    missing = {}
    for path in PAGES:
        page = carla.get(path).text.partition("<main")[2]
        marked = set(re.findall(r'popovertarget="term-([^"]*)"', page))
        named = re.findall(
            r'<(?:h[123]|dt|label(?! class="check)|legend|th scope="col")\b[^>]*>(.*?)</(?:h|dt|la|le|th)', page, re.S
        )
        texts = [html.unescape(re.sub(r"<[^>]*>", " ", text)).lower() for text in named]
        assert texts, path
        for term in TERMS.values():
            here = any(re.search(rf"\b{re.escape(term.name)}s?\b", text) for text in texts)
            if here and term.name not in PLAIN and term.anchor not in marked:
                missing.setdefault(path, []).append(term.name)
    assert missing == {}
