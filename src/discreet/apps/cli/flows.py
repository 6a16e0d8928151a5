"""Where released flows go: short tables and the busiest cells to the terminal, every table to a file, a picture."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.apps.cli.delivery import TABLES, Delivery
from discreet.apps.cli.output import fit_to_draw, say, show_release, show_table, write_tables
from discreet.query.release import Tables

__all__ = ["FLOWS", "Folder", "Plot"]

_PRINTED = 60  # rows of a table that a terminal shows; of longer ones the busiest cells
Folder = Annotated[Path | None, typer.Option("--out", help="Folder for one CSV file a table.")]
Plot = Annotated[
    Path | None,
    typer.Option("--plot", help="Also draw trips by window and between places: .svg, .html, .png or .pdf."),
]


def _check(given: Mapping[str, Any]) -> None:
    TABLES.check(given)
    fit_to_draw(given["plot"])


def _deliver(answer: Any, given: Mapping[str, Any]) -> None:
    from discreet.flows.mobility.picture import busiest, draw_flows

    drawn = None if given["plot"] is None else draw_flows(answer).save(given["plot"])
    if given["as_json"] or given.get("part"):
        TABLES.deliver(answer, given)
    else:
        written = [] if given["out"] is None else write_tables(answer, given["out"])
        _show(answer, busiest(answer))
        for path in written:
            say(f"Wrote {path}")
    if drawn is not None and not given["as_json"]:
        say(f"Wrote {drawn}")


def _show(answer: Tables, cells: list[list[str]]) -> None:
    long = {name: table for name, table in answer.items() if len(table) > _PRINTED}
    for name, table in answer.items():
        if name not in long:
            say(name)
            show_release(table, name)
    if "cells" in long:
        table = answer["cells"]
        say("busiest cells")
        show_table("", [*table.keys[2:], *table.keys[:2], "count"], cells, numbers=1)
    if long:
        many = ", ".join(f"{name} ({len(table):,} rows)" for name, table in long.items())
        one = next(iter(long.values()))
        say(f"Not printed here: {many}. --out FOLDER writes all tables; flows show {one.id} --part NAME prints one.")


FLOWS = Delivery({**TABLES.parameters, "plot": (Plot, None)}, _deliver, _check, shown=TABLES.shown)
