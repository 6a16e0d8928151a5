"""The attacks that can be run with nothing but an epsilon, for pages that list and run them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from discreet.errors import InputError
from discreet.risk.attack_result import AttackResult

__all__ = ["ATTACKS", "Attack", "find_attack"]


@dataclass(frozen=True, slots=True)
class Attack:
    """One attack: its page, its command, what it shows, and how it is run."""

    name: str
    title: str
    shows: str
    run: Callable[[float], AttackResult]
    epsilon: float = 1.0
    """The budget that is tried unless another is asked for."""
    extra: str = ""
    """What must be installed for it."""
    options: str = ""
    """What stands after the command."""
    verb: str = ""
    """The command, where several attacks share it."""

    @property
    def command(self) -> str:
        """How it is run on a command line."""
        return f"discreet attack {self.verb or self.name} {self.options}".rstrip()


def _intersect(epsilon: float) -> AttackResult:
    from discreet.risk.intersection import intersect

    women = {"sex": "F", "age": "50-60", "zip": "191**"}
    tables: list[dict[str, list[Any]]] = [
        {name: [value] * len(illnesses) for name, value in women.items()} | {"illness": illnesses}
        for illnesses in (["HIV", "colitis"], ["HIV", "lupus", "hip fracture"])
    ]
    return intersect(*tables, on=list(women), sensitive="illness", epsilon=epsilon)


def _averages(epsilon: float) -> AttackResult:
    from discreet.risk.averages import solve_averages

    return solve_averages(epsilon=epsilon)


def _difference(epsilon: float) -> AttackResult:
    from discreet.risk.difference import difference_means, draw_salaries

    return difference_means(draw_salaries(1000, 2_000_000), epsilon, bound=2_000_000)


def _reconstruct(epsilon: float) -> AttackResult:
    from discreet.risk.reconstruction import reconstruct

    return reconstruct(400, epsilon=epsilon)


def _census(epsilon: float) -> AttackResult:
    from discreet.risk.block_attack import attack_blocks

    return attack_blocks(8, 7, epsilon)


def _ratings(epsilon: float) -> AttackResult:
    from discreet.risk.ratings import link_ratings

    return link_ratings(epsilon=epsilon)


def _heatmap(epsilon: float) -> AttackResult:
    from discreet.risk.heat_map import map_runs

    return map_runs(epsilon=epsilon)


def _membership(epsilon: float) -> AttackResult:
    from discreet.apps.attacks.membership import attack_model

    return attack_model(epsilon=epsilon)


def _rows(epsilon: float) -> AttackResult:
    from discreet.apps.attacks.row_membership import attack_rows

    return attack_rows(epsilon=epsilon)


def _inversion(epsilon: float) -> AttackResult:
    from discreet.apps.attacks.inversion import invert_faces

    return invert_faces(epsilon=epsilon)


def _extract(epsilon: float) -> AttackResult:
    from discreet.apps.attacks.extraction import extract_secrets

    return extract_secrets(epsilon=epsilon, curve=())


ATTACKS = (
    Attack("intersect", "Two anonymous tables", "An illness from two tables that are each k-anonymous.", _intersect),
    Attack("averages", "Three averages", "Exact ages of five people from three averages.", _averages),
    Attack(
        "difference",
        "Two averages",
        "One salary from the average with and without one person.",
        _difference,
        options="--of means",
    ),
    Attack("reconstruct", "Dinur and Nissim", "Secret bits from too many counts, each nearly right.", _reconstruct),
    Attack("census", "Census blocks", "People of small blocks, rebuilt from tables and named by a register.", _census),
    Attack("ratings", "Ratings of films", "People found in a table without names by a few public ratings.", _ratings),
    Attack("heatmap", "A heat map of runs", "Remote bases in a map of where people run.", _heatmap),
    Attack("membership", "Membership", "Who was in the training set of a network.", _membership, extra="learn"),
    Attack(
        "rows",
        "Membership in synthetic rows",
        "Who synthetic rows were made of: found in copies, a strawman, and in rows made with next to no noise.",
        _rows,
        options="--of rows",
        verb="membership",
    ),
    Attack("inversion", "Model inversion", "Faces out of a network that knows them.", _inversion, extra="learn"),
    Attack(
        "extract", "Extraction", "Secrets that a language model learned by heart.", _extract, epsilon=8.0, extra="learn"
    ),
)
"""In the order of a page."""


def find_attack(name: str) -> Attack:
    """The attack of a name."""
    for attack in ATTACKS:
        if attack.name == name:
            return attack
    raise InputError("attack", name, among=[attack.name for attack in ATTACKS])
