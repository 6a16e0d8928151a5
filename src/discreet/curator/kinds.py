"""The kinds of job there are. What is in this table can be read again, listed and shown wherever releases are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from discreet.core.release import Release
from discreet.curator.release_id import full_id
from discreet.errors import InputError, MissingExtraError

if TYPE_CHECKING:  # to list the kinds, no ledger is loaded
    from discreet.ledger.door import Answer
    from discreet.ledger.ledger import Ledger
    from discreet.ledger.outcome import Outcome

__all__ = ["KINDS", "Kind", "kind_of", "read_outcome", "read_release", "table_of"]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of job: what it is called, and what reads its releases (`module:name`, imported when it is used)."""

    name: str
    noun: str
    reader: str
    asker: str
    """The class of its ask."""
    marks: tuple[str, ...]
    """Names that only the recorded ask of this kind has, by which records of 0.1 and 0.2 are told apart."""
    long: bool = False
    """Whether it runs in the background wherever that is possible."""
    version: int = 1
    """The latest form of its records that is read here."""
    needs: tuple[str, str] = ("", "")
    """The extra, and its module, that reading needs."""
    sent: bool = True
    """Whether it is asked for by its fields; questions have ways of their own."""

    def ask(self) -> Any:
        """The class of its ask."""
        return _named(self.asker)

    def read(self, answer: Answer, cost: str, remaining: str) -> Any:
        """The release that an answer holds."""
        if answer.version > self.version:
            allowed = f"a {self.noun} in form {self.version} at most: this one is in form {answer.version}"
            raise InputError("release", answer.release, allowed, "A later version of discreet recorded it.")
        extra, module = self.needs
        if module and find_spec(module) is None:
            raise MissingExtraError(extra, module)
        return _named(self.reader)(answer, cost, remaining)

    def prepare(self) -> None:
        """Before a run, in a process that is ours alone: programs that its libraries compile are kept for the next."""
        if self.needs == _JAX and find_spec("jax") is not None:
            _named("discreet.learn.programs:keep_programs")()


def _named(text: str) -> Any:
    """What `module:name` stands for, imported when it is used."""
    place, _, name = text.partition(":")
    found: Any = import_module(place)
    for part in name.split("."):
        found = getattr(found, part)
    return found


_TABLE, _TABLES = "discreet.query.release:read_table", "discreet.query.release:tables"
_MODEL = "discreet.learn.release:ModelRelease.read"
_COMMUTE = "discreet.flows.commuting.release:CommuteRelease.read"
_JAX = ("learn", "jax")
_QUESTION = "discreet.query.question_ask:QuestionAsk"
_LOADS = "discreet.power.release:HiddenLoads.read"
_HIDDEN = "discreet.constraints.hidden:HiddenValues.read"
_TREE = "discreet.trees.release:TreeRelease.read"
_DETAIL = "discreet.trees.detail.release:DetailRelease.read"
_CENSUS = "discreet.trees.census:CensusAsk"
_SYNTH = "discreet.synth.release:SyntheticRelease.read"
KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("question", "table", _TABLE, _QUESTION, ("outputs",), sent=False),
        Kind("top", "table", _TABLE, _QUESTION, ("top",), sent=False),
        Kind("choose", "choice", _TABLE, "discreet.query.choose_ask:ChooseAsk", ("choose",)),
        Kind("batch", "set of tables", _TABLES, "discreet.query.batch:BatchAsk", ("batch",)),
        Kind("stream", "period of a stream", _TABLE, "discreet.query.stream:StreamAsk", ("stream",)),
        Kind("tree", "hierarchy", _TREE, "discreet.trees.ask:TreeAsk", ("tree",), long=True, version=2),
        Kind("detail", "table of groups", _DETAIL, "discreet.trees.detail.ask:DetailAsk", ("detail",), long=True),
        Kind("census", "census", "discreet.trees.census:CensusRelease.read", _CENSUS, ("census",), long=True),
        Kind("flows", "set of flows", _TABLES, "discreet.flows.mobility.ask:FlowsAsk", ("mobility",), long=True),
        Kind(
            "commute",
            "synthetic commuting table",
            _COMMUTE,
            "discreet.flows.commuting.ask:CommuteAsk",
            ("commute",),
            long=True,
            version=2,
        ),
        Kind("synth", "synthetic table", _SYNTH, "discreet.synth.ask:SynthAsk", ("synth",), long=True, version=3),
        Kind(
            "relations",
            "set of synthetic parents and child rows",
            "discreet.synth.relations.release:RelationsRelease.read",
            "discreet.synth.relations.ask:RelationsAsk",
            ("relations",),
            long=True,
            version=2,
        ),
        Kind(
            "train",
            "trained model",
            _MODEL,
            "discreet.learn.ask:TrainAsk",
            ("train",),
            long=True,
            version=2,
            needs=_JAX,
        ),
        Kind("search", "trained model", _MODEL, "discreet.learn.ask:SearchAsk", ("search",), long=True, needs=_JAX),
        Kind("hidden", "set of numbers", _HIDDEN, "discreet.constraints.hidden:HideAsk", ("hidden",), long=True),
        Kind("loads", "set of loads", _LOADS, "discreet.power.ask:LoadsAsk", ("alpha_mw",), long=True),
    )
}
"""Every kind of job, by name."""


