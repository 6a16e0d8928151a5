"""A plan is free, so none may take long: what would keep the machine busy is refused before it is planned."""

import asyncio
import json
import sys
from datetime import date
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet import Budget, Category, Date, Integer, Real, Schema, Text

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
from asgi_client import Client
from discreet.apps.server import limits
from discreet.apps.server.guard import Guard
from discreet.apps.server.limits import BINS, CELLS, LABELS, check_lists, check_rows
from discreet.apps.server.requests import REQUESTS
from discreet.apps.server.service import Service
from discreet.apps.web.site import application
from discreet.core.packing import pack
from discreet.errors import InputError
from discreet.synth.plan import SynthPlan
from grid_files import lay_out_grid
from numbers_files import lay_out_prices

SCHEMA = Schema(
    "people",
    {
        "age": Integer(0, 120, nullable=False),
        "pay": Real(0, 1000, nullable=False),
        "day": Date(date(1900, 1, 1), date(2100, 1, 1), nullable=False),
        "county": Category(["Ash", "Elm"], nullable=False),
        "note": Text(),
    },
)
TABLE = pa.table({"age": [1], "pay": [2.0], "day": [date(2000, 1, 1)], "county": ["Ash"], "note": ["x"]})


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    curator = discreet.open(
        TABLE, SCHEMA, ledger=tmp_path_factory.mktemp("books") / "b.db", budget=Budget(5), create=True
    )
    return Client(application(Service({"people": curator}, None).within(rate=1e6, burst=1e6)))


COUNT = {"n": {"of": "count"}}
FINE = [
    ("plan", {"by": ["pay/0.01"]}),
    ("plan", {"by": ["day/1"]}),
    ("plan", {"by": ["day/day"]}),
    ("plan", {"top": "pay/0.01"}),
    ("plan", {"sql": "SELECT BIN(pay, 0.01), COUNT(*) AS n FROM people GROUP BY BIN(pay, 0.01)"}),
    ("plan", {"query": {"outputs": COUNT, "group_by": [{"column": "pay", "edges": list(range(BINS + 1))}]}}),
    ("batch/plan", {"questions": {"n": "SELECT BIN(pay, 0.01), COUNT(*) AS n FROM people GROUP BY BIN(pay, 0.01)"}}),
    (
        "stream/plan",
        {"query": "SELECT BIN(pay, 0.01), COUNT(*) AS n FROM people GROUP BY BIN(pay, 0.01)", "period": "day/year"},
    ),
    ("stream/plan", {"query": "SELECT COUNT(*) AS n FROM people", "period": "pay/0.01"}),
    ("tree/plan", {"levels": ["county"], "by": ["pay/0.01"]}),
    ("tree/plan", {"levels": ["county"], "by": [{"column": "age", "values": [1] * (BINS + 1)}]}),
]


@pytest.mark.parametrize(("path", "asked"), FINE)
def test_more_bins_than_anyone_reads_are_refused_before_they_are_made(client, path, asked):
    found = client.post(f"/api/datasets/people/{path}", json={**asked, "epsilon": "0.1"})
    assert found.status_code == 422
    assert f"at most {BINS:,}" in found.json()["message"]


def test_a_few_thousand_are_fine(client):
    asked = {"by": ["pay/1"], "epsilon": "0.1"}
    assert client.post("/api/datasets/people/plan", json=asked).json()["groups"] == 1000
    sql = {"sql": "SELECT BIN(pay, 1), COUNT(*) AS n FROM people GROUP BY BIN(pay, 1)", "epsilon": "0.1"}
    assert client.post("/api/datasets/people/plan", json=sql).json()["groups"] == 1000
    for by in ("day/year", "county", "age/10", "age"):
        assert client.post("/api/datasets/people/plan", json={"by": [by], "epsilon": "0.1"}).status_code == 200


def test_lists_are_looked_for_everywhere():
    check_lists({"a": [{"b": [0] * BINS}]}, "query", SCHEMA)
    with pytest.raises(InputError, match="at most 10,000"):
        check_lists({"a": [{"b": [0] * (BINS + 1)}]}, "query", SCHEMA)


