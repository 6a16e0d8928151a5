"""Whether stored data can be read as it is declared: settled from names and types, before anything is spent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from discreet.data.read import problem
from discreet.data.schema import Schema
from discreet.data.source import Source
from discreet.errors import InputError, Phrase
from discreet.query.predicate import columns_of

if TYPE_CHECKING:
    from discreet.query.question_ask import AnyQuery

__all__ = ["check_columns", "columns_read", "names_in"]


def check_columns(source: Source, schema: Schema, names: Iterable[str], exact: Iterable[str] = ()) -> None:
    """Refuse a declared column that the data lacks or stores as something that cannot be read as declared.

    `exact` are columns whose stored values themselves are told apart, whatever they are declared as.
    """
    stored = source.columns()
    read = sorted(names)
    _check_drift(source, schema, read, exact)
    for name in read:
        if name not in stored:
            raise _absent(name, stored, schema.name)
        if stored[name] == "string" and source.tries:
            continue  # read as whatever is declared: to say so, no engine need be loaded
        if stored[name].startswith("unknown"):
            hint = "Store it as a number, as text, or as a date."
            raise InputError(
                f"columns.{name}", Phrase("a type of this engine alone"), "stored in a type that can be read", hint
            )
        import ibis

        if reason := problem(schema.columns[name], ibis.dtype(stored[name]), tries=source.tries):
            raise InputError(f"columns.{name}", Phrase(stored[name]), reason)


def _check_drift(source: Source, schema: Schema, names: Iterable[str], exact: Iterable[str]) -> None:
    """Refuse a column that files store under types which do not read alike as what the column is declared to be."""
    identify = {*exact, *(lookup.key for lookup in schema.lookups.values())}
    identify |= set() if schema.unit.column is None else {schema.unit.column}
    joined = {name for join in schema.joins.values() for name in join.columns}  # ordered by their values, too
    for place, special in ((source, identify), *((other, joined | identify) for _, other in source.others)):
        drift = place.drift()
        for name in sorted({*names, *identify} & set(drift)):
            if not drift[name].allows(schema.columns[name], identifies=name in special):
                hint = "Nothing was spent. Write the files again with one type for it, or open a part of them."
                raise InputError(f"columns.{name}", Phrase(drift[name].words), "stored alike in all files", hint)


def _absent(name: str, stored: Mapping[str, str], dataset: str) -> InputError:
    """That the data has no such column. It names none that are there: they may be a person's values in a first line."""
    near = next((there for there in stored if _letters(there) == _letters(name)), None)
    if near is not None:
        return InputError("columns", name, "a column the data has", f"Did you mean `{near}`?")
    hint = (
        f"Remove it from the schema of {dataset!r}, or spell it as the data does. If the first line of a CSV file "
        'holds values, name the columns: names = ["...", ...] under [dataset] in the schema.'
    )
    return InputError("columns", name, f"a column the data has ({len(stored)} others are there)", hint)


def _letters(name: str) -> str:
    """What is left of a name without case, blanks and marks: two that agree in it tell nothing of each other."""
    return "".join(mark for mark in name.casefold() if mark.isalnum())


def columns_read(question: AnyQuery, schema: Schema) -> list[str]:
    """The columns a question reads: of a table of persons, those of the rows it is computed of."""
    if schema.persons is not None:
        return list(schema.persons.names)
    return names_in(question) + ([] if schema.unit.column is None else [schema.unit.column])


def names_in(question: AnyQuery) -> list[str]:
    """The columns and expressions that a question names."""
    named = [key.column for key in question.keys]
    outputs = [output for _, output in (*question.outputs, *question.ordered)]
    named += [column for output in outputs for column in output.columns]
    if question.condition is not None:
        named += columns_of(question.condition)
    return named
