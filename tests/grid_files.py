"""A small grid as a file, with a schema beside it, for tests of what is asked about loads."""

from __future__ import annotations

from pathlib import Path

CASE = """function mpc = ring
mpc.version = '2';
mpc.baseMVA = 100.0;
mpc.bus = [
  1  3  12.5  0  0  0  1  1  0  138  1  1.1  0.9;
  2  1  7.25  0  0  0  1  1  0  138  1  1.1  0.9;
  3  1  20.0  0  0  0  1  1  0  138  1  1.1  0.9;
];
mpc.gen = [
  1  0  0  0  0  1  100  1  100  0;
  2  0  0  0  0  1  100  1  100  0;
];
mpc.gencost = [
  2  0  0  3  0.02  20  0;
  2  0  0  3  0.05  15  0;
];
mpc.branch = [
  1  2  0  0.1   0  70  0  0  0  0  1  -360  360;
  2  3  0  0.09  0  70  0  0  0  0  1  -360  360;
  3  1  0  0.11  0  70  0  0  0  0  1  -360  360;
];
"""
"""Three loads of 12.5, 7.25 and 20 MW in a ring."""

SCHEMA = """\
[dataset]
name = "ring"

[grid]
alpha = 1

[budget]
epsilon = 10
"""


def lay_out_grid(folder: Path) -> tuple[Path, Path]:
    """The grid file and its schema."""
    data, schema = folder / "ring.m", folder / "discreet.toml"
    data.write_text(CASE, encoding="utf-8")
    schema.write_text(SCHEMA, encoding="utf-8")
    return data, schema
