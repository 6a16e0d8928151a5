"""`discreet tree explain`: how the exact method weighs the counts that a region might have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from discreet.apps.cli.completion import releases
from discreet.apps.cli.options import LedgerAddress, open_ledger
from discreet.apps.cli.output import AsJson, say, show_json
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.trees.release import TreeRelease

__all__ = ["explain"]

_FIELDS = {"region": "REGION", "level": "--level", "cells": "--cell", "release": "RELEASE"}


def explain(
    release: Annotated[str, typer.Argument(help="Release id of a hierarchy.", autocompletion=releases)],
    region: Annotated[str, typer.Argument(help="Code of a region, such as Georgia.")],
    level: Annotated[str | None, typer.Option(help="Its level, where regions of two levels have one code.")] = None,
    cell: Annotated[
        str | None, typer.Option(help="Where there are several cells: which one, 'sex=female; age=0..17'.")
    ] = None,
    ledger: LedgerAddress = None,
    as_json: AsJson = False,
) -> None:
    """What every count of a region would cost the exact method: its own miss, and the least of all below it.

    Read from published noisy counts, at no cost. Costs are squares of misses, by weight, added up over regions.
    """
    from discreet.curator import read_release

    answer: TreeRelease = read_release(open_ledger(ledger), release, kind="tree")
    try:
        table = answer.explain_cost(region, level=level, cells=None if cell is None else _cells(cell))
    except InputError as problem:
        head = problem.field.partition(".")[0]
        raise problem.about(_FIELDS[head]) if head in _FIELDS else problem from None
    if as_json:
        show_json(table.to_dict())
        return
    say(str(table))


def _cells(written: str) -> dict[str, str]:
    """'sex=female; age=0..17' by column."""
    found = {}
    for part in filter(None, map(str.strip, written.split(";"))):
        name, equals, label = map(str.strip, part.partition("="))
        if not equals or not name:
            raise InputError("--cell", written, "labels by column, such as 'sex=female; age=0..17'")
        found[name] = label
    return found
