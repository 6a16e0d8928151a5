"""Three attackers, by what they know: how often each names the right person, and of how many rows.

The *prosecutor* knows that somebody is in the table and looks for their row. The *journalist* does not know who is in
it, and looks for anybody, in the population that the table was drawn from. The *marketer* wants as many right names as
possible and does not mind wrong ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.risk.linkage import match_rows, same_codes
from discreet.risk.population import Population
from discreet.risk.records import Classes, Records

__all__ = ["Attacker", "Presence", "attackers", "presence"]


@dataclass(frozen=True, slots=True)
class Attacker:
    """What one attacker reaches: chances to name the right person for a row. None where it is not known.

    `highest`: for the row that is easiest. `average`: over all rows; with its range where it is an estimate. `at_risk`:
    the part of the rows for which the chance is above `threshold`.
    """

    name: str
    knows: str
    threshold: float
    highest: float | None = None
    average: float | None = None
    average_range: tuple[float, float] | None = None
    at_risk: float | None = None
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Presence:
    """delta-presence: how surely someone of the register is in the table. `lowest` and `highest` over its people.

    `sure`: people of the register of whom it is certain. `unmatched`: rows that nobody in the register fits, so that
    the register does not hold everybody and the other figures are too low.
    """

    lowest: float
    highest: float
    sure: int
    people: int
    unmatched: int


def attackers(
    classes: Classes,
    *,
    threshold: float,
    population: Population | None = None,
    in_register: NDArray[np.int64] | None = None,
) -> tuple[Attacker, Attacker, Attacker]:
    """Prosecutor, journalist and marketer.

    `in_register` says for each row how many people of the population look like it; without a register the estimate of
    the population has to do, and without that only the prosecutor is known.
    """
    rows = int(classes.sizes.sum())
    own = 1 / classes.sizes
    prosecutor = Attacker(
        "prosecutor",
        "that the person is in the table",
        threshold,
        highest=float(own.max()),
        average=len(classes.sizes) / rows,
        at_risk=float(classes.sizes[own > threshold].sum()) / rows,
    )
    looks, many = "who is in the population, not who is in the table", "the same, and counts right names"
    if in_register is not None:
        there = np.zeros(len(classes.sizes), dtype=np.int64)
        there[classes.of] = in_register
        each = 1 / np.maximum(there, classes.sizes)  # a register may lack people whom the table has
        exposed = float(classes.sizes[each > threshold].sum()) / rows
        average = float((classes.sizes * each).sum()) / rows
        note = "from the register"
        return (
            prosecutor,
            Attacker("journalist", looks, threshold, float(each.max()), average, at_risk=exposed, note=note),
            Attacker("marketer", many, threshold, average=average, note=note),
        )
    if population is None or population.alone is None or population.marketer_range is None:
        note = "needs a register or the size of the population" if population is None else population.refused
        return (
            prosecutor,
            Attacker("journalist", looks, threshold, note=note),
            Attacker("marketer", many, threshold, note=note),
        )
    low, high = population.marketer_range
    middle = (low * high) ** 0.5
    highest = 1.0 if population.alone_range is not None and population.alone_range[0] >= 1 else None
    note = "estimated: people alone in the population can be named for certain"
    return (
        prosecutor,
        Attacker("journalist", looks, threshold, highest, middle, (low, high), note=note if highest else ""),
        Attacker("marketer", many, threshold, average=middle, average_range=(low, high), note="estimated"),
    )


def presence(records: Records, register: Records, names: Sequence[str]) -> tuple[Presence, NDArray[np.int64]]:
    """delta-presence against a register of the population; and how many of its people look like each row."""
    theirs = [same_codes(register[name], records[name]) for name in names]
    sizes = [records[name].size for name in names]
    of_rows, of_people = match_rows([records[name].codes for name in names], theirs, sizes)
    many = int(max(of_rows.max(), of_people.max())) + 1
    here = np.bincount(of_rows, minlength=many)
    there = np.bincount(of_people[of_people >= 0], minlength=many)
    chance = np.where(there > 0, np.minimum(here / np.maximum(there, 1), 1.0), 0.0)
    each = np.where(of_people >= 0, chance[of_people], 0.0)
    found = Presence(
        float(each.min()),
        float(each.max()),
        int((each >= 1).sum()),
        register.rows,
        int(here[there == 0].sum()),
    )
    return found, there[of_rows]
