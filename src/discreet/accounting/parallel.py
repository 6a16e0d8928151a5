"""What releases on disjoint parts of the data cost together: the worst of them.

Proof: docs/proofs/composition.md.
"""

from __future__ import annotations

from collections.abc import Iterable

from discreet.accounting.compose import NOTHING, compose, in_order
from discreet.accounting.convert import basic, zcdp
from discreet.core.loss import (
    ZCDP,
    Approx,
    BoundedRange,
    Composed,
    GaussianNoise,
    LaplaceNoise,
    Loss,
    Pure,
    RealGaussianNoise,
)
from discreet.errors import LossError

__all__ = ["parallel"]


def parallel(losses: Iterable[Loss]) -> Loss:
    """The cost of releases on parts of the data that are disjoint by construction: that of the worst part.

    Losses of one kind give that kind (the largest of each parameter). Different kinds are stated in the strongest
    form they share: pure, then zCDP. Where they share none, the cost is that of all of them one after another, which is
    always enough.

    Guarantee: needs that a unit lies in one part only and that the parts do not depend on the data. With add/remove
    neighbours this is so when parts are chosen by a unit's own values. With replace neighbours the unit may leave one
    part and enter another: then two parts change, and the cost is the composition of the worst two, not this.

    >>> parallel([Pure(0.1), Pure(0.3)])
    Pure(epsilon=Fraction(3, 10))
    """
    different = {compose([loss]) for loss in Composed(losses).losses} - {NOTHING}
    if len(different) <= 1:
        return compose(different)
    ordered = sorted(different, key=in_order)
    match ordered:
        case [BoundedRange(), *_] if all(isinstance(loss, BoundedRange) for loss in ordered):
            return ordered[-1]
        case [LaplaceNoise(scale, _), *_] if all(isinstance(x, LaplaceNoise) and x.scale == scale for x in ordered):
            return ordered[-1]
        case [GaussianNoise(sigma, _), *_] if all(isinstance(x, GaussianNoise) and x.sigma == sigma for x in ordered):
            return ordered[-1]
        case [RealGaussianNoise(), *_] if all(isinstance(loss, RealGaussianNoise) for loss in ordered):
            return ordered[0]
        case _:
            return _shared(ordered)


def _shared(losses: list[Loss]) -> Loss:
    """The strongest claim that all the losses have, at its worst."""
    try:
        claims = [basic(loss) for loss in losses]
    except LossError:
        pass
    else:
        epsilon, delta = max(claim.epsilon for claim in claims), max(claim.delta for claim in claims)
        return Approx(epsilon, delta) if delta else Pure(epsilon)
    try:
        spread = [zcdp(loss) for loss in losses]
    except LossError:
        return compose(losses)
    return ZCDP(max(claim.rho for claim in spread), max(claim.delta for claim in spread))