@pytest.mark.parametrize("amount", ["1e19", "1e400", "-1e400", "9" * 5000, 1e300, "1e999999999"])
@pytest.mark.parametrize("name", ["epsilon", "rho", "share", "within", "delta"])
def test_numbers_that_mean_nothing_are_refused_and_break_nothing(client, name, amount):
    found = client.post("/api/datasets/people/plan", json={"outputs": ["count"], "epsilon": 1, name: amount})
    assert found.status_code == 422, found.text
    assert name in found.json()["message"]


def test_a_model_of_such_numbers_too(client):
    pytest.importorskip("jax")
    asked = {"target": "county", "examples": 100, "steps": 1, "lot": 10, "epsilon": 1}
    found = client.post("/api/datasets/people/train/plan", json={**asked, "bound": "1e400"})
    assert found.status_code == 422
    assert found.json()["field"] == "bound"


def test_many_rows_of_each_person_are_refused_before_they_are_laid_out():
    def draft(rows):
        ready = SimpleNamespace(settings={"steps": 5, "rows": rows})
        return SimpleNamespace(ask=SimpleNamespace(kind="train"), checked=ready)

    limits.check_draft(draft(64), {})
    with pytest.raises(InputError, match="over HTTP") as caught:
        limits.check_draft(draft(65), {})
    assert caught.value.field == "rows"


def test_flows_of_more_cells_than_an_answer_can_hold_are_refused_over_http():
    def draft(windows):
        ready = SimpleNamespace(layout=SimpleNamespace(shape=(windows, 200, 250)))
        return SimpleNamespace(ask=SimpleNamespace(kind="flows", prices=("epsilon",)), checked=ready)

    limits.check_draft(draft(20), {})
    with pytest.raises(InputError, match="at most 1,000,000 cells over HTTP"):
        limits.check_draft(draft(21), {})


def test_a_random_number_of_runs_is_refused_where_whoever_asks_sees_how_long_they_take(client):
    pytest.importorskip("jax")
    asked = {"target": "county", "examples": 100, "steps": 1, "lot": 10, "epsilon": 1}
    asked |= {"settings": [{"rate": 0.1}, {"rate": 1}], "runs": 3}
    found = client.post("/api/datasets/people/search/plan", json=asked)
    assert (found.status_code, found.json()["field"]) == (422, "runs"), found.text


def test_a_server_runs_no_code_that_a_caller_names(client):
    pytest.importorskip("jax")
    asked = {"target": "county", "examples": 100, "steps": 1, "lot": 10, "epsilon": 1}
    for field in ("model", "optimizer"):
        found = client.post("/api/datasets/people/train/plan", json={**asked, field: "this:d"})
        assert (found.status_code, found.json()["field"]) == (422, field), found.text
    for field in ("augment", "checkpoint"):
        found = client.post("/api/datasets/people/train/plan", json={**asked, field: "this:d"})
        assert found.status_code == 422
    assert "this" not in sys.modules


def test_a_token_that_is_written_in_many_ways_takes_no_room():
    async def app(scope, receive, send):
        pass

    guard = Guard(app, body=10, rate=1e9, burst=1e9, named=lambda scope: "ann")

    async def asked(shown):
        await guard({"type": "http", "method": "GET", "headers": [(b"authorization", shown)]}, None, None)

    async def many():
        for place in range(1500):
            await asked(b"Bearer " + b" " * (place % 150) + b"%d" % place)
        await asked(b"Bearer " + b" " * 60_000 + b"x")

    asyncio.run(many())
    assert len(guard.names) <= 1000
    assert sum(map(len, guard.names)) < 200_000
    assert list(guard.buckets) == ["ann"]  # however it is written, it has one rate


_CODES = [f"r{number:02d}" for number in range(20)]
LARGE = {
    "tree": {"levels": ["region"]},
    "detail": {"levels": ["region"], "groups": {"one": "to = 'r01'"}, "details": {"to": ["to"]}},
    "census": {"levels": ["region"], "tables": {"a": {"counts": "persons"}}, "household": "to"},
    "flows": {"origin": "region", "destination": "to"},
    "commute": {"origin": "region", "destination": "to", "coordinates": {code: [0, 1] for code in _CODES}},
}


