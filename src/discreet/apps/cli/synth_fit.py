"""`discreet synth fit`: rows from noisy marginals; and what `synth show` says of marginals and conditions. All free."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.apps.cli.options import SchemaFile
from discreet.apps.cli.output import AsJson, fit_to_write, say, show_json, working
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.synth.release import SyntheticRelease

__all__ = ["SHOWN", "check_more", "deliver_more", "fit", "sample_rows"]

_CONDITIONS = Annotated[
    bool, typer.Option("--conditions", help="Propose conditions that almost no row meets, for --impossible.")
]
_MARGINALS = Annotated[
    Path | None, typer.Option(help="File for the noisy marginals: .json, which synth fit makes rows of.")
]
_MORE = Annotated[int | None, typer.Option("--rows", help="Another number of rows, drawn from what is on record.")]
_MEETING = Annotated[
    str | None, typer.Option("--where", help="Only rows that meet a condition, drawn anew: \"sector = 'care'\".")
]
SHOWN: Mapping[str, tuple[Any, Any]] = {
    "rows": (_MORE, None),
    "where": (_MEETING, None),
    "conditions": (_CONDITIONS, False),
    "marginals": (_MARGINALS, None),
}
"""Options of `synth show`."""


def sample_rows(answer: SyntheticRelease, given: Mapping[str, Any]) -> SyntheticRelease:
    """Other rows of a release, where some were asked for."""
    rows, where = given["rows"], given["where"]
    return answer if rows is None and where is None else answer.sample(rows, where)


def check_more(given: Mapping[str, Any]) -> None:
    """Refuse a file that could not be written."""
    fit_to_write(given.get("marginals"), "--marginals", (".json",))


def deliver_more(answer: SyntheticRelease, given: Mapping[str, Any]) -> dict[str, Any]:
    """Write the marginals and propose conditions, where that was asked for; what was found, as plain values."""
    found: dict[str, Any] = {}
    path = given.get("marginals")
    if path is not None:
        answer.marginals().save(path)
        found["marginals"] = str(path)
        if not given["as_json"]:
            say(f"Wrote {path}")
    if given.get("conditions"):
        proposed = answer.propose_conditions()
        found["conditions"] = [one.to_dict() for one in proposed]
        if not given["as_json"]:
            say(
                "Conditions that almost no row meets, to be confirmed by a person:"
                if proposed
                else "No condition found."
            )
            for one in proposed:
                say(f"  {one}")
    return found


def fit(
    marginals: Annotated[
        Path, typer.Argument(help="JSON file of noisy marginals, which synth show --marginals writes.")
    ],
    schema: SchemaFile = None,
    rows: Annotated[
        int | None, typer.Option(help="How many rows to make; by default as many as there seem to be.")
    ] = None,
    impossible: Annotated[
        list[str] | None, typer.Option(help='A condition that no row meets: "age < 16 and employed"; repeat for more.')
    ] = None,
    out: Annotated[Path | None, typer.Option(help="File for the rows: .csv or .parquet.")] = None,
    as_json: AsJson = False,
) -> None:
    """Rows from noisy marginals: of a release, or of another system. Reads no data, spends nothing."""
    from discreet.data.schema import Schema
    from discreet.synth.fitted_rows import rows_from_marginals

    fit_to_write(out, "--out", (".csv", ".parquet"))
    declared = Schema.load(schema or "discreet.toml")
    with working("Making rows"):
        try:
            made = rows_from_marginals(declared, marginals, rows=rows, impossible=impossible or ())
        except InputError as problem:
            if problem.field not in ("rows", "impossible"):
                raise
            raise problem.about(f"--{problem.field}") from None
    if out is not None:
        made.save(out)
    if as_json:
        file = None if out is None else str(out)
        show_json({"rows": len(made), "columns": list(made.columns), "notes": list(made.notes), "file": file})
        return
    for note in made.notes:
        say(f"{note[:1].upper()}{note[1:]}.")
    say(f"Wrote {out}" if out is not None else f"{len(made):,} rows; --out FILE writes them.")
