"""The files of the demonstration: two invented tables, their schemas and budgets, and the shapes of their counties."""

from __future__ import annotations

import shutil
from importlib.resources import as_file, files
from pathlib import Path

__all__ = ["FILES", "lay_out"]

FILES = ("people.csv", "discreet.toml", "visits.csv", "visits.toml", "counties.geojson")
"""What the folder begins with. `discreet.toml` is the schema of `people.csv`; one ledger serves both tables."""


def lay_out(folder: Path) -> None:
    """Copy the files into a folder. What is there already stays as it is."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        if not (folder / name).exists():
            with as_file(files("discreet.apps.demo") / name) as shipped:
                shutil.copy(shipped, folder / name)
