"""The page that asks: what a question costs before it is asked, and what could be asked instead."""

import html
import re

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")

from people_pages import (
    ASK,
    EVIL,
    confirmed,
    hidden,
    service_fixture,  # noqa: F401
    signed,
    spent,
    told,
)

from discreet.apps.web.frame import Frame


def test_names_in_a_message_are_code_and_everything_else_is_text(service):
    shown = Frame(service).templates.from_string("{{ problem|code }}").render(problem="`pay` must be <b>; got '`x`'.")
    assert shown == "<code>pay</code> must be &lt;b&gt;; got &#39;<code>x</code>&#39;."


@pytest.mark.parametrize("path", ["/d/people/ask", "/d/people/ask/price"])
def test_a_key_that_needs_bins_says_so_in_words_of_the_form(service, path):
    ann = signed(service)
    ann.get("/d/people/ask")
    form = ann.csrf

    def said(**changes):
        return told(ann.post(path, {**ASK, **changes}, csrf=form))

    page = said(by0="pay")
    assert "Fill in the bins of pay , so that its groups are known beforehand: 10, or 0,18,65." in page
    assert "in a shell" not in page
    assert "discovers its values" in said(by0="remark")
    assert "Fill in" not in said(tab="sql", sql="SELECT pay, COUNT(*) FROM people GROUP BY pay")


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
    assert "Reading this one is free" in again
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
    assert "Nothing was spent and no data was read" in text
    assert "The same question at epsilon = 0.03, about a tenth of what is left" in text
    link = html.unescape(re.search(r'class="button" href="([^"]*)"', found.text)[1])
    offered = ann.get(link)
    assert "epsilon = 0.03" in told(offered)
    assert "epsilon = 0.27 after" in told(offered)
    early = ann.post("/d/people/ask", asked)  # said before anything is tried, too
    assert "More than the budget has left" in told(early)
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


# --- roles


def test_a_viewer_reads_and_prices_and_does_not_spend(service):
    vic = signed(service, "vic", "viewer")
    vic.get("/d/people/ask")
    page = vic.post("/d/people/ask", ASK)
    assert "but may not spend" in told(page)
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
