"""What was paid for is not lost: if a method stops on its way, rows are made from what it had measured by then."""

from __future__ import annotations

from contextlib import suppress

from discreet.marginals.meter import Meter, Noisy
from discreet.synth.calibration import evidence_of
from discreet.synth.fitted_codes import fit_codes
from discreet.synth.methods import Method
from discreet.synth.model import fit
from discreet.synth.sample import Codes
from discreet.synth.synthetic import Synthetic, read_rows, row_count
from discreet.synth.workload import Workload

__all__ = ["independent_rows", "rescuable", "run_with_rescue"]


def run_with_rescue(method: Method, meter: Meter, workload: Workload, rows: int | None) -> Synthetic:
    """What a method makes; or, if it stops with an error, rows of all that was measured, and a note that says so.

    What is left of the price goes to single columns. A method that stopped before any column was measured has lost
    little, and its error is passed on. A method also stops where a record does not answer what it asks for: what an
    earlier version measured may have been divided otherwise. Then all that is on record is used.

    Guarantee
        Costs the meter's price and no more: only answers that were paid for are used. Errors from where exact counts
        were looked at are passed on too: whether they happen may depend on a single row. All others follow from answers
        that were paid for.
        Proof: docs/proofs/synth.md, "What fails".
    """
    try:
        return method(meter, workload, rows)
    except Exception:
        if not rescuable(meter):
            raise
    meter.measure_rest()
    return _rows_of_answers(meter, rows)


def rescuable(meter: Meter) -> bool:
    """Whether rows can be made of what was measured, and nobody learns from it that something went wrong in private."""
    return not meter.broken and bool(_alone(meter))


def independent_rows(meter: Meter, rows: int | None, note: str) -> Synthetic:
    """Rows of independent columns, from the single ones that were measured."""
    model = fit(meter.domain.sizes, _alone(meter))
    return _synthetic(meter, model.rows(row_count(read_rows(rows), model.total)), model.total, (note,))


def _rows_of_answers(meter: Meter, rows: int | None) -> Synthetic:
    """Rows fitted to every marginal that was measured; independent columns where there is nothing else to fit."""
    stopped = "the method stopped on its way"
    if len(_alone(meter)) < len(meter.answers):
        with suppress(Exception):  # a fit is too large for this machine, say: it saw answers only
            fitted = fit_codes(meter.domain.sizes, evidence_of(meter.answers), read_rows(rows))
            notes = (f"{stopped}: rows fitted to all that was measured by then", *fitted.notes)
            return _synthetic(meter, fitted.codes, fitted.total, notes)
    return independent_rows(meter, rows, f"{stopped}: every column alone, from what was measured by then")


def _synthetic(meter: Meter, codes: Codes, total: float, notes: tuple[str, ...]) -> Synthetic:
    """Rows, with what was measured: of merged codes the marginals in the bins that were used last."""
    fine = [noisy for bins, noisy in meter.answers if bins is None]
    merged = [(bins, noisy) for bins, noisy in meter.answers if bins is not None]
    bins = merged[-1][0] if merged else None
    coarse = [noisy for other, noisy in merged if other is bins]
    return Synthetic(codes, total, (*fine, *coarse), bins, len(fine), notes)


def _alone(meter: Meter) -> list[Noisy]:
    return [noisy for bins, noisy in meter.answers if bins is None and len(noisy.columns) == 1]
