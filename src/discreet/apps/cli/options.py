"""Options that several commands take, and the curator or ledger that they open."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from discreet.apps.cli.completion import allotments, columns, datasets, offered, outputs
from discreet.curator import Curator, open_curator
from discreet.curator.setup import find_ledger, schema_path
from discreet.errors import MissingLedgerError
from discreet.ledger.ledger import Ledger
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
    "Where",
    "Within",
    "curator_at",
    "ledger_address",
    "open_ledger",
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
Outputs = Annotated[
    list[str] | None,
    typer.Argument(
        help=f"What to compute: {', '.join(_written())}; "
        "mean(COLUMN,private) searches for bounds; NAME=... names it. "
        "Names with signs in them may stand in double quotes: 'mean(\"pay, in €\")'.",
        autocompletion=outputs,
    ),
]
SchemaFile = Annotated[str | None, typer.Option("--schema", envvar="DISCREET_SCHEMA", help="discreet.toml by default.")]
LedgerAddress = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        envvar="DISCREET_LEDGER",
        help="A path or postgresql://...; .discreet/ledger.db beside the schema by default.",
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
        help="Have no other groups than these: a value of each key, such as 'Oak,female'; repeat for more.",
    ),
]
GroupsOnly = Annotated[
    bool,
    typer.Option("--groups-only", help="Only which groups there are, of discovered values; no numbers about them."),
]
Where = Annotated[str | None, typer.Option(help="Condition, such as \"age >= 18 and sex = 'female'\".")]
LimitGroups = Annotated[
    int | None,
    typer.Option(help="In how many groups each person counts in this question, instead of what the schema states."),
]
LimitRows = Annotated[int | None, typer.Option(help="As how many rows each person counts in a group of it.")]
LimitRowsTotal = Annotated[
    int | None, typer.Option(help="With how many rows each person counts over all groups, drawn at random.")
]
Epsilon = Annotated[str | None, typer.Option(help="Price of the whole question as pure epsilon.")]
Rho = Annotated[str | None, typer.Option(help="Price as zCDP rho.")]
Share = Annotated[str | None, typer.Option(help="Price as a share of the allotment, such as 0.1.")]
Within = Annotated[str | None, typer.Option(help="Accuracy wanted: the half-width of every interval.")]
Delta = Annotated[str | None, typer.Option(help="Beside the price, for discovered values: such as 1e-7.")]
Top = Annotated[
    str | None,
    typer.Option("--top", help="Instead of outputs: the most common values of COLUMN.", autocompletion=columns),
]
TopK = Annotated[int, typer.Option("--k", help="How many of them.")]
Confidence = Annotated[float, typer.Option(help="Confidence of the intervals.")]
Noise = Annotated[
    str, typer.Option(help="auto, laplace or gaussian.", autocompletion=offered("auto", "laplace", "gaussian"))
]
Allotment = Annotated[
    str | None,
    typer.Option(help="Which part of the budget pays; needed only if there are several.", autocompletion=allotments),
]


def curator_at(data: str, schema: str | None, ledger: str | None, table: str | None = None) -> Curator:
    """The curator of the data named on the command line; where there is no ledger, one is made after a yes."""
    declared = schema_path(data, schema)
    try:
        return open_curator(data, declared, ledger=ledger, table=table)
    except MissingLedgerError as missing:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise
        typer.echo(str(missing), err=True)
        typer.confirm("Was there never one? Make it now?", abort=True, err=True)
        return open_curator(data, declared, ledger=ledger, table=table, create=True)


def ledger_address(ledger: str | None) -> str:
    """The ledger that is named, or the one of the schema in this folder."""
    return str(find_ledger(None, "discreet.toml", ledger))


def open_ledger(ledger: str | None) -> Ledger:
    """The ledger, which must exist: reading must not make an empty one."""
    return Ledger.open(ledger_address(ledger))


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
