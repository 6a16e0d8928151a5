"""What plans of questions say of themselves, in parts that several of them share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from discreet.core.explanation import Explanation

if TYPE_CHECKING:
    from discreet.query.question_ask import Planned

__all__ = ["explained", "rows_published"]


def explained(plan: Planned, shape: Iterable[str], notes: Iterable[str], steps: Iterable[str] = ()) -> Explanation:
    """The plan of a question: which rows there will be, how, and what an answer is off by beside its noise."""
    facts: dict[str, Any] = {"groups": plan.groups}
    return Explanation(
        title=f"Plan for {plan.dataset!r}",
        unit=str(plan.schema.unit),
        shape=tuple(shape),
        errors=tuple(plan.expected()),
        confidence=plan.confidence,
        steps=tuple(steps),
        notes=tuple(dict.fromkeys(notes)),
        facts=facts,
    )


def rows_published(groups: int) -> str:
    """Which rows there will be where groups are public."""
    many = "1 row" if groups == 1 else f"{groups:,} rows, one for each group, empty ones too"
    return f"Releases {many}."
