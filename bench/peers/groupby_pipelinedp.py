"""CPU seconds PipelineDP takes for users, rows and a sum per group. Arguments: Parquet file, groups per user."""

import json
import resource
import sys
import time

import pipeline_dp
import pyarrow.parquet

path, kept = sys.argv[1], int(sys.argv[2])
groups, per_user = 1000, 10
start = time.process_time()
table = pyarrow.parquet.read_table(path, columns=["user_id", "grp", "value"])
rows = list(zip(*(table.column(name).to_pylist() for name in ("user_id", "grp", "value")), strict=True))
accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=1.0, total_delta=1e-9)
engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
asked = pipeline_dp.AggregateParams(
    noise_kind=pipeline_dp.NoiseKind.LAPLACE,
    metrics=[pipeline_dp.Metrics.PRIVACY_ID_COUNT, pipeline_dp.Metrics.COUNT, pipeline_dp.Metrics.SUM],
    max_partitions_contributed=kept,
    max_contributions_per_partition=per_user,
    min_value=0.0,
    max_value=100.0,
)
parts = pipeline_dp.DataExtractors(
    privacy_id_extractor=lambda row: row[0],
    partition_extractor=lambda row: row[1],
    value_extractor=lambda row: row[2],
)
result = engine.aggregate(rows, asked, parts, public_partitions=list(range(groups)))
accountant.compute_budgets()
if len(list(result)) != groups:
    raise SystemExit("groups are missing")
cpu = time.process_time() - start
print(json.dumps({"cpu": cpu, "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
