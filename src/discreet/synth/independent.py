"""The simplest honest method: every column alone, and nothing of what they have to do with each other.

A baseline, and the right choice where there is one column or where a price buys no more.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.marginals.meter import Meter
from discreet.synth.model import fit
from discreet.synth.synthetic import Synthetic, read_rows, row_count
from discreet.synth.workload import Workload, read_workload

__all__ = ["column_prices", "independent", "outline"]


def independent(meter: Meter, workload: Workload, rows: int | None = None) -> Synthetic:
    """Rows whose columns are right one by one, each measured with an equal part of the price, and independent.

    Guarantee
        Everything private is asked of the meter: the whole costs its price, and no more.
    """
    read_workload(workload, meter.domain)  # which marginals matter changes nothing here, but a wrong one is an error
    count = read_rows(rows)
    alone = [(column,) for column in range(len(meter.domain))]
    meter.prepare(alone)
    prices = column_prices(meter, workload)
    measured = tuple(meter.measure(*asked) for asked in zip(alone, prices, strict=True))
    model = fit(meter.domain.sizes, measured)
    codes = model.rows(row_count(count, model.total))
    return Synthetic(codes, model.total, measured, notes=("every column alone: columns are independent",))


def column_prices(meter: Meter, workload: Workload) -> list[Fraction]:
    """What each column is measured for alone."""
    width = len(meter.domain)
    return [meter.price / width] * width


def outline(meter: Meter, workload: Workload, confidence: float) -> list[str]:
    """What would be measured, and how far it would be off: public, and known before."""
    width = len(meter.domain)
    noise = meter.noise(meter.price / width)
    return [f"Measures {width:,} columns, one by one: a one-way count is off by +-{noise.error(confidence):,}."]
