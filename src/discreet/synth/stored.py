"""A synthetic table that was released before, from the books."""

from __future__ import annotations

from discreet.errors import InputError
from discreet.ledger.door import stored
from discreet.ledger.ledger import Ledger
from discreet.ledger.quote import price_text
from discreet.query.curator import Curator
from discreet.synth.released import SyntheticRelease

__all__ = ["synthetic_release", "synthetic_release_of"]


def synthetic_release(curator: Curator, release: str) -> SyntheticRelease:
    """The release of that id, if it is a synthetic table of the curator's."""
    return synthetic_release_of(curator.ledger, release, curator.schema.name)


def synthetic_release_of(ledger: Ledger, release: str, dataset: str | None = None) -> SyntheticRelease:
    """The release of that id from a ledger."""
    known = ledger.find(release)
    if known is None or known.answer is None or dataset not in (None, known.charged.dataset):
        raise InputError("release", release, "the id of a stored release", "List them with: discreet releases list")
    answer = stored(known)
    if not isinstance(answer.result, dict) or "synth" not in answer.result:
        raise InputError("release", release, "the id of a synthetic table", "Read others with release().")
    allotment = ledger.account(answer.dataset).budget.allotment(answer.allotment)
    left = price_text(allotment, ledger.remaining(answer.dataset, answer.allotment), "down")
    return SyntheticRelease.read(answer, price_text(allotment, answer.charge), left)
