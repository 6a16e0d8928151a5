"""diffprivlib for bench/release.py: a count and a mean by group of rows in memory, least of some runs. Prints JSON."""

import json
import sys
import time
import warnings
from pathlib import Path

warnings.filterwarnings("ignore")

import numpy as np  # noqa: E402
from diffprivlib import BudgetAccountant, tools  # noqa: E402

job = json.loads(Path(sys.argv[1]).read_text())
groups, values, epsilon, keys = np.array(job["groups"]), np.array(job["values"]), job["epsilon"] / 2, job["keys"]
free = BudgetAccountant()


def release():
    count = tools.histogram(groups, epsilon, bins=keys, range=(0, keys), accountant=free)[0]
    bounds = (0, job["upper"])
    parts = (values[groups == group] for group in range(keys))
    return count, [tools.mean(part, epsilon=epsilon, bounds=bounds, accountant=free) for part in parts]


best = float("inf")
release()
for _ in range(job["repeats"]):
    start = time.process_time()
    release()
    best = min(best, time.process_time() - start)
print(json.dumps({"cpu": best}))
