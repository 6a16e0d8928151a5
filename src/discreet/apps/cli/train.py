"""`discreet train plan`, `run`, `show`, `card` and `predict`: models whose weights may be published."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.apps.cli.ask import ReleaseId, Why, Yes
from discreet.apps.cli.completing import columns, offered, releases
from discreet.apps.cli.ledger import Place, books
from discreet.apps.cli.options import Allotment, Data, LedgerPlace, SchemaFile, Share, Table, Where, curator_at
from discreet.apps.cli.output import AsJson, confirm_spending, say, show_json
from discreet.apps.cli.train_progress import training
from discreet.curator import read_release
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.learn.offer import TrainOffer
    from discreet.learn.released import ModelRelease

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Models with an epsilon: plan, run, show, card, predict.")

Target = Annotated[str, typer.Option(help="The column to tell from the others.", autocompletion=columns)]
Features = Annotated[
    str | None,
    typer.Option(help="Columns the model sees, age,sex,pay; all others by default.", autocompletion=columns),
]
ModelName = Annotated[str, typer.Option("--model", help="logistic or mlp.", autocompletion=offered("logistic", "mlp"))]
Hidden = Annotated[str | None, typer.Option(help="Sizes of an mlp's hidden layers: 64 or 128,64.")]
Examples = Annotated[
    int | None, typer.Option(help="About how many rows there are, as far as the public knows; else a count is bought.")
]
Lot = Annotated[str | None, typer.Option(help="How many examples a step is expected to use.")]
Probability = Annotated[str | None, typer.Option(help="Instead of --lot: the chance of an example to be in a step.")]
Steps = Annotated[int | None, typer.Option(help="How many steps.")]
Epochs = Annotated[str | None, typer.Option(help="Instead of --steps: passes over the data (20 by default).")]
Multiplier = Annotated[str | None, typer.Option(help="Noise, in clipping bounds; by default as the price allows.")]
Bound = Annotated[str, typer.Option(help="How long the gradient of one example may be.")]
Rate = Annotated[str | None, typer.Option(help="Learning rate.")]
Momentum = Annotated[str | None, typer.Option(help="Momentum of sgd.")]
OptimizerName = Annotated[
    str | None, typer.Option("--optimizer", help="sgd or adam.", autocompletion=offered("sgd", "adam"))
]
Schedule = Annotated[
    str | None,
    typer.Option(help="constant, cosine or linear.", autocompletion=offered("constant", "cosine", "linear")),
]
Ema = Annotated[str | None, typer.Option(help="Decay of the average of the weights, such as 0.99.")]
NoiseMode = Annotated[
    str | None,
    typer.Option(
        "--noise",
        help="exact, device (quicker for large models) or auto: exact for small models and on a CPU.",
        autocompletion=offered("auto", "device", "exact"),
    ),
]
ReportLoss = Annotated[
    str | None, typer.Option(help="Largest loss that counts: shows a noisy mean loss, for 0.8% more noise.")
]
Epsilon = Annotated[str | None, typer.Option(help="Price of the whole run.")]
Delta = Annotated[str | None, typer.Option(help="Its delta; by default as large a part of the allotment's.")]
CheckpointFile = Annotated[Path | None, typer.Option(help="File to keep the run in, so that it survives a crash.")]
Out = Annotated[Path | None, typer.Option(help="File for the weights (.npz); the model card goes beside it.")]


@app.command("plan")
def plan(
    data: Data,
    target: Target,
    features: Features = None,
    model: ModelName = "logistic",
    hidden: Hidden = None,
    where: Where = None,
    examples: Examples = None,
    lot: Lot = None,
    probability: Probability = None,
    steps: Steps = None,
    epochs: Epochs = None,
    multiplier: Multiplier = None,
    bound: Bound = "1",
    rate: Rate = None,
    momentum: Momentum = None,
    optimizer: OptimizerName = None,
    schedule: Schedule = None,
    ema: Ema = None,
    noise: NoiseMode = None,
    report_loss: ReportLoss = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    share: Share = None,
    allotment: Allotment = None,
    schema: SchemaFile = None,
    ledger: LedgerPlace = None,
    table: Table = None,
    as_json: AsJson = False,
) -> None:
    """What a model would cost. Spends nothing, reads nothing."""
    offer = _offer(dict(locals()))
    if as_json:
        show_json(offer.to_dict())
    else:
        say(str(offer))


@app.command("run")
def run(
    data: Data,
    target: Target,
    features: Features = None,
    model: ModelName = "logistic",
    hidden: Hidden = None,
    where: Where = None,
    examples: Examples = None,
    lot: Lot = None,
    probability: Probability = None,
    steps: Steps = None,
    epochs: Epochs = None,
    multiplier: Multiplier = None,
    bound: Bound = "1",
    rate: Rate = None,
    momentum: Momentum = None,
    optimizer: OptimizerName = None,
    schedule: Schedule = None,
    ema: Ema = None,
    noise: NoiseMode = None,
    report_loss: ReportLoss = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    share: Share = None,
    allotment: Allotment = None,
    checkpoint: CheckpointFile = None,
    schema: SchemaFile = None,
    ledger: LedgerPlace = None,
    table: Table = None,
    out: Out = None,
    why: Why = "",
    identity: ReleaseId = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Train a model, after showing the price. Stopped half-way, the same --id and --checkpoint go on where it stood."""
    _fit_for_weights(out)
    if checkpoint is not None and identity is None:
        hint = "A run is taken up again under its id. Nothing was spent."
        raise InputError("--id", "absent", "given with --checkpoint", hint)
    offer = _offer(dict(locals()))
    if not yes:
        confirm_spending(offer)
    with training(offer.plan):
        answer = offer.release(release=identity, why=why)
    _deliver(answer, out, as_json)


