"""OpenDP for bench/release.py: a count and a mean by group of rows in memory, least of some runs. Prints JSON."""

import json
import sys
import time
from pathlib import Path

import opendp.prelude as dp

dp.enable_features("contrib")
job = json.loads(Path(sys.argv[1]).read_text())
groups, values, epsilon = job["groups"], job["values"], job["epsilon"] / 2
whole = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
real = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
counted = whole >> dp.t.then_count_by_categories(
    categories=list(range(job["keys"])), null_category=False, MO=dp.L1Distance[int], TOA=int
)
summed = real >> dp.t.then_clamp((0.0, float(job["upper"]))) >> dp.t.then_sum()


def least(make):
    return make(dp.binary_search(lambda scale: make(scale).map(1) <= epsilon, bounds=(1e-6, 1e9)))


count = least(lambda scale: counted >> dp.m.then_laplace(scale))
total = least(lambda scale: summed >> dp.m.then_laplace(scale))


def release():
    found = count(groups)
    parts = [[] for _ in range(job["keys"])]
    for group, value in zip(groups, values, strict=True):
        parts[group].append(value)
    return found, [total(part) / max(1, many) for part, many in zip(parts, found, strict=True)]


best = float("inf")
release()
for _ in range(job["repeats"]):
    start = time.process_time()
    release()
    best = min(best, time.process_time() - start)
print(json.dumps({"cpu": best}))
