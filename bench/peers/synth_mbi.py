"""AIM, written from its paper on mbi's inference (mbi's package holds no mechanisms). Argument: a .npz file with codes,
sizes, workload (padded with -1), rho, rounds, cells and steps. Saves rows beside it; prints CPU seconds and memory.

Noise is numpy's, of floats: for comparing errors only.
"""

import itertools
import json
import resource
import sys
import time
import warnings
from pathlib import Path

warnings.filterwarnings("ignore")

import jax  # noqa: E402

jax.config.update("jax_enable_x64", True)

import numpy as np  # noqa: E402
from mbi import Dataset, Domain, LinearMeasurement, estimation, junction_tree  # noqa: E402

job = np.load(sys.argv[1])
codes, sizes, rho = job["codes"], job["sizes"], float(job["rho"])
rounds, most, steps = int(job["rounds"]), int(job["cells"]), int(job["steps"])
workload = [tuple(int(one) for one in row if one >= 0) for row in job["workload"]]
start = time.process_time()
chance = np.random.default_rng()
names = [str(place) for place in range(len(sizes))]
domain = Domain(names, [int(size) for size in sizes])
data = Dataset({name: codes[:, place] for place, name in enumerate(names)}, domain)


def named(columns):
    return tuple(names[column] for column in columns)


bearing = {}
for marginal in workload:
    for many in range(1, len(marginal) + 1):
        for part in itertools.combinations(marginal, many):
            bearing.setdefault(part, 0)
for part in bearing:
    bearing[part] = sum(len(set(part) & set(marginal)) for marginal in workload)
exact = {part: np.asarray(data.project(named(part)).datavector(), dtype=float) for part in bearing}
sigma, epsilon = np.sqrt(rounds / (1.8 * rho)), np.sqrt(0.8 * rho / rounds)
measurements, spent = [], 0.0


def measure(columns):
    noisy = exact[columns] + sigma * chance.normal(size=len(exact[columns]))
    measurements.append(LinearMeasurement(noisy, named(columns), sigma))


def fitted(model=None, many=steps):
    return estimation.MirrorDescent().estimate(domain, measurements, iters=many, warm_start=model)


for column in range(len(sizes)):
    exact.setdefault((column,), np.asarray(data.project(named((column,))).datavector(), dtype=float))
    measure((column,))
    spent += 0.5 / sigma**2
model = fitted()
last = False
while not last:
    if rho - spent < 2 * (0.5 / sigma**2 + epsilon**2 / 8):
        last = True
        left = rho - spent
        sigma, epsilon = np.sqrt(1 / (2 * 0.9 * left)), np.sqrt(8 * 0.1 * left)
    held = [one.clique for one in measurements]
    limit = max(most * spent / rho, 1)
    candidates = [
        part
        for part in bearing
        if junction_tree.hypothetical_model_size(domain, [*held, named(part)]) * 2**20 / 8 <= limit or len(part) == 1
    ]
    scores = np.array(
        [
            bearing[part]
            * (
                np.abs(exact[part] - np.asarray(model.project(named(part)).datavector())).sum()
                - np.sqrt(2 / np.pi) * sigma * len(exact[part])
            )
            for part in candidates
        ]
    )
    rate = epsilon / (2 * max(bearing.values()))
    chosen = candidates[int(np.argmax(rate * scores + chance.gumbel(size=len(scores))))]
    before = np.asarray(model.project(named(chosen)).datavector())
    measure(chosen)
    spent += 0.5 / sigma**2 + epsilon**2 / 8
    model = fitted(model, steps if not last else 4 * steps)
    moved = np.abs(np.asarray(model.project(named(chosen)).datavector()) - before).sum()
    if moved <= np.sqrt(2 / np.pi) * sigma * len(before):
        sigma, epsilon = sigma / 2, epsilon * 2
rows = model.synthetic_data(len(codes)).to_dict()
made = np.column_stack([rows[name] for name in names])
seconds = time.process_time() - start
path = Path(sys.argv[1]).with_suffix(".rows.npy")
np.save(path, made)
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"rows": str(path), "cpu": seconds, "megabytes": memory, "measured": len(measurements)}))