@pytest.mark.parametrize("kind", LARGE)
def test_a_large_job_is_not_priced_by_its_accuracy(kind, tmp_path, monkeypatch):
    """That would take some twenty plans for one, and plans are free."""
    asked = REQUESTS[kind](**LARGE[kind], within=50.0)
    schema = Schema("t", {name: Category(_CODES, nullable=False) for name in ("region", "to")})
    data = pa.table({"region": ["r01"], "to": ["r02"]})
    curator = discreet.open(data, schema, ledger=tmp_path / "l.db", budget=Budget(100), create=True)
    assert asked.offer(curator).plan.charge.amount > 0
    monkeypatch.setattr(limits, "_SEARCHED", 10)
    with pytest.raises(InputError, match="above 10 numbers over HTTP"):
        asked.offer(curator)
    asked = REQUESTS[kind](**LARGE[kind], epsilon=1.0)
    assert asked.offer(curator).plan.charge.amount > 0


def test_loads_of_a_large_grid_are_not_priced_by_their_accuracy(tmp_path, monkeypatch):
    """Each of the twenty plans works out power flows."""
    pytest.importorskip("clarabel", reason="needs discreet[power]")
    data, schema = lay_out_grid(tmp_path)
    ring = discreet.open(data, schema, ledger=tmp_path / "l.db", create=True)
    asked = REQUESTS["loads"](cost=800.0, within=3.0)
    assert asked.offer(ring).plan.charge.amount > 0
    monkeypatch.setattr(limits, "_FED", 5)  # it has three loads and three buses
    with pytest.raises(InputError, match="above 5 numbers over HTTP") as refused:
        asked.offer(ring)
    assert "Give epsilon or share:" in str(refused.value)  # loads are not paid in rho
    assert REQUESTS["loads"](cost=800.0, epsilon=1.0).offer(ring).plan.charge.amount == 1


def test_many_hidden_numbers_are_not_priced_by_their_accuracy(tmp_path, monkeypatch):
    """Each of the twenty plans looks for numbers that meet what is declared."""
    pytest.importorskip("clarabel", reason="needs discreet[constraints]")
    prices = discreet.open(
        str(lay_out_prices(tmp_path)), tmp_path / "discreet.toml", ledger=tmp_path / "l.db", create=True
    )
    terms = {"highest": 100.0, "step": "0.25", "optimum": "30.3"}
    assert REQUESTS["hidden"](**terms, within=20.0).offer(prices).plan.charge.amount > 0
    monkeypatch.setattr(limits, "_FED", 3)  # there are four
    with pytest.raises(InputError, match="above 3 numbers over HTTP"):
        REQUESTS["hidden"](**terms, within=20.0).offer(prices)
    assert REQUESTS["hidden"](**terms, epsilon=1.0).offer(prices).plan.charge.amount == 1


@pytest.mark.parametrize(
    ("kind", "field", "sent"),
    [
        ("flows", "destination", {"origin": "county", "destination": "countie"}),
        ("flows", "window", {"origin": "county", "destination": "county", "window": {"column": "countie"}}),
        ("tree", "by", {"levels": ["county"], "by": ["countie"]}),
    ],
)
def test_a_misspelt_key_is_refused_under_the_name_of_its_field(client, kind, field, sent):
    found = client.post(f"/api/datasets/people/{kind}/plan", json={**sent, "epsilon": "0.1"}).json()
    assert found["field"] == field
    assert found["message"].startswith(f"`{field}` must be")
    assert "Did you mean `county`?" in found["message"]


