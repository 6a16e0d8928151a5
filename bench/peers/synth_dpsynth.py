"""dpsynth's AIM, MST or SWIFT, at its defaults. Arguments: aim, mst or swift, a .npz file with codes, sizes, epsilon,
delta and seed. Saves rows beside it; prints what it took.

dpsynth is installed from its repository, not from PyPI, and needs Python 3.12. Written from its documentation: where it
was written the repository could not be reached, so this script has not been run yet.
"""

import json
import resource
import sys
import time
from importlib.metadata import version
from pathlib import Path

import dpsynth
import numpy as np
import pandas as pd

method, path = sys.argv[1], Path(sys.argv[2])
job = np.load(path)
names = [f"c{place}" for place in range(len(job["sizes"]))]
frame = pd.DataFrame(job["codes"], columns=names)

start = time.process_time()
columns = {
    name: dpsynth.CategoricalAttribute(categories=list(range(int(size))))
    for name, size in zip(names, job["sizes"], strict=True)
}
recipes = dpsynth.discrete_mechanisms
recipe = {"aim": "AIMConfig", "mst": "MSTConfig", "swift": "SWIFTConfig"}[method]
config = dpsynth.TabularConfig(discrete_mechanism=getattr(recipes, recipe)())
mechanism = config.calibrate(dpsynth.Schema(columns), epsilon=float(job["epsilon"]), delta=float(job["delta"]))
made = mechanism(np.random.default_rng(int(job["seed"])), frame).synthetic_data
seconds = time.process_time() - start
rows = path.with_suffix(".rows.npy")
np.save(rows, made[names].to_numpy().astype(np.int32))
result = {"rows": str(rows), "cpu": seconds, "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}
versions = {name: version(name) for name in ("dpsynth", "mbi", "jax", "numpy")}
print()
print(json.dumps({**result, "versions": versions, "settings": {}}))
