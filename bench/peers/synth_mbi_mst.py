"""MST, written from its paper on mbi's inference. Argument: a .npz file with codes, sizes, rho and steps. Saves rows
beside it; prints CPU seconds and memory.

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
from mbi import Domain, LinearMeasurement, estimation  # noqa: E402

job = np.load(sys.argv[1])
codes, sizes, rho, steps = job["codes"], job["sizes"], float(job["rho"]), int(job["steps"])
start = time.process_time()
chance = np.random.default_rng()
names = [str(place) for place in range(len(sizes))]


def counted(table, shape, columns):
    cells = np.ravel_multi_index(tuple(table[:, column] for column in columns), [shape[one] for one in columns])
    return np.bincount(cells, minlength=int(np.prod([shape[one] for one in columns]))).astype(float)


# A third for single columns; codes below three standard deviations are put together.
sigma = np.sqrt(len(sizes) / (2 * rho / 3))
alone, kept, totals, small = [], [], [], np.zeros_like(codes)
for column, size in enumerate(sizes):
    noisy = counted(codes, sizes, (column,)) + sigma * chance.normal(size=size)
    totals.append((noisy.sum(), size))
    clear = np.flatnonzero(noisy >= 3 * sigma)
    place = np.full(size, len(clear))
    place[clear] = np.arange(len(clear))
    few = len(clear) < size
    kept.append((clear, np.flatnonzero(noisy < 3 * sigma)))
    small[:, column] = place[codes[:, column]]
    rest = noisy[noisy < 3 * sigma].sum()
    values = np.append(noisy[clear], rest / np.sqrt(size - len(clear))) if few else noisy
    alone.append((values, np.append(np.ones(len(clear)), 1 / np.sqrt(size - len(clear))) if few else np.ones(size)))
total = sum(found / size for found, size in totals) / sum(1 / size for _, size in totals)
shape = [len(values) for values, _ in alone]
domain = Domain(names, shape)
measurements = [
    LinearMeasurement(values, (names[column],), sigma, lambda x, scale=scale: scale * x.datavector())
    for column, (values, scale) in enumerate(alone)
]
model = estimation.MirrorDescent().estimate(domain, measurements, known_total=total, iters=steps)

# A third to choose pairs that make a tree, those that independent columns get most wrong first.
single = [np.asarray(model.project((name,)).datavector()) for name in names]
pairs = list(itertools.combinations(range(len(sizes)), 2))
score = {
    (one, two): np.abs(counted(small, shape, (one, two)) - np.outer(single[one], single[two]).ravel() / total).sum()
    for one, two in pairs
}
epsilon = np.sqrt(8 * (rho / 3) / (len(sizes) - 1))
island, tree = list(range(len(sizes))), []
while len(set(island)) > 1:
    apart = [(one, two) for one, two in pairs if island[one] != island[two]]
    height = [epsilon / 2 * score[pair] + chance.gumbel() for pair in apart]
    one, two = apart[int(np.argmax(height))]
    tree.append((one, two))
    island = [island[one] if name == island[two] else name for name in island]

# A third to measure them.
sigma = np.sqrt(len(tree) / (2 * rho / 3))
for one, two in tree:
    noisy = counted(small, shape, (one, two))
    noisy += sigma * chance.normal(size=len(noisy))
    measurements.append(LinearMeasurement(noisy, (names[one], names[two]), sigma))
model = estimation.MirrorDescent().estimate(domain, measurements, known_total=total, iters=10 * steps)
rows = model.synthetic_data(len(codes)).to_dict()
made = np.zeros_like(codes)
for column, (clear, rare) in enumerate(kept):
    found = np.asarray(rows[names[column]])
    spread = rare[chance.integers(0, len(rare), len(found))] if len(rare) else found
    made[:, column] = np.where(found < len(clear), np.append(clear, 0)[np.minimum(found, len(clear))], spread)
seconds = time.process_time() - start
path = Path(sys.argv[1]).with_suffix(".rows.npy")
np.save(path, made)
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"rows": str(path), "cpu": seconds, "megabytes": memory, "measured": len(measurements)}))
