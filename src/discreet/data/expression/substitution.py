"""Expressions in which names stand for other expressions."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.data.expression.node import Call, Expression, Name

__all__ = ["substituted"]


def substituted(expression: Expression, names: Mapping[str, Expression]) -> Expression:
    """The same, with these expressions in place of the names they are given for.

    >>> from discreet.data.expression.node import Constant
    >>> substituted(Call("add", (Name("age"), Name("more"))), {"more": Constant(1)})
    age + 1
    """
    match expression:
        case Name(name):
            return names.get(name, expression)
        case Call(function, arguments):
            return Call(function, tuple(substituted(each, names) for each in arguments))
    return expression
