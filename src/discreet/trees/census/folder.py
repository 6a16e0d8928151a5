"""The noisy measurements of a census: a folder for each table, and one file that says which tables agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from discreet.core.note import Note
from discreet.core.signature import typed
from discreet.errors import InputError, Phrase, kind_of
from discreet.trees.census.release import CensusRelease
from discreet.trees.measurement_reader import read_measurements

__all__ = ["AGREEMENT", "read_census", "save_census"]

AGREEMENT = "census.json"
_FORMAT = "discreet noisy census"


def save_census(release: CensusRelease, folder: str | Path) -> list[Path]:
    """Write all that the census is made of; the paths."""
    directory = Path(folder)
    paths = [path for name, part in release.parts.items() for path in part.save_measurements(directory / name)]
    about = {
        "format": _FORMAT,
        "version": 1,
        "tables": [{"name": name, "totals_of": release.leads[name]} for name in release.parts],
        "agreements": list(release.agreements),
        "notes": [note.to_dict() for note in release.caveats],
    }
    (directory / AGREEMENT).write_text(json.dumps(about, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return [*paths, directory / AGREEMENT]


@typed
def read_census(folder: str | Path, *, method: str | None = None, confidence: float | None = None) -> CensusRelease:
    """A census made of the noisy measurements that `CensusRelease.save_measurements` wrote. Costs nothing.

    By the methods and the confidence it was published with, unless others are given: the numbers are then the same.
    """
    directory = Path(folder)
    if not (directory / AGREEMENT).is_file():
        raise InputError("folder", str(folder), f"a folder with {AGREEMENT} and a folder for each table")
    leads, agreements, caveats = _description(directory / AGREEMENT)
    parts = {name: read_measurements(directory / name) for name in leads}
    first = next(iter(parts.values()))
    census = CensusRelease(
        **first.provenance, stale=first.stale, caveats=caveats, parts=parts, leads=leads, agreements=agreements
    )
    if method is None:
        sure = census.confidence if confidence is None else confidence
        return census.made({name: part.method for name, part in parts.items()}, sure)
    return census.again(method, confidence=confidence)


def _description(path: Path) -> tuple[dict[str, str], tuple[str, ...], tuple[Note, ...]]:
    """For each table the one that its totals are taken from, what agrees, and what is left out."""
    try:
        about: Any = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise InputError(AGREEMENT, Phrase("no JSON"), "as it was written") from None
    if not isinstance(about, dict) or (about.get("format"), about.get("version")) != (_FORMAT, 1):
        raise InputError(f"{AGREEMENT}: format", Phrase("another one"), f"{_FORMAT!r}, version 1")
    entries: Any = about.get("tables")
    said = about.get("agreements")
    if not isinstance(said, list) or not all(isinstance(one, str) for one in said):
        raise InputError(f"{AGREEMENT}: agreements", said, "a list of texts")
    try:
        leads = {str(entry["name"]): str(entry["totals_of"]) for entry in entries}
    except (TypeError, KeyError):
        raise InputError(f"{AGREEMENT}: tables", entries, "a list of tables with name and totals_of") from None
    wrong = [name for name, lead in leads.items() if Path(name).name != name or leads.get(lead) != lead]
    if not leads or wrong:
        raise InputError(f"{AGREEMENT}: tables", Phrase(", ".join(wrong) or "none"), "tables led by one of them")
    try:
        return leads, tuple(said), tuple(map(Note.from_dict, about.get("notes", ())))
    except (TypeError, KeyError):
        raise InputError(f"{AGREEMENT}: notes", kind_of(about["notes"]), "a list of notes") from None
