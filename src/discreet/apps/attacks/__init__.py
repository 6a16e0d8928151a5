"""Attacks that need a model or a synthetic table to attack: made here, on made-up people, with and without a budget.

`attack_model` and `attack_rows` tell members from others (`Exposure`), `attack_fit`, `attack_module` and
`attack_scores` those of one's own; `invert_faces` draws people out of a network
that knows them (`Inversion`); `extract_secrets` asks a language model for planted secrets (`Extraction`).
`ATTACKS` lists all that need nothing but an epsilon.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.lazy import lazy

if TYPE_CHECKING:
    from discreet.apps.attacks.catalogue import ATTACKS as ATTACKS
    from discreet.apps.attacks.catalogue import Attack as Attack
    from discreet.apps.attacks.catalogue import find_attack as find_attack
    from discreet.apps.attacks.exposure import Exposed as Exposed
    from discreet.apps.attacks.exposure import Exposure as Exposure
    from discreet.apps.attacks.extraction import Extraction as Extraction
    from discreet.apps.attacks.extraction import Leak as Leak
    from discreet.apps.attacks.extraction import extract_secrets as extract_secrets
    from discreet.apps.attacks.inversion import Inversion as Inversion
    from discreet.apps.attacks.inversion import Likeness as Likeness
    from discreet.apps.attacks.inversion import invert_faces as invert_faces
    from discreet.apps.attacks.membership import attack_fit as attack_fit
    from discreet.apps.attacks.membership import attack_model as attack_model
    from discreet.apps.attacks.own_membership import attack_module as attack_module
    from discreet.apps.attacks.own_membership import attack_scores as attack_scores
    from discreet.apps.attacks.row_membership import attack_rows as attack_rows

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "catalogue": (
            "ATTACKS",
            "Attack",
            "find_attack",
        ),
        "exposure": (
            "Exposed",
            "Exposure",
        ),
        "extraction": (
            "Extraction",
            "Leak",
            "extract_secrets",
        ),
        "inversion": (
            "Inversion",
            "Likeness",
            "invert_faces",
        ),
        "membership": (
            "attack_fit",
            "attack_model",
        ),
        "own_membership": (
            "attack_module",
            "attack_scores",
        ),
        "row_membership": ("attack_rows",),
    },
)
