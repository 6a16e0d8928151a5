"""A plan that an engine keeps gives the integers of a text that is read anew, and keeps neither rows nor salts."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pyarrow
import pytest

from discreet import Budget, Category, Real, Schema, Unit, count, mean
from discreet import open as open_curator
from discreet.data import source as sources
from discreet.data.connection import Connection
from discreet.data.kept_plan import KeptPlan
from discreet.data.pool import Pool
from discreet.data.statement import Statement

SCHEMA = Schema(
    "people", {"pay": Real(0, 1000), "county": Category(["Ash", "Elm", "Oak"])}, unit=Unit("person", groups=1, rows=2)
)


@pytest.fixture
def pool(monkeypatch):
    """A pool of this test's own."""
    found = Pool()
    monkeypatch.setattr(sources, "engines", found)
    yield found
    found.drain()


def people(rows=300, pay=500.0, persons=100):
    county = np.array(["Ash", "Elm", "Oak"])[np.arange(rows) % 3]
    return pyarrow.table({"person": np.arange(rows) % persons, "pay": np.full(rows, pay), "county": county})


def question_of(source, folder):
    curator = open_curator(source, SCHEMA, ledger=folder / "books.db", budget=Budget(10**9), who="t", create=True)
    return curator.table().group_by("county").agg(n=count(), m=mean("pay"))


def releases(question, times):
    return [question.plan(epsilon=10**6).release() for _ in range(times)]


@pytest.fixture
def counted(monkeypatch):
    """How often a text was planned, run as planned, and run after the engine was shown what it reads."""
    found = {"planned": 0, "run": 0, "shown": 0}

    def watch(owner, name, key):
        method = getattr(owner, name)

        def run(*args, **options):
            found[key] += 1
            return method(*args, **options)

        monkeypatch.setattr(owner, name, run)

    watch(KeptPlan, "__init__", "planned")
    watch(KeptPlan, "columns", "run")
    watch(Connection, "_shown_and_run", "shown")
    return found


def test_a_question_is_planned_once(pool, tmp_path, counted):
    releases(question_of(people(), tmp_path), 8)
    assert counted == {"planned": 1, "run": 6, "shown": 0}  # compiled twice before


def test_a_table_that_is_converted_for_each_release_is_shown_anew(pool, tmp_path, counted):
    releases(question_of(people().to_pandas(), tmp_path), 6)
    assert counted == {"planned": 0, "run": 0, "shown": 4}


def test_an_engine_keeps_so_many_plans_and_no_more(pool, tmp_path, counted, monkeypatch):
    monkeypatch.setattr("discreet.data.kept_plan._MOST", 1)
    first = question_of(people(), tmp_path)
    other = first.desk
    second = type(first)(other, first.query.agg(k=count("pay")))
    releases(first, 4)
    releases(second, 4)
    assert counted == {"planned": 1, "run": 2, "shown": 2}


def statement_in(source) -> Statement:
    (found,) = [entry for entry, _ in source.cache._entries.values() if isinstance(entry, Statement)]
    return found


def plan_in(pool, source) -> KeptPlan:
    (engine,) = pool._idle
    return statement_in(source).plans[engine._plans]


def test_no_salt_is_kept_and_every_release_has_its_own(pool, tmp_path, monkeypatch):
    salts = []
    run = KeptPlan.columns

    def columns(self, parameters):
        salts.append(tuple(parameters.items()))
        return run(self, parameters)

    monkeypatch.setattr(KeptPlan, "columns", columns)
    question = question_of(people(), tmp_path)
    releases(question, 6)
    assert len(set(salts)) == 4
    plan = plan_in(pool, question.desk.source)
    assert [int(word[0]) for word in plan._words.values()] == [0] * len(plan._words)


def test_the_words_of_a_salt_are_read_when_the_plan_runs(pool, tmp_path):
    """A person in three counties counts in one of them, and which one follows from the salt."""
    question = question_of(people(3, persons=1), tmp_path)
    releases(question, 3)
    plan = plan_in(pool, question.desk.source)
    names = list(plan._words)
    assert len(names) == 4
    groups = {
        int(plan.columns({name: 7919 * turn + place for place, name in enumerate(names)})["group"][0])
        for turn in range(1, 40)
    }
    assert groups == {0, 1, 2}


def test_an_idle_engine_with_a_plan_does_not_hold_on_to_the_table(pool, tmp_path):
    table = people()
    gone = weakref.ref(table)
    question = question_of(table, tmp_path)
    releases(question, 4)
    (engine,) = pool._idle
    assert len(engine._plans) == 1
    del table, question
    gc.collect()
    assert gone() is None
    assert len(engine._plans) == 0


def test_plans_end_with_their_engine(pool, tmp_path):
    question = question_of(people(), tmp_path)
    releases(question, 3)
    plan = plan_in(pool, question.desk.source)
    pool.drain()
    with pytest.raises(Exception, match="closed"):
        plan.columns(dict.fromkeys(plan._words, 1))
    assert sum(releases(question, 1)[0]["n"][:3]) == pytest.approx(100, abs=1)


def test_a_plan_that_fails_is_forgotten_and_the_question_answered(pool, tmp_path, monkeypatch):
    question = question_of(people(), tmp_path)
    releases(question, 3)
    plan = plan_in(pool, question.desk.source)
    plan.connection.close()
    for found in releases(question, 3):
        assert sum(found["n"][:3]) == pytest.approx(100, abs=1)
    assert len(pool._idle) == 1
    assert len(pool._idle[0]._plans) == 0


def test_another_table_of_the_same_columns_has_a_plan_of_its_own(pool, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first, second = question_of(people(), tmp_path / "a"), question_of(people(600, 250.0, 200), tmp_path / "b")
    for _ in range(5):
        assert sum(releases(first, 1)[0]["n"][:3]) == pytest.approx(100, abs=1)
        assert sum(releases(second, 1)[0]["n"][:3]) == pytest.approx(200, abs=1)


def test_what_is_interrupted_is_the_plan(pool, tmp_path, monkeypatch):
    """Whoever stops a run stops the connection that its backend has at that moment."""
    run, planned = KeptPlan.columns, Connection._planned
    backends, stopped = [], []

    def watch(self, statement, salt):
        backends.append((self._backend, self._backend.con))
        return planned(self, statement, salt)

    def columns(self, parameters):
        stopped.append(backends[-1][0].con is self.connection)
        return run(self, parameters)

    monkeypatch.setattr(Connection, "_planned", watch)
    monkeypatch.setattr(KeptPlan, "columns", columns)
    releases(question_of(people(), tmp_path), 4)
    assert stopped == [True, True]
    assert all(backend.con is own for backend, own in backends)
