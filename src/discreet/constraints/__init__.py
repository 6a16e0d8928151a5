"""Noisy linear measurements, projected under linear constraints: post-processing that sees nothing else."""

from discreet.constraints.projection import Projection, project
from discreet.constraints.system import AtMost, Between, Conflict, Constraint, Equal, Measurement, conflict

__all__ = [
    "AtMost",
    "Between",
    "Conflict",
    "Constraint",
    "Equal",
    "Measurement",
    "Projection",
    "conflict",
    "project",
]
