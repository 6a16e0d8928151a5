"""A stream as a person uses it: start it once, release a period at a time, read the running totals."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from discreet.core.plan import Cover
from discreet.core.release import Release
from discreet.curator.offer import Offer
from discreet.errors import InputError
from discreet.ledger.budget import Allotment, label
from discreet.ledger.door import Answer, check_how, publish, stored
from discreet.ledger.quote import price_text
from discreet.query.stream import StreamPlan
from discreet.query.stream_step import StreamStep
from discreet.query.table_plan import at_confidence

if TYPE_CHECKING:
    from discreet.curator.desk import LocalDesk

__all__ = ["Stream", "StreamOffer"]


@dataclass(frozen=True, eq=False, repr=False)
class StreamOffer(Offer[Release]):
    """The plan of a stream. `start(name)` gives the stream; its first release pays for all periods."""

    planned: Callable[[Allotment], StreamPlan]
    """The same stream paid from an allotment of another size."""

    def start(self, name: str) -> Stream:
        """The stream under a name of its own; the same name and plan go on where they were.

        One that was bought for a share goes on at the price it was bought for, though the budget was changed since.
        """
        return Stream(self._bought(label(name, "name")), name)

    def _bought(self, name: str) -> StreamOffer:
        """This offer, or the one that was paid under the name when the allotment had another cap."""
        plan, ledger = self.plan, self.desk.ledger
        first = ledger.find(f"{name}/1")
        if first is None or first.charged.digest == Cover.digest(plan.digest, 1):
            return self
        for part in ledger.former_allotments(plan.dataset, plan.allotment.name):
            before = self.planned(part)
            if first.charged.digest == Cover.digest(before.digest, 1):
                return replace(self, plan=replace(before, allotment=plan.allotment))
        return self

    def release(self, *, release: str | None = None, why: str = "") -> Release:
        """A period of the stream that `release` names: "visits/3" is the third of visits, "visits" its next one.

        Without a name it is the first one of a new stream.
        """
        stream, period = self._period(self.identify(release))
        return stream.release(period, why=why)

    def identify(self, release: str | None) -> str:
        """The id of the period that `release` names, the next one where it names the stream alone."""
        name = uuid.uuid4().hex if release is None else release
        if _is_period(name):
            stream, period = self._period(name)
            return stream._step(period).release
        stream = self.start(name)
        return stream._step(stream.released + 1).release

    def publish(self, release: str, **how: Any) -> Release:
        """A period that was measured ("visits/3"), published again with intervals of another confidence: free."""
        stream, period = self._period(release)
        self.answer(release, how)
        return stream._table(period, how.get("confidence"))

    def check_how(self, how: Mapping[str, Any]) -> None:
        """Refuse what is no way to publish a period, by its name."""
        check_how(StreamStep, how)

    def answer(self, release: str, how: Mapping[str, Any] | None = None, *, wait: bool = True) -> Answer:
        """The same as it would be recorded. `BusyError` where it runs and this may not `wait` for it."""
        stream, period = self._period(release)
        step = replace(stream._step(period), earlier=tuple(stream._history(period - 1)))
        return publish(step, self.desk.ledger, release, how, who=self.desk.who, wait=wait)

    def _period(self, release: str) -> tuple[Stream, int]:
        if not _is_period(release):
            raise InputError("release", release, "a period of a stream, such as 'visits/3'")
        name, _, period = release.rpartition("/")
        return self.start(name), int(period)


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream that runs. Every period is released once, in order; asked again it is read from the ledger."""

    offer: StreamOffer
    name: str

    @property
    def desk(self) -> LocalDesk:
        """Whose table it is about."""
        return cast("LocalDesk", self.offer.desk)

    @property
    def released(self) -> int:
        """How many periods have an answer."""
        count = 0
        while count < self.offer.plan.periods and self._nodes(count + 1) is not None:
            count += 1
        return count

    def release(self, period: int | None = None, *, why: str = "") -> Release:
        """Publish a period (the next one if none is named): its counts, and the running totals up to it.

        Wait until the period is over and its data is in: a period is counted once.
        """
        plan, done = self.offer.plan, self.released
        at = done + 1 if period is None else period
        step = self._step(at)
        if at > done + 1:
            raise InputError("period", at, f"{done + 1}: periods are released in order")
        if at == done + 1:
            step.state.check(at, self._ids(step))
            step = replace(step, earlier=tuple(self._history(done)))
            self.desk.through_the_door(step, plan.columns, release=step.release, why=why, request=self.offer.request)
        return self._table(at)

    def _history(self, period: int) -> list[Any]:
        """What was published for every period up to this one."""
        return [self._nodes(each) or [] for each in range(1, period + 1)]

    def _ids(self, step: StreamStep) -> str:
        """How ids are stored now, from types alone; nothing where that does not matter or the door will refuse."""
        import ibis

        if step.drawn():
            return ""
        source = self.desk.source
        stored = {name: kind for name, kind in source.columns().items() if not kind.startswith("unknown")}
        if step.unit.column is not None and step.unit.column not in stored:
            return ""
        return step.ids({name: ibis.dtype(kind) for name, kind in stored.items()}, source.engine)

    def _step(self, period: int) -> StreamStep:
        return StreamStep(self.offer.plan, period, self.name, self.desk.ledger.workspace("private"))

    def _nodes(self, period: int) -> list[Any] | None:
        """What was published for a period; None if nothing was."""
        known = self.desk.ledger.find(self._step(period).release)
        if known is None or known.answer is None:
            return None
        if known.charged.digest != self._step(period).digest:
            raise InputError("name", self.name, "a new name: this one belongs to another stream")
        answer = stored(known)
        drawn: Any = answer.result if answer.measured is None else answer.measured
        nodes: list[Any] = drawn["nodes"]
        return nodes

    def _data(self, period: int) -> str:
        """The version of the data that the period was counted in."""
        known = self.desk.ledger.find(self._step(period).release)
        return "" if known is None else stored(known).data_version

    def _table(self, period: int, confidence: float | None = None) -> Release:
        """What was published for the period, and the running totals put together from all periods up to it."""
        plan, desk = at_confidence(self.offer.plan, confidence), self.desk
        history = self._history(period)
        table = plan.published(period, [levels[0] for levels in history[-1]], history)
        left = desk.ledger.remaining(plan.dataset, plan.allotment.name)
        return Release(
            id=self._step(period).release,
            dataset=plan.dataset,
            columns=table["columns"],
            keys=tuple(table["keys"]),
            outputs=tuple(table["outputs"]),
            confidence=plan.confidence,
            cost=price_text(plan.allotment, plan.charge) + f" for all {plan.periods:,} periods",
            mechanism=plan.mechanism,
            digest=self._step(period).digest,
            remaining=price_text(plan.allotment, left, "down"),
            data=self._data(period),
            notes=tuple(plan.notes),
        )


def _is_period(release: str) -> bool:
    name, _, period = release.rpartition("/")
    return bool(name) and period.isascii() and period.isdecimal()
