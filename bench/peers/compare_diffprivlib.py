"""diffprivlib for bench/compare.py: `answers FILE`, `noise RUNS` or `spend`. Prints JSON."""

import json
import os
import signal
import sys
import time
import warnings
from pathlib import Path

warnings.filterwarnings("ignore")

import numpy as np  # noqa: E402
from diffprivlib import BudgetAccountant, tools  # noqa: E402
from diffprivlib.mechanisms import Laplace  # noqa: E402


def answers(job):
    groups, values, epsilon = np.array(job["groups"]), np.array(job["values"]), job["epsilon"]
    free = BudgetAccountant()
    keys, upper = job["keys"], job["upper"]
    ways = {
        "count": lambda: tools.histogram(groups, epsilon, bins=keys, range=(0, keys), accountant=free)[0].tolist(),
        "sum": lambda: float(tools.sum(values, epsilon=epsilon, bounds=(0, upper), accountant=free)),
        "median": lambda: float(tools.median(values, epsilon=epsilon, bounds=(0, upper), accountant=free)),
    }
    out = {}
    for name, work in ways.items():
        start = time.process_time()
        found = [work() for _ in range(job["trials"])]
        out[name] = {"found": found, "cpu": (time.process_time() - start) / job["trials"]}
    return out


def noise(runs):
    mechanism = Laplace(epsilon=1, sensitivity=1)
    return {
        "without": [mechanism.randomise(0.0) for _ in range(runs)],
        "with": [mechanism.randomise(1.0) for _ in range(runs)],
    }


def spend():
    accountant, given = BudgetAccountant(epsilon=1, delta=0), 0
    try:
        while given < 12:
            tools.count_nonzero(np.ones(10), epsilon=0.25, accountant=accountant)
            given += 1
    except Exception as refusal:
        return {"given": given, "refusal": type(refusal).__name__}
    return {"given": given, "refusal": ""}


match sys.argv[1:]:
    case ["answers", file]:
        print(json.dumps(answers(json.loads(Path(file).read_text()))))
    case ["noise", runs]:
        print(json.dumps(noise(int(runs))))
    case ["spend", *killed]:
        print(json.dumps(spend()), flush=True)
        if killed:
            os.kill(os.getpid(), signal.SIGKILL)
