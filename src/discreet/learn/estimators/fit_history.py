"""What an estimator and its clones have spent in this process without a ledger: a warning where it adds up."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from fractions import Fraction

from discreet.accounting.concentrated import epsilon_of_zcdp
from discreet.core.loss import ZCDP, Approx, Loss, Pure
from discreet.learn.estimators.plan import Claim, claim_text

__all__ = ["FitHistory", "RepeatedFitWarning", "add_fits"]

_USUAL_DELTA = Fraction(1, 10**6)  # at which zCDP beside other claims is stated


class RepeatedFitWarning(UserWarning):
    """An estimator, or clones of it, was fitted again without a ledger: what they tell adds up."""


@dataclass(eq=False)
class FitHistory:
    """The fits of one estimator and of all its clones. Searches and cross validation clone it and fit each clone."""

    fits: list[tuple[Loss, Claim]] = field(default_factory=list)

    def add(self, cost: Loss, claim: Claim) -> None:
        """Count a fit, and warn of the second, fourth, eighth, ... what all cost together."""
        self.fits.append((cost, claim))
        many = len(self.fits)
        if many < 2 or many & (many - 1):
            return
        warnings.warn(
            f"This estimator and its clones were fitted {many} times in this process without a ledger. Each `privacy_` "
            f"states one fit alone; on the same rows all of them together cost {claim_text(add_fits(self.fits))} "
            "for each row. Searches and cross validation fit many clones: name a ledger to have every fit charged, or "
            "choose settings on public data.",
            RepeatedFitWarning,
            stacklevel=5,
        )


def add_fits(fits: list[tuple[Loss, Claim]]) -> Claim:
    """What fits of these costs, stated so, cost together: pure epsilons add up, rhos do, and else (epsilon, delta)."""
    pure = [claim.epsilon for _, claim in fits if isinstance(claim, Pure)]
    if len(pure) == len(fits):
        return Pure(sum(pure, Fraction(0)))
    moments = [cost.rho for cost, _ in fits if isinstance(cost, ZCDP) and not cost.delta]
    missed = max(claim.delta for _, claim in fits if not isinstance(claim, Pure))
    if len(moments) == len(fits):
        rho = sum(moments, Fraction(0))
        return Approx(epsilon_of_zcdp(rho, missed), missed) if missed else ZCDP(rho)
    pairs = [_pair(claim) for _, claim in fits]
    total = sum((delta for _, delta in pairs), Fraction(0))
    return Approx(sum((epsilon for epsilon, _ in pairs), Fraction(0)), min(Fraction(1), total))


def _pair(claim: Claim) -> tuple[Fraction, Fraction]:
    match claim:
        case Pure(epsilon):
            return epsilon, Fraction(0)
        case Approx(epsilon, delta):
            return epsilon, delta
        case ZCDP(rho, delta):
            return epsilon_of_zcdp(rho, _USUAL_DELTA), _USUAL_DELTA + delta
