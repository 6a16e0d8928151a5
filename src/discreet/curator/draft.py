"""A job that is being put together: described, and not yet priced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import attrs

from discreet.core.exact import Number
from discreet.curator.desk import Desk
from discreet.curator.offer import Offer
from discreet.data.expression import Expression
from discreet.errors import InputError
from discreet.query.ask import Ask, Checked
from discreet.query.predicate import Predicate

if TYPE_CHECKING:
    from discreet.learn.release import ModelRelease

__all__ = ["Draft", "TrainDraft"]

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True, repr=False)
class Draft(Generic[Made]):
    """An ask at a desk. Nothing happens until it is planned and released."""

    desk: Desk
    ask: Any
    checked: Checked[Made] | None
    """The ask read against the schema; None where that is done elsewhere."""

    @classmethod
    def of(cls, desk: Desk, ask: Ask) -> Self:
        """The ask, checked."""
        return cls(desk, ask, desk.check(ask))

    def _repr_html_(self) -> str:
        from discreet.curator.notebook import draft_cell

        return draft_cell(self)

    def __repr__(self) -> str:
        return f"<Draft of kind {self.ask.kind!r} about {self.desk.declared.name!r}; plan(...) it to see its price>"

    def where(self, condition: str | Predicate | Expression) -> Self:
        """Count only the rows for which the condition is true."""
        if self.ask.where is not None:
            raise InputError("where", condition, "one condition: join several with and")
        return type(self).of(self.desk, attrs.evolve(self.ask, where=condition))

    def plan(
        self,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        share: Number | None = None,
        within: Number | None = None,
        confidence: float = 0.95,
        noise: str = "auto",
        allotment: str | None = None,
        **terms: Any,
    ) -> Offer[Made]:
        """Price the whole job: by epsilon, rho, a share of the allotment, or `within` which half-width all errors lie.

        `terms` say how it is released: those of a kind are the fields of its ask that are marked so, such as the
        `method` and `split` of a hierarchy.
        """
        ask = self.ask.with_terms(terms)
        price = ask.price(epsilon=epsilon, rho=rho, share=share, within=within, confidence=confidence, noise=noise)
        offer: Offer[Made] = self.desk.offer(ask, None if terms else self.checked, price, allotment)
        return offer


class TrainDraft(Draft["ModelRelease"]):
    """A model to be trained, once, or once for each of several settings."""

    __slots__ = ()

    def search(
        self,
        settings: Sequence[Mapping[str, Any]],
        *,
        epsilon: Number | None = None,
        allotment: str | None = None,
        **terms: Any,
    ) -> Offer[ModelRelease]:
        """Price a search: every one of `settings`, such as {"rate": 0.5}, is trained and paid for, and one is kept.

        The candidate that is right most often on `held_out` of the rows is kept by a private choice. These rows are
        not trained on, so that it adds nothing to the price. With `runs`, a random number of runs is made, so many on
        average, each of a candidate picked at random. Noise follows from the price of the whole, which may be a `share`
        of the allotment too, or `within` how many right answers of the best candidate the kept one is to be.
        """
        draft = Draft["ModelRelease"].of(self.desk, self.ask.search(settings))
        return draft.plan(epsilon=epsilon, allotment=allotment, **terms)
