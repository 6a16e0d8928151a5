"""Population groups as people declare them: a name and a condition each. A row may be in several of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.data.expression import Call, Constant, Expression, read_expression
from discreet.data.schema import Schema
from discreet.errors import InputError, Phrase, kind_of
from discreet.query.ask import Form

__all__ = ["GROUPS", "check_name", "members_of", "named_in"]

MOST = 500
_EXAMPLE = '{"white": "race = \'white\'"}'


def named_in(texts: list[str], field: str, example: str) -> dict[str, str]:
    """NAME: TEXT, one each."""
    found: dict[str, str] = {}
    for text in texts:
        name, sign, rest = (part.strip() for part in text.partition(":"))
        if not (name and sign and rest):
            raise InputError(field, text, f"NAME: and what it is, such as {example}")
        if name in found:
            raise InputError(field, name, "a list with each name once")
        found[name] = rest
    return found


def check_name(name: Any, field: str) -> None:
    """Refuse a name that no table can show."""
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise InputError(field, name, "named by printable text")


def _settle(value: Any) -> Any:
    if not isinstance(value, Mapping):
        raise InputError("groups", kind_of(value), f"a condition for each group by name: {_EXAMPLE}")
    return {name: str(one) if isinstance(one, Expression) else one for name, one in value.items()}


GROUPS = Form(
    dict[str, str],
    settle=_settle,
    write=dict,
    parse=lambda texts: named_in(texts, "groups", "\"white: race = 'white'\""),
    repeated=True,
)
"""A condition for each of some groups by name."""


def members_of(groups: Mapping[str, str], schema: Schema) -> tuple[str, ...]:
    """For each group the expression that has a value in the rows that are in it, and in no others."""
    if not groups or len(groups) > MOST:
        raise InputError("groups", Phrase(f"{len(groups):,} groups"), f"from 1 to {MOST} groups")
    found = []
    for name, condition in groups.items():
        check_name(name, "groups")
        field = f"groups.{name}"
        if not isinstance(condition, str) or not condition.strip():
            raise InputError(field, condition, "a condition on rows, such as \"race = 'white'\"")
        try:
            if schema.domain(schema.canonical(condition, field), field).kind != "boolean":
                raise InputError(field, condition, "a condition, which is true or false in every row")
            inside = Call("case", (read_expression(condition), Constant(1), Constant(None)))
            found.append(schema.canonical(str(inside), field))
        except InputError as problem:
            raise problem.about(field) from None
    return tuple(found)
