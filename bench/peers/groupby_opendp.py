"""CPU seconds OpenDP's Polars path takes for rows and a sum per group. Arguments: Parquet file, groups per user."""

import json
import resource
import sys
import time

import opendp.prelude as dp
import polars as pl

dp.enable_features("contrib")
path, kept = sys.argv[1], int(sys.argv[2])
groups, per_user = 1000, 10
start = time.process_time()
rows = pl.scan_parquet(path).select("user_id", "grp", "value")
keys = pl.LazyFrame({"grp": list(range(groups))}, schema={"grp": pl.Int32})
bounds = [dp.polars.Bound(by=["grp"], per_group=per_user, num_groups=kept)]
context = dp.Context.compositor(
    data=rows,
    privacy_unit=dp.unit_of(contributions=bounds, identifier="user_id"),
    privacy_loss=dp.loss_of(epsilon=1.0),
    split_evenly_over=1,
    margins=[dp.polars.Margin(by=["grp"], max_length=10_000_000, invariant="keys")],
)
query = (
    context.query()
    .truncate_per_group(per_user, by=["grp"])
    # Its default, a random choice, fails here (two columns of one name); the first groups are cheaper to find anyway.
    .truncate_num_groups(kept, by=["grp"], keep="first")
    .group_by("grp")
    .agg(dp.len(signed=True), pl.col("value").fill_nan(0).fill_null(0).dp.sum((0.0, 100.0)))
    .with_keys(keys)
)
answer = query.release().collect()
if len(answer) != groups:
    raise SystemExit("groups are missing")
cpu = time.process_time() - start
print(json.dumps({"cpu": cpu, "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
