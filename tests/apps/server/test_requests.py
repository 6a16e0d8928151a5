"""What may be sent: bodies that cannot be read or are not allowed are named, and spend nothing."""

import pyarrow as pa
import pytest

import discreet
from discreet import Budget, Integer, Schema
from discreet.errors import InputError

pytest.importorskip("fastapi")
pytest.importorskip("httpx")

from people_pages import made
from small_server import (
    ASK,
    SECRET,
    client,
    service_fixture,  # noqa: F401
)

from discreet.apps.server.requests import QuestionRequest


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
    assert any("counts with at most 7 rows" in note for note in told["notes"]), told
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


def test_an_accuracy_of_means_is_for_groups_of_at_least_some_rows(tmp_path):
    table, schema = pa.table({"age": [30, 40]}), Schema("people", {"age": Integer(0, 120, nullable=False)})
    curator = discreet.open(table, schema, ledger=tmp_path / "b.db", budget=Budget(5), create=True)
    asked = {"outputs": ["mean(age)", "count"], "within": "2"}
    offer = QuestionRequest(**asked, at_rows=1000).offer(curator)
    mean, count = offer.expected
    assert 1.9 < max(dict(mean.by_rows)[1000], count.half_width) <= 2
    dearer = QuestionRequest(**asked, at_rows=100).offer(curator)
    assert dearer.quote.charge.amount >= offer.quote.charge.amount
    with pytest.raises(InputError, match="error depends on data"):
        QuestionRequest(**asked).offer(curator)
    with pytest.raises(InputError, match="100, 1000, 10000"):
        QuestionRequest(**asked, at_rows=50).offer(curator)
    with pytest.raises(InputError, match="left out unless `within`"):
        QuestionRequest(outputs=["count"], epsilon="1", at_rows=100).offer(curator)
