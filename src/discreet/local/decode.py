"""Which strings were behind Bloom filters: candidates fitted to what was seen, with significance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, Phrase
from discreet.local.bloom import filters
from discreet.mechanisms.inputs import read_confidence

__all__ = ["Decoded", "decode"]

Floats = NDArray[np.float64]
_ROUNDS = 200


class Shape(Protocol):
    """The sizes of a law with Bloom filters."""

    @property
    def bits(self) -> int: ...
    @property
    def hashes(self) -> int: ...
    @property
    def cohorts(self) -> int: ...


@dataclass(frozen=True, slots=True, eq=False)
class Decoded:
    """Candidates with their estimated shares. `selected` ones were fitted; others came out as none."""

    candidates: tuple[str, ...]
    shares: Floats
    errors: Floats
    selected: NDArray[np.bool_]
    significant: NDArray[np.bool_]

    def rows(self) -> list[dict[str, Any]]:
        """Significant candidates, most common first."""
        order = [int(place) for place in np.argsort(-self.shares) if self.significant[place]]
        return [
            {"value": self.candidates[i], "share": float(self.shares[i]), "error": float(self.errors[i])} for i in order
        ]


def decode(
    law: Shape,
    candidates: Sequence[str],
    sizes: NDArray[np.int64],
    counts: NDArray[np.int64],
    none: float,
    one: float,
    confidence: float,
) -> Decoded:
    """Least squares of bit frequencies on the candidates' filters, weighted by known variances.

    With fewer candidates than half the bits all are fitted: unbiased if every string in use is among them (one that is
    not adds its bits to others). With more, a non-negative lasso chooses whom to
    fit, and what it leaves out is said to be none. `significant` ones are above zero at this confidence, corrected for
    the number of candidates.
    """
    names = tuple(candidates)
    if not names or len(set(names)) != len(names):
        raise InputError("candidates", Phrase(f"{len(names)} texts"), "different texts, at least one")
    miss = float(1 - read_confidence(confidence)) / len(names)
    asked = np.repeat(sizes > 0, law.bits)
    n = np.repeat(sizes, law.bits)[asked].astype(np.float64)
    seen = counts.reshape(-1)[asked] / n
    weights = np.sqrt(n / np.clip(seen * (1 - seen), 1 / (4 * n), None)) * (one - none)
    design = np.stack([filters(name, law.cohorts, law.bits, law.hashes)[asked] for name in names], axis=1)
    matrix, target = design * weights[:, None], (seen - none) / (one - none) * weights
    chosen = np.ones(len(names), dtype=np.bool_)
    if 2 * len(names) > len(target):
        chosen = _lasso(matrix, target, -NormalDist().inv_cdf(0.5 / len(names))) > 0
    shares, errors = np.zeros(len(names)), np.full(len(names), np.nan)
    if chosen.any():
        fitted = matrix[:, chosen]
        inverse = np.linalg.pinv(fitted.T @ fitted, hermitian=True)
        shares[chosen] = inverse @ (fitted.T @ target)
        errors[chosen] = np.sqrt(np.maximum(np.diag(inverse), 0))
    quantile = -NormalDist().inv_cdf(miss)
    stands = np.zeros(len(names), dtype=np.bool_)
    stands[chosen] = shares[chosen] > quantile * errors[chosen]
    return Decoded(names, shares, errors, chosen, stands)


def _lasso(matrix: Floats, target: Floats, level: float) -> Floats:
    """Non-negative coordinates of least squares with a penalty of so many standard errors each."""
    gram, pull = matrix.T @ matrix, matrix.T @ target
    norms = np.diag(gram).copy()
    penalty = level * np.sqrt(norms)
    found = np.zeros(len(pull))
    left = pull.copy()  # matrix.T @ residual
    for _ in range(_ROUNDS):
        moved = 0.0
        for place in np.flatnonzero((left + norms * found > penalty) | (found > 0)):
            new = max(0.0, (left[place] + norms[place] * found[place] - penalty[place]) / norms[place])
            step = new - found[place]
            if step:
                left -= gram[:, place] * step
                found[place] = new
                moved = max(moved, abs(step))
        if moved < 1e-7:
            break
    return found
