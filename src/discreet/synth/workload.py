"""What a synthetic table is wanted for: marginals with weights, and all the smaller ones that bear on them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping

from discreet.errors import InputError
from discreet.marginals.counts import Columns
from discreet.marginals.domain import Domain

__all__ = ["Workload", "closure", "read_workload"]

Workload = Mapping[Columns, float] | Iterable[Columns]
"""Marginals that matter, each with how much; without weights all matter alike."""


def read_workload(workload: Workload, domain: Domain) -> dict[Columns, float]:
    """Every marginal once, its columns rising, with its weight.

    >>> from discreet.data.column import Integer
    >>> from discreet.data.schema import Schema
    >>> read_workload([(1, 0)], Domain.of(Schema("t", {"a": Integer(0, 3), "b": Integer(0, 3)})))
    {(0, 1): 1.0}
    """
    given = workload.items() if isinstance(workload, Mapping) else ((columns, 1.0) for columns in workload)
    found: dict[Columns, float] = {}
    for columns, weight in given:
        places = tuple(sorted(set(columns)))
        if not places or len(places) != len(columns) or places[0] < 0 or places[-1] >= len(domain):
            raise InputError(
                "workload", columns, f"made of different positions of columns, from 0 to {len(domain) - 1}"
            )
        if isinstance(weight, bool) or not 0 < weight < 2**10:
            raise InputError("workload", weight, "weighted above zero and below 1,024")
        found[places] = found.get(places, 0.0) + float(weight)
    if not found:
        raise InputError("workload", [], "at least one marginal")
    return found


def closure(workload: Mapping[Columns, float], least: int = 1) -> dict[Columns, float]:
    """All marginals of at least so many columns inside one of the workload.

    The weight of each says how much of the workload it bears on: weights of its marginals times columns shared, summed.
    """
    inside = {
        part
        for columns in workload
        for many in range(least, len(columns) + 1)
        for part in itertools.combinations(columns, many)
    }
    sets = [(frozenset(columns), weight) for columns, weight in workload.items()]
    return {
        part: sum(weight * len(columns.intersection(part)) for columns, weight in sets)
        for part in sorted(inside, key=lambda one: (len(one), one))
    }
