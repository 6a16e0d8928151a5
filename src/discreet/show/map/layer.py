"""One level of a hierarchy, ready to be drawn: regions, and each output's value with its interval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InputError, Phrase, kind_of

__all__ = ["LARGEST", "Band", "Ends", "Layer", "lineage"]

Band = tuple[NDArray[np.int64], NDArray[np.int64] | None, NDArray[np.int64] | None]
Ends = tuple[NDArray[np.int64], NDArray[np.int64]]

LARGEST = 2**53 - 1
"""The largest whole number that a browser holds exactly."""


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """The regions of one level: their codes, and for each output three arrays (value, lower, upper) of whole numbers.

    Where no interval is known, lower and upper are None, and the page says so. `typical` holds a second kind of
    interval for outputs that have one, each (lower, upper), which readers of the page may choose instead. `linear`
    holds unbiased estimates with the half-widths of their intervals, each (estimate, half), for outputs whose value is
    not in the middle of its interval: differences of independent editions are made of these.
    `labels` are the names people read (the code is read where there are none). `parents` are codes of the level above;
    without them a region belongs to the region above whose code its own code begins with, as FIPS codes do.

    >>> layer = Layer("state", ["44", "72"], {"people": ([10, 20], [8, 15], [12, 25])}, labels=["Rhode Island", "PR"])
    >>> len(layer), layer.outputs["people"][0].tolist()
    (2, [10, 20])
    """

    name: str
    codes: tuple[str, ...]
    outputs: Mapping[str, Band]
    labels: tuple[str, ...] | None
    parents: tuple[str, ...] | None
    typical: Mapping[str, Ends]
    linear: Mapping[str, Ends]

    def __init__(
        self,
        name: str,
        codes: Sequence[str],
        outputs: Mapping[str, tuple[ArrayLike, ArrayLike | None, ArrayLike | None]],
        *,
        labels: Sequence[str] | None = None,
        parents: Sequence[str] | None = None,
        typical: Mapping[str, tuple[ArrayLike, ArrayLike]] | None = None,
        linear: Mapping[str, tuple[ArrayLike, ArrayLike]] | None = None,
    ) -> None:
        if not isinstance(name, str) or not name:
            raise InputError("layer", name, "a level's name as text")
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "codes", _texts(f"{name}.codes", codes, None))
        count = len(self.codes)
        if not count:
            raise InputError(f"{name}.codes", [], "at least one region")
        if len(set(self.codes)) < count:
            twice = Counter(self.codes).most_common(1)[0][0]
            raise InputError(
                f"{name}.codes", twice, "a list with each code once", "Make codes unique within the level."
            )
        object.__setattr__(self, "labels", None if labels is None else _texts(f"{name}.labels", labels, count))
        object.__setattr__(self, "parents", None if parents is None else _texts(f"{name}.parents", parents, count))
        if not isinstance(outputs, Mapping) or not outputs:
            raise InputError(f"{name}.outputs", outputs, "a dictionary of outputs, each (value, lower, upper)")
        object.__setattr__(self, "outputs", {key: _band(name, key, band, count) for key, band in outputs.items()})
        second = {} if typical is None else typical
        if not isinstance(second, Mapping) or not set(second) <= set(self.outputs):
            raise InputError(f"{name}.typical", typical, "a dictionary of outputs, each (lower, upper)")
        object.__setattr__(
            self, "typical", {key: _ends(f"{name}.typical[{key!r}]", ends, count) for key, ends in second.items()}
        )
        third = {} if linear is None else linear
        if not isinstance(third, Mapping) or not set(third) <= set(self.outputs):
            raise InputError(f"{name}.linear", linear, "a dictionary of outputs, each (estimate, half)")
        object.__setattr__(
            self, "linear", {key: _halves(f"{name}.linear[{key!r}]", pair, count) for key, pair in third.items()}
        )

    def __len__(self) -> int:
        return len(self.codes)


def lineage(layers: Sequence[Layer]) -> list[list[int] | None]:
    """For each layer the index of every region's parent in the layer above; None for the first."""
    found: list[list[int] | None] = [None]
    for above, layer in pairwise(layers):
        place = {code: index for index, code in enumerate(above.codes)}
        if layer.parents is not None:
            unknown = next((code for code in layer.parents if code not in place), None)
            if unknown is not None:
                raise InputError(f"{layer.name}.parents", unknown, f"a code of the level {above.name!r}")
            found.append([place[code] for code in layer.parents])
        elif len(above) == 1:
            found.append([0] * len(layer))
        else:
            found.append([_prefix(layer.name, above.name, code, place) for code in layer.codes])
    return found


