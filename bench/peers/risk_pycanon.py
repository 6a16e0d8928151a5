"""pycanon on the same file: k-anonymity, l-diversity and t-closeness, CPU seconds of the three together."""

import json
import sys
import time

import pandas as pd
from pycanon import anonymity

data = pd.read_csv(sys.argv[1], dtype={"zip": str})
quasi = ["age", "zip", "sex"]
start = time.process_time()
k = anonymity.k_anonymity(data, quasi)
l = anonymity.l_diversity(data, quasi, ["diagnosis"])  # noqa: E741
t = anonymity.t_closeness(data, quasi, ["diagnosis"])
took = time.process_time() - start
beta = anonymity.basic_beta_likeness(data, quasi, ["diagnosis"])
print(json.dumps({"cpu": took, "k": int(k), "l": int(l), "t": float(t), "beta": float(beta)}))
