"""CPU seconds SmartNoise SQL takes for rows and a sum per group. Arguments: Parquet file, groups per user."""

import json
import resource
import sys
import time

import pandas
import snsql

path, kept = sys.argv[1], int(sys.argv[2])
per_user = 10
columns = {"user_id": {"type": "int", "private_id": True}, "grp": {"type": "int"}}
columns["value"] = {"type": "float", "lower": 0.0, "upper": 100.0}
# Its limit is on rows: as many as fall into so many groups.
table = {"max_ids": kept * per_user, "censor_dims": False, "rows": 1_000_000, **columns}
start = time.process_time()
frame = pandas.read_parquet(path, columns=["user_id", "grp", "value"])
privacy = snsql.Privacy(epsilon=1.0, delta=1e-9)
reader = snsql.from_df(frame, privacy=privacy, metadata={"": {"visits": {"visits": table}}})
answer = reader.execute("SELECT grp, COUNT(*) AS n, SUM(value) AS s FROM visits.visits GROUP BY grp")
if len(answer) < 1000:
    raise SystemExit("groups are missing")
cpu = time.process_time() - start
print(json.dumps({"cpu": cpu, "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
