"""Bugs planted on the way to a mechanism, and questions that they show in: what the laws of neighbours must find."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import duckdb
import pytest

from discreet.core.unit import Neighbours, Unit
from neighbours import trials
from seam import BrokenLawError
from world_jobs import ALLOTMENTS, Desk, Job, schema_of


def patched(*places: tuple[Any, str], by: Any) -> Callable[[], Any]:
    @contextlib.contextmanager
    def planted() -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            for place, name in places:
                stack.enter_context(mock.patch.object(place, name, by))
            yield

    return planted


def asked(
    unit: Unit, output: Any, keys: tuple[str, ...] = (), *, joined: bool = False, way: str = "epsilon"
) -> Callable[[Any], Job]:
    """One question, for a bug that shows in it: every turn has new tables."""
    schema = schema_of(unit, joined=joined)
    plan = functools.partial(Desk(schema, ALLOTMENTS[way]).table().group_by(*keys).agg(o=output).plan, **{way: 1})

    def kind(_: Any) -> Job:
        made = plan().plan
        return Job(schema, made.allotment, made.cost, made.measure, made)

    return kind


ROW, PERSON = Unit(), Unit("p", groups=1, rows=1)
SEVERAL = Unit(rows=3)
DRAWS = Unit("p", groups=3, rows=1, rows_total=2)
OTHER = Unit("p", Neighbours.REPLACE, groups=1, rows=1)


def find_bug(kind: Callable[[Any], Job], planted: Callable[[], Any]) -> None:
    """By a run that differs too much, or by one that a row makes fail."""
    with planted(), pytest.raises((BrokenLawError, duckdb.Error, IndexError)):
        for _ in trials(kind, 400, seed=1):
            pass