def kind_of(query: Any, recorded: str = "") -> Kind | None:
    """The kind of job that a release belongs to; None if it is none that is read here.

    `recorded` is the kind that its records name. Those before 0.2 name none: then what was asked tells.
    """
    if recorded:
        return KINDS.get(recorded)
    if isinstance(query, Mapping):
        for kind in KINDS.values():
            if any(mark in query for mark in kind.marks):
                return kind
    return None


def read_release(
    ledger: Ledger, release: str, *, dataset: str | None = None, part: str = "", kind: str | None = None
) -> Any:
    """A release from a ledger, by its id or the beginning of it, read again for free; with `part`, a table of it.

    It may be of any kind, or, if `kind` names one, must be what that kind makes.
    """
    known = ledger.find(full_id(ledger, release, dataset=dataset))
    if known is None:  # a release that is stored stays so
        raise InputError("release", release, "the id of a stored release")
    made = kind_of(known.charged.query, known.kind)
    if kind is not None and (made is None or made.noun != KINDS[kind].noun):
        hint = "" if made is None else f"It is a {made.noun}: discreet releases show {release}."
        raise InputError("release", release, f"the id of a {KINDS[kind].noun}", hint)
    whole = read_outcome(ledger, known)
    return table_of(whole, part) if part else whole


def table_of(whole: Any, part: str, field: str = "part") -> Any:
    """The table of a name of a release that has several; `field` is what the name was given as."""
    tables = whole.tables()
    if part not in tables:
        named = [name for name in tables if name]
        if not named:
            raise InputError(field, part, "left out: this release has no tables with names")
        raise InputError(field, part, among=named)
    return tables[part]


def read_outcome(ledger: Ledger, known: Outcome) -> Any:
    """The release that a recorded answer holds."""
    from discreet.ledger.door import stored
    from discreet.ledger.quote import Quote

    answer, kind = stored(known), kind_of(known.charged.query, known.kind)
    if kind is None:
        hint = "Estimators keep what they fitted themselves." if answer.query else ""
        raise InputError("release", answer.release, "a release of a kind that can be read here", hint)
    standing = {one.allotment.name: one for one in ledger.standing(answer.dataset)}
    if answer.allotment not in standing:
        raise InputError("allotment", answer.allotment, among=list(standing))
    paid = Quote(standing[answer.allotment].allotment, answer.charge, standing[answer.allotment].left)
    return _coded(kind.read(replace(answer, price=paid.price), paid.cost, paid.remaining))


def _coded(whole: Any) -> Any:
    """A release of questions with the code that asks each; any other as it is."""
    from discreet.query.code import with_python  # only what is read again is shown with code

    if isinstance(whole, Release):
        return with_python(whole)
    if isinstance(whole, dict):
        return type(whole)({name: with_python(table) for name, table in whole.items()})
    return whole
