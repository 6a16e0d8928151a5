"""`discreet train images` and `discreet train baseline`: nets for images by name, with a budget and without privacy."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.apps.cli.ask import ReleaseId, Yes
from discreet.apps.cli.completion import choice, columns
from discreet.apps.cli.decision import confirm, person
from discreet.apps.cli.options import Allotment, LedgerAddress, SchemaFile, say_used
from discreet.apps.cli.output import AsJson, confirm_spending, fit_to_draw, fit_to_write, progress, say, show_json
from discreet.curator.setup import find_ledger, read_schema_and_budget, schema_path
from discreet.data.column import Category
from discreet.data.schema import Schema
from discreet.errors import InputError, kind_of
from discreet.ledger.ledger import Ledger

if TYPE_CHECKING:
    from discreet.learn.curve import Curve
    from discreet.learn.image_files import Images

__all__ = ["baseline", "images"]

_NAMES = ("classic", "wide", "mlp", "logistic")
_Images = Annotated[
    str, typer.Argument(help="Folder with a folder of images (.png, .npy) for each class, or .npz with images, labels.")
]
_Net = Annotated[str, choice(*_NAMES, help="Which net.")]
_Test = Annotated[
    str | None, typer.Option(help="Public images, laid out alike: how good the model is after each epoch.")
]
_Plot = Annotated[Path | None, typer.Option(help="Picture of accuracy and epsilon by epoch: .svg, .html, .png, .pdf.")]
_Out = Annotated[Path | None, typer.Option(help="File for the weights: .npz or .safetensors.")]
_Lot = Annotated[str | None, typer.Option(help="How many images a step is expected to use.")]
_Epochs = Annotated[str | None, typer.Option(help="Instead of steps: passes over the images.")]
_Rate = Annotated[float | None, typer.Option(help="Learning rate.")]
_Mirror = Annotated[bool, typer.Option(help="Whether a mirrored image is as good; not for letters and digits.")]
_Seed = Annotated[int, typer.Option(help="Where training starts: public.")]


def images(
    folder: _Images,
    target: Annotated[
        str, typer.Option(help="Category of the schema whose values are the classes.", autocompletion=columns)
    ],
    examples: Annotated[int, typer.Option(help="About how many images there are, as the public knows.")],
    epsilon: Annotated[str, typer.Option(help="Price of the whole run.")],
    delta: Annotated[str, typer.Option(help="Its delta, out of the allotment's.")],
    net: _Net = "classic",
    lot: _Lot = None,
    steps: Annotated[int | None, typer.Option(help="How many steps.")] = None,
    epochs: _Epochs = None,
    bound: Annotated[
        float | None, typer.Option(help="Clipping bound: the largest norm of one image's gradient.")
    ] = None,
    rate: _Rate = None,
    copies: Annotated[int | None, typer.Option(help="Moved copies of each image, averaged before clipping.")] = None,
    mirror: _Mirror = True,
    test: _Test = None,
    plot: _Plot = None,
    out: _Out = None,
    seed: _Seed = 0,
    allotment: Allotment = None,
    schema: SchemaFile = None,
    ledger: LedgerAddress = None,
    identity: ReleaseId = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Train a net on images, under the budget that the schema declares. An image is what is protected.

    Settings that are not given are those of the net (docs/guides/images.md). The account is opened by: discreet ledger
    open.
    """
    _check_files(plot, out, test)
    _check_apart(folder, test)
    path = schema_path(folder, schema)
    declared = read_schema_and_budget(path)[1]
    classes = _classes(declared, target)
    from discreet.learn.image_files import read_images
    from discreet.learn.objective import cross_entropy
    from discreet.learn.presets import first_parameters, moved_copies, preset_named
    from discreet.learn.programs import keep_programs
    from discreet.learn.recipe import Recipe
    from discreet.learn.trainer import train

    place = find_ledger(folder, path, ledger)
    say_used(place, path)
    preset = preset_named(net)
    said = {"lot": _amount(lot), "steps": steps, "epochs": _amount(epochs), "bound": bound, "rate": rate}
    found = read_images(folder, classes)
    shown = _watched(test, classes, found, delta)
    recipe = Recipe.within(epsilon, delta, **preset.recipe(examples, **said, copies=copies))
    model = preset.net(found.shape, len(classes))
    if not yes:
        confirm_spending(
            f"Trains {net} on images of {declared.name!r}: {recipe.steps:,} steps, lots of about "
            f"{float(recipe.lot):,.6g} of {recipe.examples:,}, noise multiplier {float(recipe.multiplier):.5g}.\n"
            f"Costs epsilon = {float(recipe.epsilon(delta)):.4g} at delta = {delta}, charged before the first step."
        )
    keep_programs()
    with progress():
        released = train(
            model.apply,
            cross_entropy,
            first_parameters(model, seed),
            (found.x, found.y),
            recipe,
            ledger=Ledger.open(place),
            dataset=declared.name,
            allotment=allotment,
            delta=delta,
            release=identity,
            who=person(None),
            name=f"{net} net",
            augment=moved_copies(recipe.copies, mirror),
            curve=shown,
        )
    files = _written(shown, plot, f"{net}, epsilon {float(released.epsilon):.3g}")
    if out is not None:
        files.append(released.save(out))
    if as_json:
        show_json({**released.to_dict(), "curve": [] if shown is None else shown.to_dict()})
        return
    say(repr(released))
    _told(shown, "The model was on the ledger already: it was not trained again, and has no curve.")
    for file in files:
        say(f"Wrote {file}")