@pytest.mark.parametrize(
    ("columns", "asked", "recorded", "most"),
    [
        (2, 50, None, 500),
        (4, 400_000, None, CELLS // 4),
        (4, 3_000_000, None, 3_000_000),  # as many as are on record always
        (2, None, 30, 300),
        (2, None, None, CELLS // 2),
    ],
)
def test_rows_drawn_anew_are_bounded_by_their_cells_and_by_those_on_record(columns, asked, recorded, most):
    codes = [pack(np.zeros(recorded or 0, dtype=np.int64))]
    answer = None if recorded is None else json.dumps({"synth": {"made": {"codes": codes}}})
    plan, known = mock.Mock(SynthPlan, domain=range(columns), keys=(), rows=asked), mock.Mock(answer=answer)
    for rows in (None, 1, most):
        check_rows(rows, plan, known)
    for rows in (0, most + 1, True, "7"):
        with pytest.raises(InputError, match=f"from 1 to {most:,} over HTTP"):
            check_rows(rows, plan, known)
    check_rows(most + 1, object(), known)  # no synthetic table: refused by the name alone


def test_values_that_look_like_bins_are_let_pass_where_nothing_has_columns():
    check_lists({"column": "x", "edges": ["width", 1]}, "how", mock.Mock(subject="grid"))


def test_many_questions_at_once_are_refused_before_they_are_read(client):
    many = {f"q{number}": "SELECT COUNT(*) AS n FROM people" for number in range(101)}
    found = client.post("/api/datasets/people/batch/plan", json={"questions": many, "epsilon": 1})
    assert (found.status_code, found.json()["field"]) == (422, "questions")


def test_candidates_of_many_steps_in_all_are_refused_before_they_are_priced(client):
    pytest.importorskip("jax")
    asked = {"target": "county", "features": ["age"], "examples": 60, "lot": 20, "steps": 60_000, "epsilon": 1}
    tried = [{"rate": 1}, {"rate": 2, "steps": "50000"}]
    found = client.post("/api/datasets/people/search/plan", json={**asked, "delta": "0.001", "settings": tried})
    assert (found.status_code, found.json()["field"]) == (422, "settings"), found.text
    assert "110,000 steps" in found.json()["message"]


BINNED = "SELECT BIN(pay, 0.1), COUNT(*) AS n FROM people GROUP BY BIN(pay, 0.1)"  # 10,000 bins
CROSSED = "SELECT BIN(pay, 1), BIN(day, 100), COUNT(*) AS n FROM people GROUP BY BIN(pay, 1), BIN(day, 100)"
OUTPUTS = {"outputs": {f"n{number}": {"of": "count"} for number in range(200)}}


@pytest.mark.parametrize(
    ("text", "many", "most"),
    [
        (BINNED, 11, f"at most {LABELS:,} bins and values of keys in all"),
        (CROSSED, 2, "at most 1,000,000 groups in all"),
        (OUTPUTS, 6, "at most 1,000 outputs in all"),
        ("SELECT COUNT(*) AS n FROM people " + " " * 10_000, 1, "at most 10,000 characters"),
    ],
)
def test_questions_that_are_too_large_together_are_refused_before_they_are_priced(client, text, many, most):
    sent = {"questions": {f"q{number}": text for number in range(many)}, "epsilon": "0.1"}
    with mock.patch("discreet.query.batch.plan_question", side_effect=AssertionError):
        answer = client.post("/api/datasets/people/batch/plan", json=sent)
    assert answer.status_code == 422, answer.text
    assert most in answer.json()["message"]
    assert answer.json()["field"].startswith("questions")


def test_no_question_is_read_once_those_before_it_are_too_many(client):
    sent = {"questions": {f"q{number}": BINNED for number in range(20)}, "epsilon": "0.1"}
    assert "in the first 11 of 20" in client.post("/api/datasets/people/batch/plan", json=sent).json()["message"]


def test_a_hundred_small_questions_are_fine(client):
    text = "SELECT county, COUNT(*) AS n FROM people GROUP BY county"
    sent = {"questions": {f"q{number}": text for number in range(100)}, "epsilon": "0.1"}
    assert client.post("/api/datasets/people/batch/plan", json=sent).status_code == 200
    sent = {"questions": {"a": {"outputs": COUNT}, "b": text}, "epsilon": "0.1"}
    assert client.post("/api/datasets/people/batch/plan", json=sent).status_code == 200
