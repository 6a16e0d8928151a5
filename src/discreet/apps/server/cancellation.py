"""What becomes of a job that was cancelled, from what the ledger holds of it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from discreet.apps.server.jobs import Job
from discreet.apps.server.private_file import erase
from discreet.errors import BusyError
from discreet.ledger.failure import CANCELLED, STOPPED
from discreet.ledger.ledger import Ledger

__all__ = ["TIME_LIMIT", "cancelled_job"]

TIME_LIMIT = "the time limit of jobs"
"""Who cancels a job that runs for too long."""


def cancelled_job(ledger: Ledger, job: Job, by: str, checkpoint: Path | None = None) -> Job:
    """The job as it ends. If it was paid for and not measured, it is on record as failed and never has an answer.

    What was charged stays spent: how far a run came may depend on the data, so no charge is ever given back for it. A
    charge of somebody else's under the id, made while the job waited, is none of its business and stays as it is.
    """
    who = f"Cancelled by {by}. " if by else "Cancelled. "
    ended = replace(job, state="cancelled", stage="cancelled", position=None)
    known = ledger.find(job.release)
    if known is None:
        return replace(ended, problem=f"{who}Nothing was spent.")
    if known.charged.who != job.who:
        return replace(ended, problem=f"{who}Nothing was spent by it: another person paid for this id.")
    if known.open and known.measurement is None:
        with suppress(BusyError), ledger.running(job.release, wait=False):
            late = by == TIME_LIMIT
            known = ledger.failed(job.release, STOPPED if late else CANCELLED, who=job.who if late else by or job.who)
    if known.answer is not None:
        return replace(job, state="done", stage="done", progress=1.0)
    if checkpoint is not None:
        erase(checkpoint)
    advice = "Asked again under its id, it costs nothing more." if known.open else "A new id is charged anew."
    return replace(ended, problem=f"{who}It had been charged, and the charge stays spent. {advice}")
