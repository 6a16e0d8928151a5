"""`discreet check`: what of the data does not fit its schema, for the custodian alone."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.apps.cli.options import Data, Table, say_used
from discreet.apps.cli.output import AsJson, say, show_json, working
from discreet.curator.inspection import NOTICE, Inspection, inspect_data
from discreet.curator.setup import read_setup, schema_path
from discreet.data.source import source_of

__all__ = ["check"]


def check(
    data: Data,
    schema: Annotated[
        str | None,
        typer.Argument(
            envvar="DISCREET_SCHEMA",
            help="The schema. By default the first there is of: NAME.toml beside the data NAME.csv; discreet.toml "
            "here; discreet.toml beside the data.",
        ),
    ] = None,
    table: Table = None,
    values: Annotated[int, typer.Option(min=0, max=1000, help="How many values to list of each finding.")] = 5,
    as_json: AsJson = False,
) -> None:
    """List what in the data does not fit its schema: for the custodian only. Nothing is released, nothing is spent.

    Values outside the bounds, undeclared values, numbers and days that cannot be read, missing values in columns
    declared complete, rows beyond the contribution limits; and what a file looks like: delimiter, header, encoding.
    Each with its share of rows and what to write in the schema. Exit code 0 if all fits, 1 if not.
    """
    path = schema_path(data, schema)
    say_used(schema=path)
    declared = read_setup(path)
    source = source_of(data, table)
    if not as_json:
        say(NOTICE)
    with working("reading"):
        inspection = inspect_data(source, declared, values=values)
    if as_json:
        show_json(inspection.to_dict())
    else:
        _show(inspection)
    raise typer.Exit(0 if inspection.fits else 1)


def _show(inspection: Inspection) -> None:
    say(f"\n{inspection.summary}")
    for column, findings in inspection.by_column():
        say(f"\n{column or 'The data'}")
        for finding in findings:
            say(f"  {'Note: ' if finding.note else ''}{finding}")
            if finding.suggestion:
                say(f"    -> {finding.suggestion}")
