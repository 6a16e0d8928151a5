"""What was paid for is not lost: if a method stops on its way, rows are made from what it had measured by then."""

from __future__ import annotations

from discreet.marginals.meter import Meter, Noisy
from discreet.synth.methods import Method
from discreet.synth.model import fit
from discreet.synth.synthetic import Synthetic, read_rows, row_count
from discreet.synth.workload import Workload

__all__ = ["independent_rows", "rescuable", "run_with_rescue"]


def run_with_rescue(method: Method, meter: Meter, workload: Workload, rows: int | None) -> Synthetic:
    """What a method makes; or, if it stops with an error, independent columns, and a note that says so.

    Single columns as they were measured are kept, and what is left of the price goes to them. A method that stopped
    before any column was measured has lost little, and its error is passed on.

    Guarantee
        Costs the meter's price and no more. Errors from where exact counts were looked at are passed on too: whether
        they happen may depend on a single row. All others follow from answers that were paid for.
        Proof: docs/proofs/synth.md, "What fails".
    """
    try:
        return method(meter, workload, rows)
    except Exception:
        if not rescuable(meter):
            raise
    meter.measure_rest()
    return independent_rows(
        meter, rows, "the method stopped on its way: every column alone, from what was measured by then"
    )


def rescuable(meter: Meter) -> bool:
    """Whether rows can be made of what was measured, and nobody learns from it that something went wrong in private."""
    return not meter.broken and bool(_alone(meter))


def independent_rows(meter: Meter, rows: int | None, note: str) -> Synthetic:
    """Rows of independent columns, from the single ones that were measured."""
    fine = [noisy for bins, noisy in meter.answers if bins is None]
    model = fit(meter.domain.sizes, _alone(meter))
    merged = [(bins, noisy) for bins, noisy in meter.answers if bins is not None]
    bins = merged[-1][0] if merged else None
    coarse = [noisy for other, noisy in merged if other is bins]
    codes = model.rows(row_count(read_rows(rows), model.total))
    return Synthetic(codes, model.total, (*fine, *coarse), bins, len(fine), (note,))


def _alone(meter: Meter) -> list[Noisy]:
    return [noisy for bins, noisy in meter.answers if bins is None and len(noisy.columns) == 1]
