"""A plan on a page: its price said in every way, its errors drawn, its odds."""

import re

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")


from people_pages import ASK, EVIL, confirmed, hidden, service_fixture, shared_fixture, signed, spent, told  # noqa: F401


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
    share = re.search(r'id="percent" name="percent" value="([^"]*)"', back.text)[1]
    assert abs(float(share) / 100 - float(epsilon)) < 1e-3  # the allotment has epsilon 1
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
    assert "mean_pay, at least 1,000 rows" in mean
    assert "is about so much if its group has at least so many rows" in mean
    median = told(ann.post("/d/people/ask", {**ASK, "of0": "median", "column0": "age"}))
    assert re.search(r"± [\d,]+ ranks", median)
    guest = told(ann.post("/d/people/ask", {**ASK, "allotment": "guests", "way": "rho", "rho": "0.01"}))
    assert "is right at most" in guest
    assert "of the time" in guest


def test_a_mean_is_asked_for_by_its_accuracy_in_groups_of_some_size(shared):
    ann = signed(shared)
    ann.get("/d/people/ask")
    asked = {**ASK, "of0": "mean", "column0": "pay", "way": "within", "within": "10", "at_rows": "1000"}
    page = ann.post("/d/people/ask", asked)
    assert page.status_code == 200
    (error,) = set(re.findall(r"mean_pay, at least 1,000 rows about ± ([\d.]+)", told(page)))
    assert 9 < float(error) <= 10
    cheaper = ann.post("/d/people/ask", {**asked, "at_rows": "10000"})
    price = [float(re.search(r'data-epsilon="([^"]*)"', one.text)[1]) for one in (page, cheaper)]
    assert price[1] < price[0] / 5
    assert re.search(r'<option value="1000" selected>1,000', page.text)
    assert spent(shared) == 0


def test_where_rho_is_counted_percent_and_epsilon_come_first(service):
    ann = signed(service)
    ann.get("/d/people/ask")
    page = ann.post("/d/people/ask", {**ASK, "allotment": "guests", "way": "percent", "percent": "10"})
    text = told(page)
    assert "10% of the allotment guests" in text
    assert "as much as epsilon = " in text
    assert text.index("10% of") < text.index("Cost: rho = ")
    sent = {**ASK, "allotment": "guests", "way": "percent", "percent": "10", "digest": hidden(page, "digest")}
    done = ann.post("/d/people/ask/release", {**sent, "release": hidden(page, "release"), "confirm": "10%"})
    assert done.status_code == 303
    assert spent(service, 1) > 0


def test_an_answer_that_is_there_already_is_free_and_a_fresh_one_is_said_to_be_bought(service):
    ann = signed(service)
    ann.get("/d/people/ask")
    assert "already" not in told(ann.post("/d/people/ask", ASK))
    where = confirmed(ann, ASK).headers["location"].partition("?")[0]
    page = ann.post("/d/people/ask", ASK)
    assert "You have this answer already (free)." in told(page)
    assert f'href="{where}">Read it' in page.text
    assert "Buy a new answer?" in told(page)
    assert "already" not in told(ann.post("/d/people/ask", {**ASK, "epsilon": "0.26"}))
    assert confirmed(ann, ASK).status_code == 303
    assert spent(service) == 0.5


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
