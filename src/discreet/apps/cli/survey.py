"""`discreet survey`: a question nobody answers honestly, asked so that nobody's answer is on file."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.apps.cli.options import Confidence
from discreet.apps.cli.output import AsJson, say, show_json, show_table, working
from discreet.apps.cli.serve import free_to_listen
from discreet.errors import InputError
from discreet.local.questionnaire.questionnaire import Questionnaire

if TYPE_CHECKING:
    from discreet.apps.survey.reading import Reading

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    help="Surveys that randomise on the respondent's device: new, plan, invite, serve, estimate, export.",
)

File = Annotated[Path, typer.Argument(help="The survey, a TOML file.")]
Round = Annotated[int | None, typer.Option("--round", help="Which round of a survey with [repeat], from 1 on.")]
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
        str | None,
        typer.Option(help="Half-width to reach, such as 0.03: a share of the people, or of a number's range."),
    ] = None,
    delta: Annotated[
        str | None,
        typer.Option(help="Also what an answer costs against someone who sees the results alone, at this delta."),
    ] = None,
    prior: Annotated[str, typer.Option(help="What someone may have thought before, as a probability.")] = "0.02",
    confidence: Confidence = 0.95,
    as_json: AsJson = False,
) -> None:
    """What each question reveals about a person, and how close the estimates will come. Asks nobody."""
    from discreet.apps.survey.plan import plan_survey

    asked = {"people": people, "within": within, "prior": prior, "confidence": confidence, "delta": delta}
    found = plan_survey(Questionnaire.load(file), **asked)  # type: ignore[arg-type]
    if as_json:
        show_json(found.to_dict())
        return
    show_table(found.survey.title, found.head(), found.rows(), numbers=len(found.head()) - 2)
    for line in found.lines():
        say(line)


@app.command("serve")
def serve(
    file: File,
    db: Annotated[str, typer.Option(help="Where reports are stored: a file, or postgresql://...")] = "reports.db",
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65535)] = 8321,
    origin: Annotated[
        str | None, typer.Option(help="The address people see, such as https://survey.example.org, behind a proxy.")
    ] = None,
    expose: Annotated[
        bool, typer.Option("--expose", help="Listen beyond this machine without TLS. A proxy in front is better.")
    ] = False,
    results: Annotated[bool, typer.Option(help="Show the estimates at /results.")] = True,
    invitations: Annotated[
        Path | None, typer.Option(help="Take reports from invited people only, once each: a file of survey invite.")
    ] = None,
    number: Round = None,
) -> None:
    """Serve the page and collect randomised reports until stopped. No address is logged or stored."""
    from discreet.apps.survey.invitations import Invitations
    from discreet.apps.survey.server import application, is_loopback, serve
    from discreet.apps.survey.store import open_reports

    survey = _in_round(Questionnaire.load(file), number)
    survey.check_round()
    if not is_loopback(host) and not expose:
        hint = "Put a proxy with TLS in front of 127.0.0.1, or add --expose."
        raise InputError("--host", host, "an address of this machine only, such as 127.0.0.1", hint)
    if origin is not None and (not origin.startswith(("https://", "http://")) or origin.count("/") != 2):
        raise InputError("--origin", origin, "a scheme and a host, such as https://survey.example.org")
    free_to_listen(host, port)
    invited = None if invitations is None else Invitations(invitations, survey.digest)
    reports = open_reports(db, survey.series)
    try:
        web = application(survey, reports, origin=origin, show_results=results, invitations=invited)
        shown = f"[{host}]" if ":" in host else host
        say(f"Survey {survey.id} at http://{shown}:{port}/")
        if results:
            say(f"Results at http://{shown}:{port}/results, from {survey.minimum:,} reports on")
        say("Only randomised reports are stored. Stop with Ctrl+C.")
        serve(web, host, port)
    finally:
        reports.close()
        if invited is not None:
            invited.close()


@app.command("invite")
def invite(
    file: File,
    out: Annotated[Path, typer.Argument(help="File to write the codes to, one on each line.")],
    count: Annotated[int, typer.Option(help="How many people to invite.")],
    invitations: Annotated[
        Path, typer.Option(help="Where codes (hashed) and the signing key are stored; made if need be.")
    ] = Path("invitations.db"),
    number: Round = None,
) -> None:
    """Write codes for people to invite. Each lets one report in, and no report can be linked to its code."""
    from discreet.apps.survey.invitations import Invitations

    survey = _in_round(Questionnaire.load(file), number)
    survey.check_round()
    if out.exists() or not out.absolute().parent.is_dir():
        raise InputError("out", str(out), "a file that does not exist yet, in a folder that exists")
    stored = Invitations(invitations, survey.digest, create=True)
    try:
        codes = stored.invite(count)
        every, _ = stored.used()
    finally:
        stored.close()
    out.touch(mode=0o600)
    out.write_text("".join(f"{code}\n" for code in codes), encoding="utf-8")
    say(f"Wrote {count:,} codes to {out}; {every:,} in all. Send each to one person, as ADDRESS/#code=CODE.")
    say(f"Then: discreet survey serve {file} --invitations {invitations}")


@app.command("estimate")
def estimate(
    file: File,
    reports: Source,
    confidence: Confidence = 0.95,
    together: Annotated[
        bool, typer.Option("--together", help="Intervals that all hold at once with this confidence.")
    ] = False,
    consistent: Annotated[
        str | None,
        typer.Option(help="Also shares that are not negative and add up to one: simplex, normalize or threshold."),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(help="Estimates for each answer to this question, or for each value of a file's column."),
    ] = None,
    weights: Annotated[
        str | None, typer.Option(help="Public column of a file: how many people each respondent stands for.")
    ] = None,
    strata: Annotated[
        Path | None, typer.Option(help="CSV file (group,share): the population's shares of the groups of --by.")
    ] = None,
    cross: Annotated[
        list[str] | None, typer.Option(help="Cross-table of two questions, such as pills,reason; may be given again.")
    ] = None,
    likeliest: Annotated[
        bool, typer.Option("--likeliest", help="Also the shares under which the reports are likeliest (by EM).")
    ] = False,
    ranges: Annotated[
        list[str] | None,
        typer.Option("--range", help="Share between two values of a distribution, hours=6:8; may be given again."),
    ] = None,
    number: Round = None,
    plot: Annotated[Path | None, typer.Option(help="Also draw it: a .svg, .png or .html file.")] = None,
    below_minimum: Annotated[
        bool,
        typer.Option("--below-minimum", help="Show estimates that are not public yet, to the owner of the survey."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Estimates with intervals from the reports of one survey. Mixed, broken and repeated reports are refused."""
    from discreet.apps.survey.files import read_results
    from discreet.apps.survey.reading import Reading, read_span, read_strata
    from discreet.apps.survey.results import save

    survey = _in_round(Questionnaire.load(file), number)
    pairs = None if not cross else tuple(tuple(name.strip() for name in pair.split(",")) for pair in cross)
    shares = {} if strata is None else read_strata(strata)
    spans = tuple(map(read_span, ranges or ()))
    reading = Reading(confidence, together, consistent, by, weights, shares, pairs, likeliest, spans)  # type: ignore[arg-type]
    if survey.rounds and not survey.round:
        if plot is not None:
            raise InputError("--plot", str(plot), "given beside --round, for the picture of one round")
        _show_rounds(survey, reports, reading, below_minimum, as_json)
        return
    reading.check(survey)
    with working("Counting reports"):
        found = read_results(survey, reports, reading)
    drawn = None if plot is None else save(found, plot, owner=below_minimum)
    if as_json:
        show_json({**found.to_dict(owner=below_minimum), "plot": None if drawn is None else str(drawn)})
        return
    if not (found.public or below_minimum):
        say(f"{found.withheld()} As the owner of the survey, add --below-minimum.")
        return
    for one in (whole.largest() for whole in found.shown(owner=below_minimum)):
        if one.reports and not one.labels:
            say(f"{one.title}: {one.words()}")
            continue
        show_table(one.title, [one.caption(), *one.head()], one.rows(), numbers=len(one.head()))
    if found.summaries:
        rows = [[f"{one.question.name}: {label}", *rest] for one in found.summaries for label, *rest in [one.row()]]
        show_table("Means, medians and ranges", ["", "estimate", "from", "to"], rows, numbers=3)
    if small := len(found.estimates) - len(found.shown(owner=below_minimum)):
        say(f"Groups of fewer than {survey.minimum:,} reports are left out: {small} tables.")
    for table in found.crosses:
        show_table(table.title, ["", *table.head()], table.rows(), numbers=len(table.head()))
    say(found.note())
    for line in found.suspicions():
        say(line)
    if drawn is not None:
        say(f"Wrote {drawn}")


def _in_round(survey: Questionnaire, number: int | None) -> Questionnaire:
    return survey if number is None else survey.at(number)


def _show_rounds(survey: Questionnaire, reports: str, reading: Reading, owner: bool, as_json: bool) -> None:
    """Every round, and the change from each to the next."""
    from discreet.apps.survey.rounds import read_rounds

    with working("Counting reports"):
        found = read_rounds(survey, reports, reading)
    if as_json:
        show_json(found.to_dict(owner=owner))
        return
    if not found.shown(owner=owner):
        say(f"No round has {survey.minimum:,} reports yet. As the owner of the survey, add --below-minimum.")
        return
    for title, rows in found.tables(owner=owner):
        show_table(title, ["", *found.head()], rows, numbers=len(found.head()))
    say(found.note())


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
