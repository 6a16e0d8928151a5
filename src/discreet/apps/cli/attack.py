"""`discreet attack`: what goes wrong without a budget, shown; and the same attack failing under a stated epsilon."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from discreet.apps.attacks.extraction import extract_secrets
from discreet.apps.attacks.inversion import invert_faces
from discreet.apps.attacks.membership import attack_model, attack_rows, roc_picture
from discreet.apps.cli.completion import offered
from discreet.apps.cli.output import AsJson, say, show_json, show_table, working
from discreet.errors import InputError
from discreet.noise.bits import SystemBits
from discreet.risk.averages import KNOWN, PUZZLE, GroupAverage, solve_averages
from discreet.risk.block_attack import attack_blocks, attack_residents
from discreet.risk.block_tables import read_blocks, read_register, read_residents, rebuild_blocks
from discreet.risk.difference import difference_means, differencing, draw_salaries
from discreet.risk.heat_map import map_runs
from discreet.risk.intersection import intersect as intersected
from discreet.risk.linkage import link as linked
from discreet.risk.ratings import link_ratings
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
    say("Try again with coarser columns: discreet risk --k 5 --register. Or publish counts under a budget instead:")
    say("there is no row to link then, and the price is that every count is off by a few people.")


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
    """Dinur and Nissim's attack: rebuild secret bits from too many counts, each nearly right, then under a budget."""
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
    say(
        "Coin flips find half. A budget makes the error grow with the number of questions: asking more does not help. "
        "That is the price, too: a few counts are good, thousands are not."
    )


@app.command("census")
def census(
    blocks: Annotated[int, typer.Option(help="How many made-up blocks to attack.")] = 10,
    people: Annotated[int, typer.Option(help="People in each.")] = 7,
    data: Annotated[Path | None, typer.Option(help="Your own people instead: block,age,sex,race, and name.")] = None,
    tables: Annotated[
        Path | None, typer.Option(help="Your own printed tables instead: block,sex,race,from,to,count,mean,median.")
    ] = None,
    register: Annotated[Path | None, typer.Option(help="A register for your own: block,name,age,sex.")] = None,
    epsilon: Epsilon = 1.0,
    picture: Picture = None,
    as_json: AsJson = False,
) -> None:
    """Rebuild people of small blocks from published tables and name them with a register; then with noise."""
    if register is not None and data is None and tables is None:
        raise InputError("--register", register.name, "left out, unless --data or --tables is given")
    if data is not None and tables is not None:
        raise InputError("--tables", tables.name, "left out where --data is given")
    found: Any
    with working("solving"):
        if tables is not None:
            found = rebuild_blocks(read_blocks(tables), None if register is None else read_register(register))
        elif data is not None:
            found = attack_residents(read_residents(data, register), epsilon)
        else:
            found = attack_blocks(blocks, people, epsilon)
    _show(found, picture, as_json)
    if as_json:
        return
    if tables is not None:
        rows = [[one.block, str(one.age), one.sex, one.race, one.name or ""] for one in found.people[:20]]
        show_table("Rebuilt, the first twenty", ["block", "age", "sex", "race", "name"], rows)
    elif found.sample:
        show_table("The first block, rebuilt", ["age", "sex", "race", "name"], [list(row) for row in found.sample])


@app.command("difference")
def difference(
    people: Annotated[int, typer.Option(help="How many people, each with one secret bit; all are attacked.")] = 1000,
    of: Annotated[
        str,
        typer.Option(
            "--of",
            help="counts (of a secret bit) or means (of salaries, of which the largest is attacked).",
            autocompletion=offered("counts", "means"),
        ),
    ] = "counts",
    bound: Annotated[int, typer.Option(help="The largest salary that counts, for means.")] = 2_000_000,
    epsilon: Epsilon = 1.0,
    picture: Picture = None,
    as_json: AsJson = False,
) -> None:
    """Two answers that differ by one person, counts or average salaries, exact and under a budget."""
    if not 2 <= people <= 10**7:
        raise InputError("--people", people, "a whole number from 2 to 10,000,000")
    if of not in ("counts", "means"):
        raise InputError("--of", of, among=("counts", "means"))
    if of == "means":
        if not 1 <= bound <= 10**8:
            raise InputError("--bound", bound, "a whole number from 1 to 100,000,000")
        _show(difference_means(draw_salaries(people, bound), epsilon, bound=bound), picture, as_json)
        return
    secret = np.asarray(random_questions(people, 1, SystemBits())[0] > 0)
    _show(differencing(secret, epsilon), picture, as_json)


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
    """Draw people out of a network that knows them, with a public prior, made with and without a budget."""
    with working("training and inverting"):
        found = invert_faces(people, epsilon)
    _show(found, picture, as_json)


