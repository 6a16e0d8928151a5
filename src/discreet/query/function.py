"""What can be computed, as people write it: every list of functions is made from this register.

A class of outputs says on itself how each of its functions is written (`functions`), and is registered once. The
command line, SQL, JSON, the pages' forms, completion, help and messages go through the register.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol, TypeVar

from discreet.errors import InputError

__all__ = [
    "Argument",
    "Function",
    "OutputKind",
    "Sampled",
    "functions",
    "kind_of",
    "kinds",
    "listed_functions",
    "register",
]


@dataclass(frozen=True, slots=True)
class Argument:
    """What may stand after the column on the command line: `quantile(pay,0.9)`, `mean(pay,private)`.

    One that is not `required` is the word `example` or nothing.
    """

    field: str
    example: str
    words: str = ""
    required: bool = False
    usual: str = ""
    """What a form takes where nothing is filled in."""
    read: Callable[[str], Any] = str
    column: bool = False
    """Whether it is another column, or an expression."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """How one function is written, by whom, and of which columns it may be asked."""

    name: str
    """On the command line, in forms, and as `of` in JSON."""
    call: str
    """In Python, such as total()."""
    words: str
    """On pages, before the name of a column."""
    column: Literal["none", "optional", "required"] = "required"
    takes: tuple[type, ...] = ()
    """Kinds of columns, those of `discreet.data.column`."""
    sql: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Names in SQL, each with the fields that it sets; the first is the one that messages show."""
    shown: tuple[str, ...] = ()
    """How messages show it in SQL, where a bare name would not say enough."""
    argument: Argument | None = None
    label: Callable[[Any], str] | None = None
    """What an output without a name is called, if not by the function's name."""
    listed: bool = True
    """Whether people are offered it; if not, only Python and JSON have it."""
    place: int = 1000
    """Where it stands in lists."""

    def written(self, column: str = "", argument: str = "") -> str:
        """The way the command line and the API write it.

        >>> Function(name="sum", call="total()", words="sum of").written("pay")
        'sum(pay)'
        """
        if not column:
            return self.name
        if self.argument is not None and self.argument.required:
            return f"{self.name}({column},{argument or self.argument.usual})"
        return f"{self.name}({column})"

    @property
    def sql_words(self) -> tuple[str, ...]:
        """How messages show it in SQL; nothing if SQL has no word for it."""
        return self.shown or tuple(self.sql)[:1]


class OutputKind(Protocol):
    """A class of outputs: how it is written, and how it is read from JSON and SQL."""

    functions: ClassVar[tuple[Function, ...]]

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Any:
        """The output that JSON values stand for, whose `of` is one of the functions."""

    @classmethod
    def read_sql(cls, node: Any, scope: Any) -> Any:
        """The output that a parsed piece of SQL stands for; None if it is none of these.

        `scope` is the `discreet.query.sql.Scope` that it is read in.
        """

    def limited(self, who: str, rows: str) -> tuple[str, str] | None:
        """What the limit of so many rows for each `who` does to it: a kind of note, and its text."""


class Sampled:
    """What outputs of one column have that count rows of each person which are drawn at random."""

    __slots__ = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns and expressions it is of."""
        return (self.column,)  # type: ignore[attr-defined]  # which all of them have

    def limited(self, who: str, rows: str) -> tuple[str, str]:
        """What the limit of so many rows for each `who` does to it: a kind of note, and its text."""
        return "sampled", f"Each {who} counts with at most {rows} in a group, picked at random."


_REGISTERED: dict[str, type[OutputKind]] = {}
_Kind = TypeVar("_Kind", bound=type)


def register(kind: _Kind) -> _Kind:
    """Make the functions of a class known, under names that no other class has."""
    declared: tuple[Function, ...] = kind.functions  # type: ignore[attr-defined]  # every `OutputKind` has them
    for function in declared:
        if function.name in _REGISTERED:
            raise InputError("functions", function.name, "a name that no other class of outputs has")
    _REGISTERED.update({function.name: kind for function in declared})
    return kind


def functions() -> list[Function]:
    """All functions, in the order of lists."""
    found = [function for kind in kinds() for function in kind.functions]
    return sorted(found, key=lambda function: function.place)


def listed_functions() -> dict[str, Function]:
    """The functions that people are offered, by name.

    >>> list(listed_functions())[:7]
    ['count', 'people', 'distinct', 'sum', 'mean', 'variance', 'std']
    """
    return {function.name: function for function in functions() if function.listed}


def kinds() -> list[type[OutputKind]]:
    """All classes of outputs, in the order of their first functions."""
    for room in ("aggregate", "modes", "quantile"):  # where they are: each registers itself
        importlib.import_module(f"discreet.query.{room}")
    found = dict.fromkeys(_REGISTERED.values())
    return sorted(found, key=lambda kind: min(function.place for function in kind.functions))


def kind_of(name: object) -> type[OutputKind]:
    """The class that has the function of this name."""
    kinds()
    if not isinstance(name, str) or name not in _REGISTERED:
        raise InputError("outputs", name, "a function", among=[function.name for function in functions()])
    return _REGISTERED[name]
