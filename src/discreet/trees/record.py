"""Hierarchical releases as plain values for the ledger, and back again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from discreet.core.packing import pack, pack_words, unpack, unpack_words
from discreet.mechanisms.record import noise_from, noise_to
from discreet.trees.estimate import Ends, Estimate
from discreet.trees.intervals import with_each
from discreet.trees.measurement import Level, Margin, Measurement
from discreet.trees.rules import Rules
from discreet.trees.tree import Hierarchy

__all__ = [
    "measured_from",
    "measured_to",
    "published_from",
    "published_to",
    "rules_from",
    "rules_to",
    "tree_from",
    "tree_to",
]

_ENDS = ("lower", "upper", "total_lower", "total_upper")
_RULES = ("lower", "upper", "totals", "weights")


def measured_to(measured: Measurement) -> dict[str, Any]:
    """The tree and its noisy counts."""
    entry: dict[str, Any] = {
        **tree_to(measured.tree),
        "chain": measured.chain,
        "levels": [
            {
                "counts": None if level.counts is None else pack(level.counts, quick=True),
                "noise": level.noise and noise_to(level.noise),
                "totals": None if level.totals is None else pack(level.totals, quick=True),
                "totals_noise": level.totals_noise and noise_to(level.totals_noise),
            }
            for level in measured.levels
        ],
    }
    if measured.pooled:
        entry["pooled"] = True
    if measured.margins:
        entry["shape"] = list(measured.shape)
        for kept, level in zip(entry["levels"], measured.levels, strict=True):
            kept["margins"] = [
                {"axes": list(one.axes), "values": pack(one.values, quick=True), "noise": noise_to(one.noise)}
                for one in level.margins
            ]
    return entry


def measured_from(entry: dict[str, Any]) -> Measurement:
    """What `measured_to` was given."""
    levels = tuple(
        Level(
            None if level["counts"] is None else unpack(level["counts"]),
            level["noise"] and noise_from(level["noise"]),
            None if level["totals"] is None else unpack(level["totals"]),
            level["totals_noise"] and noise_from(level["totals_noise"]),
            tuple(
                Margin(tuple(one["axes"]), unpack(one["values"]), noise_from(one["noise"]))
                for one in level.get("margins", ())
            ),
        )
        for level in entry["levels"]
    )
    return Measurement(
        tree_from(entry), levels, entry["chain"], tuple(entry.get("shape", ())), entry.get("pooled", False)
    )


def tree_to(tree: Hierarchy) -> dict[str, Any]:
    """The regions: their names, codes and what they lie in."""
    return {
        "names": list(tree.names),
        "codes": [pack_words(level) for level in tree.codes],
        "parents": [pack(level, quick=True) for level in tree.parents],
    }


def tree_from(entry: Mapping[str, Any]) -> Hierarchy:
    """What `tree_to` was given."""
    codes = tuple(tuple(unpack_words(level)) for level in entry["codes"])
    return Hierarchy(tuple(entry["names"]), codes, tuple(unpack(level) for level in entry["parents"]))


def rules_to(rules: Rules) -> dict[str, Any]:
    """Rules as a record has them: arrays of numbers by level."""
    entry: dict[str, Any] = {
        name: {level: pack(np.asarray(numbers)) for level, numbers in getattr(rules, name).items()} for name in _RULES
    }
    if rules.covariate is not None:
        entry["covariate"] = pack(np.array(rules.covariate, "<f8").view("<i8"))  # the bits of the numbers
    return entry


def rules_from(entry: Mapping[str, Any] | None) -> Rules:
    """What `rules_to` was given; none for records that hold none."""
    if entry is None:
        return Rules()
    read: dict[str, Any] = {name: {level: unpack(numbers) for level, numbers in entry[name].items()} for name in _RULES}
    if "covariate" in entry:
        read["covariate"] = unpack(entry["covariate"]).view(np.float64)
    return Rules(**read, declared=tuple(entry.get("declared", ())))


def published_to(estimate: Estimate, method: str) -> dict[str, Any]:
    """The numbers that were published, without the tree."""
    entry: dict[str, Any] = {"method": method, "notes": list(estimate.notes)}
    entry["counts"] = [pack(level, quick=True) for level in estimate.counts]
    entry.update(_ends_to(estimate.each))
    if estimate.typical is not None:
        entry["typical"] = _ends_to(estimate.typical)
    return entry


def published_from(entry: dict[str, Any], measured: Measurement, confidence: float) -> Estimate:
    """What `published_to` was given.

    Early records of 0.2 call the typical intervals `average`. Those of 0.1 hold no others; those for each region follow
    from the noisy counts beside them.
    """
    counts = tuple(unpack(level) for level in entry["counts"])
    found = Estimate(measured.tree, counts, notes=tuple(entry["notes"]))
    short = entry.get("typical", entry.get("average"))
    if short is None:
        return with_each(replace(found, typical=_ends_from(entry)), measured, Rules(), confidence)
    return replace(found, each=_ends_from(entry), typical=_ends_from(short))


def _ends_to(ends: Ends | None) -> dict[str, Any]:
    return {end: None if ends is None else [pack(level, quick=True) for level in getattr(ends, end)] for end in _ENDS}


def _ends_from(entry: dict[str, Any]) -> Ends | None:
    if entry["lower"] is None:
        return None
    return Ends(**{end: tuple(unpack(level) for level in entry[end]) for end in _ENDS})