@app.command("show")
def show(
    identity: Annotated[str, typer.Argument(help="Id of a released model.", autocompletion=releases)],
    ledger: Place = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """A model released before, read again for free."""
    _fit_for_weights(out)
    _deliver(read_release(books(ledger), identity, kind="train"), out, as_json)


@app.command("card")
def card(
    identity: Annotated[str, typer.Argument(help="Id of a released model.", autocompletion=releases)],
    ledger: Place = None,
    as_json: AsJson = False,
) -> None:
    """The model card: what the weights may give away, how that is known, and what is not known."""
    found = read_release(books(ledger), identity, kind="train").card()
    if as_json:
        show_json(found.to_dict())
    else:
        say(found.to_markdown())


@app.command("predict")
def predict(
    identity: Annotated[str, typer.Argument(help="Id of a released model.", autocompletion=releases)],
    rows: Annotated[Path, typer.Argument(help="CSV or Parquet file of rows that are yours to see.")],
    ledger: Place = None,
    out: Annotated[Path | None, typer.Option(help="CSV file for what the model tells.")] = None,
    as_json: AsJson = False,
) -> None:
    """What a released model tells for rows in hand. Spends nothing; what is told of a row is as private as the row."""
    released = read_release(books(ledger), identity, kind="train")
    told = released.predict(_read(rows))
    name = released.encoding.target.name
    if out is not None:
        with out.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([name])
            writer.writerows([one] for one in told)
        say(f"Wrote {out}")
    elif as_json:
        show_json({name: told})
    else:
        for one in told:
            say(str(one))


_SETTINGS = ("multiplier", "bound", "rate", "momentum", "optimizer", "schedule", "ema", "noise", "report_loss")


def _offer(asked: dict[str, Any]) -> TrainOffer:
    curator = curator_at(asked["data"], asked["schema"], asked["ledger"], asked["table"])
    settings = {name: asked[name] for name in _SETTINGS if asked[name] is not None}
    question = curator.train(
        asked["model"],
        target=asked["target"],
        features=None if asked["features"] is None else [part.strip() for part in asked["features"].split(",")],
        where=asked["where"],
        examples=asked["examples"],
        lot=asked["lot"],
        probability=asked["probability"],
        steps=asked["steps"],
        epochs=asked["epochs"],
        hidden=_sizes(asked["hidden"]),
        **settings,
    )
    price = {name: asked[name] for name in ("epsilon", "delta", "share", "allotment")}
    return question.plan(**price, checkpoint=asked.get("checkpoint"))


def _sizes(text: str | None) -> tuple[int, ...]:
    try:
        return () if text is None else tuple(int(part) for part in text.split(","))
    except ValueError:
        raise InputError("--hidden", text, "sizes of layers, such as 64 or 128,64") from None


def _fit_for_weights(out: Path | None) -> None:
    if out is not None and out.suffix.lower() != ".npz":
        raise InputError("--out", str(out), "a file that ends in .npz", "Nothing was spent.")
    if out is not None and not out.absolute().parent.is_dir():
        raise InputError("--out", str(out), "a file in a folder that exists", "Nothing was spent.")


def _read(path: Path) -> Any:
    if not path.is_file() or path.suffix.lower() not in (".csv", ".parquet"):
        raise InputError("rows", str(path), "a .csv or .parquet file that exists")
    if path.suffix.lower() == ".parquet":
        import pyarrow.parquet

        return pyarrow.parquet.read_table(path)
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = csv.DictReader(file)
        names = list(lines.fieldnames or [])
        found = list(lines)
    return {name: [line[name] for line in found] for name in names}


def _deliver(answer: ModelRelease, out: Path | None, as_json: bool) -> None:
    if out is not None:
        answer.save(out)
    if as_json:
        show_json({**answer.to_dict(), "file": None if out is None else str(out)})
        return
    say(repr(answer))
    for note in answer.notes:
        say(f"Note: {note}")
    if answer.losses:
        say(f"Mean loss of the last steps, noisy: {sum(answer.losses[-50:]) / len(answer.losses[-50:]):.3f}")
    if out is not None:
        say(f"Wrote {out}, {out.with_suffix('.md')} and {out.with_suffix('.json')}")
    say(f"Release {answer.id}")
