"""Prints the oldest versions pyproject.toml promises to work with, one requirement a line."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
for requirement in project["dependencies"]:
    bare = re.sub(r"\[.*?\]", "", requirement)  # a constraint names no extras
    print(re.sub(r">=([\d.]+)", lambda m: f"=={m[1]}.*", bare))
