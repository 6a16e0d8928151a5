"""What is asked of private data: frozen plain values, to and from JSON, with no data in them.

A kind of job describes itself once, as a class of fields. The curator, the command line, the HTTP API, its client and
the pages read from it what may be said, how it is written, and what it is for.

    @frozen
    class CountAsk(Ask):
        kind = "count"
        column: str = option(TEXT, help="The column to count.")
        where: Condition = option(CONDITION, None, help="Which rows count.")

        def checked(self, schema: Schema) -> CheckedCount: ...
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar, cast

import attrs
from attrs import NOTHING, frozen

from discreet.core.unit import Protected
from discreet.data.schema import Schema
from discreet.errors import MISSING, InputError, kind_of
from discreet.ledger.budget import Allotment, Budget
from discreet.ledger.door import Answer
from discreet.query.key import keys_of
from discreet.query.price import Price, plan_within

__all__ = [
    "SUBJECTS",
    "Ask",
    "Checked",
    "Described",
    "Form",
    "Option",
    "check_subject",
    "option",
    "options",
    "read_file",
]

Made_co = TypeVar("Made_co", covariant=True)


def _keep(value: Any) -> Any:
    return value


def _as_sent(value: Any, schema: Schema) -> Any:
    return value


@frozen
class Form:
    """How the values of a field are written: in Python, as JSON, and on a command line."""

    wire: Any
    """What JSON holds, as a type that pydantic reads."""
    settle: Callable[[Any], Any] = _keep
    """The one value that is kept, from what Python gives."""
    write: Callable[[Any], Any] = _keep
    """The value as JSON."""
    read: Callable[[Any, Schema], Any] = _as_sent
    """What Python would have given, from JSON. Nothing that a caller sends is ever taken for a path."""
    parse: Callable[[Any], Any] = _keep
    """The JSON, from a text that a person typed; from a list of texts if `repeated`."""
    text: type = str
    """What a command line takes: text, a whole number, a number, or a switch."""
    repeated: bool = False
    load: Callable[[str], Any] | None = None
    """The JSON, from the path of a public file, where a command line takes that instead of the text itself."""
    code: Callable[[str], Any] | None = None
    """The object of Python that a text stands for, where it is typed by who may run it: on a command line alone."""
    keyed: bool = False
    """Whether the values are keys: what is wrong with one is said of the field."""


def read_file(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """What a text file holds, parsed."""

    def load(path: str) -> Any:
        try:
            return parse(Path(path).read_text(encoding="utf-8-sig"))
        except OSError:
            raise InputError("file", path, "a text file that exists") from None
        except UnicodeDecodeError:
            raise InputError("file", path, "a text file in UTF-8") from None

    return load


@frozen
class Option:
    """One field of an ask: how it is written, and what it is for."""

    name: str
    form: Form
    default: Any
    help: str
    flags: tuple[str, ...] = ()
    """Its names on a command line, if they are others."""
    choices: tuple[str, ...] = ()
    """Words to offer."""
    names_columns: bool = False
    """Whether names of columns are offered."""
    late: bool = False
    """Whether it is said with the price: how something is released, rather than what."""
    needed: bool = False
    """Whether it has to be said although it is late, and so has a default in Python."""
    here_only: bool = False
    """Whether it has no JSON: objects of Python, files of this machine."""
    shell: bool = True
    """Whether a command line takes it."""
    passing: bool = False
    """Whether it is only checked beforehand: it decides nothing of what is released, and stands on no record."""

    @property
    def required(self) -> bool:
        """Whether it has to be said."""
        return self.needed or self.default is NOTHING


def option(form: Form, default: Any = NOTHING, *, help: str, kw_only: bool = False, **more: Any) -> Any:
    """A field of an ask."""

    def settled(value: Any) -> Any:
        return None if value is None else form.settle(value)

    said = {"form": form, "help": help, **more}
    return attrs.field(default=default, converter=settled, kw_only=kw_only, metadata={"option": said})


def options(ask: type[Ask]) -> dict[str, Option]:
    """The fields of a kind of ask, by name."""
    listed = attrs.fields(ask)
    return {one.name: Option(name=one.name, default=one.default, **one.metadata["option"]) for one in listed}


SUBJECTS = {"table": "a table", "grid": "the loads of a power grid", "values": "private numbers"}
"""What a dataset may be, in words."""
WAYS = {
    "table": "",
    "grid": "Its loads are released by `discreet loads`.",
    "values": "They are released by `discreet hide`.",
}
"""How what is no table is released, for whoever asks a question about it."""


class Described(Protocol):
    """What is declared about a dataset, whatever it is."""

    @property
    def name(self) -> str:
        """Its name on the ledger."""
        ...

    @property
    def subject(self) -> str:
        """What it is: `table`, `grid` or `values`."""
        ...

    @property
    def unit(self) -> Protected:
        """What is protected."""
        ...

    @property
    def digest(self) -> str:
        """A fingerprint of everything declared."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        ...


