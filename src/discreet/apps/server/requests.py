"""What a program may send: a question as text or SQL, or a job, whose model is made from the fields of its ask.

Everything is plain values: no path is opened, no code is taken, and what would fill the machine is refused.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictFloat,
    StrictStr,
    create_model,
    field_validator,
    model_validator,
)

from discreet.apps.server.limits import (
    WORK,
    check_amount,
    check_asked,
    check_draft,
    check_key,
    check_lists,
    check_rows,
    check_sql,
    read_questions,
)
from discreet.core.exact import as_written
from discreet.core.explanation import largest_error
from discreet.core.release import Release
from discreet.curator import KINDS, Curator
from discreet.curator.offer import Offer
from discreet.curator.question import Question, read_question, with_limits
from discreet.curator.request import read_how
from discreet.data.expression.domain import metered
from discreet.errors import InputError, Phrase
from discreet.ledger.door import Answer
from discreet.ledger.outcome import Outcome
from discreet.query.ask import Ask, Option, check_subject, options
from discreet.query.combination import MOST_COMBINATIONS
from discreet.query.forms import AMOUNT
from discreet.query.notation import read_key
from discreet.query.price import amount_within

__all__ = [
    "REQUESTS",
    "Amount",
    "JobRequest",
    "MapRequest",
    "Plain",
    "PublishRequest",
    "QuestionRequest",
    "ReleaseRequest",
]

Text = Annotated[str, Field(max_length=10_000)]
Amount = Annotated[
    StrictStr | StrictFloat | None,
    Field(description="A number, or text such as '1/3' that is read exactly."),
    AfterValidator(check_amount),
]


class Plain(BaseModel):
    """Plain values and no others: what is not expected is refused, and so is text that cannot be written down."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _writable(cls, sent: Any) -> Any:
        try:
            json.dumps(sent, ensure_ascii=False, default=str).encode()
        except (UnicodeEncodeError, RecursionError):
            raise ValueError("made of whole characters") from None
        return sent


class QuestionRequest(Plain):
    """A question and its price. Give `sql`, a `query` in its JSON form, `outputs` with `by` and `where`, or `top`.

    Beside `by`, `groups` are the only combinations of the keys' values that count; `listing` asks for the groups alone.
    With `within`, `at_rows` says how many rows a group is taken to have at least: 100, 1000 or 10000. The error of a
    mean depends on it, and is then within that in groups of so many rows.
    """

    sql: Text | None = None
    dialect: str = "duckdb"
    query: dict[str, Any] | None = None
    outputs: Annotated[list[Text], Field(max_length=100)] | None = None
    by: Annotated[list[Text], Field(max_length=20)] | None = None
    groups: Annotated[list[Text | list[Any]], Field(max_length=MOST_COMBINATIONS)] | None = None
    listing: bool = False
    where: Text | None = None
    top: Text | None = None
    k: Annotated[int, Field(ge=1, le=10_000)] = 10
    limits: dict[str, int | None] | None = None
    epsilon: Amount = None
    rho: Amount = None
    share: Amount = None
    within: Amount = None
    at_rows: Annotated[int, Field(ge=1)] | None = None
    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.95
    noise: str = "auto"
    delta: Amount = None
    allotment: str | None = None

    def offer(self, curator: Curator) -> Offer[Release]:
        """The plan, priced; nothing is read and nothing is spent."""
        with metered(WORK):
            return self._offer(curator) if self.at_rows is None else self._accurate(curator, self.at_rows)

    def _accurate(self, curator: Curator, rows: int) -> Offer[Release]:
        """The plan at the least price at which every error is within that, in groups of at least so many rows."""
        if self.within is None:
            raise InputError("at_rows", rows, "left out unless `within` names an accuracy")
        part = curator.allotment(self.allotment)

        def at(amount: Fraction) -> Offer[Release]:
            paid = {"within": None, "at_rows": None, part.currency: str(amount)}
            return self.model_copy(update=paid)._offer(curator)

        within = float(as_written(self.within, "within"))
        return at(amount_within(lambda amount: largest_error(at(amount).expected, rows), within, part))

    def _offer(self, curator: Curator) -> Offer[Release]:
        price: dict[str, Any] = {
            name: getattr(self, name)
            for name in ("epsilon", "rho", "share", "within", "confidence", "noise", "delta", "allotment")
        }
        return self.question(curator).plan(**price)

    def question(self, curator: Curator) -> Question:
        """What is asked, without its price."""
        if self.sql is None and self.query is None:
            for text in (*(self.by or ()), *([] if self.top is None else [self.top])):
                check_key(read_key(text, curator.schema), curator.schema)
            top = (self.top, self.k)
            asked = (self.outputs, self.by, self.where, top, self.limits, self.groups, self.listing)
            return read_question(curator.desk, *asked)
        beside = (self.outputs, self.by, self.where, self.top, self.groups, self.listing)
        if any(beside) or (self.sql and self.query):
            raise InputError(
                "sql", Phrase("one beside other fields"), "the only field of a question", "A statement says it all."
            )
        if self.sql is None:
            check_lists(self.query, "query", curator.schema)
            return with_limits(curator.question(self.query or {}), self.limits)
        check_sql(self.sql, curator.schema, self.dialect)
        return with_limits(curator.sql(self.sql, dialect=self.dialect), self.limits)


