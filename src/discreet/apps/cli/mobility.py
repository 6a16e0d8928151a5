"""`discreet mobility`: from a raw file of trips to the table of half hours, origins and destinations, in one command.

What is public is typed: places, days, the zone of the clocks, who is protected. It becomes a schema beside the ledger,
so that every other command goes on with it.
"""

from __future__ import annotations

import csv
import io
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.apps.cli import options as shared
from discreet.apps.cli.ask import ReleaseId, Why, Yes
from discreet.apps.cli.delivery import in_shell
from discreet.apps.cli.flows import FLOWS, Folder, Plot
from discreet.apps.cli.output import AsJson, confirm_spending, progress
from discreet.core.unit import Unit
from discreet.curator import Curator, Draft, open_curator
from discreet.curator.setup import dataset_name, read_setup, schema_path
from discreet.data.column import Category, Column, Text, Timestamp
from discreet.data.schema import Schema
from discreet.data.toml import toml_table, toml_text
from discreet.errors import MISSING, DiscreetError, InputError

if TYPE_CHECKING:
    from discreet.flows.mobility import FlowsAsk
    from discreet.query.release import Tables

__all__ = ["mobility"]

_ROW = "row"
_FLAGS = {
    "window": "time",
    "zones": "places",
    "budget.epsilon": "budget",
    "unit.groups": "trips",
    "unit.column": "person",
}
_DECLARED = ("person", "trips", "places", "first", "last", "timezone", "budget")


