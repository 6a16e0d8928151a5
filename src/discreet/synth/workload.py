"""The workload of a synthetic table: marginals to preserve, as people write them, and all the smaller ones within."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.errors import InputError, Phrase
from discreet.marginals.counts import Columns
from discreet.marginals.domain import Domain
from discreet.query.key import Bin

__all__ = ["Workload", "WorkloadMarginals", "WorkloadSpec", "bearable", "closure", "read_workload", "resolve_workload"]

Workload = Mapping[Columns, float] | Iterable[Columns]
"""Marginals that matter, each with how much; without weights all matter alike."""
LARGEST = 1_000_000
"""How many cells a marginal of the workload may have."""
MOST = 100_000_000
"""How many cells all of them may have together."""
MERGED = 64
"""To about how many codes methods merge a long column of numbers or days."""
_TRIPLE = 50_000  # cells of a triple, if nobody says how many rows there are
_LISTED = 20_000  # marginals

WorkloadSpec = str | Iterable[str | Iterable[str]] | Mapping[Any, float] | None


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
    borne: dict[int, float] = {}  # by each column: the weights of the marginals that have it
    for columns, weight in workload.items():
        for column in columns:
            borne[column] = borne.get(column, 0.0) + weight
    return {part: sum(borne[column] for column in part) for part in sorted(inside, key=lambda one: (len(one), one))}


@dataclass(frozen=True, slots=True)
class WorkloadMarginals:
    """Marginals with weights, and those of the kind asked for that were left out because they are too large."""

    marginals: dict[Columns, float]
    left_out: tuple[Columns, ...] = ()
    limit: int = LARGEST


def resolve_workload(
    asked: WorkloadSpec, domain: Domain, rows: int | None = None, parts: Mapping[str, Sequence[str]] | None = None
) -> WorkloadMarginals:
    """Read a workload: "pairs" (the default), "triples", names of columns in lists, or such lists with weights.

    Of pairs and triples those with too many cells are left out; what is listed and too large is an error. A triple may
    have as many cells as there will be `rows`, since in more of them counts would mostly be noise. A column made of
    `parts` stands for each of them. Long columns with an order count as `MERGED` codes, to which methods merge them.
    """
    if asked is None or isinstance(asked, str):
        found = _all(asked or "pairs", domain, rows)
    else:
        found = WorkloadMarginals(_listed(asked, domain, parts or {}))
    cells = sum(_cells(domain, columns) for columns in found.marginals)
    if cells > MOST or len(found.marginals) > _LISTED:
        got = Phrase(f"{len(found.marginals):,} marginals of {cells:,} cells")
        raise InputError("workload", got, f"at most {_LISTED:,} marginals of {MOST:,} cells together", _advice(domain))
    return found


def _all(kind: str, domain: Domain, rows: int | None) -> WorkloadMarginals:
    sizes = {"pairs": 2, "triples": 3}
    if kind not in sizes:
        raise InputError("workload", kind, '"pairs", "triples", or a list such as [("age", "sex"), ("age", "pay")]')
    many = min(sizes[kind], len(domain))
    limit = LARGEST if many < 3 else min(LARGEST, rows if rows is not None else _TRIPLE)
    every = list(itertools.combinations(range(len(domain)), many))
    kept = [columns for columns in every if _cells(domain, columns) <= limit]
    left_out = tuple(columns for columns in every if _cells(domain, columns) > limit)
    if many == 3:  # a pair that is in no triple of a fair size still matters
        held = {pair for columns in kept for pair in itertools.combinations(columns, 2)}
        pairs = itertools.combinations(range(len(domain)), 2)
        kept += [pair for pair in pairs if pair not in held and _cells(domain, pair) <= LARGEST]
    if not kept:
        smallest = min(left_out, key=lambda columns: _cells(domain, columns))
        raise _too_large(smallest, domain)
    return WorkloadMarginals(dict.fromkeys(kept, 1.0), left_out, limit)


def _cells(domain: Domain, columns: Columns) -> int:
    """How many cells a marginal has when long columns with an order are merged."""
    attributes = [domain.attributes[column] for column in columns]
    return math.prod(min(one.size, MERGED) if one.partition is not None else one.size for one in attributes)


def bearable(marginals: Mapping[Columns, float], domain: Domain) -> Mapping[Columns, float]:
    """Those of at most `LARGEST` cells in a domain that was found later; single columns if there are none."""
    kept = {columns: weight for columns, weight in marginals.items() if _cells(domain, columns) <= LARGEST}
    return kept or {(column,): 1.0 for column in range(len(domain))}


def _listed(
    asked: Iterable[Any] | Mapping[Any, float], domain: Domain, parts: Mapping[str, Sequence[str]]
) -> dict[Columns, float]:
    if not isinstance(asked, (Mapping, Iterable)):
        raise InputError("workload", asked, '"pairs", "triples", or a list such as [("age", "sex")]')
    weights = asked if isinstance(asked, Mapping) else None
    marginals: dict[Columns, float] = {}
    for names in asked:
        listed = (names,) if isinstance(names, str) else tuple(names) if isinstance(names, Iterable) else (names,)
        if len(set(listed)) != len(listed):
            raise InputError("workload", listed, "a list of marginals with each column once")
        weight = 1.0 if weights is None else weights[names]
        if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not math.isfinite(weight):
            raise InputError("workload", weight, "weighted by numbers")
        for one in itertools.product(*(parts.get(name, (name,)) for name in listed)):
            places = tuple(sorted(domain.place(name, "workload") for name in one))
            marginals[places] = marginals.get(places, 0.0) + weight
    found = read_workload(marginals, domain)
    for columns in found:
        if _cells(domain, columns) > LARGEST:
            raise _too_large(columns, domain)
    return found


def _too_large(columns: Columns, domain: Domain) -> InputError:
    sizes = " x ".join(f"{domain.names[column]} ({_cells(domain, (column,)):,})" for column in columns)
    allowed = f"made of marginals of at most {LARGEST:,} cells: {sizes} makes {_cells(domain, columns):,}"
    return InputError("workload", tuple(domain.names[column] for column in columns), allowed, _advice(domain))


def _advice(domain: Domain) -> str:
    widest = max(domain.attributes, key=lambda one: one.size)
    less = f"put values of {widest.name} together in its declaration"
    if isinstance(widest.labels[0], Bin):
        less = f'fewer bins={{"{widest.name}": 16}}'
    return f"Nothing was spent. The widest column is {widest.name} ({widest.size:,}): {less}, or name fewer columns."
