"""`discreet releases publish`: what was measured before, published again in another way, at no cost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.apps.cli.completion import releases
from discreet.apps.cli.decision import Who, person
from discreet.apps.cli.options import LedgerAddress, SchemaFile, open_ledger
from discreet.apps.cli.output import AsJson, Shape, progress, show_whole
from discreet.curator import kind_of
from discreet.curator.desk import RecordDesk
from discreet.curator.release_id import full_id
from discreet.curator.request import read_how
from discreet.curator.setup import read_setup, schema_path
from discreet.errors import MISSING, InputError
from discreet.ledger.ledger import Ledger
from discreet.query.ask import options

__all__ = ["publish"]


def publish(
    release: Annotated[str, typer.Argument(help="Release id (see: discreet releases list).", autocompletion=releases)],
    confidence: Annotated[float | None, typer.Option(help="Another confidence of the intervals.")] = None,
    method: Annotated[str | None, typer.Option(help="Another method: of a hierarchy, of synthetic rows.")] = None,
    rules: Annotated[Path | None, typer.Option(help="Other public facts about a hierarchy: a JSON file.")] = None,
    rows: Annotated[int | None, typer.Option(help="Another number of synthetic rows.")] = None,
    beta: Annotated[
        str | None, typer.Option(help="Loads, or hidden numbers, that cost within another part of the original.")
    ] = None,
    schema: SchemaFile = None,
    grid: Annotated[Path | None, typer.Option(help="For loads: the grid file; only the grid is read from it.")] = None,
    ledger: LedgerAddress = None,
    who: Who = None,
    shape: Shape = "table",
    part: Annotated[str, typer.Option(help="Only the table of this name: a part of a batch, a level.")] = "",
    as_json: AsJson = False,
) -> None:
    """Publish again what was measured for a release: free, without reading data and without fresh noise.

    The recorded answer stays as it is. If there is none because publishing failed, the answer of the plan is recorded.
    """
    opened = open_ledger(ledger, schema)
    if grid is not None and not grid.is_file():
        raise InputError("--grid", str(grid), "a grid file that exists", "Nothing was spent.")
    release = full_id(opened, release, answered=False)
    known = opened.find(release)
    data = str(grid) if grid is not None else "" if known is None else known.charged.dataset
    desk = _desk(opened, person(who), schema_path(data, schema), grid, release)
    given = {"confidence": confidence, "method": method, "rows": rows, "beta": beta}
    how = {name: value for name, value in given.items() if value is not None}
    if rules is not None:
        how["rules"] = _rules(opened, release, rules)
    with progress():
        again = desk.publish(release, read_how(opened.find(release), how, desk.declared))
    show_whole(again, shape, part, as_json)


def _desk(ledger: Ledger, who: str, schema: Path, grid: Path | None, release: str) -> RecordDesk:
    """What is on record and what is declared: nothing else is needed."""
    declared = read_setup(schema).schema
    if declared.subject == "table":
        return RecordDesk(ledger, who, declared)
    from discreet.constraints.hidden.values import ValuesSchema

    if isinstance(declared, ValuesSchema):
        known = ledger.find(release)
        asked: Any = {} if known is None else known.charged.query
        return RecordDesk(ledger, who, replace(declared, names=tuple(asked.get("hidden", ()))))  # no file is needed
    from discreet.power.file import GridFile
    from discreet.power.schema import GridSchema

    if grid is None or not isinstance(declared, GridSchema):
        raise InputError("--grid", MISSING, "given for loads: the repair needs their grid", "Nothing was spent.")
    return RecordDesk(ledger, who, GridFile.of(grid, declared.loads).described(declared)[0])


def _rules(ledger: Ledger, release: str, path: Path) -> Any:
    known = ledger.find(release)
    made = None if known is None else kind_of(known.charged.query, known.kind)
    field = None if made is None else options(made.ask()).get("rules")
    if field is None or field.form.load is None:
        raise InputError("--rules", str(path), "left out unless a hierarchy is published", "Nothing was spent.")
    return field.form.load(str(path))
