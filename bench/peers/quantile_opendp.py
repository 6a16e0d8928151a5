"""Quantiles by OpenDP. Argument: a JSON file with values, edges, quantiles, epsilon, trials. Prints what it found."""

import json
import sys
import time
from pathlib import Path

import opendp.prelude as dp

dp.enable_features("contrib")
job = json.loads(Path(sys.argv[1]).read_text())
values, edges, epsilon = job["values"], job["edges"], job["epsilon"]
space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()


def chosen(alpha, share):
    """One quantile by selection among the edges (permute and flip)."""

    def make(scale):
        return dp.m.make_private_quantile(*space, dp.max_divergence(), edges, alpha, scale)

    return make(dp.binary_search(lambda scale: make(scale).map(1) <= share, bounds=(1e-6, 1e9)))


def tree():
    """All quantiles from a tree of counts, its branching chosen for the number of rows."""
    leaves = len(edges) - 1
    branching = dp.t.choose_branching_factor(len(values))
    counted = (
        space
        >> dp.t.then_find_bin(edges=edges[1:-1])
        >> dp.t.then_count_by_categories(
            categories=list(range(leaves)), null_category=False, MO=dp.L1Distance[int], TOA=int
        )
        >> dp.t.then_b_ary_tree(leaf_count=leaves, branching_factor=branching)
    )
    make = lambda scale: counted >> dp.m.then_laplace(scale)  # noqa: E731
    noisy = make(dp.binary_search(lambda scale: make(scale).map(1) <= epsilon, bounds=(1e-6, 1e9)))
    consistent = dp.t.make_consistent_b_ary_tree(branching_factor=branching)
    quantiles = dp.t.make_quantiles_from_counts(bin_edges=edges, alphas=job["quantiles"])
    return lambda data: quantiles(consistent(noisy(data)))


out = {}
share = epsilon / len(job["quantiles"])
searches = [chosen(alpha, share) for alpha in job["quantiles"]]
start = time.process_time()
out["chosen"] = [[search(values) for search in searches] for _ in range(job["trials"])]
out["seconds"] = (time.process_time() - start) / job["trials"]
try:
    search = tree()
    out["tree"] = [[float(value) for value in search(values)] for _ in range(job["trials"])]
except Exception as problem:
    out["problem"] = str(problem)[:300]
print(json.dumps(out))
