"""Turns at planning: no caller, and not all of them together, can keep the server busy with what is free."""

import threading
from dataclasses import replace
from types import SimpleNamespace

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
import pyarrow as pa

import discreet
from asgi_client import Client
from discreet import Allotment, Budget, Category, Integer, Schema
from discreet.apps.server import plans
from discreet.apps.server.limits import STEPS
from discreet.apps.server.plans import Plans
from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Tokens
from discreet.apps.web.site import application
from discreet.errors import BusyError


@pytest.fixture
def clock(monkeypatch):
    """Time of the wall and of the processor, set by hand."""
    now = SimpleNamespace(wall=0.0, processor=0.0)
    monkeypatch.setattr(
        plans, "time", SimpleNamespace(monotonic=lambda: now.wall, thread_time=lambda: now.processor), raising=True
    )
    return now


def test_who_planned_too_much_waits_until_time_has_grown_back_and_others_do_not(clock):
    desk = Plans(seconds=10, rate=0.25)
    with desk.turn("ann"):
        clock.processor += 12
    with pytest.raises(BusyError, match="Try again in 9 s"), desk.turn("ann"):
        pass
    with desk.turn("bob"):
        clock.processor += 1
    clock.wall += 7.9
    with pytest.raises(BusyError), desk.turn("ann"):
        pass
    clock.wall += 0.2
    with desk.turn("ann"):
        pass


def test_without_pause_a_caller_has_its_part_of_one_processor(clock):
    desk = Plans(seconds=10, rate=0.25)
    for _ in range(4000):
        clock.wall += 1
        try:
            with desk.turn("ann"):
                clock.processor += 2
        except BusyError:
            pass
    assert clock.processor <= 10 + 0.25 * 4000 + 2


def test_a_plan_that_failed_is_counted_too(clock):
    desk = Plans(seconds=1, rate=0.25)

    def fails():
        with desk.turn("ann"):
            clock.processor += 3
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    with pytest.raises(BusyError), desk.turn("ann"):
        pass


def test_so_many_are_made_at_once_and_one_caller_cannot_take_every_place():
    desk = Plans(running=1, waiting=2, each=2)
    inside, leave = threading.Event(), threading.Event()
    done = []

    def plan(name):
        with desk.turn(name):
            inside.set()
            leave.wait(60)
            done.append(name)

    threads = [threading.Thread(target=plan, args=("ann",))]
    threads[0].start()
    assert inside.wait(60)
    threads.append(threading.Thread(target=plan, args=("ann",)))
    threads[1].start()
    while desk._present["ann"] < 2:
        threads[1].join(0.001)
    with pytest.raises(BusyError, match="Too many plans"), desk.turn("ann"):
        pass
    threads.append(threading.Thread(target=plan, args=("bob",)))
    threads[2].start()
    while desk._present.total() < 3:
        threads[2].join(0.001)
    with pytest.raises(BusyError, match="Too many plans"), desk.turn("eve"):
        pass
    leave.set()
    for thread in threads:
        thread.join(60)
    assert sorted(done) == ["ann", "ann", "bob"]
    assert not desk._present


def test_the_plans_of_one_caller_wait_for_each_other_and_for_what_they_took(clock):
    desk = Plans(running=2, each=3, seconds=1, rate=0.25)
    inside, leave, told = threading.Event(), threading.Event(), []

    def long():
        with desk.turn("ann"):
            inside.set()
            leave.wait(60)
            clock.processor += 50

    def next_one():
        try:
            with desk.turn("ann"):
                told.append("planned")
        except BusyError as problem:
            told.append(str(problem))

    threads = [threading.Thread(target=long), threading.Thread(target=next_one)]
    threads[0].start()
    assert inside.wait(60)
    threads[1].start()
    while desk._present["ann"] < 2:
        threads[1].join(0.001)
    with desk.turn("bob"):  # the second turn is not taken by ann, who has one
        pass
    leave.set()
    for thread in threads:
        thread.join(60)
    assert len(told) == 1
    assert "processor time" in told[0]


PATHS = {
    "plan": {"outputs": ["count"], "epsilon": "0.1"},
    "release": {"outputs": ["count"], "epsilon": "0.1"},
    "tree/plan": {"levels": ["sex"], "epsilon": "0.1"},
    "tree/release": {"levels": ["sex"], "epsilon": "0.1"},
    "synth/plan": {"epsilon": "0.1"},
    "synth/release": {"epsilon": "0.1"},
    "train/plan": {"target": "sex", "lot": 10, "steps": 10, "epsilon": "0.1", "allotment": "models"},
    "train/release": {"target": "sex", "lot": 10, "steps": 10, "epsilon": "0.1", "allotment": "models"},
}


