"""What a program may send: a question as text or SQL, its price, and where it goes."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictFloat, StrictStr, model_validator

from discreet.apps.server.limits import check_amount, check_key, check_lists, check_sql
from discreet.core.release import Release
from discreet.curator import Curator
from discreet.curator.offer import Offer
from discreet.curator.question import read_question
from discreet.errors import InputError, Phrase
from discreet.query.notation import read_key

__all__ = ["Amount", "Plain", "QuestionRequest", "ReleaseRequest"]

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
    """A question and its price. Give `sql`, a `query` in its JSON form, `outputs` with `by` and `where`, or `top`."""

    sql: Text | None = None
    query: dict[str, Any] | None = None
    outputs: Annotated[list[Text], Field(max_length=100)] | None = None
    by: Annotated[list[Text], Field(max_length=20)] | None = None
    where: Text | None = None
    top: Text | None = None
    k: Annotated[int, Field(ge=1, le=10_000)] = 10
    epsilon: Amount = None
    rho: Amount = None
    share: Amount = None
    within: Amount = None
    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.95
    noise: str = "auto"
    delta: Amount = None
    allotment: str | None = None

    def offer(self, curator: Curator) -> Offer[Release]:
        """The plan, priced; nothing is read and nothing is spent."""
        price: dict[str, Any] = {
            name: getattr(self, name)
            for name in ("epsilon", "rho", "share", "within", "confidence", "noise", "delta", "allotment")
        }
        if self.sql is None and self.query is None:
            for text in (*(self.by or ()), *([] if self.top is None else [self.top])):
                check_key(read_key(text, curator.schema), curator.schema)
            return read_question(curator.desk, self.outputs, self.by, self.where, (self.top, self.k)).plan(**price)
        if self.outputs or self.by or self.where or self.top or (self.sql and self.query):
            raise InputError(
                "sql", Phrase("one beside other fields"), "the only field of a question", "A statement says it all."
            )
        if self.sql is None:
            check_lists(self.query, "query", curator.schema)
            return curator.question(self.query or {}).plan(**price)
        check_sql(self.sql, curator.schema)
        return curator.sql(self.sql).plan(**price)


class ReleaseRequest(QuestionRequest):
    """A question to be answered: `release` is an id of the caller's choice, under which asking again is free."""

    release: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    why: Annotated[str, Field(max_length=1000)] = ""
