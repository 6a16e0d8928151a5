"""A table declared in the call that opens it: what is given becomes a schema, what is missing is asked for at once.

Of the table only names and stored types of columns are looked at. A column of text may hold anything, and is not looked
into: its type is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from discreet.core.unit import Unit
from discreet.curator.setup import find_ledger
from discreet.data.column import Category, Column, Date, Integer, Real, Timestamp, column_to
from discreet.data.schema import Schema
from discreet.data.skeleton import stored_type
from discreet.data.source import Source
from discreet.errors import GIVEN, MISSING, InputError, LedgerError, MissingLedgerError, Phrase, kind_of
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger

__all__ = ["Declaration"]

_NAME = "data"
_ROW = "row"
_FILE = "discreet.toml"
_LONG = 200  # characters of a list of values that an example still repeats
_BLANKS = {
    "integer": ("(..., ...)", "lower and upper bound"),
    "real": ("(..., ...)", "lower and upper bound"),
    "date": ("(..., ...)", 'first and last day, such as ("2020-01-01", "2024-12-31")'),
    "timestamp": (
        "(..., ...)",
        'first and last day; and a zone for times of day: ("2020-01-01", "2024-12-31", "Europe/Vienna")',
    ),
    "boolean": ("Boolean()", "nothing more to say"),
    None: (
        "...",
        "[...] of all values, or Integer(.., ..), Real(.., ..), Date(.., ..), Timestamp(.., .., ..), Boolean(), Text()",
    ),
}
_FORMS = 'a pair of bounds such as (0, 120), a list of values such as ["f", "m"], or a column such as Text()'


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a call says of a table, each part None where it says nothing."""

    name: str | None = None
    unit: Any = None
    groups: int | None = None
    rows: int | None = None
    columns: Mapping[Any, Any] | None = None

    def stands_for(self, schema: object, source: object) -> bool:
        """Whether the call declares the table, or has to: there is no schema, and no file to look for one in."""
        given = [part for part in ("name", "unit", "groups", "rows", "columns") if getattr(self, part) is not None]
        if given and schema is not None:
            hint = "Declare the table in one place: leave out the schema, or write it there."
            raise InputError(given[0], GIVEN, "left out where a schema is given", hint)
        in_memory = isinstance(source, Source) and source.kind in ("frame", "spark")
        return bool(given) or (schema is None and in_memory and not Path(_FILE).exists())

    def schema(
        self,
        source: Source,
        place: object,
        ledger: Ledger | str | Path | None,
        budget: Budget | None,
        said: Mapping[str, Any],
    ) -> Schema:
        """The schema, or one error that names all that is missing and shows the code that says it.

        `place` is the source as a person named it, and `said` what else the call says, by the name of the argument.
        """
        if self.columns and not all(isinstance(column, str) for column in self.columns):
            return replace(self, columns=_named(self.columns)).schema(source, place, ledger, budget, said)
        name = self.name or (_NAME if isinstance(place, Source) else Path(str(place)).stem)
        if self.name is None and "://" in str(place) and ("@" in name or "password" in name.lower()):
            hint = "Otherwise it would be called by the end of its address, which holds a password."
            raise InputError("name", MISSING, "given: what the table is called", hint)
        stored = _stored(source, tuple(said.get("names") or ()))
        unit = self._unit(stored)
        for column in self.columns or ():
            if stored is not None and column not in stored:
                raise InputError("columns", column, "a column of the data", among=list(stored))
        columns = {
            name: _column(name, given, None if stored is None else stored.get(name, ""))
            for name, given in (self.columns or {}).items()
        }
        missing = ["unit"] if unit is None else []
        if unit is None or unit.column is not None:
            missing += [limit for limit in ("groups", "rows") if self._limit(limit) is None]
        missing += [f"columns.{column}" for column, made in columns.items() if made is None]
        missing += [] if self.columns else ["columns"]
        books = ledger if isinstance(ledger, Ledger) else find_ledger(place, {}, ledger)
        missing += ["epsilon"] if budget is None and not _has_account(books, name) else []
        if missing:
            first = isinstance(books, (str, Path)) and "://" not in str(books) and not Path(books).exists()
            new = f"the first time: makes the ledger {books}, where spending is recorded" if first else ""
            more = [(f"{key}={_quoted(value)},", "") for key, value in said.items() if value and key != "create"]
            more += [("ledger=ledger,", "")] if isinstance(ledger, Ledger) else []
            more += [(f"ledger={_quoted(str(ledger))},", "")] if isinstance(ledger, (str, Path)) else []
            more += [("create=True,", new)] if first or said.get("create") else []
            code = self._code(_shown_place(place), stored, budget, more)
            rest = [f"`{field}`" for field in missing[1:]]
            at = f"{''.join(f', {field}' for field in rest[:-1])} and {rest[-1]}" if rest else ""
            allowed = "given: of the data only names and types of columns are looked at"
            hint = f"Nothing was read or spent. Write what is public in the place of every `...`:\n\n{code}"
            raise InputError(missing[0], MISSING, allowed, hint, at=at)
        made = {column: kind for column, kind in columns.items() if kind is not None}
        return Schema(name, made, Unit() if unit is None else unit)

    def _limit(self, limit: str) -> int | None:
        given = getattr(self, limit)
        if isinstance(self.unit, Unit) and limit not in self.unit.unstated:
            return int(getattr(self.unit, limit))
        return None if _blank(given) else given

    def _unit(self, stored: Mapping[str, str] | None) -> Unit | None:
        """The unit; None where it is missing. Limits that nobody stated count as one here, and are asked for."""
        unit = self.unit
        if _blank(unit):
            return None
        if isinstance(unit, Unit):
            if given := [limit for limit in ("groups", "rows") if getattr(self, limit) is not None]:
                raise InputError(given[0], GIVEN, "left out where `unit` is a Unit, which has it")
            return unit
        if not isinstance(unit, str):
            raise InputError("unit", kind_of(unit), f"the column that identifies a person, or {_ROW!r}, or a Unit")
        if unit == _ROW:
            if stored is not None and _ROW in stored:
                hint = "Rename the column, or say unit=Unit() if every row is another person."
                raise InputError("unit", unit, "unambiguous: it is also the name of a column", hint)
            if given := [limit for limit in ("groups", "rows") if not _blank(getattr(self, limit))]:
                raise InputError(given[0], GIVEN, "left out unless the unit is a person")
            return Unit()
        if stored is not None and unit not in stored:
            raise InputError("unit", unit, f"{_ROW!r}, or a column", among=list(stored))
        groups, rows = self._limit("groups"), self._limit("rows")
        return Unit(unit, groups=1 if groups is None else groups, rows=1 if rows is None else rows)

    def _code(
        self, place: str, stored: Mapping[str, str] | None, budget: Budget | None, more: list[tuple[str, str]]
    ) -> str:
        """The call with everything that was given, and `...` for what was not."""
        lines: list[tuple[str, str]] = []
        unit = self.unit
        if self.name is not None:
            lines.append((f"name={self.name!r},", ""))
        if isinstance(unit, Unit):
            lines.append(("unit=unit,", "as it is, with its limits groups=... and rows=..." if unit.unstated else ""))
        else:
            why = f"the column that identifies a person, or {_ROW!r} if every row is another person"
            lines.append(("unit=...," if _blank(unit) else f"unit={_quoted(unit)},", why if _blank(unit) else ""))
            if unit != _ROW:
                limits = {
                    "groups": "in how many groups of a question one person counts (counties, months)",
                    "rows": "as how many rows in each; what is beyond is left out",
                }
                for limit, why in limits.items():
                    value = self._limit(limit)
                    lines.append((f"{limit}={'...' if value is None else value},", why if value is None else ""))
        lines.append(("columns={", ""))
        for name, given in self._listed(stored).items():
            code, why = _entry(given, None if stored is None else stored.get(name))
            lines.append((f"    {_quoted(name)}: {code},", why))
        lines.append(("},", ""))
        if budget is None:
            lines.append(("epsilon=...,", "all that may ever be spent on this table"))
        elif budget.rho is None and len(budget.allotments) == 1:
            delta = f" delta={float(budget.delta)!r}," if budget.delta else ""
            lines.append((f"epsilon={float(budget.epsilon or 0)!r},{delta}", ""))
        else:
            lines.append(("budget=budget,", ""))
        lines += more
        width = max(len(line) for line, why in lines if why)
        body = [f"    {line:<{width}}  # {why}" if why else f"    {line}" for line, why in lines]
        used = [kind for kind in _TYPES if any(f"{kind}(" in line.partition("#")[0] for line in body)]
        head = ["import discreet", *([f"from discreet import {', '.join(used)}"] if used else []), ""]
        return "\n".join([*head, "curator = discreet.open(", f"    {place},", *body, ")"])

    def _listed(self, stored: Mapping[str, str] | None) -> Mapping[str, Any]:
        """The columns of the call; if it has none, all of the table, but not the one of the person."""
        if self.columns:
            return self.columns
        person = self.unit.column if isinstance(self.unit, Unit) else self.unit
        return {name: ... for name in stored or ("age", "sex") if name != person}


