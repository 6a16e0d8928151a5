"""discreet: a trusted curator in a box. Discrete noise, discreet answers.

Names load on first use, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from discreet.accounting import approx, compose, group, parallel, pure, zcdp
    from discreet.core.lattice import Lattice
    from discreet.core.loss import ZCDP, Approx, Pure
    from discreet.core.sensitivity import Sensitivity
    from discreet.core.unit import Neighbours
    from discreet.mechanisms import (
        Exponential,
        Gaussian,
        Laplace,
        NoisyMax,
        PermuteAndFlip,
        RandomizedResponse,
        SparseVector,
        StabilityThreshold,
        TopK,
    )

_ROOMS = ("accounting", "core", "errors", "mechanisms", "noise")
_HOMES = {
    "discreet.accounting": ("approx", "compose", "group", "parallel", "pure", "zcdp"),
    "discreet.core.lattice": ("Lattice",),
    "discreet.core.loss": ("Approx", "Pure", "ZCDP"),
    "discreet.core.sensitivity": ("Sensitivity",),
    "discreet.core.unit": ("Neighbours",),
    "discreet.mechanisms": (
        "Exponential",
        "Gaussian",
        "Laplace",
        "NoisyMax",
        "PermuteAndFlip",
        "RandomizedResponse",
        "SparseVector",
        "StabilityThreshold",
        "TopK",
    ),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "ZCDP",
    "Approx",
    "Exponential",
    "Gaussian",
    "Laplace",
    "Lattice",
    "Neighbours",
    "NoisyMax",
    "PermuteAndFlip",
    "Pure",
    "RandomizedResponse",
    "Sensitivity",
    "SparseVector",
    "StabilityThreshold",
    "TopK",
    "approx",
    "compose",
    "group",
    "parallel",
    "pure",
    "zcdp",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    elif name in _ROOMS:
        value = import_module(f"discreet.{name}")
    else:
        raise AttributeError(f"module 'discreet' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *_ROOMS, "__version__"])
