"""Why removing names is not enough: anonymity measured, made, and attacked.

`report_risk` reports on a table that nothing is said about (`RiskReport`). `anonymity` measures one (`Anonymity`);
`anonymize` coarsens it to k, l and t (`AnonymizedTable`); `estimate_population` goes from a sample to everybody.
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
    from discreet.risk.bit_solver import rebuild_bits as rebuild_bits
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
    from discreet.risk.population import estimate_population as estimate_population
    from discreet.risk.ratings import RatingLinks as RatingLinks
    from discreet.risk.ratings import link_ratings as link_ratings
    from discreet.risk.reconstruction import Guess as Guess
    from discreet.risk.reconstruction import Reconstruction as Reconstruction
    from discreet.risk.reconstruction import reconstruct as reconstruct
    from discreet.risk.records import Records as Records
    from discreet.risk.report import RiskReport as RiskReport
    from discreet.risk.report import report_risk as report_risk
    from discreet.risk.roles import ColumnRole as ColumnRole
    from discreet.risk.roles import guess_roles as guess_roles
    from discreet.risk.subset_counts import Halves as Halves
    from discreet.risk.subset_counts import curator_answers as curator_answers
    from discreet.risk.subset_counts import random_halves as random_halves
    from discreet.risk.subset_counts import sloppy_answers as sloppy_answers

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
        "bit_solver": ("rebuild_bits",),
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
        "population": (
            "Population",
            "estimate_population",
        ),
        "ratings": (
            "RatingLinks",
            "link_ratings",
        ),
        "reconstruction": (
            "Guess",
            "Reconstruction",
            "reconstruct",
        ),
        "records": ("Records",),
        "subset_counts": (
            "Halves",
            "curator_answers",
            "random_halves",
            "sloppy_answers",
        ),
        "report": (
            "RiskReport",
            "report_risk",
        ),
        "roles": (
            "ColumnRole",
            "guess_roles",
        ),
    },
)
