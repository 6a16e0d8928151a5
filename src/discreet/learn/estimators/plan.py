"""A fit as a priced job: what the one door charges, runs and records."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from discreet.core.loss import Loss
from discreet.core.mechanism import Bits
from discreet.core.wire import Json, canonical
from discreet.learn.estimators.price import Price
from discreet.learn.estimators.rows import Rows
from discreet.learn.estimators.till import Till

__all__ = ["FitPlan"]


@dataclass(frozen=True, slots=True, eq=False)
class FitPlan:
    """Everything private about a fit: `measure` sees rows and a till, and returns what came out of the till.

    Guarantee
        Costs `price.cost` for each row added or removed, if `measure` asks the till with true norms. What an estimator
        makes of the result afterwards is post-processing. Proof: docs/proofs/estimators.md.
    """

    estimator: str
    settings: dict[str, Any]
    price: Price
    dataset: str
    measure: Callable[[Rows, Till], dict[str, Any]]

    @property
    def cost(self) -> Loss:
        """The price of the whole fit."""
        return self.price.cost

    @property
    def digest(self) -> str:
        """A hash of everything that decides the law of the result."""
        content: dict[str, Json] = {"dataset": self.dataset, "query": self.query}
        return hashlib.sha256(canonical(content).encode()).hexdigest()

    @property
    def mechanism(self) -> str:
        """What adds the noise, in words."""
        noise = "discrete Laplace" if self.price.currency == "epsilon" else "discrete Gaussian"
        return f"{noise} on integer sums; then {self.estimator}"

    @property
    def query(self) -> dict[str, Json]:
        """The settings as plain values, for the record."""
        price: list[Json] = [self.price.currency, str(self.price.amount), str(self.price.delta)]
        return {"fit": self.estimator, "settings": self.settings, "price": price}

    def measured(self, rows: Rows, bits: Bits | None = None) -> dict[str, Any]:
        """What the till gave out."""
        return self.measure(rows, Till(self.price, bits))

    def run(self, data: Rows, bits: Bits) -> dict[str, Any]:
        """Called by the one door only."""
        return self.measured(data, bits)
