"""What a program may send to have a job done: a model for every kind, made from the fields of its ask.

Everything is plain values: no path is opened, no code is taken, and what would fill the machine is refused.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import ConfigDict, Field, create_model

from discreet.apps.server.limits import check_asked, check_draft
from discreet.apps.server.question_request import Amount, Plain
from discreet.curator import KINDS, Curator
from discreet.query.ask import Ask, Option, options
from discreet.query.forms import AMOUNT

__all__ = ["REQUESTS", "JobRequest"]

_CONFIDENCE = Annotated[float, Field(gt=0, lt=1)]
_PRICES: dict[str, Any] = {
    "epsilon": (Amount, None),
    "rho": (Amount, None),
    "share": (Amount, None),
    "within": (Amount, None),
    "confidence": (_CONFIDENCE, 0.95),
    "noise": (str, "auto"),
}


class JobRequest(Plain):
    """A job and its price. `release` is an id of the caller's choice, under which asking again is free."""

    model_config = ConfigDict(extra="forbid", strict=True)

    ask: ClassVar[type[Ask]]

    allotment: str | None = None
    release: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    why: Annotated[str, Field(max_length=1000)] = ""

    @property
    def kind(self) -> str:
        """The kind of job."""
        return self.ask.kind

    def offer(self, curator: Curator) -> Any:
        """The plan, priced; nothing is read and nothing is spent."""
        fields = options(self.ask)
        sent = {name: value for name in fields if (value := getattr(self, name, None)) is not None}
        check_asked(self.ask, sent, curator.schema)
        draft = curator.ask(self.ask.from_dict(sent, curator.schema))
        price = {name: getattr(self, name) for name in self.ask.prices}
        check_draft(draft, price)
        return draft.plan(**price, allotment=self.allotment)


def _field(one: Option) -> tuple[Any, Any]:
    wire = Amount if one.form is AMOUNT else one.form.wire
    said = Field(description=f"{one.help}.")
    return (Annotated[wire, said], ...) if one.required else (Annotated[wire | None, said], None)


def _request(ask: type[Ask]) -> type[JobRequest]:
    fields: dict[str, Any] = {name: one for name, one in _PRICES.items() if name in ask.prices}
    fields |= {name: _field(one) for name, one in options(ask).items() if not one.here_only}
    made: type[JobRequest] = create_model(
        f"{ask.kind.title()}Request", __base__=JobRequest, __doc__=ask.__doc__, **fields
    )
    made.ask = ask
    return made


REQUESTS: dict[str, type[JobRequest]] = {name: _request(kind.ask()) for name, kind in KINDS.items() if kind.sent}
"""The body that each kind of job is asked for with."""
