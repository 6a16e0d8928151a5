"""A fit as a priced job: what the one door charges, measures and records."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from discreet.core.loss import Loss
from discreet.core.mechanism import Bits
from discreet.core.unit import Unit
from discreet.core.wire import Json, canonical, loss_to_json
from discreet.learn.estimators.rows import Rows

__all__ = ["FitPlan"]


@dataclass(frozen=True, slots=True, eq=False)
class FitPlan:
    """Everything private about a fit: `measured(rows, bits)` returns what the fit may know, as plain values.

    Guarantee
        Costs `cost` for each row added or removed if `measured` does. What an estimator makes of the result afterwards
        is post-processing. Proof: docs/proofs/estimators.md.
    """

    kind: ClassVar[str] = "fit"
    version: ClassVar[int] = 1
    estimator: str
    settings: dict[str, Any]
    cost: Loss
    mechanism: str
    dataset: str
    measured: Callable[[Rows, Bits | None], dict[str, Any]]

    @property
    def unit(self) -> Unit:
        """What is protected: one row, added or removed."""
        return Unit()

    @property
    def digest(self) -> str:
        """A hash of everything that decides the law of the result."""
        content: dict[str, Json] = {"dataset": self.dataset, "query": self.query}
        return hashlib.sha256(canonical(content).encode()).hexdigest()

    @property
    def query(self) -> dict[str, Json]:
        """The settings as plain values, for the record."""
        return {"fit": self.estimator, "settings": self.settings, "cost": loss_to_json(self.cost)}

    def measure(self, data: Rows, bits: Bits) -> dict[str, Any]:
        """Called by the one door only."""
        return self.measured(data, bits)

    def publish(self, measured: dict[str, Any]) -> dict[str, Any]:
        """As it was measured: what a fit makes of it is worked out by the estimator."""
        return measured
