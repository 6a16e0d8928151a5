"""Questions through a real curator, ledger and engine, on small tables that differ by one person.

One question over thousands of groups is thousands of runs: every group is a copy of the same few people, who are in no
other group, and gets noise of its own. So the whole way is attacked (bounding, counting, noise, publishing), and fast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any
from weakref import finalize

import numpy as np

from discreet.audit.claim import AnyClaim
from discreet.audit.gate import Subject
from discreet.audit.outputs import Pair, buffered, repeated
from discreet.core.packing import unpack
from discreet.core.release import Release, plural
from discreet.core.unit import Unit
from discreet.curator import Curator, Question
from discreet.curator.desk import LocalDesk
from discreet.curator.offer import Offer
from discreet.data.column import Category, Integer, Text
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.ledger.budget import Budget
from discreet.ledger.door import release
from discreet.ledger.ledger import Ledger
from discreet.query.aggregate import count, mean, people, total, variance
from discreet.query.key import discover
from discreet.query.quantile import median

__all__ = ["planted", "subjects"]

COPIES = 2000
_RUNS = 4_000
_MANY = 40_000  # of what is only counted and drawn, not published
_CHOICES = 300
_PURE = Budget(10**6)
_ZCDP = Budget(rho=10**6)
_LOOSE = Budget(rho=10**6, delta="0.999")
Row = tuple[str, int]  # the person and their value; every copy has its own people

_OTHERS: list[Row] = [("bea", 3), ("cid", 7)]
_ONE: list[Row] = [("ann", 10)]
_GREEDY: list[Row] = [("ann", 10)] * 5


def subjects() -> Iterator[Subject]:
    """Aggregates by group, keys that are discovered, and choices."""
    unit = Unit("person", groups=1, rows=2)
    yield _grouped("count", lambda q: q.agg(n=count()).plan(epsilon=1), unit, _GREEDY)
    yield _grouped("people", lambda q: q.agg(n=people()).plan(epsilon=1), unit, _GREEDY)
    yield _grouped("total", lambda q: q.agg(n=total("value")).plan(epsilon=1), unit, _GREEDY)
    yield _grouped("count, Gaussian", lambda q: q.agg(n=count()).plan(rho="0.5"), unit, _GREEDY, _ZCDP)
    yield _grouped("mean", lambda q: q.agg(n=mean("value")).plan(epsilon=1), Unit(), _ONE, several=True)
    yield _grouped("variance", lambda q: q.agg(n=variance("value")).plan(epsilon=1), Unit(), _ONE, several=True)
    yield _grouped("median", lambda q: q.agg(n=median("value", interval=False)).plan(epsilon=1), Unit(), _ONE)
    yield Subject("discovered keys", "question", _discovered, _RUNS)
    yield Subject("most common value", "question", _top, _CHOICES, tier=2)
    yield Subject("choice of an option", "question", _choose, _CHOICES, tier=2)


def planted() -> Iterator[Subject]:
    """A person whose rows nobody bounds: the schema protects one row, and they have five."""

    def attack() -> tuple[AnyClaim, Sequence[Pair]]:
        return _attack(lambda q: q.agg(n=count()).plan(epsilon=1), Unit(), _GREEDY, _PURE, [_OTHERS])

    yield Subject("count", "question", attack, _RUNS, planted="unbounded user")

    def several() -> tuple[AnyClaim, Sequence[Pair]]:
        def ask(question: Question) -> Offer[Any]:
            return question.agg(n=mean("value")).plan(epsilon=1)

        return _attack(ask, Unit(), _GREEDY, _PURE, [_OTHERS], _Job.noisy)

    yield Subject("mean", "question", several, _MANY, planted="unbounded user")


def _grouped(
    name: str,
    ask: Callable[[Question], Offer[Any]],
    unit: Unit,
    ours: list[Row],
    budget: Budget = _PURE,
    *,
    several: bool = False,
) -> Subject:
    """`several` is for outputs that are made of several noisy numbers and slow to publish: these are attacked."""
    runs, tried, read = (_MANY, [_OTHERS], _Job.noisy) if several else (_RUNS, [[], _OTHERS], _numbers)
    return Subject(name, "question", lambda: _attack(ask, unit, ours, budget, tried, read), runs)


class _Unpublished:
    """A plan that is charged and measured as it is, and of which nothing is published."""

    def __init__(self, plan: Any) -> None:
        self._plan = plan

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plan, name)

    def publish(self, measured: Any, *, confidence: float | None = None) -> dict[str, Any]:
        """No columns."""
        return {}


class _Job:
    """A question to a curator of its own, with a ledger in a folder that goes when the job does."""

    def __init__(self, table: Any, schema: Schema, budget: Budget, ask: Callable[[Question], Offer[Any]]) -> None:
        folder = mkdtemp(prefix="discreet-audit-")
        finalize(self, rmtree, folder, ignore_errors=True)
        self._ledger = Ledger.temporary(folder)
        self._desk = LocalDesk.open(source_of(table), schema, ledger=self._ledger, budget=budget, who="audit")
        self._offer = ask(Curator(self._desk).table())
        self.cost = self._offer.plan.cost

    def column(self, name: str) -> list[Any]:
        """One column of a new release."""
        return list(self._offer.release()[name])

    def measured(self) -> Any:
        """The noisy numbers of a new release, charged, counted and recorded as any, but not published.

        Publishing takes most of a release's time, and what is published is made of these numbers alone: an attacker
        who has them has more.
        """
        plan = self._offer.plan
        data = self._desk.data_with(plan.columns)
        answer = release(_Unpublished(plan), data, self._ledger, who="audit", allotment=plan.allotment.name, warn=False)
        return answer.measured

    def noisy(self) -> Any:
        """Every noisy number of every copy: what is published is made of these alone."""
        return np.stack(list(unpack(self.measured()["noisy"])), axis=1)

    def columns(self, *names: str) -> list[list[Any]]:
        """Columns of one new release."""
        release = self._offer.release()
        return [list(release[name]) for name in names]


def _attack(
    ask: Callable[[Question], Offer[Any]],
    unit: Unit,
    ours: list[Row],
    budget: Budget,
    tried: Sequence[list[Row]],
    read: Callable[[_Job], Any] | None = None,
) -> tuple[AnyClaim, Sequence[Pair]]:
    schema = Schema(
        "copies",
        {"copy": Integer(0, COPIES - 1, nullable=False), "value": Integer(0, 10, nullable=False), "person": Text()},
        unit=unit,
    )
    pairs: list[Pair] = []
    jobs: list[_Job] = []
    for others in tried:
        jobs = [
            _Job(_table(rows), schema, budget, lambda question: ask(question.group_by("copy")))
            for rows in ([*others, *ours], others)
        ]
        sides = [buffered(lambda job=job: (read or _numbers)(job)) for job in jobs]  # type: ignore[misc]
        words = f"{plural(len(ours), 'row')} of one person beside {len(others)} others, or not"
        pairs.append(Pair(sides[0], sides[1], words))
    return jobs[0].cost, pairs


def _numbers(job: _Job) -> Any:
    """The output of every copy. A missing one, which says that there was too little, is a number of its own."""
    return np.array([-(10.0**9) if value is None else value for value in job.column("n")], dtype=np.float64)


def _table(rows: Sequence[Row]) -> Any:
    import pyarrow

    return pyarrow.table(
        {
            "copy": pyarrow.array(np.repeat(np.arange(COPIES), len(rows)), pyarrow.int64()),
            "person": pyarrow.array([f"{who} {i}" for i in range(COPIES) for who, _ in rows], pyarrow.string()),
            "value": pyarrow.array([value for _ in range(COPIES) for _, value in rows], pyarrow.int64()),
        }
    )


def _discovered() -> tuple[AnyClaim, Sequence[Pair]]:
    """Keys that nobody lists, each held by so many people: a key is a copy."""
    import pyarrow

    schema = Schema("keys", {"key": Text(), "who": Text()}, unit=Unit("who", groups=1, rows=1))
    pairs: list[Pair] = []
    jobs: list[_Job] = []
    for crowd in (0, 12):
        jobs = []
        for size in (crowd + 1, crowd):
            # One key that is always there, so that no table is empty.
            keys = [f"k{i}" for i in range(COPIES) for _ in range(size)] + ["all"] * 200
            table = pyarrow.table({"key": keys, "who": [f"p{i}" for i in range(len(keys))]})
            jobs.append(_Job(table, schema, _LOOSE, _by_key))
        sides = [buffered(lambda job=job: _shown(job)) for job in jobs]  # type: ignore[misc]
        pairs.append(Pair(sides[0], sides[1], f"keys of {crowd + 1} and of {crowd} people"))
    return jobs[0].cost, pairs


def _by_key(question: Question) -> Offer[Release]:
    return question.group_by(discover("key")).agg(n=count()).plan(epsilon=1, delta="0.001")


def _shown(job: _Job) -> Any:
    shown = dict(zip(*job.columns("key", "n"), strict=True))
    return np.array([shown.get(f"k{i}", -(10**6)) for i in range(COPIES)], dtype=np.int64)


def _top() -> tuple[AnyClaim, Sequence[Pair]]:
    """A choice is made once for the whole table: each of these runs counts anew, so they are few."""
    import pyarrow

    schema = Schema("names", {"name": Category(["a", "b", "c"], nullable=False)})
    jobs = [
        _Job(
            pyarrow.table({"name": pyarrow.array(rows, pyarrow.string())}),
            schema,
            _PURE,
            lambda question: question.top("name", 1, counts=False).plan(epsilon=1),
        )
        for rows in (["a"], [])
    ]
    sides = [repeated(lambda job=job: job.measured()["chosen"][0]) for job in jobs]  # type: ignore[misc]
    return jobs[0].cost, [Pair(sides[0], sides[1], "one person with the value a, and nobody")]


def _choose() -> tuple[AnyClaim, Sequence[Pair]]:
    """A price for a good, by what two bids or one would pay: few runs, as above."""
    import pyarrow

    schema = Schema("bids", {"bid": Integer(0, 4, nullable=False)})
    score = "CASE WHEN bid >= option THEN option ELSE 0 END"
    jobs = [
        _Job(
            pyarrow.table({"bid": pyarrow.array(bids, pyarrow.int64())}),
            schema,
            _PURE,
            lambda question: Curator(question.desk).choose([1, 4], score=score).plan(epsilon=1),
        )
        for bids in ([2, 4], [2])
    ]
    sides = [repeated(lambda job=job: job.measured()["chosen"]) for job in jobs]  # type: ignore[misc]
    return jobs[0].cost, [Pair(sides[0], sides[1], "a bid of 4 beside one of 2, or not")]
