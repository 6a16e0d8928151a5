"""discreet: a trusted curator in a box. Discrete noise, discreet answers.

Names load on first use, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from discreet.apps.client import connect
    from discreet.core.lattice import Lattice
    from discreet.core.loss import ZCDP, Approx, Pure
    from discreet.core.release import Release
    from discreet.core.sensitivity import Sensitivity
    from discreet.core.unit import Neighbours, Unit
    from discreet.curator import open_curator as open
    from discreet.data.column import Boolean, Category, Date, Integer, Real, Text, Timestamp
    from discreet.data.expression.node import col, when
    from discreet.data.schema import Schema
    from discreet.ledger.budget import Allotment, Budget
    from discreet.ledger.ledger import Ledger
    from discreet.mechanisms import Exponential, Gaussian, Laplace
    from discreet.query.aggregate import (
        correlation,
        count,
        covariance,
        covariances,
        distinct,
        intercept,
        mean,
        people,
        share,
        slope,
        std,
        total,
        variance,
        vector_sum,
    )
    from discreet.query.key import bins, discover, key
    from discreet.query.modes import mode
    from discreet.query.quantile import median, quantile
    from discreet.query.question import Query
    from discreet.trees.rules import Rules
    from discreet.trees.tree import Hierarchy

_ROOMS = (
    "accounting",
    "audit",
    "constraints",
    "core",
    "curator",
    "data",
    "errors",
    "flows",
    "learn",
    "ledger",
    "local",
    "marginals",
    "mechanisms",
    "noise",
    "power",
    "query",
    "risk",
    "show",
    "synth",
    "trees",
)
_HOMES = {
    "discreet.apps.client": ("connect",),
    "discreet.core.lattice": ("Lattice",),
    "discreet.core.loss": ("Approx", "Pure", "ZCDP"),
    "discreet.core.release": ("Release",),
    "discreet.core.sensitivity": ("Sensitivity",),
    "discreet.core.unit": ("Neighbours", "Unit"),
    "discreet.curator": ("open",),
    "discreet.trees.rules": ("Rules",),
    "discreet.trees.tree": ("Hierarchy",),
    "discreet.ledger.budget": ("Allotment", "Budget"),
    "discreet.ledger.ledger": ("Ledger",),
    "discreet.mechanisms": ("Exponential", "Gaussian", "Laplace"),
    "discreet.query.aggregate": (
        "correlation",
        "count",
        "covariance",
        "covariances",
        "distinct",
        "intercept",
        "mean",
        "people",
        "share",
        "slope",
        "std",
        "total",
        "variance",
        "vector_sum",
    ),
    "discreet.data.column": ("Boolean", "Category", "Date", "Integer", "Real", "Text", "Timestamp"),
    "discreet.query.key": ("bins", "discover", "key"),
    "discreet.data.expression.node": ("col", "when"),
    "discreet.query.modes": ("mode",),
    "discreet.query.quantile": ("median", "quantile"),
    "discreet.query.question": ("Query",),
    "discreet.data.schema": ("Schema",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}
_CALLED = {"open": "open_curator"}  # inside its module a name must not hide the builtin

__all__ = [
    "ZCDP",
    "Allotment",
    "Approx",
    "Boolean",
    "Budget",
    "Category",
    "Date",
    "Exponential",
    "Gaussian",
    "Hierarchy",
    "Integer",
    "Laplace",
    "Lattice",
    "Ledger",
    "Neighbours",
    "Pure",
    "Query",
    "Real",
    "Release",
    "Rules",
    "Schema",
    "Sensitivity",
    "Text",
    "Timestamp",
    "Unit",
    "bins",
    "col",
    "connect",
    "correlation",
    "count",
    "covariance",
    "covariances",
    "discover",
    "distinct",
    "intercept",
    "key",
    "mean",
    "median",
    "mode",
    "people",
    "quantile",
    "share",
    "slope",
    "std",
    "total",
    "variance",
    "vector_sum",
    "when",
]

if TYPE_CHECKING:
    __all__ += ["open"]  # beside them: `from discreet import *` must not hide the builtin


def __getattr__(name: str) -> Any:
    if name not in _HOME and name not in _ROOMS:
        raise AttributeError(f"module 'discreet' has no attribute {name!r}")
    from discreet.core.garbage import rarely_collected

    with rarely_collected():
        if name in _HOME:
            value = getattr(import_module(_HOME[name]), _CALLED.get(name, name))
        else:
            value = import_module(f"discreet.{name}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *_ROOMS, "__version__", "open"])
