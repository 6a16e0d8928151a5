"""What every plan of a question says of itself in the same way: what was asked, what it reads, what it is known by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from discreet.core.digest import digest_of
from discreet.data.schema import Schema
from discreet.query.fit import columns_read
from discreet.query.table_plan import TablePlan

__all__ = ["QuestionPlan"]


class _Asked(Protocol):
    @property
    def question(self) -> Any: ...
    @property
    def schema(self) -> Schema: ...
    @property
    def confidence(self) -> float: ...
    @property
    def query(self) -> dict[str, Any]: ...
    @property
    def law(self) -> Mapping[str, Any]: ...


class QuestionPlan(TablePlan):
    """A plan with a `question`, a `confidence`, and a `law`: plain values of what else decides its law."""

    __slots__ = ()

    @property
    def query(self: _Asked) -> dict[str, Any]:
        """The question as plain values, for the record."""
        asked: dict[str, Any] = self.question.to_dict()
        return asked

    @property
    def digest(self: _Asked) -> str:
        """A hash of everything that decides the law of the result."""
        head = {"schema": self.schema.to_dict(), "query": self.query}
        return digest_of({**head, **self.law, "confidence": self.confidence})

    @property
    def columns(self: _Asked) -> list[str]:
        """The columns of the data it reads."""
        return columns_read(self.question, self.schema)
