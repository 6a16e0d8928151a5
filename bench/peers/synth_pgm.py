"""private-pgm's own scripts, as its authors wrote them and at their defaults. Arguments: aim or mst, the folder that
holds the scripts, a .npz file with codes, sizes, epsilon, delta and seed. Saves rows beside it; prints what it took.

AIM's workload is that of its script: all pairs of columns with at most 10,000 cells. The scripts were written for
versions of mbi between releases. On mbi 2.0.0 a few names differ, and are given back here: an estimate that starts from
`potentials`, mirror descent as a function, `attrs` of a domain, a data set made of an array. (mbi 1.1.0 has most of
them, but draws rows in order inside each group, so that columns that share a neighbour rise together.)
"""

import hashlib
import itertools
import json
import resource
import sys
import time
import warnings
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

warnings.filterwarnings("ignore")

import mbi  # noqa: E402
import numpy as np  # noqa: E402

method, folder, path = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
sys.path.insert(0, str(folder))
job = np.load(path)
epsilon, delta = float(job["epsilon"]), float(job["delta"])
names = [f"c{place}" for place in range(len(job["sizes"]))]
domain = mbi.Domain(names, [int(size) for size in job["sizes"]])
data = mbi.Dataset({name: job["codes"][:, place] for place, name in enumerate(names)}, domain)


class MirrorDescent(mbi.estimation.MirrorDescent):
    def estimate(self, *job, potentials=None, **how):
        return super().estimate(*job, warm_start=potentials, **how)


estimation = SimpleNamespace(
    MirrorDescent=MirrorDescent,
    mirror_descent=lambda domain, measurements, iters: MirrorDescent().estimate(domain, measurements, iters=iters),
)
mbi.Domain.attrs = property(lambda self: self.attributes)
np.random.seed(int(job["seed"]))  # noqa: NPY002 - the scripts draw from it

if method == "aim":
    import aim

    aim.estimation = estimation
    start = time.process_time()
    settings = {key: aim.default_params()[key] for key in ("max_model_size", "max_iters", "degree", "max_cells")}
    pairs = itertools.combinations(names, settings["degree"])
    workload = [(pair, 1.0) for pair in pairs if domain.size(pair) <= settings["max_cells"]]
    how = {key: settings[key] for key in ("max_model_size", "max_iters")}
    _, made = aim.AIM(epsilon, delta, **how).run(data, workload)
else:
    import mst

    mst.estimation = estimation
    mst.Dataset = lambda values, domain: mbi.Dataset(dict(zip(domain.attrs, values.astype(int).T, strict=True)), domain)
    start = time.process_time()
    settings = {}
    made = mst.MST(data, epsilon, delta)
seconds = time.process_time() - start
rows = path.with_suffix(".rows.npy")
np.save(rows, np.column_stack([made.to_dict()[name] for name in names]).astype(np.int32))
scripts = {
    name: hashlib.sha256((folder / f"{name}.py").read_bytes()).hexdigest()[:12]
    for name in (method, "mechanism", "cdp2adp")
}
result = {"rows": str(rows), "cpu": seconds, "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}
versions = {name: version(name) for name in ("mbi", "jax", "numpy")}
print()
print(json.dumps({**result, "versions": versions, "scripts": scripts, "settings": settings}))
