"""What may be sent: bodies that cannot be read or are not allowed are named, and spend nothing."""

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")

from people_pages import made
from small_server import (
    ASK,
    SECRET,
    client,
    service_fixture,  # noqa: F401
)


@pytest.mark.parametrize(
    ("sent", "field", "says"),
    [
        ({"content": b"{", "headers": {"content-type": "application/json"}}, "body", "`body` must be valid JSON."),
        ({"content": b'{"epsilon": "1"}'}, "body", "content-type: application/json"),
        ({"json": {**ASK, "epsilonn": 1}}, "epsilonn", "`epsilonn` is not known here. Did you mean `epsilon`?"),
        ({"json": {**ASK, "epsilon": "1e400"}}, "epsilon", "`epsilon` must be at most 1e18."),
    ],
)
def test_a_body_that_cannot_be_read_is_answered_in_words(service, sent, field, says):
    told = client(service, "analyst").post("/api/datasets/people/plan", **sent)
    assert told.status_code == 422
    assert told.json()["field"] == field
    assert says in told.json()["message"]


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[]",
        b'{"epsilon": {"$gt": 0}}',
        b'{"outputs": ["count"], "epsilon": "nan"}',
        b'{"outputs": ["count"], "epsilon": true}',
        b'{"outputs": ["count"], "epsilon": "1e999999999"}',
        b'{"sql": "SELECT COUNT(*) FROM people WHERE age > 1e999999999", "epsilon": 1}',
        b'{"outputs": ["sum(shoe)"], "epsilon": 1}',
        b'{"sql": "DROP TABLE people", "epsilon": 1}',
        b'{"surprise": 1}',
    ],
)
def test_bad_requests_are_named_and_spend_nothing(service, body):
    ann = client(service, "analyst")
    found = ann.post("/api/datasets/people/release", content=body, headers={"content-type": "application/json"})
    assert found.status_code == 422
    assert found.json()["error"] == "InputError"
    assert SECRET not in found.text
    assert ann.get("/api/datasets/people/releases").json() == []


@pytest.mark.parametrize(
    "question",
    [
        {"outputs": ["count"]},
        {"sql": "SELECT COUNT(*) AS n FROM people"},
        {"query": {"outputs": {"n": {"of": "count"}}}},
    ],
)
def test_a_question_sets_limits_however_it_is_sent(tmp_path, question):
    ann = client(made(tmp_path), "analyst")
    body = {**question, "epsilon": "0.5", "allotment": "team"}
    told = ann.post("/api/datasets/people/plan", json={**body, "limits": {"rows": 7}}).json()
    assert any("counts as at most 7 rows" in note for note in told["notes"]), told
    wrong = ann.post("/api/datasets/people/plan", json={**body, "limits": {"people": 7}})
    assert (wrong.status_code, wrong.json()["field"]) == (422, "limits.people")


def test_groups_are_listed_or_asked_for_alone(tmp_path):
    ann = client(made(tmp_path), "analyst")
    body = {"by": ["county"], "epsilon": "0.5", "allotment": "team"}
    for groups in ([["Elm"]], ["Elm"]):
        assert ann.post("/api/datasets/people/plan", json={**body, "groups": groups}).json()["groups"] == 1
    wrong = ann.post("/api/datasets/people/plan", json={**body, "groups": [["Yew"]]})
    assert (wrong.status_code, wrong.json()["field"]) == (422, "groups")
    alone = {"by": ["remark?"], "listing": True, "rho": "0.02", "delta": "1e-7", "allotment": "guests"}
    told = ann.post("/api/datasets/people/plan", json=alone)
    assert (told.status_code, told.json()["expected"]) == (200, [])
    assert ann.post("/api/datasets/people/plan", json={**alone, "outputs": ["count"]}).status_code == 422
