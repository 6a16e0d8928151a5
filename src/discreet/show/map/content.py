"""What a map's script draws, as plain values: a head, and for each level a part that is read when it is looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.show.map.atlas import LATER
from discreet.show.map.layer import Layer, lineage
from discreet.show.map.packing import Packed, pack, unpack
from discreet.show.map.shapes import Shapes

__all__ = ["KINDS", "head_of", "layer_parts", "meaning", "numbers_of", "united"]

KINDS = ("each", "typical")
_UNCERTAIN = "Every number was made uncertain on purpose, to protect the people behind it"


def layer_parts(editions: Mapping[str, Sequence[Layer]], found: Shapes) -> list[dict[str, Any]]:
    """For each level its regions, shapes and numbers, edition by edition and output by output."""
    every = list(editions.values())
    whole = united(every)
    parents = lineage(whole)
    kinds = _kinds(every)
    parts = []
    for level, layer in enumerate(whole):
        paths, names = found.paths[level], found.names[level]
        labels = layer.labels or tuple(names.get(code, LATER.get(code, "") if found.us else "") for code in layer.codes)
        above = parents[level]
        below = parents[level + 1] if level + 1 < len(parents) else None
        parts.append(
            {
                "name": layer.name,
                "codes": list(layer.codes),
                "labels": list(labels) if any(labels) else 0,
                "parents": 0 if above is None else pack(np.array(above)),
                "children": 0 if below is None else pack(np.bincount(below, minlength=len(layer))),
                "shapes": [paths.get(code, 0) for code in layer.codes] if paths else 0,
                "context": found.context[level],
                "data": [_edition(layer, one[level], kinds) for one in every],
                "missing": _missing(layer, [one[level] for one in every]),
            }
        )
    return parts


def united(editions: Sequence[Sequence[Layer]]) -> list[Layer]:
    """The levels with the regions of every edition: those of the first, then what later ones add."""
    found = []
    for level, first in enumerate(editions[0]):
        known = dict.fromkeys(first.codes)
        labels = dict(zip(first.codes, first.labels, strict=True)) if first.labels else {}
        parents = dict(zip(first.codes, first.parents, strict=True)) if first.parents else {}
        for one in editions[1:]:
            layer = one[level]
            new = [place for place, code in enumerate(layer.codes) if code not in known]
            for place in new:
                code = layer.codes[place]
                known[code] = None
                labels |= {code: layer.labels[place]} if layer.labels else {}
                parents |= {code: layer.parents[place]} if layer.parents else {}
        if len(known) == len(first):
            found.append(first)
            continue
        codes, nothing = tuple(known), np.zeros(len(known), np.int64)
        above = tuple(parents[code] for code in codes) if len(parents) == len(codes) else None
        named = tuple(labels.get(code, "") for code in codes) if labels else None
        outputs = dict.fromkeys(first.outputs, (nothing, None, None))
        found.append(Layer(first.name, codes, outputs, labels=named, parents=above))
    return found


def _missing(whole: Layer, editions: Sequence[Layer]) -> list[list[int]] | int:
    """The places of regions that an edition does not have, for each; 0 where every edition has all."""
    lists = []
    for one in editions:
        known = set(one.codes)
        lists.append([place for place, code in enumerate(whole.codes) if code not in known])
    return lists if any(lists) else 0


def _kinds(editions: Sequence[Sequence[Layer]]) -> int:
    return 2 if any(layer.typical for layers in editions for layer in layers) else 1


def _edition(first: Layer, layer: Layer, kinds: int) -> list[list[Packed | None]]:
    """The numbers of a level in an edition, its regions in the order of all; 0 for those that it does not have."""
    order, absent = None, None
    if layer.codes != first.codes:
        position = {code: index for index, code in enumerate(layer.codes)}
        order = np.array([position.get(code, 0) for code in first.codes])
        absent = np.array([code not in position for code in first.codes])
    rows: list[list[Packed | None]] = []
    for name, (value, lower, upper) in layer.outputs.items():
        pairs = [(lower, upper), layer.typical.get(name, (None, None))][:kinds]
        columns: list[NDArray[np.int64] | None] = [value]
        for below, above in pairs:
            # An interval is mostly narrow beside its value: distances are shorter to write than ends.
            columns += [None if below is None else value - below, None if above is None else above - value]
        if name in layer.linear:
            columns += layer.linear[name]
        rows.append([None if one is None else pack(_placed(one, order, absent)) for one in columns])
    return rows


def _placed(numbers: NDArray[np.int64], order: Any, absent: Any) -> NDArray[np.int64]:
    return numbers if order is None else np.where(absent, 0, numbers[order])


def numbers_of(part: Mapping[str, Any], output: int, edition: int = 0) -> list[Any]:
    """Value, and distances down and up, of every region of a level, as lists; None where no interval is known.

    The value of a region that the edition does not have is None.
    """
    columns = part["data"][edition][output][:3]
    found: list[Any] = [None if one is None else unpack(one, len(part["codes"])).tolist() for one in columns]
    for place in part["missing"][edition] if part["missing"] else ():
        found[0][place] = None
    return found


def head_of(content: Mapping[str, Any]) -> dict[str, Any]:
    """What a page needs to begin: of each level its name, its size and whether it has shapes and intervals."""
    layers = [
        {
            "name": part["name"],
            "size": len(part["codes"]),
            "mapped": bool(part["shapes"]),
            "stated": any(row[1] is not None for rows in part["data"] for row in rows),
        }
        for part in content["layers"]
    ]
    return {**content, "layers": layers}


def meaning(editions: Sequence[Sequence[Layer]], level: str) -> list[str]:
    """What an interval means, for each kind of intervals that the layers have."""
    ends = [lower for layers in editions for layer in layers for _, lower, _ in layer.outputs.values()]
    if all(end is None for end in ends):
        return [f"{_UNCERTAIN}. No intervals are stated here."]
    interval = f"the {level} interval" if level else "its interval"
    holds = f"with {level} confidence" if level else "with the stated confidence"
    share = level or "the stated share"
    error = (
        "The error is half the interval's width. It counts the noise added for privacy, not mistakes made when the "
        "data was collected."
    )
    each = (
        f"{_UNCERTAIN}; {interval} says by how much. It holds the true number {holds} for each region (not for all at "
        f"once). {error}"
    )
    typical = (
        f"{_UNCERTAIN}; {interval} says by how much. It is a typical one: of the regions of about one size, about "
        f"{share} have their true number inside. It is not for a region singled out. {error}"
    )
    return [each, typical][: _kinds(editions)]
