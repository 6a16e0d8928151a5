"""Who works at each destination: counts by age, earnings, industry, measured beside the flows and made to agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.integers import apportioned
from discreet.core.note import Note
from discreet.core.packing import pack, unpack
from discreet.core.unit import Unit
from discreet.data.column import Date, Integer, Real, Timestamp
from discreet.data.schema import Schema
from discreet.errors import InputError, Phrase
from discreet.flows.commuting.intervals import Ends, cell_ends, sum_ends
from discreet.flows.mobility.projection import nearest
from discreet.marginals.domain import Attribute
from discreet.marginals.engine import LARGEST
from discreet.mechanisms import Gaussian, Laplace
from discreet.mechanisms.record import noise_from
from discreet.query.key import Key, keys_under, published
from discreet.query.notes import cell_notes

__all__ = ["PROFILE", "Profile", "agreeing", "profile_attributes", "profile_notes", "read_profiles", "write_profiles"]

Whole = NDArray[np.int64]
Noise = Laplace | Gaussian
Ranged = Integer | Real | Date | Timestamp

PROFILE = Fraction(1, 4)
"""The part of the price that all profiles together get, in equal shares: fixed beforehand."""


def profile_attributes(keys: Sequence[Key], schema: Schema, ends: Sequence[str], destinations: int) -> list[Attribute]:
    """The columns of profiles as codes; a missing value is a group of its own. `ends` are those of the flows."""
    found: list[Attribute] = []
    for given in keys:
        (key,) = keys_under(schema, profile=given)
        labels = tuple(key.labels(schema))
        if key.title in (*ends, *(one.name for one in found)):
            raise InputError(
                "profile", key.title, "columns that differ from each other, the origin and the destination"
            )
        column = schema.column(key.column, "profile")
        if key.edges is not None and isinstance(column, Ranged) and not _holds(key.edges, column):
            allowed = f"in bins that hold all of {column.lower}..{column.upper}, as declared"
            raise InputError("profile", key.title, allowed, "Every worker is in a group: shares are of all of them.")
        if len(labels) * destinations > LARGEST:
            cells = Phrase(f"{destinations:,} x {len(labels):,} cells")
            raise InputError("profile", cells, f"a column such that there are at most {LARGEST:,} cells")
        found.append(Attribute(key.title, key, labels, ordered=False, missing=None in labels))
    return found


def _holds(edges: Sequence[Any], column: Ranged) -> bool:
    return bool(edges[0] <= column.lower and edges[-1] >= column.upper)


def profile_notes(attributes: Sequence[Attribute], schema: Schema) -> list[Note]:
    """Which workers a profile leaves out of the whole release, and which it counts at the end of a range."""
    listed = [one for one in attributes if not isinstance(schema.column(one.key.column, "profile"), Ranged)]
    notes = cell_notes(replace(schema, unit=Unit()), [one.key for one in listed], cells=None)
    for one in attributes:
        column = schema.column(one.key.column, "profile")
        if isinstance(column, Ranged):
            gone = "" if one.missing else "; rows without one are left out"
            text = (
                f"In {one.name}, values outside {column.lower}..{column.upper} are clipped to the nearer bound{gone}."
            )
            notes.append(Note("bounds", text, ()))
    return notes


def agreeing(noisy: Whole, totals: Whole) -> Whole:
    """Whole numbers >= 0 near to noisy ones, one row a destination, whose rows add up to its total.

    A function of noisy numbers alone: it costs nothing.
    """
    from scipy import sparse

    if not noisy.size:
        return noisy
    rows, columns = noisy.shape
    adding = sparse.kron(sparse.eye_array(rows), np.ones((1, columns)), format="csr")
    real = nearest(noisy.ravel().astype(np.float64), np.ones(noisy.size), adding, totals.astype(np.float64))
    return apportioned(np.maximum(real.reshape(noisy.shape), 0), totals)


@dataclass(frozen=True, eq=False)
class Profile:
    """Workers of every destination (a row) by the groups of one characteristic (a column).

    Guarantee
        Each interval holds the true count with at least the stated confidence, whatever it is: it is the noisy count
        and the exact half-width of its noise. That of a share holds where two such intervals do, each of which misses
        half as often. Proof: docs/proofs/commute.md.
    """

    name: str
    groups: tuple[str, ...]
    counts: Whole
    noisy: Whole
    noise: Noise

    def ends(self, chosen: Sequence[int], confidence: float) -> Ends:
        """Intervals for the workers of some destinations together, by group."""
        places = list(chosen)
        counts = self.counts[places].sum(axis=0)
        if len(places) == 1:
            return cell_ends(self.noisy[places[0]], self.noise, counts, confidence)
        return sum_ends([(self.noisy[places].sum(axis=0), self.noise, len(places))], counts, confidence)

    def shares(self, chosen: Sequence[int], confidence: float) -> tuple[list[float], list[float], list[float]]:
        """The share of each group among the workers of some destinations, and its interval.

        A share is count / (count + others): it rises with one and falls with the other, and both have intervals that
        miss half as often as the share's may.
        """
        counts = self.counts[list(chosen)].sum(axis=0)
        sure = (1 + confidence) / 2
        low, high = self.ends(chosen, sure)
        rest = self._rest(chosen, sure)
        found: tuple[list[float], list[float], list[float]] = ([], [], [])
        for place, count in enumerate(counts.tolist()):
            share = count / total if (total := int(counts.sum())) else 0.0
            least = _share(int(low[place]), rest[1][place])
            most = _share(int(high[place]), rest[0][place])
            for column, value in zip(found, (share, min(least, share), max(most, share)), strict=True):
                column.append(value)
        return found

    def _rest(self, chosen: Sequence[int], confidence: float) -> tuple[list[int], list[int]]:
        """Intervals for the workers in all other groups."""
        places, many = list(chosen), len(self.groups) - 1
        counts, noisy = (one[places].sum(axis=0) for one in (self.counts, self.noisy))
        if not many:
            return [0], [0]
        others = noisy.sum() - noisy
        low, high = sum_ends([(others, self.noise, many * len(places))], counts.sum() - counts, confidence)
        return low.tolist(), high.tolist()


def _share(count: int, others: int) -> float:
    return count / (count + others) if count + others > 0 else float(count > 0)


def write_profiles(attributes: Sequence[Attribute], noisy: Sequence[Whole], totals: Whole) -> list[dict[str, Any]]:
    """What is published of profiles, as plain values."""
    return [
        {
            "name": attribute.name,
            "groups": [None if label is None else str(published(label)) for label in attribute.labels],
            "counts": pack(agreeing(seen, totals)),
        }
        for attribute, seen in zip(attributes, noisy, strict=True)
    ]


def read_profiles(entry: Mapping[str, Any], measured: Any) -> tuple[Profile, ...]:
    """The profiles of a record; none where it has none, or not what was measured."""
    law = entry.get("intervals") or {}
    if "profile" not in law or measured is None:
        return ()
    noise = noise_from(law["profile"])
    return tuple(
        Profile(
            one["name"],
            tuple("(missing)" if group is None else group for group in one["groups"]),
            unpack(one["counts"]),
            unpack(measured[f"profile {place}"]),
            noise,
        )
        for place, one in enumerate(entry["profile"])
    )