_TYPES = ("Boolean", "Category", "Date", "Integer", "Real", "Text", "Timestamp")


def _blank(value: object) -> bool:
    """Whether nothing was given, or what an example has in its place."""
    return value is None or value is ... or (isinstance(value, str) and value in ("", "?", "..."))


def _open(given: object) -> bool:
    """Whether a list or a pair has a place that nobody filled in. A question mark may be a value of a list."""
    if isinstance(given, list):
        return any(part is ... for part in given)
    return isinstance(given, tuple) and any(map(_blank, given))


def _stored(source: Source, names: tuple[str, ...]) -> dict[str, str] | None:
    """Names and stored types of columns; None for a file whose first line may be somebody's values."""
    if source.kind == "csv":
        return dict.fromkeys(names, "string") if names else None
    return source.columns()


def _named(columns: Mapping[Any, Any]) -> dict[str, Any]:
    """Columns by names that are text, as a data frame's are: pandas counts columns that nobody named."""
    named = {str(name): given for name, given in columns.items()}
    if len(named) < len(columns):
        repeated = next(name for name in columns if not isinstance(name, str) and str(name) in columns)
        raise InputError("columns", repeated, "named once: as a number, or as text")
    return named


def _column(name: str, given: Any, stored: str | None) -> Column | None:
    """A column from what the call says of it and how it is stored; None where something is missing."""
    field = f"columns.{name}"
    if isinstance(given, Column):
        return given
    if _blank(given) or _open(given):
        return None
    try:
        if isinstance(given, list):
            return Category(given)
        if isinstance(given, tuple) and len(given) == len(("lower", "upper", "timezone")) and _is_zone(given[2]):
            return Timestamp(*given)
        if isinstance(given, tuple) and len(given) == len(("lower", "upper")):
            return _bounded(given, None if stored is None else stored_type(stored))
    except InputError as problem:
        raise problem.about(f"{field}.{problem.field}") from None
    if isinstance(given, type) and given in Column.__args__:
        raise InputError(field, Phrase(given.__name__), f"{_FORMS}, with its parentheses")
    raise InputError(field, kind_of(given), _FORMS)


