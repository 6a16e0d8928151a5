"""How much an environment holds and what an import costs, for bench/compare.py. Arguments: distribution, module."""

import importlib
import json
import sys
import time
from importlib.metadata import distributions, version
from pathlib import Path

size, names = 0, set()
for one in distributions():
    name = one.metadata["Name"].lower()
    if name in ("pip", "setuptools", "wheel"):
        continue
    names.add(name)
    for file in one.files or []:
        path = Path(str(one.locate_file(file)))
        size += path.stat().st_size if path.is_file() and path.suffix != ".pyc" else 0
start = time.process_time()
importlib.import_module(sys.argv[2])
cpu = time.process_time() - start
print(json.dumps({"size": size / 1e6, "packages": len(names), "cpu": cpu, "version": version(sys.argv[1])}))
