"""A model of a private table, with its accuracy on public rows after each epoch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from discreet.data.frame import Frame
from discreet.errors import InputError, kind_of
from discreet.learn.curve import Curve
from discreet.learn.plan import TrainPlan

if TYPE_CHECKING:
    from discreet.learn.release import ModelRelease

__all__ = ["release_with_curve"]


def release_with_curve(
    offer: Any, rows: Any, *, release: str | None = None, why: str = ""
) -> tuple[ModelRelease, Curve]:
    """Release a planned model (`curator.train(...).plan(...)`), and how many of some public `rows` it got right.

    `rows` are a table with the features and the target: columns by name, Arrow, pandas, Polars. The curve is empty
    where the model was on the ledger already.

    Guarantee
        That of the model. `rows` must be public; see `Curve`. Proof: docs/proofs/training.md.
    """
    plan = getattr(offer, "plan", None)
    if not isinstance(plan, TrainPlan):
        raise InputError("offer", kind_of(offer), "the offer of one model: curator.train(...).plan(...)")
    place = getattr(getattr(offer.desk, "source", None), "place", None)
    if isinstance(place, Frame) and place.holds(rows):
        hint = "Accuracy on private rows is not paid for. Keep rows that are public, and train on the others."
        raise InputError("rows", kind_of(rows), "a table of public rows, not the private one", hint)
    encoding = plan.encoding
    if not encoding.classes:
        raise InputError("target", encoding.target.name, "a column of classes: accuracy is of right answers")
    target = encoding.target
    labels = encoding.outputs({target.name: target.codes(target.values(rows))})
    known = labels >= 0  # a row without a class is neither right nor wrong
    curve = Curve(encoding.rows(rows)[known], labels[known], delta=plan.delta)
    with curve.watching(plan.model.apply, plan.recipe, plan.spent):
        made: ModelRelease = replace(offer, plan=replace(plan, watch=curve.after)).release(release=release, why=why)
    return made, curve
