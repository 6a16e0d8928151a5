"""`discreet audit`: attack discreet's own mechanisms, or one of your own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.apps.cli.output import AsJson, say, show_json, show_table, working
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.audit.finding import Finding

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
        html.write_text(page(found, f"Self-audit of discreet (tier {tier})"), encoding="utf-8")
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
    confidence: Annotated[
        float, typer.Option(help="Confidence of the result, or of both where runs are timed.")
    ] = 0.999,
    timed: Annotated[
        int,
        typer.Option("--timed", min=0, help="Also measure how long so many runs take, such as 4000, and test it."),
    ] = 0,
    html: Html = None,
    as_json: AsJson = False,
) -> None:
    """Attack a mechanism of your own: its answers, their types, its errors and, if asked, its time."""
    from discreet.audit.custom import read_mechanism

    _writable(html)
    own = read_mechanism(module)
    with working(f"attacking {own.name}"):
        found = own.attack(runs=runs, confidence=confidence, timed=timed)
    _show(found, f"Audit of {own.name}", html, as_json)


@app.command("train")
def train(
    module: Annotated[
        str | None,
        typer.Option(help="Dotted name or .py file that defines claim, canaries, train and score. Else: our trainer."),
    ] = None,
    scores: Annotated[
        Path | None, typer.Option(help="CSV file (included,score) of a training made elsewhere; needs --epsilon.")
    ] = None,
    canaries: Annotated[
        int, typer.Option(min=1, help="Made-up records, each in the data with probability 1/2.")
    ] = 1000,
    guesses: Annotated[
        int | None, typer.Option(help="How many canaries to guess about, the clearest. A third of them by default.")
    ] = None,
    steps: Annotated[int, typer.Option(min=1, help="Of our trainer: steps of DP-SGD.")] = 10,
    multiplier: Annotated[str, typer.Option(help="Of our trainer: noise, in multiples of the clipping bound.")] = "6",
    epsilon: Annotated[str | None, typer.Option(help="The claim, with --scores.")] = None,
    delta: Annotated[str, typer.Option(help="The claim, with --scores.")] = "1e-5",
    confidence: Annotated[float, typer.Option(help="Confidence of the result.")] = 0.999,
    html: Html = None,
    as_json: AsJson = False,
) -> None:
    """Audit a training from one run: plant made-up records (canaries) by coins, train once, guess the coins."""
    from discreet.apps.audits.canaries import audit_module, audit_scores, audit_trainer

    _writable(html)
    if module is not None and scores is not None:
        raise InputError("--scores", str(scores), "left out beside --module")
    if (scores is None) != (epsilon is None):
        raise InputError("--epsilon", epsilon or "", "given with --scores, and only there: a module has its own claim")
    with working("training once"):
        if scores is not None and epsilon is not None:
            found = audit_scores(scores, (epsilon, delta), guesses=guesses, confidence=confidence)
        elif module is not None:
            found = audit_module(module, canaries=canaries, guesses=guesses, confidence=confidence)
        else:
            found = audit_trainer(
                canaries=canaries, guesses=guesses, steps=steps, multiplier=multiplier, confidence=confidence
            )
    _show([found], f"Audit of {found.name}", html, as_json)


def _show(found: list[Finding], title: str, html: Path | None, as_json: bool) -> None:
    """Findings in every form; the exit code says whether a claim was refuted."""
    from discreet.audit.report import HEAD, page, rows

    if html is not None:
        html.write_text(page(found, title), encoding="utf-8")
    if as_json:
        show_json(found[0].to_dict() if len(found) == 1 else {"findings": [one.to_dict() for one in found]})
    else:
        show_table("", HEAD, rows(found))
        for one in found:
            say(one.sentence())
            if one.witness():
                say(f"Counted: {one.witness()}")
    if any(one.violated for one in found):
        raise typer.Exit(VIOLATED)


@app.command("sensitivity")
@app.command("question")
def question(
    schema: Annotated[Path, typer.Argument(help="The schema. Its data is never opened.")],
    text: Annotated[
        str | None, typer.Argument(help="The question, in SQL. Without one: counts, groups and sums of the schema.")
    ] = None,
    epsilon: Annotated[str | None, typer.Option(help="The price, as epsilon (1 if no price is given).")] = None,
    rho: Annotated[str | None, typer.Option(help="The price, as zCDP rho.")] = None,
    pairs: Annotated[int, typer.Option(min=1, help="Pairs of made-up neighbouring tables.")] = 60,
    seed: Annotated[int, typer.Option(help="Another number gives other tables.")] = 1,
    html: Html = None,
    as_json: AsJson = False,
) -> None:
    """Try your own question on made-up neighbouring tables, through the real engine: is one unit charged in full?

    Tables are made up from the schema, people are added and removed, and the numbers before noise are compared with
    what is charged. No private row is read and nothing is spent. Exit code 4 if a fault is found, with the tables that
    show it. `audit question` and `audit sensitivity` are the same command.
    """
    from discreet.apps.audits.sensitivity import HEAD, Sensitivity, audit_question, page, summary, usual_questions
    from discreet.curator.setup import read_setup
    from discreet.data.schema import Schema
    from discreet.ledger.budget import Budget

    _writable(html)
    if epsilon is not None and rho is not None:
        raise InputError("--rho", rho, "left out where --epsilon is given")
    declared = read_setup(schema).schema
    if not isinstance(declared, Schema):
        raise InputError("schema", str(schema), "that of a table")
    price: dict[str, Any] = {"epsilon": epsilon or "1"} if rho is None else {"rho": rho}
    budget = Budget(10**6) if rho is None else Budget(rho=10**6)
    asked = [text] if text is not None else usual_questions(declared)

    def tried(sql: str) -> Sensitivity:
        made: dict[str, Any] = {"pairs": pairs, "seed": seed, "words": sql, "budget": budget}
        return audit_question(declared, lambda curator: curator.sql(sql).plan(**price), **made)

    with working("inventing tables"):
        every = {sql: tried(sql) for sql in asked}
    if html is not None:
        html.write_text(page(every, f"Sensitivity of questions about {declared.name}"), encoding="utf-8")
    if as_json:
        plain = {sql: one.to_dict() for sql, one in every.items()}
        show_json(plain[text] if text is not None else {"questions": plain})
    elif text is not None:
        say(every[text].sentence())
    else:
        show_table("", HEAD, [one.row(sql) for sql, one in every.items()], drop=HEAD[1:4])
        say(summary(every))
    if any(one.violated for one in every.values()):
        raise typer.Exit(VIOLATED)


def _writable(html: Path | None) -> None:
    """A report that cannot be written must not be found out after half an hour."""
    if html is not None and not html.absolute().parent.is_dir():
        raise InputError("--html", str(html), "a file in a folder that exists")
