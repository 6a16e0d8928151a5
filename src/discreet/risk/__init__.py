"""Why removing names is not enough: anonymity measured, made, and attacked.

`anonymity` measures a table (`Anonymity`); `anonymize` coarsens it to a target k (`AnonymizedTable`).
Attacks: `link` puts names back with a register, `link_ratings` with a few public ratings, `intersect` puts two tables
together; `differencing` takes one count from another, `difference_means` one average; `solve_averages` solves for ages,
`reconstruct` for secret bits (Dinur and Nissim), `attack_blocks` for people of small blocks; `map_runs` looks at a heat
map; `judge_membership` says how well a model tells who trained it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.lazy import lazy

if TYPE_CHECKING:
    from discreet.risk.averages import Averages as Averages
    from discreet.risk.averages import GroupAverage as GroupAverage
    from discreet.risk.averages import solve_averages as solve_averages
    from discreet.risk.block_attack import BlockAttack as BlockAttack
    from discreet.risk.block_attack import attack_blocks as attack_blocks
    from discreet.risk.block_attack import attack_residents as attack_residents
    from discreet.risk.block_tables import RebuiltBlocks as RebuiltBlocks
    from discreet.risk.block_tables import read_blocks as read_blocks
    from discreet.risk.block_tables import read_register as read_register
    from discreet.risk.block_tables import read_residents as read_residents
    from discreet.risk.block_tables import rebuild_blocks as rebuild_blocks
    from discreet.risk.coarsening import AnonymizedTable as AnonymizedTable
    from discreet.risk.coarsening import anonymize as anonymize
    from discreet.risk.difference import Difference as Difference
    from discreet.risk.difference import MeanDifference as MeanDifference
    from discreet.risk.difference import difference_means as difference_means
    from discreet.risk.difference import differencing as differencing
    from discreet.risk.difference import draw_salaries as draw_salaries
    from discreet.risk.heat_map import HeatMap as HeatMap
    from discreet.risk.heat_map import map_runs as map_runs
    from discreet.risk.intersection import Intersection as Intersection
    from discreet.risk.intersection import intersect as intersect
    from discreet.risk.linkage import Linkage as Linkage
    from discreet.risk.linkage import link as link
    from discreet.risk.measures import Anonymity as Anonymity
    from discreet.risk.measures import Diversity as Diversity
    from discreet.risk.measures import anonymity as anonymity
    from discreet.risk.membership import Membership as Membership
    from discreet.risk.membership import judge_membership as judge_membership
    from discreet.risk.population import Population as Population
    from discreet.risk.ratings import RatingLinks as RatingLinks
    from discreet.risk.ratings import link_ratings as link_ratings
    from discreet.risk.reconstruction import Guess as Guess
    from discreet.risk.reconstruction import curator_answers as curator_answers
    from discreet.risk.reconstruction import random_questions as random_questions
    from discreet.risk.reconstruction import rebuild_bits as rebuild_bits
    from discreet.risk.reconstruction import reconstruct as reconstruct
    from discreet.risk.reconstruction import sloppy_answers as sloppy_answers
    from discreet.risk.records import Records as Records

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "averages": (
            "Averages",
            "GroupAverage",
            "solve_averages",
        ),
        "block_attack": (
            "BlockAttack",
            "attack_blocks",
            "attack_residents",
        ),
        "block_tables": (
            "RebuiltBlocks",
            "read_blocks",
            "read_register",
            "read_residents",
            "rebuild_blocks",
        ),
        "coarsening": (
            "AnonymizedTable",
            "anonymize",
        ),
        "difference": (
            "Difference",
            "MeanDifference",
            "difference_means",
            "differencing",
            "draw_salaries",
        ),
        "heat_map": (
            "HeatMap",
            "map_runs",
        ),
        "intersection": (
            "Intersection",
            "intersect",
        ),
        "linkage": (
            "Linkage",
            "link",
        ),
        "measures": (
            "Anonymity",
            "Diversity",
            "anonymity",
        ),
        "membership": (
            "Membership",
            "judge_membership",
        ),
        "population": ("Population",),
        "ratings": (
            "RatingLinks",
            "link_ratings",
        ),
        "reconstruction": (
            "Guess",
            "curator_answers",
            "random_questions",
            "rebuild_bits",
            "reconstruct",
            "sloppy_answers",
        ),
        "records": ("Records",),
    },
)
