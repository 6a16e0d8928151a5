"""`discreet survey`: a question nobody answers honestly, asked so that nobody's answer is on file."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from discreet.apps.cli.options import Confidence
from discreet.apps.cli.output import AsJson, say, show_json, show_table, working
from discreet.apps.cli.serve import free_to_listen
from discreet.errors import InputError
from discreet.local.questionnaire.questionnaire import Questionnaire

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True, help="Surveys that randomise on the respondent's device: new, plan, serve, estimate, export."
)

File = Annotated[Path, typer.Argument(help="The survey, a TOML file.")]
Source = Annotated[str, typer.Argument(help="Reports: a .db file or postgresql://..., or a .parquet or .csv export.")]


@app.command("new")
def new(path: Annotated[Path, typer.Argument(help="File to write.")] = Path("survey.toml")) -> None:
    """Write a survey to start from, with comments that say what can be changed."""
    if path.exists():
        raise InputError("path", str(path), "a file that does not exist yet", "Nothing was overwritten.")
    if not path.absolute().parent.is_dir():
        raise InputError("path", str(path), "a file in a folder that exists")
    path.write_text((files("discreet.apps.survey") / "survey.toml").read_text("utf-8"), encoding="utf-8")
    say(f"Wrote {path}. Edit it, then: discreet survey plan {path} --people 1000")


@app.command("plan")
def plan(
    file: File,
    people: Annotated[int, typer.Option(help="How many people are expected to answer.")] = 1000,
    within: Annotated[
        str | None, typer.Option(help="Half-width wanted, such as 0.03: a share of the people, or of a number's range.")
    ] = None,
    prior: Annotated[str, typer.Option(help="What someone may have thought before, as a probability.")] = "0.02",
    confidence: Confidence = 0.95,
    as_json: AsJson = False,
) -> None:
    """What each question reveals about a person, and how close the estimates will come. Asks nobody."""
    from discreet.apps.survey.plan import plan_survey

    found = plan_survey(Questionnaire.load(file), people=people, within=within, prior=prior, confidence=confidence)
    if as_json:
        show_json(found.to_dict())
        return
    show_table(found.survey.title, found.head(), found.rows(), numbers=len(found.head()) - 2)
    for line in found.lines():
        say(line)


@app.command("serve")
def serve(
    file: File,
    db: Annotated[str, typer.Option(help="Where reports are kept: a file, or postgresql://...")] = "reports.db",
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65535)] = 8321,
    origin: Annotated[
        str | None, typer.Option(help="The address people see, such as https://survey.example.org, behind a proxy.")
    ] = None,
    expose: Annotated[
        bool, typer.Option("--expose", help="Listen beyond this machine without TLS. A proxy in front is better.")
    ] = False,
    results: Annotated[bool, typer.Option(help="Show the estimates at /results.")] = True,
) -> None:
    """Serve the page and collect randomised reports until stopped. No address is logged or kept."""
    from discreet.apps.survey.server import application, is_loopback, serve
    from discreet.apps.survey.store import open_reports

    survey = Questionnaire.load(file)
    if not is_loopback(host) and not expose:
        hint = "Put a proxy with TLS in front of 127.0.0.1, or add --expose."
        raise InputError("--host", host, "an address of this machine only, such as 127.0.0.1", hint)
    if origin is not None and (not origin.startswith(("https://", "http://")) or origin.count("/") != 2):
        raise InputError("--origin", origin, "a scheme and a host, such as https://survey.example.org")
    free_to_listen(host, port)
    reports = open_reports(db, survey.digest)
    try:
        web = application(survey, reports, origin=origin, show_results=results)
        shown = f"[{host}]" if ":" in host else host
        say(f"Survey {survey.id} at http://{shown}:{port}/")
        if results:
            say(f"Results at http://{shown}:{port}/results, from {survey.minimum:,} reports on")
        say("Only randomised reports are kept. Stop with Ctrl+C.")
        serve(web, host, port)
    finally:
        reports.close()


@app.command("estimate")
def estimate(
    file: File,
    reports: Source,
    confidence: Confidence = 0.95,
    plot: Annotated[Path | None, typer.Option(help="Also draw it: a .svg, .png or .html file.")] = None,
    below_minimum: Annotated[
        bool, typer.Option("--below-minimum", help="Show the owner also what the public is not shown yet.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Estimates with intervals from the reports of one survey. Mixed, broken and repeated reports are refused."""
    from discreet.apps.survey.files import read_results
    from discreet.apps.survey.results import save

    survey = Questionnaire.load(file)
    with working("Counting reports"):
        found = read_results(survey, reports, confidence=confidence)
    drawn = None if plot is None else save(found, plot, owner=below_minimum)
    if as_json:
        show_json({**found.to_dict(owner=below_minimum), "plot": None if drawn is None else str(drawn)})
        return
    if not (found.public or below_minimum):
        say(f"{found.withheld()} As the owner of the survey, add --below-minimum.")
        return
    for one in found.estimates:
        show_table(one.question.text, [one.caption(), "estimate", "from", "to"], one.rows(), numbers=3)
    say(found.note())
    if drawn is not None:
        say(f"Wrote {drawn}")


@app.command("export")
def export(
    file: File,
    reports: Annotated[str, typer.Argument(help="Reports: a .db file or postgresql://...")],
    out: Annotated[Path, typer.Argument(help="File to write: .parquet or .csv.")],
) -> None:
    """Write the randomised reports to a file, one row each, for other programs."""
    from discreet.apps.survey.files import export_reports

    with working("Writing reports"):
        count = export_reports(Questionnaire.load(file), reports, out)
    say(f"Wrote {count:,} reports to {out}")
