"""What an audit found, in numbers and in words for anyone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from discreet.accounting.words import percent, readable
from discreet.audit.bounds import Rates
from discreet.audit.claim import Claim

__all__ = ["Finding"]


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """One claim after many attempts to refute it.

    `found` is a lower bound on epsilon at `delta`, and `violated` says that the claim is refuted; each is wrong with
    probability 1 - confidence at most. A claim that is not refuted is not thereby proved.
    """

    name: str
    claim: Claim
    delta: float
    found: float
    mu: float
    violated: bool
    event: str
    attack: Rates
    runs: int
    confidence: float
    neighbours: str = ""
    roc: tuple[tuple[float, float], ...] = ()
    seconds: float = 0.0
    swapped: bool = False
    story: str = ""  # how it was tried, if not by runs on two neighbours
    kind: str = ""
    planted: str = ""

    @property
    def claimed(self) -> float:
        """The epsilon claimed, at the same delta as `found`; infinite where the claim has none."""
        return self.claim.epsilon(self.delta)

    def sentence(self) -> str:
        """The finding as one would tell it."""
        tried = self.story or f"We tried {self.runs:,} times to tell whether one person was in the data"
        if self.violated:
            return (
                f"{tried}, and could tell too well. {self._seen()} The claim ({self.claim.words}) does not allow that: "
                f"it is wrong. We are {percent(self.confidence, 3, 'down')} sure."
            )
        told = f" Our best attack shows an epsilon of at least {readable(self.found, 3, 'down')}"
        at = f" (at delta {readable(self.delta)})" if self.delta else ""
        claimed = f"; claimed is {readable(self.claimed, 4)}" if math.isfinite(self.claimed) else ""
        return (
            f"{tried}, and found no violation of the claim ({self.claim.words}).{told}{at}{claimed}. "
            "That our attacks failed does not prove that every attack will."
        )

    def _seen(self) -> str:
        if self.story:
            return f"{self.event[0].upper()}{self.event[1:]}."
        if not self.claim.refuted(self.attack):  # an audit that stopped early is sure by its bets, not by these rates
            return (
                f'Bets on one sign, "{self.event}", won again and again, far more often than chance would let them. '
                "A gambler who made them would be rich."
            )
        person, other = ("without the person", "with them") if self.swapped else ("with the person", "without them")
        return (
            f"{self.event[0].upper()}{self.event[1:]} in at least {percent(self.attack.detected, 3, 'down')} of the "
            f"runs {person} and at most {percent(self.attack.alarmed, 3, 'up')} of those {other}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "name": self.name,
            "kind": self.kind,
            "planted": self.planted,
            "neighbours": self.neighbours,
            "claim": self.claim.words,
            "delta": self.delta,
            "claimed_epsilon": self.claimed if math.isfinite(self.claimed) else None,
            "found_epsilon": self.found if math.isfinite(self.found) else None,
            "found_mu": self.mu,
            "violated": self.violated,
            "event": self.event,
            "speaks_for": "absence" if self.swapped else "presence",
            "detected_at_least": self.attack.detected,
            "alarmed_at_most": self.attack.alarmed,
            "runs": self.runs,
            "confidence": self.confidence,
            "seconds": round(self.seconds, 3),
            "words": self.sentence(),
        }