class ReleaseRequest(QuestionRequest):
    """A question to be answered: `release` is an id of the caller's choice, under which asking again is free."""

    release: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    why: Annotated[str, Field(max_length=1000)] = ""


class PublishRequest(Plain):
    """A release whose measurement is on record, and how to publish it again: `method`, `confidence`, `rows`, ..."""

    release: Annotated[str, Field(min_length=1, max_length=200)]
    how: Annotated[dict[str, Any], Field(max_length=10)] = {}

    def answer(self, curator: Curator, known: Outcome) -> Answer:
        """What it is then. Free. `BusyError` where its job is running: nobody waits for that in a turn at planning."""
        offer = curator.local.offer_of(self.release)
        offer.check_how(self.how)
        check_lists(self.how, "how", curator.declared)
        check_rows(self.how.get("rows"), offer.plan, known)
        return offer.answer(self.release, read_how(known, self.how, curator.declared), wait=False)


class MapRequest(Plain):
    """How to draw a hierarchy: shapes as GeoJSON or TopoJSON, the intervals shown first, other releases beside it."""

    geometry: dict[str, Any] | None = None
    code_property: Annotated[str, Field(max_length=200)] | None = None
    intervals: Literal["each", "typical"] = "each"
    label: Annotated[str, Field(max_length=200)] = ""
    compare: Annotated[dict[str, Annotated[str, Field(max_length=200)]], Field(max_length=8)] = {}

    @field_validator("geometry")
    @classmethod
    def _whole(cls, geometry: dict[str, Any] | None) -> dict[str, Any] | None:
        # Without a type it would be a source for each level, and a source may be a path: of this machine.
        if geometry is not None and "type" not in geometry:
            raise ValueError("GeoJSON or TopoJSON, with its type")
        return geometry


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
    priority: Annotated[
        Literal["high", "normal", "low"],
        Field(description="Jobs of a higher priority begin first. Only custodians give the highest."),
    ] = "normal"

    @property
    def kind(self) -> str:
        """The kind of job."""
        return self.ask.kind

    def offer(self, curator: Curator) -> Any:
        """The plan, priced; nothing is read and nothing is spent."""
        fields = options(self.ask)
        sent = {name: value for name in fields if (value := getattr(self, name, None)) is not None}
        check_subject(self.ask, curator.declared)
        check_asked(self.ask, sent, curator.declared)
        if self.kind == "batch":
            sent["questions"] = read_questions(sent["questions"], curator.schema)
        draft = curator.ask(self.ask.from_dict(sent, curator.declared))
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
