"""A step of cost zero, and the paid release that it belongs to.

Proof: docs/proofs/ledger.md, "Steps that were paid before".
"""

from __future__ import annotations

from fractions import Fraction

from discreet.accounting.compose import terms
from discreet.core.loss import Loss
from discreet.core.plan import Cover
from discreet.core.wire import Json
from discreet.errors import InputError, Phrase
from discreet.ledger.budget import Charge
from discreet.ledger.chain import check_chain
from discreet.ledger.outcome import last_acknowledged, outcome_in
from discreet.ledger.record import Record
from discreet.ledger.store import Reader

__all__ = ["check_cover", "cover_from", "cover_problem", "cover_to"]


_NOTHING = Charge(Fraction(0))


def check_cover(reader: Reader, step: Record, loss: Loss, price: Charge, cover: Cover | None) -> None:
    """`InputError` unless a charge costs something, or what its cover names is on the ledger and covers it."""
    hint = "Nothing was spent and no data was read."
    free = price == _NOTHING or not terms(loss)  # a plan allotment charges the delta it aims at, whatever the loss
    if cover is None:
        if free:
            allowed = "more than zero, or a step covered by a release that was paid"
            raise InputError("cost", Phrase("zero"), allowed, hint)
        return
    if not free:
        raise InputError("cover", cover.paid, "left out where the step has a cost of its own", hint)
    check_chain(reader)  # it costs nothing, so a step that is hidden would be drawn again for nothing
    paid = outcome_in(reader, cover.paid)
    if paid is not None and paid.failure is not None:
        raise InputError("cover", cover.paid, "a release that did not fail", hint)
    lost = last_acknowledged(reader)
    if problem := cover_problem(step, cover, None if paid is None else paid.charged, lost):
        raise InputError("cover", cover.paid, f"the paid first step of the same job: {problem}", hint)


def cover_problem(step: Record, cover: Cover, paid: Record | None, lost: int) -> str | None:
    """Why the charge `paid` does not cover the charge `step`, in words; None if it does.

    The digests are recomputed from the job's, so that both are steps of one job, and the id of a step is that of the
    first with another number, so that each step has one id, hence one charge and one answer. `lost` is the number of
    the last acknowledgement before the step: among the records that were missing then may be steps that were published.
    """
    if paid is None:
        return f"{cover.paid!r} was never charged"
    if paid.sequence < lost:
        return (
            f"{cover.paid!r} was paid before record {lost}, where records were missing, so that further steps may have "
            "been published already. Begin again under another name, which is paid anew"
        )
    if _merged(paid) and not _merged(step):
        return f"{cover.paid!r} was paid on a ledger that was merged into this one. Begin again under another name"
    if paid.charge == _NOTHING:
        return f"{cover.paid!r} cost nothing itself"
    if (paid.dataset, paid.allotment) != (step.dataset, step.allotment):
        return f"{cover.paid!r} was paid for another dataset or from another allotment"
    if paid.unit not in ("", step.unit):
        return f"{cover.paid!r} was paid for another unit"
    if (paid.digest, step.digest) != (Cover.digest(cover.job, 1), Cover.digest(cover.job, cover.step)):
        return f"{cover.paid!r} is not the first step of this job"
    stem = cover.paid.removesuffix("/1")
    if cover.step < 2 or cover.paid != f"{stem}/1" or step.release != f"{stem}/{cover.step}":
        return f"a step has the id of the first with its own number, such as {stem}/{cover.step}"
    return None


def _merged(record: Record) -> bool:
    return isinstance(record.detail, dict) and "merged" in record.detail


def cover_to(cover: Cover | None) -> Json:
    """A cover as plain values, for the record."""
    return None if cover is None else {"job": cover.job, "step": cover.step, "paid": cover.paid}


def cover_from(value: Json) -> Cover | None:
    """Read back what `cover_to` wrote; None where there is none."""
    if not isinstance(value, dict):
        return None
    step = value.get("step")
    return Cover(str(value.get("job")), step if isinstance(step, int) else 0, str(value.get("paid")))
