"""Where a census goes: a summary of its tables to the terminal, a folder of files for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.apps.cli.delivery import NO_TREE, TREE, Delivery, draw_map
from discreet.apps.cli.output import paid, say, show_json, show_release, show_table
from discreet.core.release import number, percent
from discreet.curator.kinds import table_of
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.trees.census import CensusRelease

__all__ = ["CENSUS"]

_FILES = ("out", "format", "measurements", "map_file", "geometry", "code_property")
_MAPPED = Annotated[str, typer.Option("--map-table", help="Which table the map shows; the first one unless given.")]


def _check(given: Mapping[str, Any]) -> None:
    TREE.check({**NO_TREE, **given})
    if given["mapped"] and given["map_file"] is None:
        raise InputError("--map-table", given["mapped"], "given with --map", "Nothing was spent.")
    if given["mapped"] and isinstance(tables := given.get("tables"), str):
        from discreet.trees.census.table import TABLES

        named = () if TABLES.load is None else TABLES.load(tables)
        if given["mapped"] not in named:
            raise InputError("--map-table", given["mapped"], among=named, hint="Nothing was spent.")


def _deliver(answer: CensusRelease, given: Mapping[str, Any]) -> None:
    written = [] if given["out"] is None else answer.save(given["out"], given["format"])
    if given["measurements"] is not None:
        written += answer.save_measurements(given["measurements"])
    if given["map_file"] is not None:
        written.append(draw_map(answer, given, "census", table=given["mapped"] or None))
    table = table_of(answer, part, "--part") if (part := given.get("part")) else None
    if given["as_json"]:
        whole = answer if table is None else table
        show_json({**whole.to_dict(), "files": [str(path) for path in written]})
        return
    if table is not None:
        show_release(table, str(part))
    else:
        _show(answer)
    for path in written:
        say(f"Wrote {path}")
    if table is None:
        say(f"Release {answer.id}")


def _show(answer: CensusRelease) -> None:
    """A line for every level of every table."""
    rows = []
    for name, part in answer.parts.items():
        for level, counts in enumerate(part.estimate.counts):
            whole = counts[:, 0].sum() if part.cumulative else counts.sum()
            ends = part.estimate.each
            half = "-" if ends is None else number(ends.half_width(level))
            rows.append([name, part.levels[level], f"{len(counts):,}", f"{int(whole):,}", half])
    show_table("", ["table", "level", "regions", "sum", "half-width (mean)"], rows, numbers=3)
    for note in answer.notes:
        say(f"Note: {note}")
    say(f"{percent(answer.confidence)} confidence intervals (not simultaneous), for each region. {paid(answer)}")


CENSUS = Delivery(
    {**{name: TREE.parameters[name] for name in _FILES}, "mapped": (_MAPPED, "")},
    _deliver,
    _check,
    shown={name: TREE.shown[name] for name in ("method", "part")},
    again=lambda answer, given: answer if given["method"] is None else answer.again(given["method"]),
)
