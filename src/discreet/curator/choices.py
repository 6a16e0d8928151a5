"""Jobs that choose: the best of some options by a private score."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from discreet.core.exact import Number
from discreet.core.signature import typed
from discreet.curator.desk import Desk
from discreet.curator.draft import Draft
from discreet.curator.question import Question
from discreet.data.expression import Expression
from discreet.query.predicate import Predicate
from discreet.query.question import Query

if TYPE_CHECKING:
    from discreet.core.release import Release

__all__ = ["ChoosingJobs"]


class ChoosingJobs:
    """The verb of a curator for choices."""

    desk: Desk

    @typed
    def choose(
        self,
        options: Iterable[Any] | None = None,
        *,
        score: str | Expression | Query | Question,
        bound: Number | None = None,
        where: str | Predicate | Expression | None = None,
    ) -> Draft[Release]:
        """The option with the highest score, as far as noise allows; no score is told: docs/guides/choices.md.

        `score` is a column, whose most common value is sought among `options` (its declared values unless given); what
        one row adds to an option's score, an expression in which `option` stands for it, such as
        "CASE WHEN bid >= option THEN option ELSE 0 END"; or a question by one key with one count or sum, whose groups
        are the options. `bound` is what one row adds or takes at most, where its expression could more. `plan` says how
        far behind the best the choice may be, and from how many rows on; it takes a `method`: permute-and-flip where
        epsilon is counted, exponential where rho is, unless said otherwise.
        """
        from discreet.query.choose_ask import ChooseAsk

        about = score.query if isinstance(score, Question) else score
        return Draft.of(self.desk, ChooseAsk.of(about, options, bound, where))
