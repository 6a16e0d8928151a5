"""A plan on a page: its price said in every way, its errors drawn, its odds."""

import re

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")


from people_pages import ASK, EVIL, hidden, service_fixture, shared_fixture, signed, spent, told  # noqa: F401


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
