"""Where synthetic rows and models go: to one file, with what was asked for beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.apps.cli.delivery import Delivery
from discreet.apps.cli.output import fit_to_write, say, show_json
from discreet.apps.cli.synth_fit import SHOWN, check_more, deliver_more, sample_rows
from discreet.apps.cli.train_curve import check_curve, tell_curve
from discreet.errors import MISSING, InputError

if TYPE_CHECKING:
    from discreet.learn.release import ModelRelease
    from discreet.synth.release import SyntheticRelease

__all__ = ["MODEL", "ROWS"]

_ROWS = Annotated[Path | None, typer.Option(help="File for the rows: .csv or .parquet.")]
_WEIGHTS = Annotated[
    Path | None, typer.Option(help="File for the weights (.npz or .safetensors); the model card goes beside it.")
]


def _deliver_file(
    answer: Any,
    given: Mapping[str, Any],
    lines: Iterable[str],
    beside: Sequence[str] = (),
    more: Callable[[], Mapping[str, Any]] = dict,
) -> None:
    """Save a release to its file, and say what is to be said; files with the endings `beside` are written with it.

    `more` says what else was asked for, and gives it as plain values.
    """
    out = given["out"]
    if out is not None:
        answer.save(out)
    if given["as_json"]:
        show_json({**answer.to_dict(), "file": None if out is None else str(out), **more()})
        return
    say(repr(answer))
    for line in lines:
        say(line)
    if out is not None:
        *names, last = [str(out), *(str(out.with_suffix(ending)) for ending in beside)]
        say(f"Wrote {', '.join(names)} and {last}" if names else f"Wrote {last}")
    more()
    say(f"Release {answer.id}")


def _deliver_rows(answer: SyntheticRelease, given: Mapping[str, Any]) -> None:
    lines = (f"{remark[:1].upper()}{remark[1:]}." for remark in answer.remarks)
    _deliver_file(answer, given, lines, more=lambda: deliver_more(answer, given))


def _check_rows(given: Mapping[str, Any]) -> None:
    fit_to_write(given["out"], "--out", (".csv", ".parquet"))
    check_more(given)


ROWS = Delivery(
    {"out": (_ROWS, None)},
    _deliver_rows,
    _check_rows,
    shown=SHOWN,
    again=sample_rows,
)


def _check_weights(given: Mapping[str, Any]) -> None:
    fit_to_write(given["out"], "--out", (".npz", ".safetensors"))
    check_curve(given)
    if given.get("checkpoint") is not None and given["identity"] is None:
        hint = "A run is taken up again under its id. Nothing was spent."
        raise InputError("--id", MISSING, "given with --checkpoint", hint)


def _deliver_model(answer: ModelRelease, given: Mapping[str, Any]) -> None:
    lines = [f"Note: {note}" for note in answer.notes]
    if answer.losses:
        last = answer.losses[-50:]
        lines.append(f"Mean loss of the last steps, noisy: {sum(last) / len(last):.3f}")
    _deliver_file(answer, given, lines, (".md", ".json"), lambda: tell_curve(given, f"Release {answer.id} by epoch"))


MODEL = Delivery({"out": (_WEIGHTS, None)}, _deliver_model, _check_weights)