def mobility(
    data: shared.Data,
    time: Annotated[str, typer.Option(help="Column of the time of each trip.")],
    origin: Annotated[str, typer.Option(help="Column of the place where it begins.")],
    destination: Annotated[str, typer.Option(help="Column of the place where it ends.")],
    every: Annotated[str, typer.Option(help="How long a window of the day is.")] = "30min",
    person: Annotated[
        str | None, typer.Option(help="Column that identifies a person, or `row`: then one trip is protected.")
    ] = None,
    trips: Annotated[int | None, typer.Option(help="How many trips of each person count, drawn at random.")] = None,
    places: Annotated[
        Path | None, typer.Option(help="Public CSV file of the places: a header, then place or place,zone on a line.")
    ] = None,
    first: Annotated[str | None, typer.Option(help="First day of the trips, which is public: 2024-03-01.")] = None,
    last: Annotated[str | None, typer.Option(help="Last day of the trips.")] = None,
    timezone: Annotated[str | None, typer.Option(help="Zone of the clocks: Europe/Vienna.")] = None,
    budget: Annotated[str | None, typer.Option(help="Epsilon of everything that is ever released of them.")] = None,
    epsilon: shared.Epsilon = None,
    rho: shared.Rho = None,
    share: shared.Share = None,
    confidence: shared.Confidence = 0.95,
    schema: shared.SchemaFile = None,
    ledger: shared.LedgerAddress = None,
    out: Folder = None,
    plot: Plot = None,
    why: Why = "",
    identity: ReleaseId = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """From a file of trips with times to half-hour tables that add up.

    Trips are counted by time of day, origin and destination, with all their sums, after showing the price.
    The first time, the options say what is public, and are written to a schema; later they may be left out.
    """
    from discreet.flows.mobility import FlowsAsk

    given = {"out": out, "plot": plot, "as_json": as_json}
    FLOWS.check(given)
    listed = None if places is None else _read_places(places)
    said = dict(zip(_DECLARED, (person, trips, listed, first, last, timezone, budget), strict=True))
    columns = {"time": time, "origin": origin, "destination": destination}
    zones = None if listed is None or None in listed.values() else listed
    try:
        ask = FlowsAsk.of(origin, destination, time, zones, None, every)
        curator = _opened(data, schema, ledger, said, columns, ask)
        draft: Draft[Tables] = Draft.of(curator.desk, ask)
        offer = draft.plan(epsilon=epsilon, rho=rho, share=share, confidence=confidence)
    except InputError as problem:
        flag = _FLAGS.get(problem.field, problem.field)
        if flag not in (*columns, *said, "every", "epsilon", "rho", "share") or type(problem) is not InputError:
            raise
        raise in_shell(problem, f"--{flag}") from None
    if not yes:
        confirm_spending(offer)
    with progress():
        answer = offer.release(release=identity, why=why)
    FLOWS.deliver(answer, given)


def _opened(
    data: str,
    schema: str | None,
    ledger: str | None,
    said: Mapping[str, Any],
    columns: Mapping[str, str],
    ask: FlowsAsk,
) -> Curator:
    """The curator of a file whose schema there is, or is now declared: then its ledger is made, too.

    A schema that turns out to be wrong, of a misspelt file or column, say, is not left behind: it would stand in the
    way of the right one.
    """
    path = schema_path(data, schema)
    if path.exists():
        if any(value is not None for name, value in said.items() if name != "places"):
            _compare(path, data, said, columns)
        return shared.curator_at(data, str(path), ledger)
    text = _schema_text(data, said, columns)
    read_setup(tomllib.loads(text))  # refuses a budget that is none
    ask.checked(_schema(dataset_name(data), said, columns))
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise InputError("--schema", str(path), f"a file that can be written ({problem.strerror})") from None
    try:
        curator = open_curator(data, path, ledger=ledger, create=True)
    except DiscreetError:
        path.unlink(missing_ok=True)
        raise
    many = f"{len(said['places']):,} places"
    typer.echo(f"Wrote {path}: what is public about {data}, with {many}. The ledger is made beside it.", err=True)
    return curator


def _compare(path: Path, data: str, said: Mapping[str, Any], columns: Mapping[str, str]) -> None:
    """Refuse options that say something else than the schema that there is."""
    declared = read_setup(path)
    again = read_setup(_tables(data, said, columns))
    if declared.schema.name != again.schema.name:
        hint = "Name another file with --schema for this one. Nothing was spent."
        raise InputError("data", data, f"what {path} is about, {declared.schema.name!r}", hint)
    if (declared.schema, declared.budget) != (again.schema, again.budget):
        name = next(name for name, value in said.items() if value is not None and name != "places")
        hint = f"Leave out what {path} declares, or name another file with --schema. Nothing was spent."
        raise InputError(name, str(said[name]), f"what {path} declares, where there is a schema", hint)


def _tables(data: str, said: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    """The declared schema as the tables of its file."""
    return tomllib.loads(_schema_text(data, said, columns))


def _schema_text(data: str, said: Mapping[str, Any], columns: Mapping[str, str]) -> str:
    """What was typed as a schema's file; what is missing is named, and nothing is looked for in the data."""
    needed = [name for name in _DECLARED if name != "trips" or said["person"] not in (None, _ROW)]
    if missing := [name for name in needed if said[name] is None]:
        flags = ", ".join(f"--{name}" for name in missing)
        hint = f"Nothing was read or spent. It is public, and never looked for in the data. Give {flags}."
        raise InputError(missing[0], MISSING, "given where there is no schema yet", hint)
    if said["trips"] is not None and said["person"] == _ROW:
        raise InputError("trips", said["trips"], "left out where --person is row: one trip is protected")
    taken: dict[str, str] = {}
    for name, column in {**columns, "person": said["person"]}.items():
        if column in taken:
            raise InputError(name, column, f"another column than --{taken[column]}", "Nothing was read or spent.")
        taken[column] = name
    schema = _schema(dataset_name(data), said, columns)
    unit = schema.unit
    lines = ["[dataset]", f"name = {toml_text(schema.name)}", ""]
    if unit.column is not None:
        limits = f"groups = {unit.groups}\nrows = {unit.rows}\nrows_total = {unit.rows_total}"
        lines += ["[unit]", f"column = {toml_text(unit.column)}", limits, ""]
    lines += ["[budget]", f"epsilon = {toml_text(str(said['budget']))}", ""]
    for name, entry in schema.to_dict()["columns"].items():
        lines += [toml_table("columns", name), *(f"{field} = {_toml(value)}" for field, value in entry.items()), ""]
    return "\n".join(lines)


def _schema(name: str, said: Mapping[str, Any], columns: Mapping[str, str]) -> Schema:
    here = Category(said["places"], nullable=False)
    made: dict[str, Column] = {} if said["person"] == _ROW else {said["person"]: Text()}
    made[columns["time"]] = _clock(said)
    made |= {columns["origin"]: here, columns["destination"]: here}
    many = said["trips"]
    unit = Unit() if said["person"] == _ROW else Unit(said["person"], groups=many, rows=many, rows_total=many)
    return Schema(name, made, unit)


def _clock(said: Mapping[str, Any]) -> Timestamp:
    try:
        return Timestamp(said["first"], said["last"], said["timezone"], nullable=False)
    except InputError as problem:
        raise problem.about({"lower": "first", "upper": "last"}.get(problem.field, problem.field)) from None


def _read_places(path: Path) -> dict[str, Any]:
    """The public places, each with its zone, or none."""
    try:
        _, *rows = [row for row in csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig"))) if row] or [[]]
    except (OSError, UnicodeDecodeError):
        raise InputError("--places", str(path), "a text file in UTF-8 that exists", "Nothing was spent.") from None
    if not rows or len({len(row) for row in rows}) > 1 or len(rows[0]) > 2:
        allowed = "a CSV file: a header, then place or place,zone on every line"
        raise InputError("--places", str(path), allowed, "Nothing was spent.")
    names = [row[0].strip() for row in rows]
    if again := next((name for place, name in enumerate(names) if name in names[:place]), None):
        raise InputError("--places", again, "places that differ from each other", "Nothing was spent.")
    return {name: row[1].strip() if len(row) == 2 else None for name, row in zip(names, rows, strict=True)}


def _toml(value: Any) -> str:
    """A value of a column's entry."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    return str(value) if isinstance(value, int) else toml_text(str(value))
