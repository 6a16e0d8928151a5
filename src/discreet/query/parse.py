"""Conditions written as people write them: "age >= 18 and county in ('Ash', 'Elm')", "cost * hours > 100".

The text is parsed as SQL and read through an allow-list; what is not on it is refused with a pointer to the place. The
text itself never reaches an engine.
"""

from __future__ import annotations

from discreet.data.expression import read_expression
from discreet.query.predicate import Predicate, condition_of

__all__ = ["parse_condition"]


def parse_condition(text: str) -> Predicate:
    """The condition a text stands for.

    >>> parse_condition("age >= 18")
    Compare(column='age', operator='>=', value=18)
    """
    return condition_of(read_expression(text, "where"))
