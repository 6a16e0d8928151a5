"""Releases of hierarchies: the noisy counts of all levels, as a curator plans them, where one person enters a leaf."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from discreet.audit.claim import Claimed
from discreet.audit.outputs import Pair
from discreet.audit.subject import Subject, one_by_one
from discreet.core.mechanism import Bits
from discreet.curator import open_curator
from discreet.ledger.budget import Budget
from discreet.noise.bits import SystemBits
from discreet.query.column import Category
from discreet.query.schema import Schema

__all__ = ["planted", "subjects"]

_LEAVES = ["aa", "ab", "ba", "bb"]
_RUNS = 2_000


def subjects() -> Iterator[Subject]:
    """Pure and Gaussian prices."""
    yield Subject("tree", "hierarchy", lambda: _attack({"epsilon": 1}, Budget(10), 1), _RUNS)
    yield Subject("tree, Gaussian", "hierarchy", lambda: _attack({"rho": "0.5"}, Budget(rho=10), 1), _RUNS)


def planted() -> Iterator[Subject]:
    """A person counted in all leaves where the plan allows one."""
    attack = lambda: _attack({"epsilon": 1}, Budget(10), len(_LEAVES))  # noqa: E731
    yield Subject("tree", "hierarchy", attack, 40_000, planted="wrong sensitivity")


def _attack(price: dict[str, Any], budget: Budget, places: int) -> tuple[Claimed, Sequence[Pair]]:
    import pyarrow

    with TemporaryDirectory(prefix="discreet-audit-", ignore_cleanup_errors=True) as folder:
        table = pyarrow.table({"county": pyarrow.array([], pyarrow.string())})
        schema = Schema("regions", {"county": Category(_LEAVES)})
        curator = open_curator(table, schema, ledger=f"{folder}/books.db", budget=budget, who="audit")
        plan = curator.tree({"state": 1, "county": 2}).plan(**price).plan

    def measured(counts: list[int]) -> Callable[[], Any]:
        exact = np.array(counts, dtype=np.int64)[:, None]

        def noisy() -> Any:
            bits: Bits = SystemBits()
            levels = plan.measure(exact, bits).levels
            return np.concatenate(
                [part.ravel() for one in levels for part in (one.counts, one.totals) if part is not None]
            )

        return noisy

    inside, outside = [int(leaf < places) for leaf in range(len(_LEAVES))], [0] * len(_LEAVES)
    return plan.cost, [Pair(one_by_one(measured(inside)), one_by_one(measured(outside)), f"{inside} and {outside}")]
