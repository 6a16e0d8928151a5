"""A public table as a starting point: last year's release, another agency's file. It costs nothing.

Where noise hides how columns depend on each other, the dependence of the prior stands in; what was measured clearly is
kept. Rows of the prior are weighted until they agree with what was measured, beyond noise, and mixed with those of the
method: the more of the difference noise explains, the more of the prior's. All of it is post-processing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.packing import pack, unpack
from discreet.marginals.domain import Domain
from discreet.noise.replay import Replay, uniforms
from discreet.synth.calibration import Evidence, counts_in, drawn_rows, evidence_of, raked, unexplained
from discreet.synth.measurement import Measurement
from discreet.synth.sample import Codes
from discreet.synth.synthetic import Synthetic

__all__ = ["PriorCodes", "started_from", "trust"]

_LEAST = 0.05  # of the rows: less of the prior is not worth the trouble
_EXACT = 1e-9  # the variance of a count that is aimed at as it is


@dataclass(frozen=True, slots=True, eq=False)
class PriorCodes:
    """A public table in the codes of a domain: which of its attributes it has, and their codes."""

    names: tuple[str, ...]
    codes: Codes

    def to_json(self) -> dict[str, Any]:
        """Plain values for the record."""
        return {"names": list(self.names), "codes": [pack(column) for column in self.codes.T]}

    @classmethod
    def from_json(cls, entry: dict[str, Any]) -> PriorCodes:
        """What `to_json` made."""
        return cls(tuple(entry["names"]), np.stack([unpack(one) for one in entry["codes"]], axis=1))


def started_from(prior: PriorCodes, made: Synthetic, domain: Domain, record: Measurement) -> Synthetic:
    """The rows of a method, mixed with the prior's as far as what was measured leaves room for them.

    Guarantee
        A function of the record, the rows made from it and public facts: free. Where the prior disagrees with what was
        measured by far more than noise, the rows stay as they are.
    """
    evidence = evidence_of(record.answers)
    count = len(made.codes)
    if count == 0 or len(prior.codes) == 0:
        return made
    bits = Replay(hashlib.sha256(b"prior" + np.ascontiguousarray(made.codes, dtype="<i8").tobytes()).digest())
    theirs = _completed(prior, made.codes, domain, bits)
    total = max(made.total, 1.0)
    alone = [one for one in evidence if len(one.columns) == 1]
    weights = raked(theirs, np.ones(len(theirs)), alone, total)
    share = trust(theirs, weights, made.codes, evidence)
    if share < _LEAST:
        return replace(made, notes=(*made.notes, "the prior disagrees with what was measured, and was not used"))
    pool = np.concatenate([theirs, made.codes])
    mixed = np.concatenate([share * weights, np.full(count, (1 - share) * total / count)])
    kept = mixed > 0
    pool, mixed = pool[kept], mixed[kept]
    # Noisy pairs pull single columns along: these are set right at the end, as the method has them.
    fitted = raked(pool, raked(pool, mixed, evidence, total), _single(made, domain, total), total)
    order = np.lexsort(pool.T[::-1])  # rows beside each other are alike, and some of each are drawn
    codes = drawn_rows(pool[order], fitted[order], count, bits)
    note = f"{share:.0%} of the weight was the prior's before rows were weighted to agree with what was measured"
    return replace(made, codes=codes, notes=(*made.notes, note))


def _single(made: Synthetic, domain: Domain, total: float) -> list[Evidence]:
    """What the rows of a method say of single columns, as counts without noise; in the bins that they were made in."""
    found = []
    for place, size in enumerate(domain.sizes):
        bins = None if made.bins is None else np.asarray(made.bins[place])
        shape = (size if bins is None else int(bins.max()) + 1,)
        one = Evidence((place,), shape, np.zeros(shape), np.full(shape, _EXACT), (bins,))
        weights = np.full(len(made.codes), total / len(made.codes))
        found.append(replace(one, values=counts_in(made.codes, weights, one)))
    return found


def trust(codes: Codes, weights: NDArray[np.float64], rows: Codes, evidence: Sequence[Evidence]) -> float:
    """What part of the rows the prior stands for, given those of the method.

    Of marginals of several columns: those of one were met before. With squared errors P of the prior and M of the
    method, independent, a mix of M / (M + P) parts of the prior has the least expected square. P is what noise does not
    explain of the distance between prior and noisy counts; M what P does not explain of that between prior and method.
    """
    several = [one for one in evidence if len(one.columns) > 1]
    theirs = unexplained(codes, weights, several)
    ours = np.full(len(rows), float(weights.sum()) / len(rows))
    apart = sum(float(((counts_in(codes, weights, one) - counts_in(rows, ours, one)) ** 2).sum()) for one in several)
    return 1 - min(theirs / apart, 1.0) if apart > 0 else 1.0


def _completed(prior: PriorCodes, rows: Codes, domain: Domain, bits: Replay) -> Codes:
    """The prior's rows in all columns: what it has not is taken from rows of the method that agree in what it has.

    Agreement is asked for in the columns that tell most about the ones that are lacking, and in fewer where no row
    agrees in all.
    """
    have = [domain.place(name) for name in prior.names]
    lack = [place for place in range(len(domain)) if place not in have]
    found = np.zeros((len(prior.codes), len(domain)), dtype=np.int64)
    found[:, have] = prior.codes
    if not lack:
        return found
    donors = np.full(len(found), -1, dtype=np.int64)
    order = sorted(have, key=lambda place: -sum(_telling(rows, place, other, domain) for other in lack))
    for many in range(len(order), -1, -1):
        open_ = np.flatnonzero(donors < 0)
        if len(open_) == 0:
            break
        donors[open_] = _agreeing(found[open_][:, order[:many]], rows[:, order[:many]], uniforms(bits, len(open_)))
    found[:, lack] = rows[donors][:, lack]
    return found


def _agreeing(wanted: Codes, rows: Codes, share: NDArray[np.float64]) -> NDArray[np.int64]:
    """For each of these codes a row that has them; -1 where none has."""
    if wanted.shape[1] == 0:
        return np.asarray(np.minimum(share * len(rows), len(rows) - 1), dtype=np.int64)
    _, group = np.unique(np.concatenate([rows, wanted]), axis=0, return_inverse=True)
    theirs, ours = group.ravel()[: len(rows)], group.ravel()[len(rows) :]
    order = np.argsort(theirs, kind="stable")
    first = np.searchsorted(theirs[order], ours, side="left")
    many = np.searchsorted(theirs[order], ours, side="right") - first
    place = np.minimum(first + (share * many).astype(np.int64), len(order) - 1)
    return np.where(many > 0, order[place], -1)


def _telling(rows: Codes, one: int, other: int, domain: Domain) -> float:
    """The mutual information of two columns of rows, less what chance gives it."""
    shape = (domain.sizes[one], domain.sizes[other])
    cells, counts = np.unique(rows[:, one] * shape[1] + rows[:, other], return_counts=True)
    both = counts / len(rows)
    left = np.bincount(rows[:, one], minlength=shape[0]) / len(rows)
    right = np.bincount(rows[:, other], minlength=shape[1]) / len(rows)
    bits = float((both * np.log(both / (left[cells // shape[1]] * right[cells % shape[1]]))).sum())
    used = int((left > 0).sum() - 1) * int((right > 0).sum() - 1)
    return bits - used / (2 * len(rows))
