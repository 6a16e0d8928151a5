"""What classes of rows that look alike must hold: k rows (or people), l secrets, and no secret too common in one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.risk.measures import closeness
from discreet.risk.records import Classes, CodedColumn

__all__ = ["Criteria", "Requirement"]

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Criteria:
    """k-anonymity, distinct l-diversity, t-closeness and beta-likeness; the defaults ask for nothing."""

    k: int = 1
    l: int = 1  # noqa: E741 - the name it has
    t: float = 1.0
    beta: float = math.inf

    def __post_init__(self) -> None:
        for name, least in (("k", self.k), ("l", self.l)):
            if isinstance(least, bool) or not isinstance(least, int) or least < 1:
                raise InputError(name, least, "a whole number of at least 1")
        if isinstance(self.t, bool) or not 0 < self.t <= 1:
            raise InputError("t", self.t, "above 0 and at most 1")
        if isinstance(self.beta, bool) or not self.beta > 0:
            raise InputError("beta", self.beta, "more than zero")

    @property
    def of_secrets(self) -> bool:
        """Whether anything is asked of sensitive columns."""
        return self.l > 1 or self.compares

    @property
    def compares(self) -> bool:
        """Whether classes are compared with everybody, whose shares change with the rows that are left out."""
        return self.t < 1 or self.beta < math.inf

    def __str__(self) -> str:
        parts = [f"k = {self.k}"]
        parts += [f"l = {self.l}"] if self.l > 1 else []
        parts += [f"t = {self.t:g}"] if self.t < 1 else []
        parts += [f"beta = {self.beta:g}"] if self.beta < math.inf else []
        return ", ".join(parts)


@dataclass(frozen=True, slots=True, eq=False)
class Requirement:
    """Criteria on the rows of one table: which rows are in classes that do not meet them."""

    criteria: Criteria
    secrets: Sequence[CodedColumn] = ()
    person: CodedColumn | None = None
    weights: NDArray[np.int64] | None = field(default=None)
    """How many rows each stands for, where equal rows were put together."""

    def small(self, classes: Classes, most: float = math.inf) -> Flags:
        """Rows in classes below k or l, given up once they are more than `most`.

        They never become more when classes are merged.
        """
        return np.asarray(self._small(classes, most)[0][classes.of])

    def _small(self, classes: Classes, most: float) -> tuple[Flags, list[_Pairs]]:
        """Classes below k or l; and, if there were few, how often each secret is in each class."""
        fails = self._sizes(classes) < self.criteria.k
        rows, pairs = self._sizes_rows(classes), []
        for secret in self.secrets if self.criteria.of_secrets else ():
            if rows[fails].sum() > most:
                break
            pairs.append(_Pairs.of(classes, secret, self._each(classes)))
            fails |= pairs[-1].distinct < self.criteria.l
        return fails, pairs

    def failing(self, classes: Classes, most: float) -> Flags:
        """Rows in classes that do not meet all of it, given up once they are more than `most`.

        What is left out changes everybody's shares; so classes are compared again with those that are left, until none
        fails.
        """
        dropped, pairs = self._small(classes, most)
        rows = self._sizes_rows(classes)
        while self.criteria.compares and rows[dropped].sum() <= most:
            far = np.zeros_like(dropped)
            for pair in pairs:
                far |= pair.too_far(dropped, self.criteria)
            if not (far & ~dropped).any():
                break
            dropped |= far
        return np.asarray(dropped[classes.of])

    def rows_of(self, flags: Flags) -> int:
        """How many rows of the table these are."""
        return int(flags.sum()) if self.weights is None else int(self.weights[flags].sum())

    def _each(self, classes: Classes) -> NDArray[np.int64]:
        return np.ones(len(classes.of), dtype=np.int64) if self.weights is None else self.weights

    def _sizes_rows(self, classes: Classes) -> NDArray[np.float64]:
        counts = np.bincount(classes.of, weights=self._each(classes), minlength=len(classes.sizes))
        return counts.astype(np.float64)

    def _sizes(self, classes: Classes) -> NDArray[np.float64]:
        """What k counts: people where they are known, else rows."""
        if self.person is not None:
            return classes.count_distinct(self.person).astype(np.float64)
        return self._sizes_rows(classes)


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    """How often each value of a secret is in each class, sorted by class and value."""

    secret: CodedColumn
    which: NDArray[np.int64]
    value: NDArray[np.int64]
    counts: NDArray[np.float64]
    sizes: NDArray[np.float64]

    @property
    def distinct(self) -> NDArray[np.int64]:
        """How many values each class has."""
        return np.bincount(self.which, minlength=len(self.sizes))

    @classmethod
    def of(cls, classes: Classes, secret: CodedColumn, each: NDArray[np.int64]) -> _Pairs:
        many = len(classes.sizes)
        key = classes.of * secret.size + secret.codes
        if many * secret.size <= 4 * len(key):
            counts = np.bincount(key, weights=each, minlength=many * secret.size)
            pair = np.flatnonzero(counts)
            counts = counts[pair]
        else:
            pair, place = np.unique(key, return_inverse=True)
            counts = np.bincount(place, weights=each)
        which, value = np.divmod(pair, secret.size)
        sizes = np.bincount(which, weights=counts, minlength=many)
        return cls(secret, which, value, counts.astype(np.float64), sizes.astype(np.float64))

    def too_far(self, dropped: Flags, criteria: Criteria) -> Flags:
        """Classes, of those that are left, in which a value is too common or that are too far from those left."""
        left = np.where(dropped[self.which], 0.0, self.counts)
        total = left.sum()
        if not total:
            return np.zeros_like(dropped)
        everybody = np.bincount(self.value, weights=left, minlength=self.secret.size) / total
        share = self.counts / self.sizes[self.which]
        far = np.zeros_like(dropped)
        if criteria.t < 1:
            apart = closeness(self.secret, self.which, self.value, share, everybody, len(self.sizes))
            far |= apart > criteria.t + 1e-12
        if criteria.beta < math.inf:
            common = share > (1 + criteria.beta) * everybody[self.value] + 1e-12
            far[self.which[common]] = True
        return far & ~dropped
