"""`discreet audit`: attack discreet's own mechanisms, or one of your own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.apps.cli.output import AsJson, say, show_json, show_table, working
from discreet.errors import InputError

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    help="Try to refute privacy claims. Exit code 4 if one is refuted; nothing is ever proved private.",
)

Html = Annotated[Path | None, typer.Option("--html", help="Also write a report to this file.")]
VIOLATED = 4


@app.command("self")
def self_audit(
    tier: Annotated[int, typer.Option(help="1: half a minute, 2: ten minutes, 3: a night.")] = 1,
    only: Annotated[str, typer.Option(help="Only what has this in its name or kind.")] = "",
    alarm: Annotated[float, typer.Option(help="The chance of a false alarm in the whole run.")] = 1e-9,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 2,
    html: Html = None,
    as_json: AsJson = False,
) -> None:
    """Attack every mechanism and job of discreet, and planted bugs that must be caught."""
    from discreet.apps.audits import MODULES
    from discreet.audit.gate import run_gate
    from discreet.audit.report import HEAD, page, rows

    _writable(html)
    with working("attacking"):
        found = run_gate(MODULES, tier=tier, alarm=alarm, only=only, workers=workers)
    if html is not None:
        html.write_text(page(found, f"discreet, audited by itself (tier {tier})"), encoding="utf-8")
    if as_json:
        show_json(found.to_dict())
    else:
        if found.findings:
            show_table("Claims", HEAD, rows(found.findings))
        if found.planted:
            show_table("Planted bugs", HEAD, rows(found.planted))
        for note in found.skipped:
            say(f"Not attacked: {note}")
        for one in found.violations:
            say(f"{one.name}: {one.sentence()}")
        say(found.sentence())
    if not found.passed:
        raise typer.Exit(VIOLATED if found.violations else 1)


@app.command("run")
def run(
    module: Annotated[str, typer.Option(help="Dotted name or .py file that defines claim, neighbours and mechanism.")],
    runs: Annotated[int, typer.Option(help="Runs on either of two neighbours.")] = 200_000,
    confidence: Annotated[float, typer.Option(help="That what is found is true.")] = 0.999,
    html: Html = None,
    as_json: AsJson = False,
) -> None:
    """Attack a mechanism of your own."""
    from discreet.audit.custom import read_mechanism
    from discreet.audit.neighbours import worst
    from discreet.audit.report import HEAD, page, rows

    _writable(html)
    own = read_mechanism(module)
    with working(f"attacking {own.name}"):
        found = worst(own.pairs, own.claim, runs=runs, confidence=confidence, name=own.name)
    if html is not None:
        html.write_text(page(found, f"Audit of {own.name}"), encoding="utf-8")
    if as_json:
        show_json(found.to_dict())
    else:
        show_table("", HEAD, rows([found]))
        say(found.sentence())
    if found.violated:
        raise typer.Exit(VIOLATED)


def _writable(html: Path | None) -> None:
    """A report that cannot be written must not be found out after half an hour."""
    if html is not None and not html.absolute().parent.is_dir():
        raise InputError("--html", str(html), "a file in a folder that exists")
