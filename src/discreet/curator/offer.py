"""A plan at a desk: what there is to know of it, and the one way to spend on it."""

from __future__ import annotations

import inspect
import uuid
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from discreet.core.decision import Decision
from discreet.core.exact import Number
from discreet.core.explanation import Accuracy, Explanation
from discreet.core.plan import as_paid
from discreet.core.progress import showing
from discreet.core.signature import typed
from discreet.curator.repeat import Repeat
from discreet.errors import InputError
from discreet.ledger.budget import label
from discreet.ledger.door import Answer, check_how, publish
from discreet.ledger.ledger import Ledger
from discreet.ledger.quote import Quote, quote_loss
from discreet.query.table_plan import Priced

__all__ = ["Counter", "Offer"]

Made_co = TypeVar("Made_co", covariant=True)


class Counter(Protocol):
    """Where plans are paid and run: a ledger, and data behind its door."""

    @property
    def ledger(self) -> Ledger:
        """The ledger that is charged."""
        ...

    @property
    def who(self) -> str:
        """Who asks."""
        ...

    def answered(self, digest: str) -> Repeat | None:
        """An answer on record to the plan of a digest."""
        ...

    def through_the_door(
        self,
        plan: Priced,
        columns: Iterable[str],
        *,
        release: str | None,
        why: str,
        delta: Number | None = None,
        request: str | None = None,
    ) -> Answer:
        """Spend, open, measure, record, publish."""
        ...


@runtime_checkable
class Checkpointed(Protocol):
    """A plan whose run is kept in a file until it is over."""

    @property
    def checkpoint(self) -> Path | None:
        """The file."""
        ...

    def stored_in(self, checkpoint: Path) -> Any:
        """The same run kept in a file, of which nothing is shown before its answer is on the ledger."""
        ...

    def kept(self, *, answered: bool) -> AbstractContextManager[None]:
        """Around the door: a file of something else is refused first, and the file is destroyed when all is over."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class Offer(Generic[Made_co]):
    """A plan and where to release it. `print(offer)` before, `offer.release()` to spend.

    `read` makes what is released of an answer, its cost and what is left, both in words.
    """

    desk: Counter
    plan: Any
    read: Callable[[Answer, str, str], Made_co]
    request: str | None = field(default=None, kw_only=True)
    """What was asked for and at which price, for the record."""
    remarks: tuple[str, ...] = field(default=(), kw_only=True)
    """What else is to be said beside the plan."""

    @cached_property
    def explained(self) -> Explanation:
        """What there is to know before it is paid, as values."""
        found: Explanation = self.plan.explained()
        return replace(found, notes=(*found.notes, *self.remarks)) if self.remarks else found

    @property
    def expected(self) -> tuple[Accuracy, ...]:
        """How far every output may be off."""
        return self.explained.errors

    @property
    def quote(self) -> Quote:
        """The price, and what is left."""
        plan = self.plan
        return quote_loss(self.desk.ledger, plan.dataset, plan.allotment, plan.charge, plan.cost)

    @property
    def answered(self) -> Repeat | None:
        """A stored answer to the same question at the same price, which is free to read; None if there is none."""
        return self.desk.answered(self.plan.digest)

    def explain(self) -> str:
        """Cost, expected error of every output, and what else there is to know. Spends nothing."""
        return self._text(self.quote, self.answered)

    def _text(self, quote: Quote, before: Repeat | None) -> str:
        return "\n".join(self.explained.lines([*quote.lines(), *([] if before is None else [before.text()])]))

    def to_dict(self, *, text: bool = False) -> dict[str, Any]:
        """The same as plain values; with `text`, what `explain` says, too."""
        if not isinstance(text, bool):
            raise InputError("text", text, "True or False")
        plan, quote, before = self.plan, self.quote, self.answered
        head = {"dataset": plan.dataset, **quote.to_dict(), "mechanism": plan.mechanism, "digest": plan.digest}
        head |= {} if before is None else {"answered": before.to_dict()}
        said = {"text": self._text(quote, before)} if text else {}
        return {**head, "query": plan.query, **self.explained.to_dict(), **said}

    def decide(self, sizes: Any, **how: Any) -> Decision:
        """What noise would do to a decision by the numbers, if they were these public or assumed `sizes`.

        `how` is what `release.decide` takes: a `fund` or a `threshold`, groups to tell it `by`, a `repair`. Nothing is
        read and nothing is spent. For questions and hierarchies.
        """
        found: Any = getattr(self.plan, "decide", None)
        if found is None:
            raise InputError.refused("plan", self.explained.title, "is of a kind for which decisions cannot be tried")
        known = [name for name in inspect.signature(found).parameters if name != "sizes"]
        for name in how:
            if name not in known:
                raise InputError.unknown(name, known, "Nothing was spent.")
        decision: Decision = found(sizes, **how)
        return decision

    @typed
    def release(self, *, release: str | None = None, why: str = "") -> Made_co:
        """Spend, open, measure, record, publish. The same `release` id again returns the stored answer at no cost.

        A training run that keeps a checkpoint goes on from it after a crash, under the same id and charge, as often as
        it takes. When its model is on the ledger, or the run has failed, the checkpoint and the secret in it are
        destroyed.
        """
        return self._read(self._answer(release, why))

    def identify(self, release: str | None) -> str:
        """The id that a release will have: the one that was chosen, or a new one."""
        return label(uuid.uuid4().hex if release is None else release, "release")

    @typed
    def publish(self, release: str, **how: Any) -> Made_co:
        """What was measured for a release of this plan, published again: free, without data and without fresh noise.

        `how` asks for another way, as the kind allows: `confidence` of intervals, `method` and `rules` of a hierarchy,
        `rows` and `method` of a synthetic table, `beta` of loads. The answer on record stays as it is.
        """
        return self._read(self.answer(release, how))

    def check_how(self, how: Mapping[str, Any]) -> None:
        """Refuse what is no way to publish this, by its name."""
        if not isinstance(how, Mapping):
            raise InputError("how", how, "a dictionary of ways to publish, by name")
        check_how(self.plan, how)

    def answer(self, release: str, how: Mapping[str, Any] | None = None, *, wait: bool = True) -> Answer:
        """The same as it would be recorded. `BusyError` where it runs and this may not `wait` for it."""
        if not isinstance(release, str):
            raise InputError("release", release, "the id of a release, as text")
        if how is not None:
            self.check_how(how)
        return publish(self.plan, self.desk.ledger, release, how, who=self.desk.who, wait=wait)

    def _answer(self, release: str | None, why: str) -> Answer:
        known = None if release is None else self.desk.ledger.find(release)
        plan = self.plan if known is None else as_paid(self.plan, known.charged.digest)
        delta = plan.delta if plan.allotment.kind == "plan" else None
        answered = known is not None and known.answer is not None
        with showing(), plan.kept(answered=answered) if isinstance(plan, Checkpointed) else nullcontext():
            return self.desk.through_the_door(
                plan, plan.columns, release=release, why=why, delta=delta, request=self.request
            )

    def _read(self, answer: Answer) -> Made_co:
        left = self.desk.ledger.remaining(self.plan.dataset, self.plan.allotment.name)
        paid = Quote(self.plan.allotment, answer.charge, left)
        return self.read(replace(answer, price=paid.price), paid.cost, paid.remaining)

    def __str__(self) -> str:
        return self.explain()

    def __repr__(self) -> str:
        return f"<{self.explained.title}; cost {self.quote.cost}; print it to see what it says>"

    def _repr_html_(self) -> str:
        from discreet.curator.notebook import offer_cell

        return offer_cell(self)
