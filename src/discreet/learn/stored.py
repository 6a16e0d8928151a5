"""A model that was released before, from the books."""

from __future__ import annotations

from discreet.errors import InputError
from discreet.learn.model import Model
from discreet.learn.released import ModelRelease
from discreet.ledger.door import stored
from discreet.ledger.ledger import Ledger
from discreet.ledger.quote import price_text
from discreet.query.curator import Curator

__all__ = ["model_release", "model_release_of"]


def model_release(curator: Curator, release: str, model: Model | None = None) -> ModelRelease:
    """The release of that id, if it is a model of the curator's."""
    return model_release_of(curator.ledger, release, curator.schema.name, model)


def model_release_of(
    ledger: Ledger, release: str, dataset: str | None = None, model: Model | None = None
) -> ModelRelease:
    """The release of that id from a ledger."""
    known = ledger.find(release)
    if known is None or known.answer is None or dataset not in (None, known.charged.dataset):
        raise InputError("release", release, "the id of a stored release", "List them with: discreet releases list")
    answer = stored(known)
    if not isinstance(answer.result, dict) or "train" not in answer.result:
        raise InputError("release", release, "the id of a trained model", "Read others with release().")
    allotment = ledger.account(answer.dataset).budget.allotment(answer.allotment)
    left = price_text(allotment, ledger.remaining(answer.dataset, answer.allotment), "down")
    found = ModelRelease.read(answer, price_text(allotment, answer.charge), left)
    return found if model is None else found.using(model)
