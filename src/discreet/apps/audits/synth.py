"""Synthesisers: everything their meter let out, for tables of a few rows that differ by one.

What a method makes of these noisy counts is post-processing; an attacker who has them has more than the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.audit.claim import Claimed
from discreet.audit.outputs import Pair
from discreet.audit.subject import Subject, one_by_one
from discreet.core.loss import ZCDP, Loss, Pure
from discreet.core.sensitivity import Sensitivity
from discreet.query.column import Category
from discreet.query.schema import Schema
from discreet.synth.counts import ArrayCounts
from discreet.synth.domain import Domain
from discreet.synth.meter import Currency, Meter
from discreet.synth.methods import method_named

__all__ = ["planted", "subjects"]

_SCHEMA = Schema("t", {name: Category(["x", "y"]) for name in ("a", "b", "c")})
_PAIRS = [(0, 1), (0, 2), (1, 2)]
_NUMBERS = 24


def subjects() -> Iterator[Subject]:
    """The methods that need no extra."""
    yield Subject("independent", "synthesiser", lambda: _attack("independent", "epsilon", Pure(1), 1), 300)
    yield Subject("mst", "synthesiser", lambda: _attack("mst", "rho", ZCDP("0.5"), 1), 200)
    yield Subject("mosaic", "synthesiser", lambda: _attack("mosaic", "epsilon", Pure(1), 1), 200)
    yield Subject("mosaic, Gaussian", "synthesiser", lambda: _attack("mosaic", "rho", ZCDP("0.5"), 1), 200)


def planted() -> Iterator[Subject]:
    """A person with many rows where the meter was told of one."""
    attack = lambda: _attack("independent", "epsilon", Pure(1), 15)  # noqa: E731
    yield Subject("independent", "synthesiser", attack, 300, planted="unbounded user")


def _attack(name: str, currency: Currency, claim: Loss, rows: int) -> tuple[Claimed, Sequence[Pair]]:
    domain, method = Domain.of(_SCHEMA), method_named(name)
    price = claim.epsilon if isinstance(claim, Pure) else claim.rho if isinstance(claim, ZCDP) else Fraction(1)
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
    return claim, [Pair(one_by_one(run(inside)), one_by_one(run(others)), f"{rows} row(s) of one person, or none")]
