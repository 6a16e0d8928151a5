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
from discreet.ledger.budget import Allotment
from discreet.ledger.chain import check_chain
from discreet.ledger.record import Record
from discreet.ledger.store import Reader

__all__ = ["PureSum", "counts_both", "covers", "epsilon_of", "pure_left"]


class PureSum:
    """The epsilons of the charges to one allotment, added up; none once one of them has no pure epsilon."""

    def __init__(self) -> None:
        self.total: Fraction | None = Fraction(0)

    def add(self, record: Record) -> None:
        """Count a charge by its recorded loss. What was written off, and what cannot be read, has no epsilon."""
        epsilon = None if not record.digest else epsilon_of(_read(record.loss))
        self.total = None if self.total is None or epsilon is None else self.total + epsilon

    def within(self, part: Allotment) -> bool:
        """Whether the sum alone keeps the promise of an allotment."""
        return counts_both(part) and self.total is not None and self.total <= (part.epsilon or 0)


def counts_both(part: Allotment) -> bool:
    """Whether an allotment promises (epsilon, delta) and counts rho."""
    return part.kind == "zcdp" and part.epsilon is not None


def pure_left(reader: Reader, dataset: str, part: Allotment) -> Fraction | None:
    """The epsilon that pure charges may still take by their plain sum; None where that sum does not count.

    The whole chain is walked first: totals are bound to the last record, this sum is not, so a hidden charge would pay.
    """
    if not counts_both(part):
        return None
    check_chain(reader)
    spent = PureSum()
    for row in reader.rows():
        record = row.record()
        if record.kind == "charge" and (record.dataset, record.allotment) == (dataset, part.name):
            spent.add(record)
    return None if spent.total is None else max(Fraction(0), (part.epsilon or Fraction(0)) - spent.total)


def covers(left: Fraction | None, loss: Loss) -> bool:
    """Whether so much left of the plain sum covers a loss."""
    epsilon = epsilon_of(loss)
    return left is not None and epsilon is not None and epsilon <= left


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
