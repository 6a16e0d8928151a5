"""Ways to say a price in a form: of a question and of a job the same."""

from __future__ import annotations

from discreet.core.exact import as_written
from discreet.errors import InputError

__all__ = ["WAYS", "price_sent"]

WAYS = ("epsilon", "rho", "within", "share", "percent")
"""Ways to say a price; a percentage is a share of the budget as people say it."""


def price_sent(way: str, amount: str) -> dict[str, str]:
    """A price as a program sends it; a percentage is a share.

    >>> price_sent("percent", "12.5 %")
    {'share': '1/8'}
    """
    if way != "percent":
        return {way: amount}
    try:
        return {"share": str(as_written(amount.rstrip("% "), "percent") / 100)}
    except InputError:
        raise InputError("percent", amount, "a number: a percentage of the allotment") from None
