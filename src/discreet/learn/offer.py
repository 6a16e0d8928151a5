"""Training at a desk: a run that is gone on with after a crash, and whose checkpoint goes when it is over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.errors import RunError
from discreet.learn.checkpoint import Checkpoint
from discreet.learn.released import ModelRelease
from discreet.query.offer import Offer

if TYPE_CHECKING:
    from discreet.ledger.door import Answer

__all__ = ["ModelOffer", "TrainOffer"]


class ModelOffer(Offer[ModelRelease]):
    """A plan of a model and where to release it: charged as one fixed plan at the delta it names."""

    def _answer(self, release: str | None, why: str) -> Answer:
        plan: Any = self.plan
        return self.desk.through_the_door(plan, plan.columns, release=release, why=why, delta=plan.delta)


class TrainOffer(ModelOffer):
    """One training run.

    After a crash the same id goes on from the checkpoint under the same charge, as often as it takes. Without it the
    run begins again with other noise, twice at most, and not at all where losses were shown as it went. When the model
    is on the ledger, or the run has failed, the checkpoint and the secret in it are destroyed.
    """

    def _answer(self, release: str | None, why: str) -> Answer:
        plan = self.plan
        known = None if release is None else self.desk.ledger.find(release)
        if plan.checkpoint is not None and (known is None or known.answer is None):
            plan.taken_up()  # a checkpoint of something else is refused before anything is spent
        try:
            answer = super()._answer(release, why)
        except RunError:
            self._clear()
            raise
        self._clear()
        return answer

    def _clear(self) -> None:
        """Destroy the checkpoint, if it is of this plan and not of another run that was given the same file."""
        if self.plan.checkpoint is not None:
            kept = Checkpoint(self.plan.checkpoint)
            if kept.identity().get("plan") == self.plan.digest:
                kept.destroy()
