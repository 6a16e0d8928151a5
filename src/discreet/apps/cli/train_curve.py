"""`discreet train release --test`: how good a model was on public rows after each epoch, beside what was spent."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.apps.cli.output import fit_to_draw, say
from discreet.apps.cli.train import read_rows
from discreet.errors import InputError

__all__ = ["CURVE", "check_curve", "release_curved", "tell_curve"]

_Test = Annotated[
    Path | None,
    typer.Option(help="CSV or Parquet file of public rows: how often the model is right about them after each epoch."),
]
_Plot = Annotated[
    Path | None, typer.Option(help="With --test: picture of accuracy and epsilon by epoch: .svg, .html, .png, .pdf.")
]
CURVE: Mapping[str, tuple[Any, Any]] = {"test": (_Test, None), "plot": (_Plot, None)}
"""Options of `release` alone: a stored model has no curve."""
_SEEN = "curve"  # what was seen of the run, beside what was typed


def check_curve(given: Mapping[str, Any]) -> None:
    """Refuse a curve of nothing, of the private rows, or into a file that could not be written."""
    test, plot = given.get("test"), given.get("plot")
    fit_to_draw(plot)
    if plot is not None and test is None:
        raise InputError("--plot", str(plot), "given with --test: a curve is of public rows", "Nothing was spent.")
    if test is None:
        return
    here, there = Path(given["data"]).resolve(), test.resolve()
    if here == there or here in there.parents:
        hint = "Accuracy on private rows would reveal something about them, and is not paid for. Nothing was spent."
        raise InputError("--test", str(test), "a file of public rows, apart from those that are trained on", hint)


def release_curved(offer: Any, given: dict[str, Any]) -> Any:
    """Release a model; with --test, what it did on public rows is kept for `tell_curve`."""
    how = {"release": given["identity"], "why": given["why"]}
    if given["test"] is None:
        return offer.release(**how)
    from discreet.learn.table_curve import release_with_curve

    try:
        rows = read_rows(given["test"])
        answer, given[_SEEN] = release_with_curve(offer, rows, **how)
    except InputError as problem:
        raise problem.about("--test") if problem.field in ("rows", "table", "test") else problem from None
    return answer


def tell_curve(given: Mapping[str, Any], title: str) -> dict[str, Any]:
    """Say what was seen of the run, and draw it; the same as plain values. Nothing without --test."""
    curve = given.get(_SEEN)
    if curve is None:
        return {}
    drawn = curve.save(given["plot"], title) if curve.points and given["plot"] is not None else None
    if not given["as_json"]:
        if not curve.points:
            say("The model was on the ledger already: it was not trained again, and has no curve.")
        for point in curve.points:
            spent = "" if point.epsilon is None else f", epsilon {point.epsilon:.4g}"
            say(f"epoch {point.epoch:.4g}: {100 * point.accuracy:.2f} % of the public rows{spent}")
        if drawn is not None:
            say(f"Wrote {drawn}")
    return {"curve": curve.to_dict()}
