"""`discreet attack`: what goes wrong without a budget, shown; and the same attack failing under a stated epsilon."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.apps.attacks.extraction import extract_secrets
from discreet.apps.attacks.inversion import invert_faces
from discreet.apps.attacks.membership import attack_model
from discreet.apps.attacks.own_membership import attack_module, attack_scores
from discreet.apps.attacks.row_membership import attack_rows
from discreet.apps.cli.completion import choice
from discreet.apps.cli.options import with_signature
from discreet.apps.cli.output import AsJson, say, show_json, show_table, working
from discreet.core.exact import as_written
from discreet.errors import InputError
from discreet.noise.bits import SystemBits
from discreet.risk.attack_result import AttackResult
from discreet.risk.averages import KNOWN, PUZZLE, GroupAverage, solve_averages
from discreet.risk.block_attack import attack_blocks, attack_residents
from discreet.risk.block_tables import read_blocks, read_register, read_residents, rebuild_blocks
from discreet.risk.difference import difference_means, differencing, draw_salaries
from discreet.risk.draws import draw_bits
from discreet.risk.heat_map import map_runs
from discreet.risk.intersection import intersect as intersected
from discreet.risk.linkage import link as linked
from discreet.risk.ratings import link_ratings
from discreet.risk.reconstruction import reconstruct as reconstruct_bits

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Run attacks, and see them fail under a privacy budget.")


def _read_epsilon(written: str) -> float:
    """A budget in the words that other commands take: 0.5, 1/3, ln3."""
    try:
        return float(as_written(written, "--epsilon"))
    except OverflowError:
        raise InputError("--epsilon", written, "a number that is not so large") from None


Epsilon = Annotated[
    float,
    typer.Option(
        parser=_read_epsilon, metavar="NUMBER", help="Epsilon under which the same attack is tried again: 1, ln3."
    ),
]
Picture = Annotated[Path | None, typer.Option(help="Where to draw it: .html, .svg or .png.")]


def _command(name: str, about: str, doing: str, run: Callable[..., AttackResult], **sizes: tuple[Any, int]) -> None:
    """A command that runs an attack on made-up people, which takes nothing but how many there are."""

    def command(*, picture: Path | None, as_json: bool, **given: Any) -> None:
        with working(doing):
            found = run(**given)
        _show(found, picture, as_json)

    command.__doc__ = about
    shared = {"epsilon": (Epsilon, 1.0), "picture": (Picture, None), "as_json": (AsJson, False)}
    app.command(name)(with_signature(command, {**sizes, **shared}))


@app.command("link")
def link(
    released: Annotated[Path, typer.Argument(help="A table without names.")],
    register: Annotated[Path, typer.Argument(help="A table with names, or any other that people are in.")],
    on: Annotated[str, typer.Option(help="Columns that both have, such as age,zip,sex.")],
    sensitive: Annotated[str | None, typer.Option(help="The column an attacker wants to know.")] = None,
    person: Annotated[
        str | None, typer.Option(help="Column in both tables that identifies a person, to check the links.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Re-identify people: match people of a register to rows of a table without names."""
    with working("matching"):
        found = linked(released, register, on=on, sensitive=sensitive, person=person)
    if as_json:
        show_json(found.to_dict())
        return
    say(found.explain())
    say("Try again with coarser columns: discreet risk measure --k 5 --register. Or publish counts under a budget:")
    say("there is no row to link then, and the price is that every count is off by a few people.")


