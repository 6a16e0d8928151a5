"""How far counts will be off, before anything is paid: of single columns, of pairs, and the number of rows.

Single columns are measured first, each at a price of its own that is public, so their errors are known exactly: but
for methods that pay by the number of codes, where values are found first and become codes (a note says so). Of pairs
it comes out of what was measured which ones are, and in which bins: their error is for scale.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from statistics import NormalDist

from discreet.core.explanation import Accuracy
from discreet.core.release import plural
from discreet.marginals.meter import Meter
from discreet.query.plan import noise_name

__all__ = ["one_way_errors", "pair_error", "total_error"]

_LEAST = 1e-12  # a variance that is none: a very high price buys noise that is zero but for less than floats can tell


def one_way_errors(
    meter: Meter, prices: Sequence[Fraction], names: Sequence[str], confidence: float, of: str = ""
) -> list[Accuracy]:
    """Errors of single columns measured at these prices: one for all, or those of the best and of the worst column.

    `of` says what is counted, " of parents".
    """
    kind, many = f"a one-way count{of}", plural(len(prices), "marginal")
    low, high = min(prices), max(prices)
    if low == high:
        return [_error(meter, low, f"{kind}, one of {many}", confidence)]
    return [
        _error(meter, price, f"{kind}, by {names[prices.index(price)]}, the {which} precise of {many}", confidence)
        for which, price in (("most", high), ("least", low))
    ]


def pair_error(meter: Meter, left: Fraction, pairs: int, confidence: float, of: str = "") -> Accuracy:
    """The error of a two-way count where so many pairs share evenly what single columns leave of a price."""
    return _error(meter, left / pairs, f"a two-way count{of}, one of {plural(pairs, 'marginal')}", confidence)


def total_error(meter: Meter, prices: Sequence[Fraction], confidence: float, what: str = "rows") -> Accuracy:
    """The error of the number of rows: every column, measured at its price, adds up to it, the precise ones weigh more.

    Methods that make use of what pairs add up to know it better in the end: it is at most this.

    A weighed sum of noise has tails between those of one draw and those of a normal law: the wider ones are taken.
    Columns whose values are still to be found do not count: nobody knows how many codes they add up. Where there are no
    others, nothing can be stated.
    """
    pairs = zip(prices, meter.domain.attributes, strict=True)
    known = [(price, one.size) for price, one in pairs if not one.unknown]
    words = f"sums of {plural(len(known), 'column')}, weighed by their noise"
    if not known:
        return Accuracy(f"the number of {what}", words)
    precision = math.fsum(1 / max(meter.noise(price).variance * size, _LEAST) for price, size in known)
    far = NormalDist().inv_cdf((1 + confidence) / 2)
    if meter.currency == "epsilon":
        far = max(far, -math.log1p(-confidence) / math.sqrt(2))
    half = math.ceil(far / math.sqrt(precision))
    return Accuracy(f"the number of {what}", words, half)


def _error(meter: Meter, price: Fraction, name: str, confidence: float) -> Accuracy:
    noise = meter.noise(price)
    return Accuracy(name, noise_name(noise), noise.error(confidence))