@pytest.fixture
def service(tmp_path):
    schema = Schema("people", {"age": Integer(0, 120, nullable=False), "sex": Category(["f", "m"], nullable=False)})
    parts = [Allotment("questions", "pure", epsilon=1), Allotment("models", "plan", epsilon=1, delta="1e-6")]
    budget = Budget(2, delta="1e-6", allotments=parts)
    curator = discreet.open(
        pa.table({"age": [30], "sex": ["f"]}), schema, ledger=tmp_path / "b.db", budget=budget, create=True
    )
    return Service({"people": curator}, Tokens(tmp_path / "t.db"), plans=Plans(seconds=0.0))


@pytest.mark.parametrize("path", PATHS)
def test_every_path_that_plans_takes_a_turn(service, path):
    ann = Client(application(service), {"authorization": "Bearer " + service.tokens.create("ann", "analyst")})
    answer = ann.post(f"/api/datasets/people/{path}", json=PATHS[path])
    assert answer.status_code == 429
    assert "processor time" in answer.json()["message"]
    assert service.curators["people"].releases() == []


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"steps": 1_000_000}, f"{STEPS:,}"),
        ({"epochs": 1_000}, f"{STEPS:,}"),
        ({"multiplier": 50}, "given over HTTP unless epochs are"),
    ],
)
def test_a_training_run_that_takes_long_to_price_is_refused_before_it_is_priced(service, asked, told, monkeypatch):
    def priced(*args, **kwargs):
        raise AssertionError("it was priced")

    monkeypatch.setattr("discreet.learn.training.CheckedTrain.priced", priced)
    free = Service(service.curators, service.tokens)
    viewer = Client(application(free), {"authorization": "Bearer " + free.tokens.create("ann", "viewer")})
    body = {"target": "sex", "lot": 10, "examples": 100_000, "epsilon": "0.1", "allotment": "models", **asked}
    answer = viewer.post("/api/datasets/people/train/plan", json=body)
    assert answer.status_code == 422
    assert told in answer.json()["message"]


@pytest.mark.parametrize(
    ("candidate", "told"),
    [({"steps": 1_000_000}, f"{STEPS:,}"), ({"steps": "1e9"}, f"{STEPS:,}"), ({"copies": 9}, "over HTTP")],
)
def test_a_candidate_of_a_search_is_no_way_round_the_limits(service, candidate, told, monkeypatch):
    def priced(*args, **kwargs):
        raise AssertionError("it was priced")

    monkeypatch.setattr("discreet.learn.training.CheckedSearch.plan", priced)
    free = Service(service.curators, service.tokens)
    viewer = Client(application(free), {"authorization": "Bearer " + free.tokens.create("ann", "viewer")})
    body = {"target": "sex", "lot": 10, "examples": 100, "steps": 2, "epsilon": "0.1", "allotment": "models"}
    answer = viewer.post("/api/datasets/people/search/plan", json={**body, "settings": [{"rate": 1}, candidate]})
    assert answer.status_code == 422
    assert told in answer.json()["message"]


def test_a_question_as_text_is_sql_and_nothing_else_over_http(service):
    """As JSON in a text, long lists in it would not be seen."""
    service = replace(service, plans=Plans())
    ann = Client(application(service), {"authorization": "Bearer " + service.tokens.create("ann", "analyst")})
    text = '{"outputs": {"n": {"of": "count"}}}'
    body = {"query": text, "period": "age/10", "epsilon": "0.1", "allotment": "questions"}
    assert ann.post("/api/datasets/people/stream/plan", json=body).status_code == 422


@pytest.mark.parametrize("path", ["plan", "tree/plan"])
def test_bins_in_the_form_of_programs_are_as_few_as_in_that_of_people(service, path):
    service = replace(service, plans=Plans())
    ann = Client(application(service), {"authorization": "Bearer " + service.tokens.create("ann", "analyst")})
    key = {"column": "age", "edges": ["width", "0.01"]}
    tree = {"levels": ["sex"], "by": [key], "epsilon": "0.1"}
    query = {"query": {"keys": [key], "outputs": [{"name": "n", "count": None}]}, "epsilon": "0.1"}
    answer = ann.post(f"/api/datasets/people/{path}", json=tree if path == "tree/plan" else query)
    assert answer.status_code == 422
    assert "10,000 bins" in answer.json()["message"]
