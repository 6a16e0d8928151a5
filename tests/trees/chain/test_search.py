"""The search for the optimum agrees with another solver, and what it leaves out is bounded."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from small_chains import faults, noisy, tree_of

from discreet.trees.chain.rules import ChainRules
from discreet.trees.chain.solve import exact_chain


def test_exact_agrees_with_another_solver_on_three_levels():
    scip = pytest.importorskip("pyscipopt")
    chance = np.random.default_rng(11)
    for _ in range(4):
        measured = noisy(tree_of(1, 2, 6), 5, chance)
        problem = ChainRules.read(measured, None)
        model = scip.Model()
        model.hideOutput()
        model.setParam("limits/absgap", 0.5)  # costs are whole numbers
        leaves = [[model.addVar(vtype="I", lb=0) for _ in range(5)] for _ in range(6)]
        for row in leaves:
            for first, second in pairwise(row):
                model.addCons(first >= second)
        terms = []
        owners = np.arange(6)
        for level in (2, 1, 0):
            owners = owners if level == 2 else measured.tree.parents[level + 1][owners]
            for region, row in enumerate(problem.targets[level].tolist()):
                for cell, target in enumerate(row):
                    square, apart = model.addVar(lb=0), model.addVar(lb=None)
                    parts = scip.quicksum(leaves[i][cell] for i in np.flatnonzero(owners == region))
                    model.addCons(apart == parts - target)
                    model.addCons(square >= apart * apart)
                    terms.append(square)
        model.setObjective(scip.quicksum(terms))
        model.optimize()
        theirs = np.array([[round(model.getVal(v)) for v in row] for row in leaves], np.int64)
        ours = exact_chain(measured)
        assert problem.cost(ours.counts) == problem.cost(measured.tree.sums(theirs))
        assert ours.notes[0].startswith("optimal")


def test_what_is_too_large_to_search_is_bounded():
    """Without the search: the note's bound is true, and what was found is not below it."""
    chance = np.random.default_rng(5)
    measured = noisy(tree_of(1, 3, 9), 6, chance, scale=8)
    problem = ChainRules.read(measured, None)
    least = problem.cost(exact_chain(measured).counts)
    estimate = exact_chain(measured, steps=0)
    found = problem.cost(estimate.counts)
    share = float(estimate.notes[0].split("at most ")[1].split(" ")[0])
    assert least <= found <= least * (1 + share * 1.05)
    assert faults(estimate) == 0
