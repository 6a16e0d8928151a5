"""What would keep the machine of a server busy for long is refused before it is planned: planning is free."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from fractions import Fraction
from math import prod
from typing import Any, cast

from discreet.core.exact import as_written
from discreet.core.packing import unpack
from discreet.curator import Draft
from discreet.data.column import Date, Integer, Real, Timestamp
from discreet.data.schema import Schema
from discreet.data.text import check_dialect, read_constant, read_statement
from discreet.errors import InputError, Phrase
from discreet.ledger.outcome import Outcome
from discreet.query.ask import Ask, Described, options
from discreet.query.batch import QUESTIONS
from discreet.query.key import MOST_GROUPS, Key, bins, keys_of
from discreet.query.notation import read_key
from discreet.query.question import Query
from discreet.query.question_ask import QUERY, AnyQuery
from discreet.query.sql_privacy import read_private
from discreet.synth.plan import SynthPlan
from discreet.synth.relations.plan import RelationsPlan
from discreet.trees.release import TreeRelease

__all__ = [
    "BINS",
    "CELLS",
    "LABELS",
    "LARGEST",
    "STEPS",
    "WORK",
    "check_amount",
    "check_asked",
    "check_decided",
    "check_draft",
    "check_fed",
    "check_key",
    "check_lists",
    "check_replicates",
    "check_rows",
    "check_simulated",
    "check_sql",
    "read_questions",
]

BINS = 10_000
"""Bins of one key, and values or edges in one list of a question."""
LABELS = 100_000
"""Bins and values of all keys of a batch: reading and pricing take time that grows with them."""
LARGEST = 10**18
"""A price, an error or a rate beyond this is a slip of the pen."""
STEPS = 100_000
"""The most steps of a training run, or of all candidates: pricing takes time that grows with them, and is free."""
_PERSON_ROWS = 64  # of a person that count in training
CELLS = 2_000_000
"""The most cells, rows by columns, that are drawn anew from what was measured: that is free."""
_ROWS = 10  # times the rows of a release, and no more, are drawn anew from it
_DIGITS = 100
_TEXT = 10_000  # characters of one text
_NUMBERS = 4_000_000  # of a hierarchy
_REPLICATED = 4_000_000  # numbers of all replicates of a hierarchy: some tens of seconds
_RETRIALS = 5  # times at least a hierarchy is made again for what is said of decisions by it
_DRAWS = 16  # of a plan that is tried out, unless said
_SEARCHED = 100_000  # numbers of a job priced by accuracy: that takes some twenty plans
_FED = 2_000  # loads and buses of a grid, or hidden numbers, of a job priced so: each of those plans solves a problem
WORK = 1_000_000  # pieces of expressions computed for a question, some seconds of work
_QUESTIONS = 100  # of a batch: each is planned alone
_OUTPUTS = 1_000  # of all questions of a batch
_WIDEST = 1024  # units of a layer
_LAYERS = 4
_FREE = "Nothing was spent."
_FORM = re.compile(r"[^{}]*\{(:0?[0-9]{0,2}d?)?\}[^{}]*")  # a place for a number, and no more than that


def check_key(key: Key, schema: Schema) -> Key:
    """The key, unless its bins are too many: settled from the bounds, before a bin is made."""
    if key.edges is None or len(key.edges) != 2 or key.edges[0] not in ("width", "every"):
        return key
    column = schema.column(key.column, "group_by")
    how, size = key.edges
    if isinstance(column, Timestamp):
        if len(key.checked(schema).edges or ()) > BINS + 1:
            raise InputError(f"bins.{how}", size, f"at most {BINS:,} bins over HTTP", _FREE)
        return key
    if not isinstance(column, (Integer, Real, Date)) or (how == "every" and size != "day"):
        return key
    span = Fraction((column.upper - column.lower).days) if isinstance(column, Date) else column.upper - column.lower
    step = as_written(1 if how == "every" else size, "bins.width")
    if step > 0 and span / step > BINS:
        raise InputError(f"bins.{how}", size, f"at most {BINS:,} bins over HTTP", _FREE)
    return key


def check_sql(text: str, schema: Schema, dialect: str = "duckdb") -> None:
    """The same for every BIN(column, width) of a text; `InputError` where it is no SQL."""
    check_dialect(dialect)
    for node in read_statement(read_private(text, schema, dialect).text, dialect=dialect).walk():
        if type(node).__name__ != "Anonymous" or str(node.this).upper() != "BIN" or len(node.expressions) != 2:
            continue
        column, width = node.expressions
        if column.name in schema.columns:
            check_key(bins(column.name, width=read_constant(width, "sql")), schema)


def check_lists(value: Any, name: str, declared: Described) -> None:
    """Refuse plain values in which a list is longer than any that a question needs, or stands for one that is."""
    pending = [value]
    while pending:
        one = pending.pop()
        keyed = isinstance(one, dict) and isinstance(one.get("column"), str) and isinstance(one.get("edges"), list)
        if keyed and isinstance(declared, Schema):  # nothing else has columns
            check_key(Key(one["column"], edges=tuple(one["edges"])), declared)
        if isinstance(one, list) and len(one) > BINS:
            raise InputError(name, Phrase(f"a list of {len(one):,}"), f"made of lists of at most {BINS:,} over HTTP")
        if isinstance(one, (list, dict)):
            pending += one.values() if isinstance(one, dict) else one


def check_rows(rows: Any, plan: Any, known: Outcome) -> None:
    """Refuse more rows of a synthetic table than are drawn for free; as many as are on record always are."""
    if rows is not None and isinstance(plan, RelationsPlan):
        levels = plan.levels
        most = CELLS // (len(levels.parents) + levels.limit * len(levels.children))
        if type(rows) is not int or not 0 < rows <= max(most, 1):
            raise InputError("rows", rows, f"a whole number from 1 to {max(most, 1):,} over HTTP", _FREE)
    if rows is None or not isinstance(plan, SynthPlan):
        return
    most = CELLS // (len(plan.domain) + len(plan.keys))
    had = _rows_on_record(known) if plan.rows is None else plan.rows
    if had is not None:
        most = max(had, min(most, _ROWS * had))
    if type(rows) is not int or not 0 < rows <= most:
        raise InputError("rows", rows, f"a whole number from 1 to {most:,} over HTTP", _FREE)


def check_fed(declared: Described) -> None:
    """Refuse to work out AC power flows of a large grid while a caller waits."""
    facts: Mapping[str, Any] = getattr(declared, "facts", {})
    many = facts.get("buses", 0) * getattr(declared, "times", 1)
    if many > _FED:
        hint = "Do it with a net of your own: release.for_ac(net)."
        raise InputError("release", Phrase(f"loads of {many:,} buses and times"), f"of at most {_FED:,} for AC", hint)


def check_replicates(many: int, tree: TreeRelease) -> None:
    """Refuse replicates of more numbers than are worked out for free while a caller waits."""
    numbers = sum(tree.tree.sizes) * tree.measured.cells
    if many * numbers > _REPLICATED:
        hint = (
            "Fetch the noisy counts instead (/measurements) and make them with discreet tree read. Nothing was spent."
        )
        most = _REPLICATED // numbers
        raise InputError("many", many, f"at most {most:,} of a table of {numbers:,} numbers over HTTP", hint)


def _rows_on_record(known: Outcome) -> int | None:
    if known.answer is None:
        return None
    codes = json.loads(known.answer)["synth"]["made"]["codes"]
    return len(unpack(codes[0]))


def check_amount(value: str | float | None) -> str | float | None:
    """A number as it was sent, unless it is larger than any that has a meaning. What is no number is told later."""
    if isinstance(value, str) and len(value) > _DIGITS:
        raise ValueError(f"written in at most {_DIGITS} characters")
    try:
        large = value is not None and abs(as_written(value, "amount")) > LARGEST
    except InputError:
        return value
    if large:
        raise ValueError("at most 1e18")
    return value


def check_asked(ask: type[Ask], sent: Mapping[str, Any], declared: Described) -> None:
    """Refuse what a caller sent for a job, before any of it is made into something larger."""
    fields, schema = options(ask), cast("Schema", declared)  # looked at for asks about tables only
    for name, value in sent.items():
        _check_text(value, name)
        if fields[name].form.keyed:
            for one in _keys_in(value):
                if isinstance(one, str):
                    with keys_of(name):
                        check_key(read_key(one, schema), schema)
        if name not in ("geography", "geometry", "rules", "covariate", "targets"):  # as long as a body may be
            check_lists(value, name, schema)
        if fields[name].form is QUESTIONS and isinstance(value, dict) and len(value) > _QUESTIONS:
            raise InputError(name, Phrase(f"{len(value):,} questions"), f"at most {_QUESTIONS} over HTTP")
        if fields[name].form in (QUERY, QUESTIONS):
            many = value if isinstance(value, dict) and name == "questions" else {"": value}
            for key, text in many.items():
                if isinstance(text, str):
                    _check_text(text, f"{name}.{key}")
                    check_sql(text, schema)
    for name, form in (sent.get("keys") or {}).items():
        if isinstance(form, str) and not (len(form) <= 100 and _FORM.fullmatch(form)):
            raise InputError(f"keys.{name}", form, "text with one place for a number, such as P{:06d}")
    if (largest := sent.get("largest")) is not None and not 1 <= largest <= BINS:
        raise InputError("largest", largest, f"from 1 to {BINS:,} over HTTP")
    hidden = sent.get("hidden") or []
    if len(hidden) > _LAYERS or not all(1 <= width <= _WIDEST for width in hidden):
        raise InputError("hidden", hidden, f"at most {_LAYERS} layers of 1 to {_WIDEST:,} units over HTTP")
    if ask.kind == "search" and sent.get("runs") is not None:
        hint = f"Whoever waits for the job learns their number, and the price rests on nobody knowing it. {_FREE}"
        raise InputError("runs", sent["runs"], "left out over HTTP: every candidate is trained once", hint)
    tried = sent.get("settings") or []
    if len(tried) > _LAYERS**2:
        raise InputError("settings", Phrase(f"{len(tried)} candidates"), f"at most {_LAYERS**2} over HTTP")
    for candidate in tried:
        _check_candidate(candidate, [name for name, one in fields.items() if not one.here_only])


def _keys_in(value: Any) -> list[Any]:
    """The keys of a field: one, several, or several for each of some names."""
    if isinstance(value, dict) and all(isinstance(one, list) for one in value.values()):
        return [key for keys in value.values() for key in keys]
    return value if isinstance(value, list) else [value]


def _check_text(value: Any, name: str) -> None:
    if isinstance(value, str) and len(value) > _TEXT:
        raise InputError(name, Phrase(f"{len(value):,} characters"), f"at most {_TEXT:,} characters over HTTP")


def read_questions(questions: Mapping[str, Any], schema: Schema) -> dict[str, AnyQuery]:
    """The questions of a batch, read one after another for as long as all of them together are not too large."""
    read: dict[str, AnyQuery] = {}
    labels = groups = outputs = 0
    for name, sent in questions.items():
        read[name] = query = QUERY.read(sent, schema)
        if not isinstance(query, Query):
            continue  # refused by the batch
        sizes = [len(key.labels(schema)) for key in query.listed]
        labels, groups, outputs = labels + sum(sizes), groups + prod(sizes), outputs + len(query.names)
        for many, most, noun in (
            (labels, LABELS, "bins and values of keys"),
            (groups, MOST_GROUPS, "groups"),
            (outputs, _OUTPUTS, "outputs"),
        ):
            if many > most:
                raise InputError(
                    "questions",
                    Phrase(f"{many:,} in the first {len(read)} of {len(questions)}"),
                    f"such that there are at most {most:,} {noun} in all over HTTP",
                    f"Ask for less at once. {_FREE}",
                )
    return read


def _check_candidate(candidate: Mapping[str, Any], known: Collection[str]) -> None:
    """Refuse settings that a training run could not be sent with, and a run that takes long to price."""
    if unknown := [name for name in candidate if name not in known]:
        raise InputError("settings", unknown[0], "made of settings that can be sent over HTTP", among=known)
    steps = candidate.get("steps")
    if steps is not None and as_written(steps, "settings.steps") > STEPS:
        raise InputError("settings.steps", steps, f"at most {STEPS:,} over HTTP", _FREE)


def check_decided(release: Any) -> None:
    """Refuse decisions by a hierarchy so large that making it again a few times would take minutes: that is free."""
    if isinstance(release, TreeRelease):
        many = release.tree.leaves * release.measured.cells
        if many * _RETRIALS > _REPLICATED:
            allowed = f"one of at most {_REPLICATED // _RETRIALS:,} numbers over HTTP"
            raise InputError(
                "release", Phrase(f"{many:,} numbers"), allowed, "Use: discreet releases decide. Nothing was spent."
            )


def check_simulated(plan: Any, draws: int | None) -> None:
    """Refuse to try out a hierarchy so large, or so often, that it would take minutes: that is free."""
    counted = getattr(plan, "counted", None)
    many = 0 if counted is None else int(counted.tree.leaves * counted.cells)
    if many * (_DRAWS if draws is None else draws) > _REPLICATED:
        allowed = f"such that draws times {many:,} numbers are at most {_REPLICATED:,} over HTTP"
        raise InputError("draws", _DRAWS if draws is None else draws, allowed, _FREE)


def check_draft(draft: Draft[Any], price: Mapping[str, Any]) -> None:
    """Refuse a job that is larger than it looked, once it is known how large it is."""
    kind, ready = draft.ask.kind, draft.checked
    many = _numbers(kind, ready)
    if kind in ("tree", "detail") and many > _NUMBERS:
        raise InputError(
            "by" if kind == "tree" else "details",
            Phrase(f"{many:,} numbers"),
            f"such that there are at most {_NUMBERS:,} numbers over HTTP",
        )
    if kind == "flows" and many > MOST_GROUPS:
        allowed = f"such that there are at most {MOST_GROUPS:,} cells over HTTP"
        raise InputError("origin", Phrase(f"{many:,} cells"), allowed, _FREE)
    most = _FED if kind in ("loads", "hidden") else _SEARCHED
    if price.get("within") is not None and many > most:
        ways = " or ".join(way for way in ("epsilon", "rho", "share") if way in draft.ask.prices)
        hint = f"Give {ways}: the plan says how far off the numbers may be. Nothing was spent."
        raise InputError(
            "within", Phrase(f"one for {many:,} numbers"), f"left out above {most:,} numbers over HTTP", hint
        )
    if kind in ("train", "search"):
        training = ready if kind == "train" else ready.training  # type: ignore[union-attr]
        steps = training.settings.get("steps")  # type: ignore[union-attr]
        if steps is None:  # a search for the number of steps that a price allows takes many times as long as a price
            raise InputError("steps", steps, "given over HTTP unless epochs are", _FREE)
        if steps > STEPS:  # also those that follow from passes over many examples
            raise InputError("steps", Phrase(f"{steps:,}"), f"at most {STEPS:,} over HTTP", _FREE)
        if (rows := training.settings.get("rows", 1)) > _PERSON_ROWS:  # type: ignore[union-attr]
            raise InputError(
                "rows", rows, f"at most {_PERSON_ROWS} over HTTP: so many are laid out for every person", _FREE
            )
        tried = getattr(draft.ask, "settings", None) or ()  # each candidate is priced alone
        whole = sum(as_written(one.get("steps", steps), "settings.steps") for one in tried)
        if whole > STEPS:
            allowed = f"candidates of at most {STEPS:,} steps in all over HTTP"
            raise InputError("settings", Phrase(f"{int(whole):,} steps"), allowed, _FREE)


def _numbers(kind: str, ready: Any) -> int:
    """How many numbers a job has whose size is not limited otherwise."""
    match kind:
        case "tree":
            return int(ready.counted.tree.leaves * ready.counted.cells)
        case "detail":
            return int(ready.counted.finest.tree.leaves * ready.counted.finest.cells * len(ready.counted.groups))
        case "census":
            return int(ready.numbers)
        case "flows":
            return prod(ready.layout.shape)
        case "commute":
            return prod(ready.domain.sizes[:2])
        case "relations":
            return int(sum(ready.levels.children.sizes) * ready.levels.limit)
        case "loads":
            return int(ready.about.grid.loads + ready.about.grid.buses)
        case "hidden":
            return len(ready.about.names)
    return 0
