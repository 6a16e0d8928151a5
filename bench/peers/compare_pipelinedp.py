"""PipelineDP for bench/compare.py: `answers FILE`, `noise RUNS` or `spend`. Prints JSON.

Its noise is that of Google's C++ library, through PyDP. All questions on one accountant are declared before any is
answered.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

import pipeline_dp
from pydp.algorithms.numerical_mechanisms import LaplaceMechanism

PARTS = pipeline_dp.DataExtractors(
    privacy_id_extractor=lambda row: row[0],
    partition_extractor=lambda row: row[1],
    value_extractor=lambda row: row[2],
)


def asked(rows, metric, epsilon, keys, upper):
    accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=epsilon, total_delta=1e-9)
    engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
    wanted = pipeline_dp.AggregateParams(
        noise_kind=pipeline_dp.NoiseKind.LAPLACE,
        metrics=[metric],
        max_partitions_contributed=1,
        max_contributions_per_partition=1,
        min_value=0.0,
        max_value=float(upper),
    )
    result = engine.aggregate(rows, wanted, PARTS, public_partitions=list(range(keys)))
    accountant.compute_budgets()
    found = dict(result)
    return [float(found[key][0]) for key in range(keys)]


def answers(job):
    rows = [(place, *pair) for place, pair in enumerate(zip(job["groups"], job["values"], strict=True))]
    whole = [(place, 0, value) for place, _, value in rows]
    metrics, epsilon, upper = pipeline_dp.Metrics, job["epsilon"], job["upper"]
    ways = {
        "count": lambda: asked(rows, metrics.COUNT, epsilon, job["keys"], upper),
        "sum": lambda: asked(whole, metrics.SUM, epsilon, 1, upper)[0],
        "median": lambda: asked(whole, metrics.PERCENTILE(50), epsilon, 1, upper)[0],
    }
    out = {}
    for name, work in ways.items():
        start = time.process_time()
        found = [work() for _ in range(job["trials"])]
        out[name] = {"found": found, "cpu": (time.process_time() - start) / job["trials"]}
    return out


def noise(runs):
    mechanism = LaplaceMechanism(1.0, 1.0)
    return {
        "without": [mechanism.add_noise(0.0) for _ in range(runs)],
        "with": [mechanism.add_noise(1.0) for _ in range(runs)],
    }


def spend():
    """One accountant whose budget is shared by as many questions as were declared; then one more."""
    rows = [(place, 0, 1.0) for place in range(10)]
    accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=1.0, total_delta=1e-9, num_aggregations=4)
    engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
    wanted = pipeline_dp.AggregateParams(
        noise_kind=pipeline_dp.NoiseKind.LAPLACE,
        metrics=[pipeline_dp.Metrics.COUNT],
        max_partitions_contributed=1,
        max_contributions_per_partition=1,
    )
    results, refusal = [], ""
    try:
        while len(results) < 12:
            results.append(engine.aggregate(rows, wanted, PARTS, public_partitions=[0]))
            if len(results) == 4:
                accountant.compute_budgets()
    except Exception as problem:
        refusal = type(problem).__name__
    return {"given": sum(len(list(one)) for one in results), "refusal": refusal}


match sys.argv[1:]:
    case ["answers", file]:
        print(json.dumps(answers(json.loads(Path(file).read_text()))))
    case ["noise", runs]:
        print(json.dumps(noise(int(runs))))
    case ["spend", *killed]:
        print(json.dumps(spend()), flush=True)
        if killed:
            os.kill(os.getpid(), signal.SIGKILL)
