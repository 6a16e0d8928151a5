"""Where a release goes: to the terminal, and to files, as its kind has them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.apps.cli.completion import choice, offered
from discreet.apps.cli.output import (
    TWO_KINDS,
    fit_to_write,
    paid,
    progress,
    say,
    show_json,
    show_release,
    show_table,
    write_tables,
)
from discreet.apps.cli.synth_fit import SHOWN, check_more, deliver_more, sample_rows
from discreet.apps.cli.train_curve import check_curve, tell_curve
from discreet.core.release import number, percent
from discreet.curator.kinds import table_of
from discreet.errors import MISSING, InputError

if TYPE_CHECKING:
    from discreet.learn.release import ModelRelease
    from discreet.synth.release import SyntheticRelease
    from discreet.trees.release import TreeRelease
    from discreet.trees.simulation import Simulation
    from discreet.trees.sums import Figure

__all__ = [
    "MODEL",
    "NO_TREE",
    "ROWS",
    "TABLES",
    "TREE",
    "Delivery",
    "ShareOf",
    "SumOf",
    "draw_map",
    "figure_asked",
    "in_shell",
    "say_figure",
]


def _nothing(given: Mapping[str, Any]) -> None:
    return None


def _same(answer: Any, given: Mapping[str, Any]) -> Any:
    return answer


def in_shell(problem: InputError, flag: str) -> InputError:
    """An error in the words of a command line: what was typed, and the flag to type."""
    found = problem.about(flag)
    found.args = (str(found).replace("with code_property=", "with --code-property"),)
    return found


@dataclass(frozen=True)
class Delivery:
    """What a command takes to deliver releases of a kind, and how it does."""

    parameters: Mapping[str, tuple[Any, Any]]
    """Options of `release` and `show`: their types and defaults."""
    deliver: Callable[[Any, Mapping[str, Any]], None]
    check: Callable[[Mapping[str, Any]], None] = _nothing
    """Refuses files that could not be written, before anything is spent."""
    shown: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    """Options of `show` alone."""
    again: Callable[[Any, Mapping[str, Any]], Any] = _same
    """The release as `show` is asked to give it."""


# --- tables ----------------------------------------------------------------------------------------------------------

_FOLDER = Annotated[Path | None, typer.Option(help="Folder for one CSV file a table.")]
_PART = Annotated[str, typer.Option("--part", help="Show only the table of this name.")]


def _check_folder(given: Mapping[str, Any], name: str = "out") -> None:
    out = given.get(name)
    if out is not None and out.exists() and not out.is_dir():
        raise InputError(f"--{name}", str(out), "a folder, new or not", "Nothing was spent.")


def _deliver_tables(answer: Any, given: Mapping[str, Any]) -> None:
    tables = answer.tables() if hasattr(answer, "tables") else {"": answer}
    if part := given.get("part"):
        table_of(answer, part, "--part")
    written = [] if given["out"] is None else write_tables(tables, given["out"])
    if given["as_json"]:
        whole = tables[part] if part else answer
        show_json({**whole.to_dict(), "files": [str(path) for path in written]})
        return
    for name, table in tables.items():
        if part and name != part:
            continue
        if len(tables) > 1:
            say(name)
        show_release(table, name)
    for path in written:
        say(f"Wrote {path}")


TABLES = Delivery({"out": (_FOLDER, None)}, _deliver_tables, _check_folder, shown={"part": (_PART, "")})

# --- hierarchies -----------------------------------------------------------------------------------------------------

_LEVELS = Annotated[Path | None, typer.Option(help="Folder for one file a level.")]
_FORMAT = Annotated[str, choice("parquet", "csv", flags=("--format",), help="Format of the files.")]
_MAP = Annotated[Path | None, typer.Option("--map", help="Also write a map with intervals to this HTML file.")]
_GEOMETRY = Annotated[
    Path | None, typer.Option(help="GeoJSON or TopoJSON file with the shapes of regions, for the map.")
]
_CODES = Annotated[
    str | None, typer.Option("--code-property", help="Property of its features that is a region's code, if not the id.")
]
_COMPARE = Annotated[
    list[str] | None,
    typer.Option(
        help="Put another release beside this one on the map (ID or NAME=ID; read: a folder), or a method; repeat."
    ),
]
_LABEL = Annotated[str, typer.Option(help="Name of this release beside others, such as 2020.")]


def _methods(ctx: typer.Context, incomplete: str) -> list[str]:
    from discreet.trees.methods import METHODS

    return offered(*METHODS)(ctx, incomplete)


_AGAIN = Annotated[
    str | None,
    typer.Option("--method", help="Another method on the same noisy counts: free.", autocompletion=_methods),
]


_TABLE = Annotated[
    str, typer.Option("--part", help="Print one table: a level, or LEVEL-totals, LEVEL-at-least, LEVEL-by-NAME.")
]
_MEASUREMENTS = Annotated[
    Path | None, typer.Option(help="Folder for the noisy counts themselves, with the law of their noise and the tree.")
]
SumOf = Annotated[
    str | None,
    typer.Option("--sum", help="A sum of your own, with an interval: 'county=Ash,Elm; sex=female'. Empty for all."),
]
ShareOf = Annotated[str | None, typer.Option(help="With --sum: the share that it is of this sum.")]
_SIMULATION = Annotated[
    bool,
    typer.Option(
        "--simulation", help="Simulate its method: people placed in empty regions, and bias by size of a region."
    ),
]
_REPLICATES = Annotated[
    int | None, typer.Option(help="With --out: so many replicates of every table, for errors of your own statistics.")
]


def _check_files(given: Mapping[str, Any]) -> None:
    if given["format"] not in ("parquet", "csv"):
        raise InputError("--format", given["format"], hint="Nothing was spent.", among=("parquet", "csv"))
    _check_folder(given)


def _check_levels(given: Mapping[str, Any]) -> None:
    _check_files(given)
    _check_folder(given, "measurements")
    fit_to_write(given["map_file"], "--map", (".html",))
    if given.get("share_of") is not None and given["sum_of"] is None:
        raise InputError("--sum", MISSING, "given with --share-of")
    if (many := given["replicates"]) is not None:
        from discreet.trees.replicates import check_many

        check_many(many, "--replicates")
    if many is not None and given["out"] is None:
        raise InputError("--out", MISSING, "given with --replicates: the folder for them")
    if given["map_file"] is None:
        for name in ("geometry", "code_property", "compare", "label"):
            if given.get(name):
                flag = f"--{name.replace('_', '-')}"
                raise InputError(flag, str(given[name]), "given with --map", "Nothing was spent.")


def _draw_tree(answer: TreeRelease, given: Mapping[str, Any]) -> Path:
    compare = {name: _other(answer, text, given) for name, text in map(_named, given.get("compare") or [])}
    label = given.get("label") or (answer.method if set(compare) & set(_known_methods()) else "")
    return draw_map(answer, given, "tree", compare=compare or None, label=label)


def draw_map(answer: Any, given: Mapping[str, Any], kind: str, **more: Any) -> Path:
    """Write the map; what is wrong with it is said with how to draw it again, since the release itself is stored."""
    shapes = "auto" if given["geometry"] is None else given["geometry"]
    try:
        drawn = answer.map(geometry=shapes, code_property=given["code_property"], **more)
    except InputError as problem:
        if "ledger" in given:
            say(f"The release is stored: discreet {kind} show {answer.id} --map {given['map_file']} draws it for free.")
        raise in_shell(problem, f"--{problem.field.replace('_', '-')}") from None
    return Path(drawn.save(given["map_file"]))


def _named(text: str) -> tuple[str, str]:
    name, equals, identity = text.partition("=")
    return (name, identity) if equals else (text, text)


def _known_methods() -> Iterable[str]:
    from discreet.trees.methods import METHODS

    return METHODS


def _other(answer: TreeRelease, text: str, given: Mapping[str, Any]) -> TreeRelease:
    """The same release by another method, another release of the ledger, or, where there is none, another folder."""
    if text in _known_methods():
        return answer.again(text)
    if "ledger" not in given:
        from discreet.trees import read_measurements

        try:
            return read_measurements(text)
        except InputError as problem:
            raise problem.about("--compare") from None
    from discreet.apps.cli.options import open_ledger
    from discreet.curator import read_release

    try:
        other: TreeRelease = read_release(open_ledger(given["ledger"]), text, kind="tree")
    except InputError as problem:
        raise problem.about("--compare") from None
    return other


def figure_asked(answer: Any, asked: str, share_of: str | None) -> Figure:
    """The sum, or share, that `--sum` and `--share-of` ask a hierarchy for."""
    from discreet.trees.release import TreeRelease
    from discreet.trees.sums import figure_of

    if not isinstance(answer, TreeRelease):
        raise InputError("--sum", asked, "left out: only hierarchies have sums of your own")
    return figure_of(answer, asked, share_of, field="--sum", whole="--share-of")


def say_figure(figure: Figure, asked: str, share_of: str | None) -> None:
    """The same in a line."""
    share = "" if share_of is None else f", as a share of {share_of or 'all'}"
    say(f"{asked or 'all'}{share}: {figure}")


def _tried(answer: TreeRelease) -> Simulation:
    try:
        with progress():
            return answer.simulation
    except InputError as problem:
        raise problem.about("--simulation") from None


def _deliver_tree(answer: TreeRelease, given: Mapping[str, Any]) -> None:
    written = [] if given["out"] is None else answer.save(given["out"], given["format"])
    if given["replicates"] is not None:
        with progress():
            written += answer.replicates(given["replicates"]).save(given["out"], given["format"])
    if given["measurements"] is not None:
        written += answer.save_measurements(given["measurements"])
    if given["map_file"] is not None:
        written.append(_draw_tree(answer, given))
    table = table_of(answer, part, "--part") if (part := given.get("part")) else None
    asked = given.get("sum_of")
    figure = None if asked is None else figure_asked(answer, asked, given["share_of"])
    tried = _tried(answer) if given.get("simulation") else None
    if given["as_json"]:
        found = {} if figure is None else {"sum": figure.to_dict()}
        found |= {} if tried is None else {"simulation": tried.to_dict()}
        whole = answer if table is None else table
        show_json({**whole.to_dict(), **found, "files": [str(path) for path in written]})
        return
    if table is not None:
        show_release(table, str(part))
    if figure is not None:
        say_figure(figure, str(asked), given["share_of"])
    if tried is not None:
        say(f"Simulated on a plausible table: {tried}")
    if table is not None or figure is not None or tried is not None:
        for path in written:
            say(f"Wrote {path}")
        return
    rows = []
    for level, name in enumerate(answer.levels):
        counts, kinds = answer.estimate.counts[level], (answer.estimate.each, answer.estimate.typical)
        half = ["-" if ends is None else number(answer.valued(ends.half_width(level))) for ends in kinds]
        rows.append([name, f"{len(counts):,}", number(answer.valued(int(counts.sum()))), *half])
    show_table("", ["level", "regions", "sum", "half-width (mean), each", "typical"], rows, numbers=4)
    for note in answer.table_notes():
        say(f"Note: {note.text}")
    for remark in answer.estimate.notes:
        say(remark)
    say(f"{percent(answer.confidence)} confidence intervals (not simultaneous): {TWO_KINDS}. {paid(answer)}")
    for path in written:
        say(f"Wrote {path}")
    say(f"Release {answer.id}")


TREE = Delivery(
    {
        "out": (_LEVELS, None),
        "format": (_FORMAT, "parquet"),
        "map_file": (_MAP, None),
        "geometry": (_GEOMETRY, None),
        "code_property": (_CODES, None),
        "replicates": (_REPLICATES, None),
        "measurements": (_MEASUREMENTS, None),
    },
    _deliver_tree,
    _check_levels,
    shown={
        "method": (_AGAIN, None),
        "compare": (_COMPARE, None),
        "label": (_LABEL, ""),
        "sum_of": (SumOf, None),
        "share_of": (ShareOf, None),
        "simulation": (_SIMULATION, False),
        "part": (_TABLE, ""),
    },
    again=lambda answer, given: answer if given["method"] is None else answer.again(given["method"]),
)


NO_TREE: dict[str, Any] = {"map_file": None, "geometry": None, "code_property": None, "replicates": None}
"""Options of hierarchies that other kinds do not have."""

# --- rows and models -------------------------------------------------------------------------------------------------

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
