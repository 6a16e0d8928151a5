"""The plain sum of epsilons beside zCDP: charges that are all pure may be counted by whichever promises more.

An allotment of kind `zcdp` given by (epsilon, delta) takes a charge if the sums of rho and delta stay under their caps,
or if all it ever took is pure and the epsilons add up to at most its epsilon.
Proof: docs/proofs/ledger.md, "Either sum".
"""

from __future__ import annotations

from fractions import Fraction

from discreet.core.loss import Loss
from discreet.core.wire import Json, loss_from_json
from discreet.errors import DiscreetError
from discreet.ledger.budget import Allotment, shortened
from discreet.ledger.record import Record

__all__ = ["PureSum", "counts_both", "epsilon_of"]


class PureSum:
    """The epsilons of the charges to one allotment, added up; none once one of them has no pure epsilon."""

    def __init__(self, total: Fraction | None = Fraction(0)) -> None:
        self.total = total

    def add(self, record: Record) -> None:
        """Count a charge by its recorded loss. What was written off, and what cannot be read, has no epsilon."""
        epsilon = None if not record.digest else epsilon_of(_read(record.loss))
        self.total = None if self.total is None or epsilon is None else shortened(self.total + epsilon)

    def within(self, part: Allotment) -> bool:
        """Whether the sum alone keeps the promise of an allotment."""
        return counts_both(part) and self.total is not None and self.total <= (part.epsilon or 0)


def counts_both(part: Allotment) -> bool:
    """Whether an allotment promises (epsilon, delta) and counts rho."""
    return part.kind == "zcdp" and part.epsilon is not None


def epsilon_of(loss: Loss | None) -> Fraction | None:
    """The pure epsilon of a loss, if it has one."""
    from discreet.accounting.convert import pure

    if loss is None:
        return None
    try:
        return pure(loss).epsilon
    except DiscreetError:
        return None


def _read(recorded: Json) -> Loss | None:
    try:
        return loss_from_json(recorded)
    except DiscreetError:
        return None
