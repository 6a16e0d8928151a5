"""What else commuters have: the screen of a work area, LODES files, and how large a prior is."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.apps.cli.delivery import TABLES, Delivery
from discreet.apps.cli.output import AsJson, fit_to_write, say, show_json, show_release, show_table, write_tables
from discreet.core.exact import as_written
from discreet.errors import MISSING, InputError

__all__ = ["COMMUTE", "lodes", "prior"]

_WORK = Annotated[
    list[str] | None,
    typer.Option("--work", help="Show a work area, of one destination or several: repeat for more."),
]
_PAGE = Annotated[
    Path | None,
    typer.Option("--page", help="Write the screen of the work area, a map and its tables, to this HTML file."),
]


_ALL = "--out FOLDER writes all."


def _check(given: Mapping[str, Any]) -> None:
    TABLES.check(given)
    fit_to_write(given["page"], "--page", (".html",))
    if given["page"] is not None and not given["work"]:
        raise InputError("--work", MISSING, "given with --page: the work area", "Nothing was spent.")


def _deliver(answer: Any, given: Mapping[str, Any]) -> None:
    work = given["work"] or []
    if not work:
        TABLES.deliver(answer, given)
        return
    try:
        area = answer.area(*work)
    except InputError as problem:
        raise problem.about(f"--{problem.field}") if problem.field == "work" else problem from None
    written = [] if given["page"] is None else [area.save(given["page"])]
    if given["out"] is not None:
        named = {"homes": area.homes} | ({} if area.profile is None else {"profile": area.profile})
        written += write_tables(named, given["out"])
    if given["as_json"]:
        profile = {} if area.profile is None else {"profile": area.profile.to_dict()}
        show_json({"homes": area.homes.to_dict(), **profile, "files": [str(path) for path in written]})
        return
    if area.profile is not None:
        say(f"Who works in {area.name}")
        show_release(area.profile, "profile", _ALL)
    say(f"Where people who work in {area.name} live")
    show_release(area.homes, "homes", _ALL)
    for path in written:
        say(f"Wrote {path}")


COMMUTE = Delivery(
    {**TABLES.parameters, "work": (_WORK, None), "page": (_PAGE, None)}, _deliver, _check, shown=TABLES.shown
)


def lodes(
    file: Annotated[Path, typer.Argument(help="LODES file, od, rac or wac: .csv or .csv.gz. It is public.")],
    level: Annotated[str, typer.Option(help="Areas to add up to: state, county, tract, group or block.")] = "county",
    work: _WORK = None,
    out: Annotated[Path | None, typer.Option(help="File for the table: .csv or .parquet.")] = None,
    workers: Annotated[
        Path | None, typer.Option(help="File for one row a worker of an od file, to try releases on: .csv or .parquet.")
    ] = None,
    page: _PAGE = None,
    coordinates: Annotated[
        Path | None, typer.Option(help="CSV file of area,latitude,longitude, for the map of the page.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """A public file of LODES as a table of larger areas, and the screen of a work area from it. Charges nothing."""
    from discreet.flows.commuting.lodes import read_lodes
    from discreet.query.forms import PLACES

    for path, option in ((out, "--out"), (workers, "--workers")):
        fit_to_write(path, option, (".csv", ".parquet"))
    fit_to_write(page, "--page", (".html",))
    if page is not None and not work:
        raise InputError("--work", MISSING, "given with --page: the codes of the work area")
    found = read_lodes(file, level)
    written = []
    if out is not None:
        _write(found.table, out)
        written.append(out)
    if workers is not None:
        _write(found.workers(), workers)
        written.append(workers)
    if page is not None:
        where = None if coordinates is None or PLACES.load is None else PLACES.load(str(coordinates))
        page.write_text(found.to_html(*(work or []), coordinates=where), encoding="utf-8")
        written.append(page)
    profile = found.profile(*work) if work else []
    if as_json:
        names = ("characteristic", "group", "count", "share")
        told = {"kind": found.kind, "level": found.level, "rows": len(found)}
        listed = [dict(zip(names, row, strict=True)) for row in profile]
        show_json({**told, "profile": listed, "files": [str(path) for path in written]})
        return
    say(repr(found))
    if profile:
        rows = [[name, group, f"{many:,}", f"{share:.1%}"] for name, group, many, share in profile]
        show_table("", ["characteristic", "group", "workers", "share"], rows, numbers=2)
    for path in written:
        say(f"Wrote {path}")


def _write(table: Any, path: Path) -> None:
    import pyarrow.csv
    import pyarrow.parquet

    if path.suffix.lower() == ".csv":
        pyarrow.csv.write_csv(table, path)
    else:
        pyarrow.parquet.write_table(table, path)


def prior(
    workers: Annotated[int, typer.Option(help="Workers of a destination, as many as are drawn.")],
    epsilon: Annotated[str, typer.Option(help="Epsilon of the draws.")],
    origins: Annotated[int, typer.Option(help="Home areas, each a cell of the urn.")] = 1000,
    chance: Annotated[str, typer.Option(help="Delta, or the chance of a refusal, of priors that have one.")] = "1e-5",
    as_json: AsJson = False,
) -> None:
    """How many made-up workers each home area needs for a guarantee: m/(e^epsilon - 1) for pure epsilon."""
    from typing import get_args

    from discreet.flows.commuting.prior import UNIT, Prior, largest_size, prior_for

    price, rare = as_written(epsilon, "--epsilon"), as_written(chance, "--chance")
    if price <= 0:
        raise InputError("--epsilon", epsilon, "more than zero")
    if not 0 < rare < 1:
        raise InputError("--chance", chance, "more than 0 and less than 1")
    if origins < 1:
        raise InputError("--origins", origins, "at least 1")
    most = largest_size(origins + 1, price)
    if not 1 <= workers <= most:
        raise InputError("--workers", workers, f"from 1 to {most:,} at this epsilon and so many home areas")
    found = {kind: Fraction(prior_for(kind, workers, origins + 1, price, rare), UNIT) for kind in get_args(Prior)}
    if as_json:
        show_json({kind: float(size) for kind, size in found.items()})
        return
    rows = [[kind, f"{float(size):,.4g}", f"{float(size * origins):,.0f}"] for kind, size in found.items()]
    show_table("", ["prior", "made-up workers in each home area", "in all of them"], rows, numbers=2)
