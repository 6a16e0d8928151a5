"""SmartNoise's AIM or MST synthesizer, at its defaults. Arguments: aim or mst, a .npz file with codes, sizes, epsilon,
delta and seed. Saves rows beside it; prints what it took.

By default it reads the list of a column's values off the data, which no budget pays for. Here it is told the public
list of codes instead, so that it makes the same promise as the others. Its noise is OpenDP's and takes no seed; the
choices and the rows are drawn from numpy, which has one. The version of mbi that it needs draws rows in order inside
each group, so that columns that share a neighbour rise together. That is what its users get; to tell the method from
the fault, rows are also drawn one by one from the same fit (`drawn`).
"""

import json
import resource
import sys
import time
import warnings
from importlib.metadata import version
from pathlib import Path

warnings.filterwarnings("ignore")

import mbi  # noqa: E402
import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from snsynth.aim import AIMSynthesizer  # noqa: E402
from snsynth.mst import MSTSynthesizer  # noqa: E402
from snsynth.transform import LabelTransformer, TableTransformer  # noqa: E402

method, path = sys.argv[1], Path(sys.argv[2])
job = np.load(path)
names = [f"c{place}" for place in range(len(job["sizes"]))]
frame = pd.DataFrame(job["codes"], columns=names)
np.random.seed(int(job["seed"]))  # noqa: NPY002 - the synthesizers draw from it

start = time.process_time()
columns = []
for size in job["sizes"]:
    column = LabelTransformer(nullable=False)
    column.fit(list(range(int(size))))
    columns.append(column)
synthesizer = {"aim": AIMSynthesizer, "mst": MSTSynthesizer}[method](
    epsilon=float(job["epsilon"]), delta=float(job["delta"])
)
synthesizer.fit(frame, transformer=TableTransformer(columns))
made = np.asarray(synthesizer.sample())
seconds = time.process_time() - start
rows = path.with_suffix(".rows.npy")
np.save(rows, made.astype(np.int32))
as_released = mbi.MarkovRandomField.synthetic_data
mbi.MarkovRandomField.synthetic_data = lambda self, rows=None: as_released(self, rows, method="sample")
drawn = path.with_suffix(".drawn.npy")
np.save(drawn, np.asarray(synthesizer.sample()).astype(np.int32))
settings = {key: getattr(synthesizer, key) for key in ("max_model_size", "degree", "max_cells") if method == "aim"}
result = {
    "rows": str(rows),
    "drawn": str(drawn),
    "cpu": seconds,
    "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
}
versions = {name: version(name) for name in ("smartnoise-synth", "mbi", "jax", "numpy")}
print()
print(json.dumps({**result, "versions": versions, "settings": settings}))
