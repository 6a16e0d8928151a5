"""Noisy measurements, projected under linear and convex constraints: post-processing that sees nothing else."""

from discreet.constraints.convex import Convex, Fit, Window, fit
from discreet.constraints.projection import Projection, project
from discreet.constraints.quadratic import Quadratic
from discreet.constraints.system import AtMost, Between, Conflict, Constraint, Equal, Measurement, conflict

__all__ = [
    "AtMost",
    "Between",
    "Conflict",
    "Constraint",
    "Convex",
    "Equal",
    "Fit",
    "Measurement",
    "Projection",
    "Quadratic",
    "Window",
    "conflict",
    "fit",
    "project",
]
