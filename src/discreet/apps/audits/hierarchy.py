"""Releases of hierarchies: the noisy counts of all levels, as a curator plans them, where one person enters a leaf.

The regions are split into many cells, each a copy with noise of its own: one measurement is as many runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from discreet.audit.claim import AnyClaim
from discreet.audit.gate import Subject
from discreet.audit.outputs import Pair, buffered
from discreet.curator import open_curator
from discreet.data.column import Category, Integer
from discreet.data.schema import Schema
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger
from discreet.noise.bits import SystemBits

__all__ = ["planted", "subjects"]

_LEAVES = ["aa", "ab", "ba", "bb"]
_COPIES = 1000
_RUNS = 20_000


def subjects() -> Iterator[Subject]:
    """Pure and Gaussian prices."""
    yield Subject("tree", "hierarchy", lambda: _attack({"epsilon": 1}, Budget(10), 1), _RUNS)
    yield Subject("tree, Gaussian", "hierarchy", lambda: _attack({"rho": "0.5"}, Budget(rho=10), 1), _RUNS)


def planted() -> Iterator[Subject]:
    """A person counted in two leaves where the plan allows one."""
    attack = lambda: _attack({"epsilon": 1}, Budget(10), 2)  # noqa: E731
    yield Subject("tree", "hierarchy", attack, 400_000, planted="wrong sensitivity")


def _attack(price: dict[str, Any], budget: Budget, places: int) -> tuple[AnyClaim, Sequence[Pair]]:
    import pyarrow

    with TemporaryDirectory(prefix="discreet-audit-", ignore_cleanup_errors=True) as folder:
        table = pyarrow.table(
            {"county": pyarrow.array([], pyarrow.string()), "copy": pyarrow.array([], pyarrow.int64())}
        )
        schema = Schema(
            "regions", {"county": Category(_LEAVES, nullable=False), "copy": Integer(0, _COPIES - 1, nullable=False)}
        )
        curator = open_curator(table, schema, ledger=Ledger.temporary(folder), budget=budget, who="audit")
        # Shares are settled at the plan: all copies together are a thousand persons, and a noisy total of them that
        # decided would tell of a thousand.
        plan = curator.tree({"state": 1, "county": 2}, by="copy", expected=1).plan(**price).plan

    def measured(counts: list[int]) -> Callable[[], Any]:
        exact = np.repeat(np.array(counts, dtype=np.int64)[:, None], _COPIES, axis=1)

        def noisy() -> Any:
            levels = plan.noisy(exact, SystemBits()).levels
            # Totals over all copies tell next to nothing of one, and are left out.
            return np.concatenate([one.counts for one in levels if one.counts is not None]).T

        return noisy

    inside, outside = [int(leaf < places) for leaf in range(len(_LEAVES))], [0] * len(_LEAVES)
    return plan.cost, [Pair(buffered(measured(inside)), buffered(measured(outside)), f"{inside} and {outside}")]