def baseline(
    folder: _Images,
    classes: Annotated[str, typer.Option(help="The classes: cat,dog.")],
    public: Annotated[
        str,
        typer.Option(help="What the images are that you say are public: 'MNIST, by NIST'. It stays with the net."),
    ],
    net: _Net = "classic",
    lot: Annotated[int, typer.Option(help="Images in a step.")] = 128,
    epochs: Annotated[float, typer.Option(help="Passes over the images.")] = 20,
    rate: _Rate = None,
    copies: Annotated[bool, typer.Option("--move", help="Move and mirror each image anew in every epoch.")] = False,
    mirror: _Mirror = True,
    test: _Test = None,
    plot: _Plot = None,
    out: _Out = None,
    seed: _Seed = 0,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Train a net WITHOUT PRIVACY, on public images: what it can reach before a budget is spent on it."""
    _check_files(plot, out, test)
    from discreet.learn.baseline import NOT_PRIVATE, check_public, train_baseline
    from discreet.learn.image_files import read_images
    from discreet.learn.presets import first_parameters, moved_copies, preset_named
    from discreet.learn.programs import keep_programs
    from discreet.learn.weights_file import names_of, write_weights

    word = check_public(public, "--public")
    preset, names = preset_named(net), [name.strip() for name in classes.split(",")]
    found = read_images(folder, names)
    shown = _watched(test, names, found, None)
    if not yes:
        many = f"{len(found.y):,} images in {folder}"
        confirm([f"{NOT_PRIVATE}. The weights may give away any of the {many}: {word}."], "Are all of them public?")
    model = preset.net(found.shape, len(names))
    keep_programs()
    with progress():
        trained = train_baseline(
            model.apply,
            first_parameters(model, seed),
            found.x,
            found.y,
            public=word,
            lot=lot,
            epochs=epochs,
            rate=preset.plain_rate if rate is None else rate,
            augment=moved_copies(1, mirror, always=True) if copies else None,
            seed=seed,
            curve=shown,
        )
    said = {"label": trained.label, "public": word, "said_by": person(None), "images": str(len(found.y))}
    files = _written(shown, plot, f"{net}, not private: {word}")
    if out is not None:
        import jax

        weights = dict(zip(names_of(trained.params), jax.tree.leaves(trained.params), strict=True))
        files.append(write_weights(out, weights, {"protects": NOT_PRIVATE, **said}))
    if as_json:
        show_json({"private": False, **said, "curve": [] if shown is None else shown.to_dict()})
        return
    say(trained.label)
    _told(shown, "")
    for file in files:
        say(f"Wrote {file}")


def _check_files(plot: Path | None, out: Path | None, test: str | None) -> None:
    """Refuse files that could not be written, and a curve of nothing, before anything is spent."""
    fit_to_draw(plot)
    fit_to_write(out, "--out", (".npz", ".safetensors"))
    if plot is not None and test is None:
        raise InputError("--plot", str(plot), "given with --test: a curve is of public images", "Nothing was spent.")


def _check_apart(folder: str, test: str | None) -> None:
    """Refuse to show how good a model is on what it is trained on: nothing pays for that."""
    if test is None:
        return
    here, there = Path(folder).resolve(), Path(test).resolve()
    if here == there or here in there.parents or there in here.parents:
        hint = "Accuracy on private images would reveal something about them, and is not paid for. Nothing was spent."
        raise InputError("--test", test, "public images, apart from those that are trained on", hint)


def _classes(declared: Any, target: str) -> list[str]:
    """The classes that a schema declares."""
    if not isinstance(declared, Schema):
        raise InputError("--schema", kind_of(declared), "that of a table: a column of classes, and a budget")
    column = declared.column(target)
    if not isinstance(column, Category):
        raise InputError("--target", kind_of(column), "a category, whose values are the classes")
    return [str(value) for value in column.values]


def _amount(text: str | None) -> Fraction | None:
    try:
        return None if text is None else Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise InputError("lot", text, "a number") from None


def _watched(test: str | None, classes: list[str], found: Images, delta: str | None) -> Curve | None:
    if test is None:
        return None
    from discreet.learn.curve import Curve
    from discreet.learn.image_files import read_images

    public = read_images(test, classes, "--test")
    if public.shape != found.shape:
        raise InputError("--test", str(public.shape), f"images of shape {found.shape}, as those that are trained on")
    return Curve(public.x, public.y, delta=delta)


def _written(shown: Curve | None, path: Path | None, title: str) -> list[Path]:
    return [] if path is None or shown is None or not shown.points else [shown.save(path, title)]


def _told(shown: Curve | None, empty: str) -> None:
    if shown is None:
        return
    if not shown.points:
        say(empty)
    for point in shown.points:
        spent = "" if point.epsilon is None else f", epsilon {point.epsilon:.4g}"
        say(f"epoch {point.epoch:.4g}: {100 * point.accuracy:.2f} % of the public images{spent}")
