"""Where released loads of a grid go: to tables, as they are or moved until AC optimal power flow converges."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.apps.cli.delivery import TABLES, Delivery
from discreet.apps.cli.options import SchemaFile
from discreet.apps.cli.output import fit_to_draw, progress, say
from discreet.errors import MISSING, InputError, MissingExtraError

__all__ = ["LOADS"]

_AC = Annotated[
    bool, typer.Option("--ac", help="Move released loads until AC optimal power flow converges for them: free.")
]
_FACTOR = Annotated[float, typer.Option(help="With --ac: the power factor of every load, which is public.")]
_GRID = Annotated[Path | None, typer.Option(help="With --ac: the grid file; only the grid is read from it.")]


_PLOT = Annotated[
    Path | None,
    typer.Option("--plot", help="Also draw the loads, at several times the day: .svg, .html, .png or .pdf."),
]


def _check_loads(given: Mapping[str, Any]) -> None:
    TABLES.check(given)
    fit_to_draw(given["plot"])
    if not given["ac"]:
        return
    if find_spec("pandapower") is None:
        raise MissingExtraError("power", "pandapower")
    if not 0 < given["power_factor"] <= 1:
        raise InputError("--power-factor", given["power_factor"], "more than 0 and at most 1", "Nothing was spent.")
    if "data" not in given and given["grid"] is None:
        raise InputError("--grid", MISSING, "given with --ac: AC needs the grid")


def _deliver_loads(answer: Any, given: Mapping[str, Any]) -> None:
    if given["ac"]:
        from discreet.curator.setup import read_setup, schema_path
        from discreet.power.file import GridFile

        path = str(given["data"] if "data" in given else given["grid"])
        declared = read_setup(schema_path(path, given.get("schema"))).schema
        with progress():
            net = GridFile.of(path, getattr(declared, "loads", None)).net()
            answer = answer.for_ac(net, power_factor=given["power_factor"])
    drawn = None if given["plot"] is None else answer.plot().save(given["plot"])
    TABLES.deliver(answer, given)
    if drawn is not None and not given["as_json"]:
        say(f"Wrote {drawn}")


LOADS = Delivery(
    {**TABLES.parameters, "plot": (_PLOT, None), "ac": (_AC, False), "power_factor": (_FACTOR, 0.95)},
    _deliver_loads,
    _check_loads,
    shown={**TABLES.shown, "grid": (_GRID, None), "schema": (SchemaFile, None)},
)
