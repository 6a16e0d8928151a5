"""SmartNoise SQL for bench/compare.py: `answers FILE` or `spend`. Its noise is OpenDP's. Prints JSON."""

import json
import os
import signal
import sys
import time
import warnings
from pathlib import Path

warnings.filterwarnings("ignore")

import pandas  # noqa: E402
import snsql  # noqa: E402


def reader(frame, epsilon, upper):
    columns = {"grp": {"type": "int"}, "value": {"type": "int", "lower": 0, "upper": upper}}
    table = {"row_privacy": True, "censor_dims": False, "rows": len(frame), **columns}
    privacy = snsql.Privacy(epsilon=epsilon, delta=1e-9)
    return snsql.from_df(frame, privacy=privacy, metadata={"": {"t": {"t": table}}})


def answers(job):
    frame = pandas.DataFrame({"grp": job["groups"], "value": job["values"]})
    ask = reader(frame, job["epsilon"], job["upper"])
    ways = {
        "count": lambda: _counts(ask.execute("SELECT grp, COUNT(*) AS n FROM t.t GROUP BY grp"), job["keys"]),
        "sum": lambda: float(ask.execute("SELECT SUM(value) AS s FROM t.t")[1][0]),
    }
    out = {}
    for name, work in ways.items():
        start = time.process_time()
        found = [work() for _ in range(job["trials"])]
        out[name] = {"found": found, "cpu": (time.process_time() - start) / job["trials"]}
    return out


def _counts(rows, keys):
    found = {int(key): float(count) for key, count in rows[1:]}
    return [found.get(key, 0.0) for key in range(keys)]


def spend():
    ask, given = reader(pandas.DataFrame({"grp": [0] * 10, "value": [1] * 10}), 0.25, 1), 0
    try:
        while given < 12:
            ask.execute("SELECT COUNT(*) AS n FROM t.t")
            given += 1
    except Exception as refusal:
        return {"given": given, "refusal": type(refusal).__name__}
    return {"given": given, "refusal": "", "odometer": [float(one) for one in ask.odometer.spent]}


match sys.argv[1:]:
    case ["answers", file]:
        print(json.dumps(answers(json.loads(Path(file).read_text()))))
    case ["spend", *killed]:
        print(json.dumps(spend()), flush=True)
        if killed:
            os.kill(os.getpid(), signal.SIGKILL)
