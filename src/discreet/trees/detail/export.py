"""A release in adaptive detail as files: the table, what its columns mean, and a data dictionary."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.core.release import percent
from discreet.trees.dictionary import Field, File, facts, to_markdown
from discreet.trees.export import open_folder, write_table
from discreet.trees.quality import CARE, FLAGS, UNFIT

if TYPE_CHECKING:
    from discreet.trees.detail.release import DetailRelease

__all__ = ["save"]

_KEYS = {
    "level": "Level of the region",
    "region": "Code of the region",
    "group": "Name of the population group, as declared: a row of the data may be in several",
    "detail": "Level of detail that the group was measured in, by its noisy total",
    "cell": "Which cell of the group the row is; total for all of them, which is the sum of the others",
}


def save(release: DetailRelease, folder: str | Path, kind: str) -> list[Path]:
    """Write `groups.KIND`, beside a CSV file what it holds, `dictionary.md` and `README.json`; the paths written."""
    path = open_folder(folder, kind) / f"groups.{kind}"
    fields = tuple(_field(release, name) for name in release.columns)
    holds = "How many there are in every group of every region, in the detail that its size allows"
    file = File(path.name, holds, len(release), release.keys, fields)
    beside = write_table(release, release, path, file)
    about = {
        **facts(release),
        "dictionary": "dictionary.md",
        "files": {file.name: {"holds": holds, "columns": [field.name for field in fields]}},
        "notes": [str(note) for note in release.notes],
    }
    dictionary, readme = path.parent / "dictionary.md", path.parent / "README.json"
    dictionary.write_text(to_markdown(release, [file]), encoding="utf-8")
    readme.write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    return [path, *beside, dictionary, readme]


def _field(release: DetailRelease, name: str) -> Field:
    if name in _KEYS:
        return Field(name, "text", _KEYS[name], "", f"{len(set(release.columns[name])):,} different")
    if name.endswith("_quality"):
        said = (
            "Whether to rely on the number, by its standard error as a part of it: "
            f"up to {percent(round(CARE, 3))}, up to {percent(round(UNFIT, 3))}, and beyond"
        )
        return Field(name, "text", said, "", ", ".join(FLAGS))
    said = "Published number: computed from noisy numbers, whole, and the sum of its cells where there are any"
    if name != "count":
        end = "Lower" if name.endswith("lower") else "Upper"
        said = f"{end} end of the {percent(release.confidence)} confidence interval of this one number (each)"
    return Field(name, "integer", said, "records", "0 or more")