def _bounded(given: tuple[Any, Any], stored: str | None) -> Column:
    """A column with these bounds: of which type says how it is stored and, of text, only if they are days."""
    if stored in ("date", "timestamp") or (stored not in ("integer", "real") and all(map(_is_day, given))):
        return Date(*given)
    if stored == "integer":
        return Integer(*given)
    if stored == "real":
        return Real(*given)
    low, high = map(repr, given)
    allowed = f"Integer({low}, {high}) or Real({low}, {high}): how it is stored does not say which"
    raise InputError("type", MISSING, f"given, as {allowed}")


def _is_zone(value: Any) -> bool:
    return isinstance(value, str) and not _is_day(value)


def _is_day(value: Any) -> bool:
    try:
        return isinstance(value, date) or date.fromisoformat(value) is not None
    except (TypeError, ValueError):
        return False


def _has_account(ledger: Ledger | str | Path, name: str) -> bool:
    """Whether a ledger has a budget for a dataset; not, where there is no ledger."""
    try:
        books = ledger if isinstance(ledger, Ledger) else Ledger.open(ledger)
        books.account(name)
    except (InputError, MissingLedgerError):
        return False
    except LedgerError:  # said where the ledger is opened
        return True
    return True


def _quoted(text: Any) -> str:
    return json.dumps(text, ensure_ascii=False) if isinstance(text, (str, list)) else repr(text)


def _shown_place(place: object) -> str:
    return "df" if isinstance(place, Source) else _quoted(str(place))


def _entry(given: Any, stored: str | None) -> tuple[str, str]:
    """A column as code, and what is to be written in it if something is missing."""
    kind = None if stored is None else stored_type(stored)
    blank, why = _BLANKS[kind]
    if given is None or given is ... or isinstance(given, str):
        of = "" if stored is None else f"{stored.removeprefix('!')}: "
        return blank, of + why
    if isinstance(given, Column):
        entry = column_to(given)
        values = [_quoted(value) for key, value in entry.items() if key not in ("type", "nullable")]
        usual = type(given).__name__ == "Text"
        values += [] if given.nullable != usual else [f"nullable={given.nullable}"]
        code = f"{type(given).__name__}({', '.join(values)})"
    else:
        inner = ", ".join("..." if part is ... or part is None else _quoted(part) for part in given)
        code = f"[{inner}]" if isinstance(given, list) else f"({inner})"
    return (code, why if _open(given) else "") if len(code) <= _LONG else ("...", "as it was given")
