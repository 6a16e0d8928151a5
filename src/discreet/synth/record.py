"""Synthetic tables as plain values for the ledger, and back again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from discreet.core.packing import pack, unpack
from discreet.data.column import Column, column_from, column_to
from discreet.data.schema import Schema
from discreet.marginals.domain import Attribute, Domain
from discreet.marginals.meter import Noisy
from discreet.marginals.partition import Labels, Partition
from discreet.mechanisms.record import noise_from
from discreet.query.key import Key
from discreet.synth.measurement import Measurement
from discreet.synth.sample import CODE
from discreet.synth.synthetic import Synthetic

__all__ = ["domain_from", "domain_to", "synthetic_from", "synthetic_to"]


def domain_to(domain: Domain, columns: Mapping[str, Column]) -> list[dict[str, Any]]:
    """The attributes as declared, and how each was cut into codes."""
    found = []
    for one in domain.attributes:
        entry: dict[str, Any] = {"declared": column_to(columns[one.name]), "key": one.key.to_dict()}
        if one.unknown:
            entry["unknown"] = True
        found.append(entry | {"partition": one.partition.to_json()} if isinstance(one.partition, Partition) else entry)
    return found


def domain_from(entries: list[dict[str, Any]]) -> tuple[Domain, dict[str, Column]]:
    """What `domain_to` was given."""
    columns = {entry["key"]["column"]: column_from(entry["key"]["column"], entry["declared"]) for entry in entries}
    schema = Schema("synthetic", columns)
    found = []
    for entry in entries:
        if "partition" in entry:
            found.append(_partitioned(entry))
            continue
        key = Key.from_dict(entry["key"], schema)
        column, names = columns[key.column], tuple(key.labels(schema))
        if key.values is not None and column.nullable:  # found in the data: what is none of them is missing
            names = (*names, None)
        if entry.get("unknown"):
            names = (None,)
        ordered = entry["declared"]["type"] not in ("category", "boolean")
        found.append(Attribute(key.column, key, names, ordered, column.nullable))
    return Domain(tuple(found)), columns


def _partitioned(entry: dict[str, Any]) -> Attribute:
    name, declared = entry["key"]["column"], entry["declared"]
    cut = Partition.from_json(entry["partition"])
    missing = bool(declared["nullable"])
    return Attribute(name, Key(name), Labels(cut, missing, declared["type"]), True, missing, cut)


def synthetic_to(made: Synthetic, measurement: Measurement) -> dict[str, Any]:
    """The rows, column by column; what was measured by its place on the record, which `made` has it from."""
    places = {id(noisy): place for place, (_, noisy) in enumerate(measurement.answers)}
    return {
        "codes": [pack(column) for column in made.codes.T],
        "total": float(made.total),
        "measured": [places[id(one)] for one in made.measured],
        "bins": None if made.bins is None else [pack(one) for one in made.bins],
        "fine": int(made.fine),
        "notes": [str(note) for note in made.notes],
    }


def synthetic_from(entry: dict[str, Any], measured: dict[str, Any] | None) -> Synthetic:
    """What `synthetic_to` was given. Before 0.2 one record held both, and `measured` is None."""
    if measured is None:
        listed = [
            Noisy(tuple(one["columns"]), unpack(one["values"]), noise_from(one["noise"])) for one in entry["measured"]
        ]
    else:
        answers = Measurement.from_json(measured).answers
        listed = [answers[place][1] for place in entry["measured"]]
    return Synthetic(
        np.stack([unpack(column).astype(CODE) for column in entry["codes"]], axis=1),
        entry["total"],
        tuple(listed),
        None if entry["bins"] is None else [unpack(one) for one in entry["bins"]],
        entry["fine"],
        tuple(entry["notes"]),
    )