def check_subject(ask: Ask | type[Ask], schema: Described) -> None:
    """Refuse a job about something else than what a schema declares."""
    if ask.subject != schema.subject:
        allowed = f"{SUBJECTS[ask.subject]}: this one is {SUBJECTS[schema.subject]}"
        raise InputError("dataset", schema.name, allowed, f"Nothing was spent. {WAYS[schema.subject]}".rstrip())


class Checked(Generic[Made_co]):
    """An ask that was read against a schema: everything that can be wrong with it was said. It can be priced."""

    __slots__ = ()

    @property
    def remarks(self) -> tuple[str, ...]:
        """What else is to be said beside the plan."""
        return ()

    @abstractmethod
    def plan(self, allotment: Allotment, price: Price) -> Any:
        """The plan at a price that is stated as a loss or as a share."""

    @abstractmethod
    def read(self, answer: Answer, cost: str, remaining: str) -> Made_co:
        """The release that an answer holds; cost and what is left are in words."""

    def priced(self, allotment: Allotment, price: Price | None) -> Any:
        """The plan at a price, which may be an accuracy. None stands for a price that follows from the ask."""
        if price is None:
            raise InputError("price", MISSING, "exactly one of epsilon, rho, share, within")
        return plan_within(price, allotment, lambda paid: self.plan(allotment, paid))


@frozen(eq=False)
class Ask:
    """A job that is asked for, without its price."""

    kind: ClassVar[str]
    subject: ClassVar[str] = "table"
    """What it is about, as the schema of a dataset says it: a table, or a power grid."""
    prices: ClassVar[tuple[str, ...]] = ("epsilon", "rho", "share", "within", "confidence")
    """The words in which its price may be said."""

    @classmethod
    def of(cls, *given: Any, **fields: Any) -> Self:
        """The ask, of values in any form that its fields take."""
        return cls(*given, **fields)

    @abstractmethod
    def checked(self, schema: Any) -> Checked[Any]:
        """The same, read against a schema. Every error comes from here, before anything is spent."""

    def paying(self, budget: Budget, name: str | None) -> Allotment:
        """The allotment that pays: the one of that name, or the only one."""
        return budget.allotment(name)

    def price(self, **words: Any) -> Price | None:
        """What a person is ready to pay for it, in the words that it may be said in."""
        usual = {"confidence": 0.95, "noise": "auto"}
        for word, value in words.items():
            if word not in self.prices and value != usual.get(word):
                raise InputError(word, value, "left out", f"Give the price as {' or '.join(self.prices)}.")
        return Price.read(**{word: value for word, value in words.items() if word in self.prices})

    def with_terms(self, terms: Mapping[str, Any]) -> Self:
        """The same, with what is said beside the price."""
        late = [name for name, one in options(type(self)).items() if one.late]
        if unknown := [name for name in terms if name not in late]:
            raise InputError.unknown(unknown[0], [*self.prices, "allotment", *late])
        return attrs.evolve(self, **terms) if terms else self

    def to_dict(self) -> dict[str, Any]:
        """As JSON values: what differs from the defaults."""
        found = {}
        for name, one in options(type(self)).items():
            value = getattr(self, name)
            if value is one.default or (value == one.default) is True:
                continue
            if one.here_only:
                raise InputError(name, kind_of(value), "left out where a job is sent elsewhere: it has no JSON")
            found[name] = None if value is None else one.form.write(value)
        return found

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any], schema: Described) -> Self:
        """From JSON values."""
        check_subject(cls, schema)
        known = {name: one for name, one in options(cls).items() if not one.here_only}
        if unknown := [name for name in entry if name not in known]:
            raise InputError.unknown(f"{cls.kind}.{unknown[0]}", known)
        if missing := [name for name, one in known.items() if one.required and name not in entry]:
            raise InputError(missing[0], MISSING, f"given: {known[missing[0]].help}".rstrip("."))
        given, declared = {}, cast("Schema", schema)  # forms that look at it are those of asks about tables
        for name, value in entry.items():
            form = known[name].form
            with keys_of(name if form.keyed else "group_by"):
                given[name] = None if value is None else form.read(value, declared)
        return cls(**given)