def _prefix(name: str, above: str, code: str, place: Mapping[str, int]) -> int:
    for length in range(len(code), 0, -1):
        if code[:length] in place:
            return place[code[:length]]
    hint = "Give Layer(..., parents=[...]) where codes do not begin with their parent's."
    raise InputError(f"{name}.codes", code, f"a code that begins with a code of the level {above!r}", hint)


def _texts(field: str, values: Sequence[str], count: int | None) -> tuple[str, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(field, values, "a sequence of texts, one for each region")
    texts = tuple(str(value) if isinstance(value, np.str_) else value for value in values)
    wrong = next((value for value in texts if not isinstance(value, str)), None)
    if wrong is not None:
        hint = "Codes keep their leading zeros as text: '01', not 1." if field.endswith("codes") else ""
        raise InputError(field, wrong, "text for each region", hint)
    if count is not None and len(texts) != count:
        raise InputError(field, Phrase(f"{len(texts)} texts"), f"as many as the codes, {count}")
    return texts


def _band(name: str, key: Any, band: Any, count: int) -> Band:
    field = f"{name}.outputs[{key!r}]"
    if not isinstance(key, str) or not key:
        raise InputError(f"{name}.outputs", key, "an output's name as text")
    if not isinstance(band, tuple | list) or len(band) != 3:
        raise InputError(field, kind_of(band), "three arrays: (value, lower, upper)", "Or (value, None, None).")
    if band[1] is None and band[2] is None:
        return _whole(field, band[0], count), None, None
    return _whole(field, band[0], count), *_ends(field, band[1:], count)


def _ends(field: str, pair: Any, count: int) -> Ends:
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise InputError(field, kind_of(pair), "two arrays: (lower, upper)")
    lower, upper = (_whole(field, part, count) for part in pair)
    if (lower > upper).any():
        at = int(np.argmax(lower > upper))
        raise InputError(
            field, Phrase(f"lower {lower[at]} > upper {upper[at]} at position {at}"), "such that lower is at most upper"
        )
    return lower, upper


def _halves(field: str, pair: Any, count: int) -> Ends:
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise InputError(field, kind_of(pair), "two arrays: (estimate, half)")
    estimate, half = (_whole(field, part, count) for part in pair)
    if (half < 0).any():
        raise InputError(field, Phrase("a half-width below 0"), "half-widths that are not negative")
    return estimate, half


def _whole(field: str, values: Any, count: int) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.shape != (count,):
        raise InputError(field, Phrase(f"an array of shape {array.shape}"), f"one number for each of {count} regions")
    if array.dtype.kind not in "iuf":
        raise InputError(field, Phrase(array.dtype), "whole numbers", "Leave out regions that have no number.")
    if array.dtype.kind == "f":
        if not np.isfinite(array).all():
            raise InputError(
                field, Phrase("NaN or infinity"), "whole numbers", "Leave out regions that have no number."
            )
        if (array != np.floor(array)).any():
            raise InputError(field, Phrase("fractions"), "whole numbers", "Round first, the interval outward.")
    if count and (int(array.max()) > LARGEST or int(array.min()) < -LARGEST):
        raise InputError(field, Phrase("a number beyond 2**53"), "numbers that a browser holds exactly")
    return array.astype(np.int64)
