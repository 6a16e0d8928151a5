"""Where population groups go: the table to the terminal, files, noisy counts, a map, a sum of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.apps.cli.delivery import NO_TREE, TREE, Delivery, draw_map, say_figure
from discreet.apps.cli.output import say, show_json, show_release

if TYPE_CHECKING:
    from discreet.trees.detail import DetailRelease
    from discreet.trees.sums import Figure

__all__ = ["GROUPS"]


def _deliver(answer: DetailRelease, given: Mapping[str, Any]) -> None:
    written = [] if given["out"] is None else answer.save(given["out"], kind=given["format"])
    if given["measurements"] is not None:
        written += answer.save_measurements(given["measurements"])
    if given["map_file"] is not None:
        written.append(draw_map(answer, given, "detail"))
    asked = given.get("sum_of")
    figure = None if asked is None else _figure(answer, asked)
    if given["as_json"]:
        found = {} if figure is None else {"sum": figure.to_dict()}
        show_json({**answer.to_dict(), **found, "files": [str(path) for path in written]})
        return
    if figure is None:
        show_release(answer)
    else:
        say_figure(figure, str(asked), None)
    for path in written:
        say(f"Wrote {path}")


def _figure(answer: DetailRelease, asked: str) -> Figure:
    """The sum over groups that a line asks for."""
    from discreet.trees.detail.sums import parse_groups

    return answer.sum(**parse_groups(answer.known, asked, "--sum"))


_GROUPS = Annotated[Path | None, typer.Option(help="Folder for the table, with a data dictionary.")]
_GROUP_SUM = Annotated[
    str | None,
    typer.Option("--sum", help="A sum of your own, with an interval: 'county=Ash,Elm; group=white'. Empty for all."),
]
GROUPS = Delivery(
    {
        "out": (_GROUPS, None),
        "format": (TREE.parameters["format"][0], "csv"),
        **{name: TREE.parameters[name] for name in ("map_file", "geometry", "code_property", "measurements")},
    },
    _deliver,
    lambda given: TREE.check({**NO_TREE, **given}),
    shown={"sum_of": (_GROUP_SUM, None)},
)
