"""Microseconds a user pure-ldp takes, client and server. Arguments: users, categories, epsilon."""

import json
import sys
import time

from pure_ldp.frequency_oracles import DEClient, DEServer, LHClient, LHServer, UEClient, UEServer

n, k, epsilon = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
# Fewer users where each takes long: per-user figures hardly change, and fixed costs stay small.
wide, hashed = max(1000, n * 100 // k), max(50, n * 10 // k)
by_index = {"index_mapper": lambda value: value}
makers = {
    "grr": (lambda: DEClient(epsilon, k, **by_index), lambda: DEServer(epsilon, k, **by_index), n, n),
    "oue": (
        lambda: UEClient(epsilon, k, use_oue=True, **by_index),
        lambda: UEServer(epsilon, k, use_oue=True, **by_index),
        wide,
        wide,
    ),
    "olh": (
        lambda: LHClient(epsilon, k, use_olh=True, **by_index),
        lambda: LHServer(epsilon, k, use_olh=True, **by_index),
        n // 10,
        hashed,
    ),
}
out = {}
for name, (client, server, people, counted) in makers.items():
    values = [place % k for place in range(people)]
    responder, collector = client(), server()
    start = time.process_time()
    reports = [responder.privatise(value) for value in values]
    told = time.process_time()
    for report in reports[:counted]:
        collector.aggregate(report)
    collector.estimate(0, suppress_warnings=True)
    done = time.process_time()
    out[name] = {"client": (told - start) * 1e6 / people, "server": (done - told) * 1e6 / counted}
print(json.dumps(out))
