"""The curator over HTTP: prices, refusals, answers, and what is said of the budget."""

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")

from small_server import (
    ASK,
    client,
    service_fixture,  # noqa: F401
)


def test_a_plan_is_free_and_a_release_spends_once(service):
    ann = client(service, "analyst", name="ann")
    plan = ann.post("/api/datasets/people/plan", json=ASK).json()
    assert plan["cost"] == 0.5
    assert "Nothing" not in plan["text"]
    assert ann.get("/api/datasets/people").json()["allotments"][0]["spent"] == 0
    first = ann.post("/api/datasets/people/release", json={**ASK, "release": "one", "why": "a test"})
    assert first.status_code == 200
    assert first.json()["columns"]["county"] == ["Ash", "Elm"]
    again = ann.post("/api/datasets/people/release", json={**ASK, "release": "one"})
    assert again.json()["columns"] == first.json()["columns"]
    assert ann.get("/api/datasets/people/releases").json() == ["one"]
    assert ann.get("/api/datasets/people/releases/one").json()["columns"] == first.json()["columns"]
    assert ann.get("/api/datasets/people").json()["allotments"][0]["exact"]["spent"] == "1/2"


def test_sql_and_accuracy_are_understood_too(service):
    ann = client(service, "analyst")
    asked = {"sql": "SELECT county, COUNT(*) AS n FROM people GROUP BY county", "within": 25, "allotment": "team"}
    assert ann.post("/api/datasets/people/plan", json=asked).json()["expected"][0]["half_width"] <= 25
    mixed = ann.post("/api/datasets/people/plan", json={**asked, "outputs": ["count"]})
    assert mixed.status_code == 422


def test_sql_may_be_in_another_spelling_and_name_its_price(service):
    ann = client(service, "analyst")
    options = "WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.25)"
    asked = {"sql": f"SELECT {options} `county`, COUNT(*) AS n FROM people GROUP BY 1", "allotment": "team"}
    found = ann.post("/api/datasets/people/plan", json={**asked, "dialect": "bigquery"})
    assert "epsilon = 0.25" in found.json()["text"]
    assert ann.post("/api/datasets/people/plan", json={**asked, "dialect": "klingon"}).status_code == 422
    assert ann.post("/api/datasets/people/plan", json=asked).status_code == 422


def test_more_than_is_left_is_refused_with_what_is_left(service):
    ann = client(service, "analyst")
    found = ann.post("/api/datasets/people/release", json={**ASK, "epsilon": 3})
    assert found.status_code == 409
    assert "Nothing was spent" in found.json()["message"]


def test_the_books_name_who_spent(service):
    client(service, "analyst", name="ann").post("/api/datasets/people/release", json={**ASK, "why": "census"})
    records = client(service, "custodian").get("/api/datasets/people/ledger").json()["records"]
    charge = next(one for one in records if one["kind"] == "charge")
    assert (charge["who"], charge["why"], charge["amount"]) == ("ann", "census", "1/2")


def test_an_answer_that_takes_long_is_fetched_later(service):
    ann = client(service.within(wait=0.0), "analyst")
    found = ann.post("/api/datasets/people/release", json={**ASK, "release": "slow"})
    assert found.status_code == 202
    assert found.json()["release"] == "slow"
