"""Microseconds a user multi-freq-ldpy takes, client and server. Arguments: users, categories, epsilon."""

import json
import sys
import time

from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Aggregator_MI, SS_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client

n, k, epsilon = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
# Fewer users where each takes long: per-user figures hardly change, and fixed costs stay small.
wide, hashed = max(1000, n * 100 // k), max(50, n * 10 // k)
makers = {
    "grr": (lambda v: GRR_Client(v, k, epsilon), lambda r: GRR_Aggregator_MI(r, k, epsilon), n, n),
    "oue": (lambda v: UE_Client(v, k, epsilon, True), lambda r: UE_Aggregator_MI(r, epsilon, True), wide, wide),
    "olh": (lambda v: LH_Client(v, k, epsilon, True), lambda r: LH_Aggregator_MI(r, k, epsilon, True), n // 10, hashed),
    "subset": (lambda v: SS_Client(v, k, epsilon), lambda r: SS_Aggregator_MI(r, k, epsilon), wide, wide),
}
out = {}
for name, (client, server, people, counted) in makers.items():
    try:
        values = [place % k for place in range(people)]
        server([client(0) for _ in range(3)])  # compiles
        start = time.process_time()
        reports = [client(value) for value in values]
        told = time.process_time()
        server(reports[:counted])
        done = time.process_time()
    except Exception as problem:
        out[name] = {"problem": f"{type(problem).__name__}: {str(problem)[:200]}"}
        continue
    out[name] = {"client": (told - start) * 1e6 / people, "server": (done - told) * 1e6 / counted}
print(json.dumps(out))
