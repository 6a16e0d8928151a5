"""The certificate holds for optima and for nothing else."""

import numpy as np
from exact_problems import problems

from discreet.trees.exact.certificate import faults
from discreet.trees.exact.solve import solve
from small_trees import cost, least_cost


def test_the_certificate_holds_for_optima_and_for_nothing_else():
    numbers = np.random.default_rng(3)
    seen = {True: 0, False: 0}
    for _, _, forest in problems(3, 60, leaves=4):
        best = least_cost(forest)
        near = solve(forest)
        for _ in range(15):
            leaves = np.clip(near[-1] + numbers.integers(-1, 2, len(near[-1])), forest.lower[-1], forest.upper[-1])
            counts = [leaves]
            for level in range(forest.depth - 2, -1, -1):
                counts.insert(0, np.add.reduceat(counts[0], forest.edges(level)[:-1]))
            allowed = all(
                ((x >= low) & (x <= high)).all()
                for x, low, high in zip(counts, forest.lower, forest.upper, strict=True)
            )
            optimal = allowed and cost(forest, counts) == best
            assert (faults(forest, counts) == 0) == optimal
            seen[optimal] += 1
        broken = [x.copy() for x in near]
        broken[0][0] += 1  # no longer a sum
        assert faults(forest, broken) > 0
    assert min(seen.values()) > 100
