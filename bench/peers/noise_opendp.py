"""CPU seconds OpenDP takes for vectors of discrete noise. Arguments: count, scale."""

import json
import sys
import time

import opendp.prelude as dp

dp.enable_features("contrib")
count, scale = int(sys.argv[1]), float(sys.argv[2])
space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
laplace = dp.m.make_laplace(*space, scale=scale)
gaussian = dp.m.make_gaussian(space[0], dp.l2_distance(T=float), scale=scale)
zeros = [0] * count
out = {"version": dp.__version__ if hasattr(dp, "__version__") else "?"}
for name, measurement in (("laplace", laplace), ("gaussian", gaussian)):
    measurement([0] * 100)
    start = time.process_time()
    measurement(zeros)
    out[name] = time.process_time() - start
print(json.dumps(out))
