"""Why removing names is not enough: anonymity measured, made, and attacked.

`anonymity` measures a table (`Anonymity`); `anonymize` coarsens it to a target k (`AnonymizedTable`).
Attacks: `link` puts names back with a register, `differencing` takes one count from another, `reconstruct` solves for
secret bits, `attack_blocks` for people of small blocks, `judge_membership` says how well a model tells who trained it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.lazy import lazy

if TYPE_CHECKING:
    from discreet.risk.census import BlockAttack as BlockAttack
    from discreet.risk.census import attack_blocks as attack_blocks
    from discreet.risk.coarsening import AnonymizedTable as AnonymizedTable
    from discreet.risk.coarsening import anonymize as anonymize
    from discreet.risk.difference import Difference as Difference
    from discreet.risk.difference import differencing as differencing
    from discreet.risk.linkage import Linkage as Linkage
    from discreet.risk.linkage import link as link
    from discreet.risk.measures import Anonymity as Anonymity
    from discreet.risk.measures import Diversity as Diversity
    from discreet.risk.measures import anonymity as anonymity
    from discreet.risk.membership import Membership as Membership
    from discreet.risk.membership import judge_membership as judge_membership
    from discreet.risk.population import Population as Population
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
        "census": (
            "BlockAttack",
            "attack_blocks",
        ),
        "coarsening": (
            "AnonymizedTable",
            "anonymize",
        ),
        "difference": (
            "Difference",
            "differencing",
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
