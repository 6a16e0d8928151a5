"""`discreet releases decide`: what noise does to a fund dealt by published numbers, or to a threshold; at no cost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.apps.cli.assume import explained, read_groups
from discreet.apps.cli.completion import releases
from discreet.apps.cli.options import LedgerAddress, open_ledger
from discreet.apps.cli.output import AsJson, fit_to_draw, fit_to_write, progress, say, show_json
from discreet.curator import read_release
from discreet.errors import MISSING, InputError

__all__ = ["decide"]


def decide(
    release: Annotated[str, typer.Argument(help="Release id of a table or a hierarchy.", autocompletion=releases)],
    fund: Annotated[float | None, typer.Option(help="Amount that is distributed in proportion to the numbers.")] = None,
    threshold: Annotated[float | None, typer.Option(help="Limit that regions are above or below.")] = None,
    by: Annotated[
        str | None,
        typer.Option(help="Groups to break it down by: a key, a wider level, size, or a CSV file of region,group."),
    ] = None,
    level: Annotated[str | None, typer.Option(help="Of a hierarchy: the level to decide by, if not the last.")] = None,
    output: Annotated[str | None, typer.Option(help="Of a table: the output to decide by, if not the first.")] = None,
    part: Annotated[str, typer.Option(help="The table of this name: a part of a batch.")] = "",
    repair: Annotated[
        str | None, typer.Option(help="groups: give every group what unbiased estimates give it.")
    ] = None,
    blend: Annotated[
        float, typer.Option(help="Of a hierarchy: move numbers so far (0 to 1) to those of topdown.")
    ] = 0.0,
    out: Annotated[Path | None, typer.Option(help="CSV file for what is decided of each region.")] = None,
    picture: Annotated[Path | None, typer.Option(help="Also draw the groups: .svg, .html, .png or .pdf.")] = None,
    ledger: LedgerAddress = None,
    as_json: AsJson = False,
) -> None:
    """Show how noise and post-processing alone change a decision made with published numbers: at no cost.

    For a fund: how much is distributed differently than by the true numbers. For a threshold: the
    probability of being on the wrong side.
    """
    fit_to_write(out, "--out", (".csv",))
    fit_to_draw(picture, "--picture")
    if picture is not None and by is None:
        raise InputError("--by", MISSING, "given: a picture is about groups")
    found = read_release(open_ledger(ledger), release, part=part)
    if not hasattr(found, "decide"):
        raise InputError("release", release, "the id of a table (of a batch, with --part) or a hierarchy")
    given = {"level": level, "output": output, "repair": repair, "blend": blend or None}
    how = {name: value for name, value in given.items() if value is not None}
    allowed = ("level", "repair", "blend") if hasattr(found, "tree") else ("output", "repair")
    for name in how:
        if name not in allowed:
            raise InputError(f"--{name}", how[name], "left out for a release of this kind")
    with progress():
        try:
            decision = found.decide(fund=fund, threshold=threshold, by=read_groups(by), **how)
        except InputError as problem:
            raise explained(problem, f"--{problem.field}", by) from None
    if out is not None:
        decision.to_csv(out)
    if picture is not None:
        decision.plot().save(picture)
    if as_json:
        show_json(decision.to_dict())
        return
    say(repr(decision))
    for path in (out, picture):
        if path is not None:
            say(f"Wrote {path}")
