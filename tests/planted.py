"""Small tables for methods that choose, and a record of everything they pay."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.core.sensitivity import Sensitivity
from discreet.data.column import Category, Integer
from discreet.data.schema import Schema
from discreet.marginals.counts import ArrayCounts
from discreet.marginals.domain import Domain
from discreet.marginals.meter import Meter
from discreet.noise.replay import Replay

PRICE = {"rho": Fraction(1, 10), "epsilon": Fraction(2)}


def domain_of(sizes):
    """Columns of so many codes; every other one has an order."""
    columns = {
        f"c{place}": Integer(0, size - 1, nullable=False)
        if place % 2 and size > 1
        else Category([f"v{code:03d}" for code in range(size)], nullable=False)
        for place, size in enumerate(sizes)
    }
    return Domain.of(Schema("t", columns))


def planted(rows=2000, sizes=(4, 5, 3, 4)):
    """Independent columns, but for the last, which follows from the first."""
    chance = np.random.default_rng(7)
    codes = np.column_stack([chance.integers(0, size, rows) for size in sizes])
    codes[:, -1] = codes[:, 0] % sizes[-1]
    return domain_of(sizes), codes


def meter_of(domain, codes, currency="rho", price=None, key=b"any"):
    return Meter(ArrayCounts(domain, codes), Sensitivity(1), currency, price or PRICE[currency], Replay(key))


def paid(monkeypatch):
    """Everything that is paid from now on, by any meter, in order."""
    amounts = []
    spend = Meter._spend

    def record(meter, amount):
        spend(meter, amount)
        amounts.append(amount)

    monkeypatch.setattr(Meter, "_spend", record)
    return amounts


def distance(made, codes, domain, columns):
    """Half the L1 distance between shares of a marginal."""
    one, two = (ArrayCounts(domain, table).marginal(columns) / len(table) for table in (made, codes))
    return float(np.abs(one - two).sum() / 2)
