"""`discreet attack`: what goes wrong without a budget, shown; and the same attack failing under a stated epsilon."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from discreet.apps.attacks.inversion import invert_faces
from discreet.apps.attacks.membership import attack_model, attack_rows, roc_picture
from discreet.apps.cli.completion import offered
from discreet.apps.cli.output import AsJson, say, show_json, show_table, working
from discreet.errors import InputError
from discreet.noise.bits import SystemBits
from discreet.risk.census import attack_blocks
from discreet.risk.difference import differencing
from discreet.risk.linkage import link as linked
from discreet.risk.reconstruction import picture as reconstruction_picture
from discreet.risk.reconstruction import random_questions
from discreet.risk.reconstruction import reconstruct as reconstruct_bits

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Attacks to run and to show, and to see failing under a budget.")

Epsilon = Annotated[float, typer.Option(help="The budget under which the same attack is tried again.")]
Picture = Annotated[Path | None, typer.Option(help="Where to draw it: .html, .svg or .png.")]


@app.command("link")
def link(
    released: Annotated[Path, typer.Argument(help="A table without names.")],
    register: Annotated[Path, typer.Argument(help="A table with names, or any other that people are in.")],
    on: Annotated[str, typer.Option(help="Columns that both have, such as age,zip,sex.")],
    sensitive: Annotated[str | None, typer.Option(help="The column an attacker wants to know.")] = None,
    person: Annotated[str | None, typer.Option(help="Column in both that says who is who, to check the links.")] = None,
    as_json: AsJson = False,
) -> None:
    """Put names back: match people of a register to rows of a table without names."""
    with working("matching"):
        found = linked(released, register, on=on, sensitive=sensitive, person=person)
    if as_json:
        show_json(found.to_dict())
        return
    say(found.explain())
    say("Try again with coarser columns: discreet risk --k 5 --register. Or publish counts under a budget instead.")


@app.command("reconstruct")
def reconstruct(
    people: Annotated[int, typer.Option(help="How many people, each with one secret bit.")] = 1000,
    questions: Annotated[int | None, typer.Option(help="Counts over random halves; four a person by default.")] = None,
    way: Annotated[
        str,
        typer.Option(
            help="squares (least squares) or program (linear program).", autocompletion=offered("squares", "program")
        ),
    ] = "squares",
    epsilon: Epsilon = 1.0,
    picture: Picture = None,
    as_json: AsJson = False,
) -> None:
    """Rebuild secret bits from too many counts that were each nearly right, then try it on a budget."""
    with working("asking and solving"):
        found = reconstruct_bits(people, questions=questions, epsilon=epsilon, way=way)
    _drawn(reconstruction_picture(found, epsilon) if picture else None, picture)
    if as_json:
        show_json([asdict(one) for one in found])
        return
    rows = [[f"{one.error / people**0.5:.2g}", f"{one.error:,.4g}", f"{one.right:.1%}"] for one in found]
    rows[-1][0] += f" (epsilon = {epsilon:g} for all)"
    title = f"{found[0].questions:,} counts over random halves of {people:,} people"
    show_table(title, ["error / sqrt(people)", "error of a count", "bits found"], rows, numbers=2)
    say("Coin flips find half. A budget makes the error grow with the number of questions: asking more does not help.")


@app.command("census")
def census(
    blocks: Annotated[int, typer.Option(help="How many made-up blocks to attack.")] = 10,
    people: Annotated[int, typer.Option(help="People in each.")] = 7,
    epsilon: Epsilon = 1.0,
    picture: Picture = None,
    as_json: AsJson = False,
) -> None:
    """Rebuild people of small blocks from published tables (age, sex, race), then from tables with noise."""
    with working("solving"):
        found = attack_blocks(blocks, people, epsilon)
    _drawn(found.picture() if picture else None, picture)
    if as_json:
        show_json(found.to_dict())
    else:
        say(found.explain())


@app.command("difference")
def difference(
    people: Annotated[int, typer.Option(help="How many people, each with one secret bit; all are attacked.")] = 1000,
    epsilon: Epsilon = 1.0,
    as_json: AsJson = False,
) -> None:
    """Two counts that differ by one person, exact and under a budget."""
    if not 2 <= people <= 10**7:
        raise InputError("--people", people, "a whole number from 2 to 10,000,000")
    secret = np.asarray(random_questions(people, 1, SystemBits())[0] > 0)
    found = differencing(secret, epsilon)
    if as_json:
        show_json(asdict(found))
    else:
        say(found.explain())


@app.command("membership")
def membership(
    of: Annotated[
        str,
        typer.Option(
            "--of",
            help="model (a trained network) or rows (a synthetic table).",
            autocompletion=offered("model", "rows"),
        ),
    ] = "model",
    people: Annotated[int, typer.Option(help="How many made-up people are in the data.")] = 500,
    epsilon: Epsilon = 1.0,
    picture: Picture = None,
    as_json: AsJson = False,
) -> None:
    """Tell who was in the data: of a model or of synthetic rows, made with and without a budget."""
    ways = {"model": attack_model, "rows": attack_rows}
    if of not in ways:
        raise InputError("--of", of, among=("model", "rows"))
    with working("making and attacking"):
        found = ways[of](people, epsilon)
    _drawn(roc_picture(found) if picture else None, picture)
    if as_json:
        show_json(found.to_dict())
    else:
        say(found.explain())


@app.command("inversion")
def inversion(
    people: Annotated[int, typer.Option(help="How many made-up people the classifier tells apart.")] = 20,
    epsilon: Epsilon = 1.0,
    picture: Picture = None,
    as_json: AsJson = False,
) -> None:
    """Draw people out of the weights of a classifier that knows them, made with and without a budget."""
    with working("training and inverting"):
        found = invert_faces(people, epsilon)
    _drawn(found.picture() if picture else None, picture)
    if as_json:
        show_json(found.to_dict())
    else:
        say(found.explain())


def _drawn(chart: Any, path: Path | None) -> None:
    """Save a picture where asked."""
    if path is None:
        return
    if path.suffix.lower() not in (".html", ".svg", ".png"):
        raise InputError("--picture", path.name, "a file that ends in .html, .svg or .png")
    chart.save(path)
    print(f"Drawn: {path}", file=sys.stderr)
