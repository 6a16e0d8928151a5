"""The noisy measurement file of groups: what was drawn, in an open format, and the table made of it again.

A folder of three files: `measurements.parquet`, one row for every noisy number with the law of its noise;
`regions.parquet`, the tree; `measurements.json`, what both hold. The format is documented in
docs/guides/hierarchy-files.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.core.note import Note
from discreet.core.signature import typed
from discreet.errors import InputError, Phrase, kind_of
from discreet.mechanisms.inputs import read_confidence
from discreet.mechanisms.record import noise_to
from discreet.query.noisy_sums import Noise
from discreet.trees.detail.measurement import COUNT, LAWS, GroupMeasurement, Look
from discreet.trees.detail.refinement import TOTAL
from discreet.trees.measurement_file import DESCRIPTION, NUMBERS, REGIONS, law_to, write_regions
from discreet.trees.measurement_reader import law_from, read_regions

if TYPE_CHECKING:
    from discreet.trees.detail.release import DetailRelease

__all__ = ["read_groups", "save_groups"]

FORMAT: Final = "discreet noisy groups"
VERSION: Final = 1
_TEXTS = ("release", "dataset", "cost", "protects", "mechanism", "digest", "data")
_FIRST, _SECOND = "first", "second"
_COLUMNS = {
    "level": "name of the level",
    "region": "code of the region; the root's is the name of its level",
    "group": "name of the population group",
    "look": "`first`: the noisy totals that decide the detail; `second`: what was measured after that",
    "cell": "`total`, or the cell of the level of detail that the group got",
    "value": "the true count plus noise: a whole number, which may be negative",
    "noise": "`laplace` or `gaussian`: the discrete law of that name, on whole numbers",
    "scale": "its parameter, exactly, as a fraction: P(k) ~ exp(-|k|/scale), or P(k) ~ exp(-k^2 / (2 scale^2))",
}


def save_groups(release: DetailRelease, folder: str | Path) -> list[Path]:
    """Write the noisy numbers, the tree, and what they are; the paths written."""
    import pyarrow
    import pyarrow.parquet

    measured, directory = release.known, Path(folder)
    directory.mkdir(parents=True, exist_ok=True)
    write_regions(measured.tree, directory / REGIONS)
    rows = [row for look in measured.looks for row in _rows(measured, look)]
    columns = dict(zip(_COLUMNS, zip(*rows, strict=True), strict=True))
    pyarrow.parquet.write_table(pyarrow.table({name: list(one) for name, one in columns.items()}), directory / NUMBERS)
    described = json.dumps(_description(release, measured), indent=1, ensure_ascii=False)
    (directory / DESCRIPTION).write_text(described + "\n", encoding="utf-8")
    return [directory / name for name in (NUMBERS, REGIONS, DESCRIPTION)]


def _rows(measured: GroupMeasurement, look: Look) -> Iterator[tuple[Any, ...]]:
    laws = {name: next(iter(noise_to(noise).items())) for name, noise in look.laws.items()}
    level, codes, many = measured.tree.names[look.level], measured.codes(look.level), len(measured.groups)
    seconds = (
        iter(look.alone.tolist()),
        *(iter(zip(total.tolist(), cells.tolist(), strict=True)) for total, cells in look.detailed),
    )
    for pair, (first, chosen) in enumerate(zip(look.first.tolist(), look.choice.tolist(), strict=True)):
        head = level, codes[pair // many], measured.groups[pair % many]
        yield *head, _FIRST, TOTAL, first, *laws["first"]
        if chosen == 0:
            yield *head, _SECOND, TOTAL, next(seconds[0]), *laws["alone"]
            continue
        total, cells = next(seconds[chosen])
        yield *head, _SECOND, TOTAL, total, *laws["total"]
        for label, value in zip(measured.labels[chosen - 1], cells, strict=True):
            yield *head, _SECOND, label, value, *laws["detail"]


def _description(release: DetailRelease, measured: GroupMeasurement) -> dict[str, Any]:
    about = {name: getattr(release, "id" if name == "release" else name) for name in _TEXTS}
    return {
        "format": FORMAT,
        "version": VERSION,
        **about,
        "confidence": release.confidence,
        "groups": list(measured.groups),
        "details": [
            {"name": name, "cells": list(labels)}
            for name, labels in zip(measured.details, measured.labels, strict=True)
        ],
        "names": list(measured.tree.names),
        "levels": [
            {
                "name": measured.tree.names[look.level],
                "thresholds": list(look.thresholds),
                **{name: law_to(noise) for name, noise in look.laws.items()},
            }
            for look in measured.looks
        ],
        "query": dict(release.query),
        "notes": [note.to_dict() for note in release.notes],
        "files": {NUMBERS: _COLUMNS},
    }


@typed
def read_groups(folder: str | Path, *, confidence: float | None = None) -> DetailRelease:
    """The table made of noisy measurement files, as `DetailRelease.save_measurements` wrote them. Costs nothing."""
    from discreet.trees.detail.release import DetailRelease

    directory = Path(folder)
    for name in (DESCRIPTION, REGIONS, NUMBERS):
        if not (directory / name).is_file():
            raise InputError("folder", str(folder), f"a folder with {DESCRIPTION}, {REGIONS} and {NUMBERS}")
    about = _read_description(directory / DESCRIPTION)
    tree = read_regions(directory / REGIONS, about["names"])
    numbers = _read_numbers(directory / NUMBERS)
    details = tuple(one["name"] for one in about["details"])
    labels = tuple(tuple(one["cells"]) for one in about["details"])
    bare = GroupMeasurement(tree, tuple(about["groups"]), details, labels, ())
    listed = [(tree.level(one["name"], f"{DESCRIPTION}: levels"), one) for one in about["levels"]]
    if sorted(level for level, _ in listed) != sorted(set(tree.distinct)):
        raise InputError(f"{DESCRIPTION}: levels", Phrase("others"), "every level that has regions of its own, once")
    looks = tuple(_look(bare, level, one, numbers) for level, one in listed)
    if numbers:
        raise InputError(NUMBERS, next(iter(numbers))[:3], "numbers of groups that were measured, each once")
    measured = GroupMeasurement(tree, bare.groups, details, labels, looks)
    sure = about["confidence"] if confidence is None else float(read_confidence(confidence))
    return DetailRelease.made(
        measured,
        sure,
        about["notes"],
        id=about["release"],
        replayed=True,
        query=about["query"],
        **{name: about[name] for name in _TEXTS if name != "release"},
    )


def _look(bare: GroupMeasurement, level: int, entry: Mapping[str, Any], numbers: dict[Any, Any]) -> Look:
    """The noisy numbers of a level, each of which has to be there once and with the law that is described."""
    laws: dict[str, Noise] = {}
    for name in LAWS:
        noise = law_from(entry.get(name), f"{DESCRIPTION}: {name} of {entry['name']}")
        if noise is None:
            raise InputError(f"{DESCRIPTION}: {name} of {entry['name']}", None, "the law of its noise")
        laws[name] = noise

    def taken(head: tuple[str, ...], look: str, cell: str, law: str) -> int:
        key = (*head, look, cell)
        if key not in numbers:
            raise InputError(NUMBERS, key, "a number for every group and cell that was measured")
        value, *told = numbers.pop(key)
        if tuple(told) != next(iter(noise_to(laws[law]).items())):
            raise InputError(f"{NUMBERS}: noise", key, f"the law that {DESCRIPTION} describes")
        return int(value)

    limits: Any = entry.get("thresholds")
    whole = isinstance(limits, list) and all(type(one) is int and abs(one) < 1 << 62 for one in limits)
    if not whole or len(limits) != len(bare.details) or sorted(limits) != limits:
        raise InputError(f"{DESCRIPTION}: thresholds of {entry['name']}", limits, "rising whole numbers, one a detail")
    heads = [(entry["name"], code, group) for code in bare.codes(level) for group in bare.groups]
    first = np.array([taken(head, _FIRST, TOTAL, "first") for head in heads], np.int64)
    empty = tuple((np.zeros(0, np.int64), np.zeros((0, len(one)), np.int64)) for one in bare.labels)
    look = Look(level, tuple(limits), laws, first, np.zeros(0, np.int64), empty)
    alone, found = [], [([], []) for _ in bare.details]  # type: tuple[list[int], list[tuple[list[int], list[Any]]]]
    for head, chosen in zip(heads, look.choice.tolist(), strict=True):
        total = taken(head, _SECOND, TOTAL, "total" if chosen else "alone")
        if not chosen:
            alone.append(total)
            continue
        found[chosen - 1][0].append(total)
        found[chosen - 1][1].append([taken(head, _SECOND, label, "detail") for label in bare.labels[chosen - 1]])
    detailed = tuple(
        (np.array(totals, np.int64), np.array(cells, np.int64).reshape(len(totals), len(labels)))
        for (totals, cells), labels in zip(found, bare.labels, strict=True)
    )
    return Look(level, tuple(limits), laws, first, np.array(alone, np.int64), detailed)


def _read_numbers(path: Path) -> dict[Any, Any]:
    """Every noisy number with its law, by level, region, group, look and cell."""
    import pyarrow
    import pyarrow.parquet

    try:
        rows = pyarrow.parquet.read_table(path, columns=list(_COLUMNS)).to_pydict()
    except (pyarrow.ArrowException, OSError, KeyError):
        raise InputError(NUMBERS, Phrase("a damaged file"), f"a Parquet file with {', '.join(_COLUMNS)}") from None
    found: dict[Any, Any] = {}
    for *key, value, noise, scale in zip(*(rows[name] for name in _COLUMNS), strict=True):
        if tuple(key) in found or type(value) is not int:
            raise InputError(NUMBERS, tuple(key), "whole numbers, each once")
        found[tuple(key)] = (value, noise, scale)
    return found


def _read_description(path: Path) -> dict[str, Any]:
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise InputError(DESCRIPTION, Phrase("no JSON"), "as it was written") from None
    if not isinstance(about, dict) or (about.get("format"), about.get("version")) != (FORMAT, VERSION):
        raise InputError(f"{DESCRIPTION}: format", Phrase("another one"), f"{FORMAT!r}, version {VERSION}")
    for name in _TEXTS:
        if not isinstance(about.get(name), str):
            raise InputError(f"{DESCRIPTION}: {name}", about.get(name), "text")
    for name in ("groups", "names"):
        if not _texts(about.get(name)):
            raise InputError(f"{DESCRIPTION}: {name}", kind_of(about.get(name)), "a list of names")
    for name, part in (("details", "cells"), ("levels", "thresholds")):
        listed = about.get(name)
        whole = isinstance(listed, list) and all(isinstance(one, dict) and {"name", part} <= set(one) for one in listed)
        if not whole or not all(isinstance(one["name"], str) for one in about[name]):
            raise InputError(f"{DESCRIPTION}: {name}", kind_of(listed), f"a list of objects with name and {part}")
    if not all(_texts(one["cells"]) for one in about["details"]):
        raise InputError(f"{DESCRIPTION}: details", Phrase("others"), "levels of detail with a list of cells each")
    about["confidence"] = float(read_confidence(about.get("confidence", "")))
    try:
        about["notes"] = tuple(map(Note.from_dict, about.get("notes", ())))
    except (KeyError, TypeError):
        raise InputError(f"{DESCRIPTION}: notes", kind_of(about["notes"]), "a list of notes") from None
    if not isinstance(about.get("query"), dict):
        raise InputError(
            f"{DESCRIPTION}: query", kind_of(about.get("query")), f"an object that says what {COUNT} is of"
        )
    return about


def _texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, str) for one in value)
