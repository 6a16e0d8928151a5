"""Synthesisers: everything their meter let out, for tables of a few rows that differ by one.

What a method makes of these noisy counts is post-processing; an attacker who has them has more than the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.audit.claim import AnyClaim
from discreet.audit.gate import Subject
from discreet.audit.outputs import Pair, Run, buffered, repeated
from discreet.core.loss import ZCDP, Loss, Pure
from discreet.core.release import plural
from discreet.core.sensitivity import Sensitivity
from discreet.data.column import Category, Integer
from discreet.data.schema import Schema
from discreet.errors import InputError, kind_of
from discreet.marginals.counts import ArrayCounts
from discreet.marginals.domain import Domain
from discreet.marginals.meter import Currency, Meter
from discreet.synth.methods import method_named

__all__ = ["planted", "subjects"]

_SCHEMA = Schema("t", {name: Category(["x", "y"], nullable=False) for name in ("a", "b", "c")})
_PAIRS = [(0, 1), (0, 2), (1, 2)]
_NUMBERS = 24
_COPIES = 1000
_SLOW = ZCDP("0.1")  # of slow jobs: a claim of much more could not be refuted by their few runs, whatever came out


def subjects() -> Iterator[Subject]:
    """The meter, through which every method sees the data, and the methods that need no extra."""
    yield Subject("meter", "synthesiser", lambda: _metered("epsilon", Pure(1), 1), 20_000)
    yield Subject("meter, Gaussian", "synthesiser", lambda: _metered("rho", ZCDP("0.5"), 1), 20_000)
    yield Subject("independent", "synthesiser", lambda: _attack("independent", "epsilon", Pure(1), 1), 300)
    yield Subject("mst", "synthesiser", lambda: _attack("mst", "rho", _SLOW, 1), 200)
    yield Subject("mosaic", "synthesiser", lambda: _attack("mosaic", "epsilon", Pure(1), 1), 200)
    yield Subject("mosaic, Gaussian", "synthesiser", lambda: _attack("mosaic", "rho", _SLOW, 1), 200)


def planted() -> Iterator[Subject]:
    """A person with more rows than the meter was told of."""
    yield Subject("meter", "synthesiser", lambda: _metered("epsilon", Pure(1), 2), 200_000, planted="unbounded user")
    attack = lambda: _attack("independent", "epsilon", Pure(1), 60)  # noqa: E731 - so many that 300 runs are enough
    yield Subject("independent", "synthesiser", attack, 300, planted="unbounded user")


def _attack(name: str, currency: Currency, claim: Loss, rows: int) -> tuple[AnyClaim, Sequence[Pair]]:
    domain, method, price = Domain.of(_SCHEMA), method_named(name), _price(claim)
    others = [[0, 0, 1], [1, 1, 0]]

    def run(codes: list[list[int]]) -> Callable[[], Any]:
        counts = ArrayCounts(domain, np.array(codes, dtype=np.int64).reshape(-1, 3))

        def told() -> Any:
            meter = Meter(counts, Sensitivity(1), currency, price)
            method(meter, _PAIRS, 1)
            said = np.concatenate([noisy.values.ravel() for _, noisy in meter.answers])[:_NUMBERS]
            return np.pad(said, (0, _NUMBERS - len(said)))

        return told

    inside = [*others, *[[1, 1, 1]] * rows]
    return claim, [Pair(repeated(run(inside)), repeated(run(others)), f"{plural(rows, 'row')} of one person, or none")]


def _metered(currency: Currency, claim: Loss, rows: int) -> tuple[AnyClaim, Sequence[Pair]]:
    """One marginal of many copies, each with noise of its own."""
    domain = Domain.of(
        Schema("t", {"copy": Integer(0, _COPIES - 1, nullable=False), "a": Category(["x", "y"], nullable=False)}),
        bins=_COPIES,
    )

    def side(many: int) -> Run:
        codes = np.stack([np.repeat(np.arange(_COPIES), many + 1), np.tile([0, *[1] * many], _COPIES)], axis=1)
        counts = ArrayCounts(domain, codes)

        def batch() -> Any:
            meter = Meter(counts, Sensitivity(1), currency, _price(claim))
            return meter.measure((0, 1), _price(claim)).values

        return buffered(batch)

    return claim, [Pair(side(rows), side(0), f"{plural(rows, 'row')} of one person beside another, or none")]


def _price(claim: Loss) -> Fraction:
    match claim:
        case Pure(price) | ZCDP(price):
            return price
        case _:
            raise InputError("claim", kind_of(claim), "Pure or ZCDP, which a meter counts")
