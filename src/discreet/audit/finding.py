"""What an audit found, in numbers and in words for anyone."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from discreet.accounting.words import percent, readable
from discreet.audit.bounds import Rates
from discreet.audit.claim import Claim
from discreet.audit.power import POWER, Sign

__all__ = ["BLIND", "WEAK", "Finding"]

WEAK = 0.1  # of the claim: an attack that shows less says little
BLIND = 2  # times the claim: a factor of two is what mistakes about sensitivity are made of


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """One claim after many attempts to refute it.

    `found` is a lower bound on epsilon at `delta`, and `violated` says that the claim is refuted; each is wrong with
    probability 1 - confidence at most. A claim that is not refuted is not thereby proved: `catchable` says how many
    times the claimed loss these runs would have refuted, nine times in ten (an estimate; None: no such multiple).
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
    data: tuple[str, str] | None = None  # the two datasets, as people read them
    roc: tuple[tuple[float, float], ...] = ()
    seconds: float = 0.0
    swapped: bool = False
    story: str = ""  # how it was tried, if not by runs on two neighbours
    kind: str = ""
    planted: str = ""
    sign: Sign | None = None  # how often the event came, on the side it speaks for and on the other
    catchable: float | None = None
    # The same for an attack that shows all of a loss: the best that so many runs can do. Infinite: they refute nothing.
    finest: float | None = None
    reachable: float | None = None  # the most epsilon that these neighbours can show, where their laws are known

    @property
    def shown(self) -> float | None:
        """The share of the claimed epsilon that the best attack showed; None where no epsilon is claimed."""
        if not math.isfinite(self.claimed) or self.claimed <= 0:
            return None
        return max(self.found, 0.0) / self.claimed

    @property
    def weak(self) -> bool:
        """Whether less than a tenth of the claim was shown, and nothing refuted."""
        return not self.violated and self.shown is not None and self.shown < WEAK

    @property
    def blind(self) -> bool:
        """Whether an error of twice the claimed loss would likely have gone unnoticed."""
        return not self.violated and (self.catchable is None or self.catchable > BLIND)

    @property
    def idle(self) -> bool:
        """Whether these runs are too few to refute the claim, whatever comes out."""
        return not self.violated and self.catchable is None and self.finest == math.inf

    @property
    def catchable_epsilon(self) -> float | None:
        """The smallest true epsilon, at `delta`, that runs like these would have refuted with probability `POWER`."""
        return self._epsilon_of(self.catchable)

    @property
    def finest_epsilon(self) -> float | None:
        """The same for an attack that shows all of a loss."""
        return self._epsilon_of(self.finest)

    def _epsilon_of(self, times: float | None) -> float | None:
        if times is None or not math.isfinite(times) or not math.isfinite(self.claimed):
            return None
        return self.claim.times(times, self.delta)

    def would_have_caught(self) -> str:
        """What these runs would have refuted, in words; empty for a claim that is refuted."""
        if self.violated:
            return ""
        often = percent(POWER)
        if self.idle:
            return "These runs are too few to refute this claim, whatever comes out: nothing would have been caught."
        if self.catchable is None:
            least = (
                f": at best, by an attack that shows all of a loss, {_times(self.finest, self.finest_epsilon)}"
                if self.finest is not None
                else ""
            )
            return (
                f"Too little was shown to say what error would have been caught{least}. Noise that is too small could "
                "be missed, and only an error of another kind would show."
            )
        return (
            f"With {_times(self.catchable, self.catchable_epsilon)}, these runs would have refuted the claim "
            f"with a probability of {often} (estimated)."
        )

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
            f"{self.would_have_caught()} "
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

    def witness(self) -> str:
        """Which pair, which event, and how often it came on either side; empty where nothing was counted."""
        if self.sign is None or self.story:
            return ""
        names = self.data or ("the data with the person", "the data without them")
        counts = (self.sign.inside, self.sign.runs_inside), (self.sign.outside, self.sign.runs_outside)
        both = zip(names, counts[::-1] if self.swapped else counts, strict=True)
        often = "; ".join(f"on {name} in {k:,} of {n:,} runs ({percent(k / n, 3)})" for name, (k, n) in both)
        return f"{self.event[0].upper()}{self.event[1:]}: {often}."

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "name": self.name,
            "kind": self.kind,
            "planted": self.planted,
            "neighbours": self.neighbours,
            "data": None if self.data is None else list(self.data),
            "claim": self.claim.words,
            "delta": self.delta,
            "claimed_epsilon": self.claimed if math.isfinite(self.claimed) else None,
            "found_epsilon": self.found if math.isfinite(self.found) else None,
            "found_mu": self.mu,
            "reachable_epsilon": self.reachable,
            "violated": self.violated,
            "shown_of_claim": self.shown if self.shown is not None and math.isfinite(self.shown) else None,
            "would_catch_times": self.catchable,
            "would_catch_epsilon": self.catchable_epsilon,
            "could_refute": self.violated or not self.idle,
            "would_catch_at_best_times": None if self.finest is None or math.isinf(self.finest) else self.finest,
            "would_catch_at_best_epsilon": self.finest_epsilon,
            "would_catch_power": POWER,
            "event": self.event,
            "speaks_for": "absence" if self.swapped else "presence",
            "detected_at_least": self.attack.detected,
            "alarmed_at_most": self.attack.alarmed,
            "seen": None if self.sign is None else asdict(self.sign),
            "witness": self.witness(),
            "runs": self.runs,
            "confidence": self.confidence,
            "seconds": round(self.seconds, 3),
            "words": self.sentence(),
        }


def _times(factor: float, epsilon: float | None) -> str:
    """So many times the claimed loss, and the epsilon that this is."""
    at = f", an epsilon of {readable(epsilon, 3)}" if epsilon is not None else ""
    return f"{readable(factor, 3)} times the claimed loss{at}"
