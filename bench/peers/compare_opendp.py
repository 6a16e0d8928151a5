"""OpenDP for bench/compare.py: `answers FILE`, `noise RUNS` or `spend`. Prints JSON."""

import json
import os
import signal
import sys
import time
from pathlib import Path

import opendp.prelude as dp

dp.enable_features("contrib")


def answers(job):
    groups, values, epsilon = job["groups"], job["values"], job["epsilon"]
    whole = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    real = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    counted = whole >> dp.t.then_count_by_categories(
        categories=list(range(job["keys"])), null_category=False, MO=dp.L1Distance[int], TOA=int
    )
    summed = whole >> dp.t.then_clamp((0, job["upper"])) >> dp.t.then_sum()
    edges = [float(value) for value in range(job["upper"] + 1)]

    def least(make):
        return make(dp.binary_search(lambda scale: make(scale).map(1) <= epsilon, bounds=(1e-6, 1e9)))

    ways = {
        "count": (least(lambda scale: counted >> dp.m.then_laplace(scale)), groups),
        "sum": (least(lambda scale: summed >> dp.m.then_laplace(scale)), values),
        "median": (
            least(lambda scale: dp.m.make_private_quantile(*real, dp.max_divergence(), edges, 0.5, scale)),
            [float(value) for value in values],
        ),
    }
    out = {}
    for name, (measure, data) in ways.items():
        start = time.process_time()
        found = [measure(data) for _ in range(job["trials"])]
        out[name] = {"found": found, "cpu": (time.process_time() - start) / job["trials"]}
    return out


def noise(runs):
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float)
    measure = dp.m.make_laplace(*space, scale=1.0)
    return {"without": measure([0.0] * runs), "with": measure([1.0] * runs)}


def spend():
    context = dp.Context.compositor(
        data=[1] * 10,
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=4,
    )
    given = 0
    try:
        while given < 12:
            context.query().count().laplace().release()
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
