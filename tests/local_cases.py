"""Small surveys of every layout of reports, and the worst of some laws."""

from __future__ import annotations

import itertools

import numpy as np

from discreet.local import GRR, OLH, OUE, Hadamard, Subset, Survey

MECHANISMS = [GRR(5, 1), OLH(50, 1), Hadamard(20, 2), OUE(40, 1), Subset(10, 1)]


def survey_of(mechanism, name="colours"):
    return Survey(name, mechanism)


def answers(mechanism, n=3000):
    return np.arange(n) % 7 % mechanism.categories


def worst(laws):
    """The largest quotient of two people's probabilities of one report."""
    return max(one[report] / other[report] for one, other in itertools.permutations(laws, 2) for report in one)


def listed_reports(mechanism, reports):
    """Every report of a law as an array that its mechanism reads."""
    if mechanism.layout == "packed":
        return np.frombuffer(b"".join(reports), dtype=np.uint8).reshape(len(reports), -1)
    return np.array(list(reports))