@app.command("extract")
def extract(
    records: Annotated[int, typer.Option(help="How many made-up messages the model learns.")] = 2000,
    secrets: Annotated[int, typer.Option(help="In how many of them a secret code is planted, one to eight.")] = 4,
    epsilon: Epsilon = 8.0,
    also: Annotated[
        list[float] | None, typer.Option(help="Another budget for the curve; again for each. 1 by default.")
    ] = None,
    picture: Picture = None,
    as_json: AsJson = False,
) -> None:
    """Make a language model write out secrets that single messages held, trained with and without a budget."""
    with working("training and asking"):
        found = extract_secrets(records, secrets, epsilon, curve=tuple(also or (1.0,)))
    _show(found, picture, as_json)


@app.command("intersect")
def intersect(
    first: Annotated[Path, typer.Argument(help="A table without names.")],
    second: Annotated[Path, typer.Argument(help="Another that some of the same people are in.")],
    on: Annotated[str, typer.Option(help="Columns that both have, coarsened or not, such as age,zip,sex.")],
    sensitive: Annotated[str, typer.Option(help="The column in both that an attacker wants to know.")],
    person: Annotated[
        str | None, typer.Option(help="Look at one person of whom this is known, such as sex=F,age=55,zip=19104.")
    ] = None,
    epsilon: Epsilon = 1.0,
    picture: Picture = None,
    as_json: AsJson = False,
) -> None:
    """Intersect two k-anonymous tables of the same people: what both leave of somebody's secret."""
    with working("intersecting"):
        found = intersected(
            first, second, on=on, sensitive=sensitive, person=_pairs("--person", person), epsilon=epsilon
        )
    _show(found, picture, as_json)


@app.command("averages")
def averages(
    average: Annotated[
        list[str] | None,
        typer.Option(help="Names and their average as printed: Ann,Bob=34.5. Again for each; a puzzle by default."),
    ] = None,
    known: Annotated[str | None, typer.Option(help="Ages that the reader knows, such as Bob=33.")] = None,
    least: Annotated[int, typer.Option(help="Nobody is younger.")] = 25,
    most: Annotated[int, typer.Option(help="Nobody is older.")] = 67,
    epsilon: Epsilon = 1.0,
    picture: Picture = None,
    as_json: AsJson = False,
) -> None:
    """The averages puzzle: exact ages of a few people from a few averages."""
    groups = PUZZLE if not average else tuple(map(GroupAverage.read, average))
    told = _pairs("--known", known) or ({} if average or known is not None else KNOWN)
    try:
        ages = {name: int(age) for name, age in told.items()}
    except ValueError:
        raise InputError("--known", known, "names and whole ages, such as Bob=33") from None
    with working("solving"):
        found = solve_averages(groups, least=least, most=most, known=ages, epsilon=epsilon)
    _show(found, picture, as_json)


@app.command("ratings")
def ratings(
    people: Annotated[int, typer.Option(help="How many made-up people rated films.")] = 2000,
    epsilon: Epsilon = 1.0,
    picture: Picture = None,
    as_json: AsJson = False,
) -> None:
    """Find people in a table of film ratings without names, by a few that are public."""
    with working("linking"):
        found = link_ratings(people, epsilon)
    _show(found, picture, as_json)


@app.command("heatmap")
def heatmap(
    people: Annotated[int, typer.Option(help="How many made-up people run in the city.")] = 10_000,
    guards: Annotated[int, typer.Option(help="How many run in each of two remote bases.")] = 12,
    epsilon: Epsilon = 1.0,
    picture: Picture = None,
    as_json: AsJson = False,
) -> None:
    """See two bases in a heat map of runs, and not in one under a budget."""
    with working("running"):
        found = map_runs(people, guards, epsilon)
    _show(found, picture, as_json)


def _pairs(option: str, text: str | None) -> dict[str, str]:
    """Names and values, as written: a=1,b=2."""
    if not text:
        return {}
    parts = [part.partition("=") for part in text.split(",")]
    if not all(name.strip() and equals and value.strip() for name, equals, value in parts):
        raise InputError(option, text, "names and values, such as sex=F,age=55")
    return {name.strip(): value.strip() for name, _, value in parts}


def _show(found: Any, path: Path | None, as_json: bool) -> None:
    """Draw what was found where asked, and say it."""
    _drawn(found.picture() if path else None, path)
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
