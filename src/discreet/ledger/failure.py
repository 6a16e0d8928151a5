"""What is said of a release that was paid for and has no answer: by its reason, which is on record."""

from __future__ import annotations

from discreet.core.plan import Private
from discreet.errors import Phrase, RunError, SourceError

__all__ = ["CANCELLED", "FAILED", "LOST", "STOPPED", "anew", "failure", "out_of_reach", "reach"]

FAILED = "the run did not finish"
STOPPED = "it was stopped at the time limit"
CANCELLED = "it was cancelled"
LOST = "its answer was lost too often"


def failure(identity: str, reason: str) -> RunError:
    """What is said of a release that has no answer and never will, for a reason on record."""
    advice = "Check that the data can be opened and fits its schema, then ask"
    if reason == STOPPED:
        advice = "Ask for less at once, or have the custodian raise the limit (discreet serve --seconds), then ask"
    if reason == CANCELLED:
        advice = "If it is still needed, ask"
    return RunError(
        f"Release {identity!r} has no answer: {reason}. Its cost was recorded before the data was read and stays "
        f"spent. What happened inside is not shown, because it may depend on private values. {advice} again "
        "under a new release id.",
        release=identity,
    )


def reach(data: Private) -> None:
    """Have the data within reach before it is paid for, where it lies elsewhere: what fails here costs nothing.

    Nothing is computed of a row. Whether it succeeds depends on networks and disks.
    """
    if callable(reach_it := getattr(data, "reach", None)):
        reach_it()


def out_of_reach(identity: str) -> SourceError:
    """What is said when the data went out of reach in the middle of a run: the release stays open."""
    hint = "The charge is on the ledger. Ask again under the same release id: it is charged once."
    return SourceError("source", Phrase(f"data that went out of reach while {identity!r} ran"), "within reach", hint)


def anew(kind: type[BaseException]) -> BaseException:
    """KeyboardInterrupt, SystemExit, a cancelled task: the same again, with nothing of the run attached to it."""
    try:
        return kind()
    except Exception:
        return KeyboardInterrupt()
