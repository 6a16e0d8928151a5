"""What several releases cost together.

* One after another on the same data: `compose`. Costs add up.
* Side by side on disjoint parts of the data: `parallel` (parallel.py). The worst part is the cost.
* Afterwards, on what was released: nothing. Whatever is computed from a release alone, by anyone, with any knowledge,
  costs nothing more (post-processing), so there is no function for it.

Proofs: docs/proofs/composition.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, assert_never, get_args

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
    Repeated,
    Sampled,
)
from discreet.errors import InputError

__all__ = ["NOTHING", "Atom", "compose", "in_order", "terms"]

Atom = Pure | BoundedRange | ZCDP | Approx | LaplaceNoise | GaussianNoise | RealGaussianNoise | Sampled
_ATOMS = get_args(Atom)

NOTHING = Composed(())


def terms(loss: Loss) -> dict[Atom, int]:
    """What a loss is made of, and how often each part is paid: no nesting, no order, nothing that costs nothing.

    Every accountant starts here, so no accountant can tell `Repeated(x, 3)` from `Composed([x, x, x])`.
    """
    counts: dict[Atom, int] = {}
    waiting: list[tuple[Loss, int]] = [(loss, 1)]
    while waiting:  # a stack of our own: losses nested deeper than Python's are fine
        part, times = waiting.pop()
        match part:
            case Composed(losses):
                waiting.extend((each, times) for each in losses)
            case Repeated(each, count):
                waiting.append((each, times * count))
            case Sampled(each, probability):
                if probability == 1:
                    waiting.append((each, times))
                else:
                    _count(counts, _sampled(part), times)
            case _:
                if not isinstance(part, _ATOMS):
                    hint = "A mechanism's own loss() is one; so is Pure(0.5) or Approx(1, 1e-6)."
                    raise InputError("loss", part, "a privacy loss", hint)
                _count(counts, part, times)
    return counts


def _count(counts: dict[Atom, int], atom: Atom, times: int) -> None:
    if times and not _free(atom):
        counts[atom] = counts.get(atom, 0) + times


def _sampled(loss: Sampled) -> Sampled:
    """The same sample, its inside in order; a sample of a sample is one sample of the product."""
    inside = compose([loss.loss])
    if isinstance(inside, Sampled):
        return Sampled(inside.loss, inside.probability * loss.probability)
    return Sampled(inside, loss.probability)


def _free(atom: Atom) -> bool:
    match atom:
        case Pure(epsilon) | BoundedRange(epsilon):
            return epsilon == 0
        case ZCDP(rho, delta):
            return rho == 0 and delta == 0
        case Approx(epsilon, delta):
            return epsilon == 0 and delta == 0
        case LaplaceNoise(_, shift) | GaussianNoise(_, shift):
            return shift == 0
        case RealGaussianNoise(_):
            return False
        case Sampled(loss, probability):
            return probability == 0 or loss == NOTHING
        case _:
            assert_never(atom)


def in_order(loss: Loss) -> tuple[Any, ...]:
    """A key that puts equal losses side by side and any set of losses in one order."""
    name = type(loss).__name__
    match loss:
        case Pure(epsilon) | BoundedRange(epsilon):
            return name, epsilon
        case ZCDP(rho, delta):
            return name, rho, delta
        case Approx(epsilon, delta):
            return name, epsilon, delta
        case LaplaceNoise(scale, shift):
            return name, scale, shift
        case GaussianNoise(sigma, shift):
            return name, sigma, shift
        case RealGaussianNoise(multiplier):
            return name, multiplier
        case Sampled(each, probability):
            return name, probability, in_order(each)
        case Repeated(each, times):
            return name, times, in_order(each)
        case Composed(losses):
            return name, len(losses), *map(in_order, losses)
        case _:
            assert_never(loss)


def compose(losses: Iterable[Loss]) -> Loss:
    """The cost of all `losses` on the same data, each with fresh noise, in any order.

    Equal losses become one `Repeated`; what costs nothing is dropped; nothing is converted, so nothing is lost. Two
    compositions of the same parts are equal.

    Guarantee: if each release costs what it says, whatever was released before it (each may be chosen after seeing
    the others, as long as the costs were fixed beforehand), then all of them together cost this.

    >>> compose([Pure(0.1), Pure(0.2), Pure(0.1)])
    Composed(losses=(Pure(epsilon=Fraction(1, 5)), Repeated(loss=Pure(epsilon=Fraction(1, 10)), times=2)))
    """
    counts = terms(Composed(losses))
    parts: list[Loss] = [atom if times == 1 else Repeated(atom, times) for atom, times in counts.items()]
    parts.sort(key=in_order)
    return parts[0] if len(parts) == 1 else Composed(parts)
