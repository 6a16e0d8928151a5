"""Hierarchical releases as plain values for the ledger, and back again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from discreet.core.packing import pack, pack_words, unpack, unpack_words
from discreet.mechanisms.record import noise_from, noise_to
from discreet.trees.estimate import Ends, Estimate
from discreet.trees.intervals import with_region_intervals
from discreet.trees.measurement import Level, Measurement
from discreet.trees.rules import Rules
from discreet.trees.tree import Hierarchy

__all__ = ["measured_from", "measured_to", "published_from", "published_to"]

_ENDS = ("lower", "upper", "total_lower", "total_upper")


def measured_to(measured: Measurement) -> dict[str, Any]:
    """The tree and its noisy counts."""
    tree = measured.tree
    return {
        "names": list(tree.names),
        "codes": [pack_words(level) for level in tree.codes],
        "parents": [pack(level) for level in tree.parents],
        "chain": measured.chain,
        "levels": [
            {
                "counts": None if level.counts is None else pack(level.counts),
                "noise": level.noise and noise_to(level.noise),
                "totals": None if level.totals is None else pack(level.totals),
                "totals_noise": level.totals_noise and noise_to(level.totals_noise),
            }
            for level in measured.levels
        ],
    }


def measured_from(entry: dict[str, Any]) -> Measurement:
    """What `measured_to` was given."""
    codes = tuple(tuple(unpack_words(level)) for level in entry["codes"])
    tree = Hierarchy(tuple(entry["names"]), codes, tuple(unpack(level) for level in entry["parents"]))
    levels = tuple(
        Level(
            None if level["counts"] is None else unpack(level["counts"]),
            level["noise"] and noise_from(level["noise"]),
            None if level["totals"] is None else unpack(level["totals"]),
            level["totals_noise"] and noise_from(level["totals_noise"]),
        )
        for level in entry["levels"]
    )
    return Measurement(tree, levels, entry["chain"])


def published_to(estimate: Estimate, method: str) -> dict[str, Any]:
    """The numbers that were published, without the tree."""
    entry: dict[str, Any] = {"method": method, "notes": list(estimate.notes)}
    entry["counts"] = [pack(level) for level in estimate.counts]
    for end in _ENDS:
        levels = getattr(estimate, end)
        entry[end] = None if levels is None else [pack(level) for level in levels]
    if (average := estimate.average) is not None:
        entry["average"] = {end: [pack(level) for level in getattr(average, end)] for end in _ENDS}
    return entry


def published_from(entry: dict[str, Any], measured: Measurement, confidence: float) -> Estimate:
    """What `published_to` was given.

    Records of 0.1 hold intervals of levels only; those of regions follow from the noisy counts beside them.
    """
    counts = tuple(unpack(level) for level in entry["counts"])
    found = Estimate(measured.tree, counts, **_ends_from(entry), notes=tuple(entry["notes"]))
    if "average" not in entry:
        return with_region_intervals(found, measured, Rules(), confidence)
    return replace(found, average=Ends(**_ends_from(entry["average"])))


def _ends_from(entry: dict[str, Any]) -> dict[str, Any]:
    return {end: None if entry[end] is None else tuple(unpack(level) for level in entry[end]) for end in _ENDS}
