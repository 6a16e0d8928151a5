"""Options that several commands take, and the curator or ledger that they open."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.apps.cli.commands import AS_JSON
from discreet.apps.cli.completion import allotments, choice, columns, datasets, outputs
from discreet.apps.server.durations import read_duration
from discreet.curator import Curator, open_curator
from discreet.curator.setup import find_ledger, schema_path
from discreet.errors import MissingLedgerError
from discreet.ledger.ledger import Ledger
from discreet.ledger.location import public_address
from discreet.query.function import listed_functions

__all__ = [
    "LIMITS",
    "PRICES",
    "REQUIRED",
    "SOURCES",
    "Allotment",
    "By",
    "Confidence",
    "Data",
    "Dataset",
    "Delta",
    "Epsilon",
    "GridData",
    "Groups",
    "GroupsOnly",
    "LedgerAddress",
    "LimitGroups",
    "LimitRows",
    "LimitRowsTotal",
    "Noise",
    "Outputs",
    "Rho",
    "SchemaFile",
    "Share",
    "Table",
    "Top",
    "TopK",
    "ValuesData",
    "Where",
    "Within",
    "curator_at",
    "duration",
    "ledger_address",
    "open_ledger",
    "say_used",
    "with_signature",
]


def _written() -> list[str]:
    """Every function as it may be typed, the first with a column in full."""
    words, before = [], False
    for function in listed_functions().values():
        full = not before or (function.argument is not None and function.argument.required)
        example = "" if function.argument is None else function.argument.example
        needed = function.column == "required"
        words.append(function.written("COLUMN", example) if needed and full else function.name + "(...)" * needed)
        before = before or needed
    return words


Data = Annotated[str, typer.Argument(help="CSV or Parquet file, glob or folder, DuckDB file, or postgresql://...")]
GridData = Annotated[str, typer.Argument(help="Grid file: a MATPOWER case (.m) or a saved pandapower net (.json).")]
ValuesData = Annotated[str, typer.Argument(help="CSV file with a private number on each line.")]
Outputs = Annotated[
    list[str] | None,
    typer.Argument(
        help=f"What to compute: {', '.join(_written())}; "
        "mean(COLUMN,private) searches for bounds; mean([COLUMN,hours],norm=2) is of a vector; NAME=... names it. "
        "Names with signs in them may stand in double quotes: 'mean(\"pay, in €\")'.",
        autocompletion=outputs,
    ),
]
SchemaFile = Annotated[
    str | None,
    typer.Option(
        "--schema",
        metavar="PATH",
        envvar="DISCREET_SCHEMA",
        help="The schema. By default the first there is of: NAME.toml beside the data NAME.csv; discreet.toml here; "
        "discreet.toml beside the data.",
    ),
]
LedgerAddress = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        metavar="PLACE",
        envvar="DISCREET_LEDGER",
        help="The ledger: a path or postgresql://... By default the place that [ledger] in the schema names, or "
        ".discreet/ledger.db beside the schema.",
    ),
]
Dataset = Annotated[str | None, typer.Option(help="Only this dataset.", autocompletion=datasets)]
Table = Annotated[str | None, typer.Option(help="Table name, for databases.")]
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        help="Group by COLUMN, COLUMN/WIDTH, COLUMN/month, COLUMN/0,18,65,100; COLUMN? discovers its values (see "
        "--delta); repeat for more.",
        autocompletion=columns,
    ),
]
Groups = Annotated[
    list[str] | None,
    typer.Option(
        "--group",
        help="Publish only these groups: a value of each key, such as 'Oak,female'; repeat for more.",
    ),
]
GroupsOnly = Annotated[
    bool,
    typer.Option("--groups-only", help="Only list the discovered groups, without numbers about them."),
]
Where = Annotated[str | None, typer.Option(help="Condition, such as \"age >= 18 and sex = 'female'\".")]
LimitGroups = Annotated[
    int | None,
    typer.Option(help="In how many groups each person counts in this question, instead of what the schema states."),
]
LimitRows = Annotated[int | None, typer.Option(help="With how many rows each person counts in a group.")]
LimitRowsTotal = Annotated[
    int | None, typer.Option(help="With how many rows each person counts over all groups, drawn at random.")
]
Epsilon = Annotated[str | None, typer.Option(metavar="NUMBER", help="Price of the whole question as pure epsilon.")]
Rho = Annotated[str | None, typer.Option(metavar="NUMBER", help="Price as zCDP rho.")]
Share = Annotated[str | None, typer.Option(metavar="NUMBER", help="Price as a share of the allotment, such as 0.1.")]
Within = Annotated[
    str | None,
    typer.Option(metavar="NUMBER", help="Instead of a price, the accuracy: the half-width of every interval."),
]
Delta = Annotated[
    str | None, typer.Option(metavar="NUMBER", help="In addition to the price, for discovered values: such as 1e-7.")
]
Top = Annotated[
    str | None,
    typer.Option("--top", help="Instead of outputs: the most common values of COLUMN.", autocompletion=columns),
]
TopK = Annotated[int, typer.Option("--k", help="How many of them.")]
Confidence = Annotated[float, typer.Option(help="Confidence of the intervals.")]
Noise = Annotated[str, choice("auto", "laplace", "gaussian", help="Which noise is added.")]
Allotment = Annotated[
    str | None,
    typer.Option(
        help="Which part of the budget pays; of several, `questions` unless given.", autocompletion=allotments
    ),
]


def curator_at(data: str, schema: str | None, ledger: str | None, table: str | None = None) -> Curator:
    """The curator of the data named on the command line; where there is no ledger, one is made after a yes."""
    declared = schema_path(data, schema)
    place = find_ledger(data, declared, ledger)
    say_used(place, declared)
    try:
        return open_curator(data, declared, ledger=place, table=table)
    except MissingLedgerError as missing:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise
        typer.echo(str(missing), err=True)
        typer.confirm("If there never was one: create it now?", abort=True, err=True)
        return open_curator(data, declared, ledger=place, table=table, create=True)


def ledger_address(ledger: str | None, schema: str | None = None) -> str:
    """The ledger that is named, or the one of the schema: the same rule for commands with data and without."""
    named = schema or os.environ.get("DISCREET_SCHEMA")
    return str(find_ledger(None, schema_path("", named), ledger))


def open_ledger(ledger: str | None, schema: str | None = None) -> Ledger:
    """The ledger, which must exist: reading must not make an empty one."""
    place = ledger_address(ledger, schema)
    say_used(place)
    return Ledger.open(place)


def say_used(ledger: str | Path | None = None, schema: Path | None = None) -> None:
    """Which files a command uses: at a terminal, beside what it prints."""
    if sys.stderr.isatty() and not AS_JSON.get():
        said = [] if schema is None else [f"Schema: {schema}"]
        said += [] if ledger is None else [f"Ledger: {public_address(ledger)}"]
        typer.echo(". ".join(said), err=True)


Parameters = Mapping[str, tuple[Any, Any]]
"""Types and defaults by name, as typer reads them; `REQUIRED` in place of a default."""
REQUIRED = inspect.Parameter.empty
LIMITS: Parameters = {
    "limit_groups": (LimitGroups, None),
    "limit_rows": (LimitRows, None),
    "limit_rows_total": (LimitRowsTotal, None),
}
PRICES: Parameters = {
    "epsilon": (Epsilon, None),
    "rho": (Rho, None),
    "share": (Share, None),
    "within": (Within, None),
    "confidence": (Confidence, 0.95),
    "noise": (Noise, "auto"),
}
SOURCES: Parameters = {
    "allotment": (Allotment, None),
    "schema": (SchemaFile, None),
    "ledger": (LedgerAddress, None),
    "table": (Table, None),
}


def duration(help: str, least: float = 0.0) -> Any:
    """An option that takes a number of seconds, or a duration such as 10m."""

    def read(value: object) -> float:
        try:
            seconds = read_duration(value)
            if seconds >= least:
                return seconds
        except ValueError:
            pass
        raise typer.BadParameter(f"must be a duration of {least:g} s or more, such as 30 or 10m; got {value}.")

    return typer.Option(help=help, parser=read, metavar="DURATION")


def with_signature(function: Callable[..., None], parameters: Parameters) -> Callable[..., None]:
    """The function with a signature that typer reads; what is required stands first."""
    listed = sorted(parameters.items(), key=lambda item: item[1][1] is not REQUIRED)
    function.__annotations__ = {name: kind for name, (kind, _) in listed} | {"return": None}
    function.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            for name, (kind, default) in listed
        ]
    )
    return function
