"""A hierarchy that was released before, from the books."""

from __future__ import annotations

from discreet.errors import InputError
from discreet.hierarchy.released import TreeRelease
from discreet.ledger.door import stored
from discreet.ledger.ledger import Ledger
from discreet.ledger.quote import price_text
from discreet.query.curator import Curator

__all__ = ["tree_release", "tree_release_of"]


def tree_release(curator: Curator, release: str) -> TreeRelease:
    """The release of that id, if it is a hierarchy of the curator's table."""
    return tree_release_of(curator.ledger, release, curator.schema.name)


def tree_release_of(ledger: Ledger, release: str, dataset: str | None = None) -> TreeRelease:
    """The release of that id from a ledger."""
    known = ledger.find(release)
    if known is None or known.answer is None or dataset not in (None, known.charged.dataset):
        raise InputError("release", release, "the id of a stored release", "List them with: discreet releases list")
    answer = stored(known)
    if not isinstance(answer.result, dict) or "tree" not in answer.result:
        raise InputError("release", release, "the id of a hierarchy", "Read others with release().")
    allotment = ledger.account(answer.dataset).budget.allotment(answer.allotment)
    left = price_text(allotment, ledger.remaining(answer.dataset, answer.allotment), "down")
    return TreeRelease.read(answer, price_text(allotment, answer.charge), left)
