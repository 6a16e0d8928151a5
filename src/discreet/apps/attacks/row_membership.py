"""Was this person among those that synthetic rows were made of? Asked of copies, and of a synthesiser.

Two attacks: whoever is near some row was in the data, and whoever has combinations of values that are more frequent in
the rows than in the population. The first finds copies. A synthesiser copies nobody, and the second finds the people
whose counts it repeats too exactly.
"""

from __future__ import annotations

import itertools
import tempfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.apps.attacks.exposure import Exposed, Exposure
from discreet.apps.attacks.people import even
from discreet.risk.attack_result import check_epsilon, check_size
from discreet.risk.membership import judge_membership

__all__ = ["CONTROL", "attack_rows"]

COLUMNS, VALUES = 12, 6
CONTROL = 1e6
"""An epsilon that protects nobody: the same synthesiser with next to no noise."""
TABLES = 10
"""Tables of people of their own that are attacked, and judged together."""
_PAIRS = tuple(itertools.combinations(range(COLUMNS), 2))
_POPULATION = 20  # times the people: what the attacker knows of everybody
_BLOCK = 200
_ATTACKS = ("the nearest row", "pairs of values")

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]


def attack_rows(people: int = 200, epsilon: float = 1.0, *, tables: int = TABLES) -> Exposure:
    """Make synthetic rows of `people`, by copying at random and by a synthesiser, and tell who they were made of.

    Guarantee of the synthetic rows: epsilon for one person added or removed, by the release of synthetic rows.
    """
    check_size("people", people, 50, 5000)
    check_epsilon(epsilon, 100)
    check_size("tables", tables, 1, 100)
    kinds = {
        "copies at random, a strawman": None,
        f"the synthesiser, epsilon = {CONTROL:,.0f}": CONTROL,
        f"the synthesiser, epsilon = {epsilon:g}": float(epsilon),
    }
    scores: dict[str, list[list[tuple[Floats, Floats]]]] = {label: [[], []] for label in kinds}
    agreed: dict[str, list[float]] = {label: [] for label in kinds}
    for _ in range(tables):
        members, others = _draw_people(people), _draw_people(people)
        known = _shares(_draw_people(_POPULATION * people))
        for label, budget in kinds.items():
            shown = members[(even(people) * people).astype(int)] if budget is None else _synthesise(members, budget)
            shares = _shares(shown)
            for way, score in enumerate((lambda one, rows=shown: -_nearest(one, rows), _more_frequent(shares, known))):
                scores[label][way].append((score(members), score(others)))
            agreed[label].append(float(1 - np.abs(shares - _shares(members)).sum(axis=(1, 2)).mean() / 2))
    targets = []
    for label, budget in kinds.items():
        judged = [
            judge_membership(*(np.concatenate([pair[side] for pair in runs]) for side in (0, 1)))
            for runs in scores[label]
        ]
        strong = max((0, 1), key=lambda way: judged[way].area)
        found, weaker = judged[strong], judged[1 - strong]
        use = float(np.mean(agreed[label]))
        targets.append(Exposed(label, budget, found, _ATTACKS[strong], weaker, _ATTACKS[1 - strong], use))
    copied, control, private = targets
    why = (
        f"copies are found by anybody, the synthesiser copies nobody and still gives members away at epsilon = "
        f"{CONTROL:,.0f} (area {control.found.area:.2f}), and noise on its counts covers any one of them (area "
        f"{private.found.area:.2f})"
    )
    name = "agreement on pairs of columns"
    return Exposure("Synthetic rows", (copied, control, private), float(epsilon), 0.0, name, why)


def _synthesise(members: Rows, epsilon: float) -> Rows:
    import pyarrow as pa

    from discreet.curator import open_curator
    from discreet.data.column import Integer
    from discreet.data.schema import Schema
    from discreet.ledger.budget import Budget
    from discreet.ledger.ledger import Ledger

    names = [f"c{column}" for column in range(COLUMNS)]
    schema = Schema("people", {name: Integer(0, VALUES - 1, nullable=False) for name in names})
    table = pa.table({name: members[:, column] for column, name in enumerate(names)})
    with tempfile.TemporaryDirectory() as folder:
        curator = open_curator(table, schema, ledger=Ledger.temporary(folder), budget=Budget(epsilon))
        made = curator.synthesize(rows=len(members)).plan(epsilon=epsilon).release().to_arrow()
    return np.stack([made[name].to_numpy() for name in names], axis=1)


def _draw_people(many: int) -> Rows:
    """Columns that each lean on the one before."""
    found = np.zeros((many, COLUMNS), dtype=np.int64)
    before = even(many)
    for column in range(COLUMNS):
        before = np.clip(0.6 * before + 0.4 * even(many), 0, 1 - 1e-9)
        found[:, column] = before * VALUES
    return found


def _shares(rows: Rows) -> Floats:
    """The part of the rows with each pair of values, for each pair of columns."""
    cells = [np.bincount(VALUES * rows[:, a] + rows[:, b], minlength=VALUES**2) for a, b in _PAIRS]
    return np.stack(cells).reshape(-1, VALUES, VALUES) / len(rows)


def _more_frequent(shown: Floats, known: Floats) -> Any:
    """How much more frequent somebody's pairs of values are in the rows than in the population (Homer et al. 2008)."""
    excess = (shown - known) / np.maximum(known, 1e-4)

    def score(people: Rows) -> Floats:
        return np.asarray(sum(excess[pair, people[:, a], people[:, b]] for pair, (a, b) in enumerate(_PAIRS)))

    return score


def _nearest(people: Rows, rows: Rows) -> Floats:
    """In how many columns each person differs from the row that is nearest."""
    blocks = [people[start : start + _BLOCK] for start in range(0, len(people), _BLOCK)]
    found = [(block[:, None, :] != rows[None]).sum(axis=2).min(axis=1) for block in blocks]
    return np.concatenate(found).astype(np.float64)