@app.command("reconstruct")
def reconstruct(
    people: Annotated[int, typer.Option(help="How many people, each with one secret bit.")] = 1000,
    questions: Annotated[int | None, typer.Option(help="Counts over random halves; four a person by default.")] = None,
    way: Annotated[
        str,
        choice("both", "squares", "program", help="squares (least squares), program (linear program) or both."),
    ] = "both",
    epsilon: Epsilon = 1.0,
    picture: Picture = None,
    as_json: AsJson = False,
) -> None:
    """Dinur and Nissim's attack: rebuild secret bits from too many counts, each nearly right, then under a budget."""
    with working("asking and solving"):
        found = reconstruct_bits(people, questions=questions, epsilon=epsilon, way=way)
    _show(found, picture, as_json)


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
        choice(
            *("counts", "means"),
            help="counts (of a secret bit) or means (of salaries, of which the largest is attacked).",
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
    _show(differencing(draw_bits(SystemBits(), people), epsilon), picture, as_json)


@app.command("membership")
def membership(
    of: Annotated[
        str,
        choice("model", "rows", help="model (a trained network) or rows (a synthetic table)."),
    ] = "model",
    people: Annotated[
        int | None, typer.Option(help="How many made-up people are in the data: 500 for a model, 200 for rows.")
    ] = None,
    scores: Annotated[
        Path | None,
        typer.Option(help="Your own: a file with member,score, or member,loss, or model,row,member,loss."),
    ] = None,
    module: Annotated[
        str | None, typer.Option(help="Your own: dotted name or .py file that defines rows, losses and fit.")
    ] = None,
    shadows: Annotated[int, typer.Option(help="Shadow models of the attack.")] = 16,
    epsilon: Epsilon = 1.0,
    delta: Annotated[float, typer.Option(help="Delta that goes with epsilon, for your own.")] = 0.0,
    picture: Picture = None,
    as_json: AsJson = False,
) -> None:
    """Infer who was in the data of a model (by LiRA) or of synthetic rows, made with and without a budget."""
    if of not in ("model", "rows"):
        raise InputError("--of", of, among=("model", "rows"))
    own = [name for name, value in (("--scores", scores), ("--module", module)) if value is not None]
    if len(own) > 1:
        raise InputError("--module", module, "left out where --scores is given")
    if own and people is not None:
        raise InputError("--people", people, f"left out where {own[0]} is given")
    with working("making and attacking"):
        if scores is not None:
            found = attack_scores(scores, epsilon=epsilon, delta=delta)
        elif module is not None:
            found = attack_module(module, epsilon=epsilon, delta=delta, shadows=shadows)
        elif of == "rows":
            found = attack_rows(200 if people is None else people, epsilon)
        else:
            found = attack_model(500 if people is None else people, epsilon, shadows=shadows)
    _show(found, picture, as_json)


_command(
    "inversion",
    "Draw people out of a network that knows them, with a public prior, made with and without a budget.",
    "training and inverting",
    lambda people, epsilon: invert_faces(people, epsilon),
    people=(Annotated[int, typer.Option(help="How many made-up people the classifier tells apart.")], 20),
)


@app.command("extract")
def extract(
    records: Annotated[int, typer.Option(help="How many made-up messages the model learns.")] = 2000,
    secrets: Annotated[int, typer.Option(help="In how many of them a secret code is planted, one to eight.")] = 4,
    epsilon: Epsilon = 8.0,
    also: Annotated[
        list[float] | None,
        typer.Option(
            parser=_read_epsilon, metavar="NUMBER", help="Another budget for the curve; again for each. 1 by default."
        ),
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


_command(
    "ratings",
    "Find people in a table of film ratings without names, by a few that are public.",
    "linking",
    lambda people, epsilon: link_ratings(people, epsilon),
    people=(Annotated[int, typer.Option(help="How many made-up people rated films.")], 2000),
)
_command(
    "heatmap",
    "Find two bases in a heat map of runs, and fail to in one made under a budget.",
    "running",
    lambda people, guards, epsilon: map_runs(people, guards, epsilon),
    people=(Annotated[int, typer.Option(help="How many made-up people run in the city.")], 10_000),
    guards=(Annotated[int, typer.Option(help="How many run in each of two remote bases.")], 12),
)


def _pairs(option: str, text: str | None) -> dict[str, str]:
    """Names and values, as written: a=1,b=2."""
    if not text:
        return {}
    parts = [part.partition("=") for part in text.split(",")]
    if not all(name.strip() and equals and value.strip() for name, equals, value in parts):
        raise InputError(option, text, "names and values, such as sex=F,age=55")
    return {name.strip(): value.strip() for name, _, value in parts}


def _show(found: AttackResult, path: Path | None, as_json: bool) -> None:
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
