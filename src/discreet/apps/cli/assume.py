"""A plan tried out on public or assumed numbers: what its noise would do to a decision, before anything is paid."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.apps.cli.options import Parameters
from discreet.apps.cli.output import say, say_plan, show_json
from discreet.errors import GIVEN, MISSING, InputError, Phrase

if TYPE_CHECKING:
    from discreet.core.decision import Decision

__all__ = ["DECISION", "explained", "read_groups", "show_offer"]

DECISION: Parameters = {
    "assume": (
        Annotated[
            Path | None,
            typer.Option(
                help="CSV file of region,number with a header, public or assumed: try a decision out on them, for free."
            ),
        ],
        None,
    ),
    "fund": (
        Annotated[
            float | None,
            typer.Option(help="With --assume: amount that is distributed in proportion to the numbers."),
        ],
        None,
    ),
    "threshold": (
        Annotated[float | None, typer.Option(help="With --assume: limit that regions are above or below.")],
        None,
    ),
    "decide_by": (
        Annotated[
            str | None,
            typer.Option(help="With --assume: groups to break it down by: a key, a wider level, size, or a CSV file."),
        ],
        None,
    ),
}
"""Options of plans whose numbers decisions are made by."""
_WORDS = {"sizes": "assume", "by": "decide-by"}


def show_offer(offer: Any, given: Mapping[str, Any], text: str) -> None:
    """A plan, and what its noise would do to the decision that is asked about."""
    found = _tried(offer, given)
    if given["as_json"]:
        show_json(offer.to_dict() | ({} if found is None else {"decision": found.to_dict()}))
        return
    say_plan(text)
    if found is not None:
        say()
        say(repr(found))


def _tried(offer: Any, given: Mapping[str, Any]) -> Decision | None:
    if given["assume"] is None:
        for name in ("fund", "threshold", "decide_by"):
            if given[name] is not None:
                hint = "What is published already is decided by: discreet releases decide. Nothing was spent."
                raise InputError("--assume", MISSING, f"given with --{name.replace('_', '-')}", hint)
        return None
    if given["fund"] is None and given["threshold"] is None:
        raise InputError("--assume", GIVEN, "given with --fund or --threshold: the decision to try out")
    try:
        sizes, by = _sizes(given["assume"]), read_groups(given["decide_by"])
        found: Decision = offer.decide(sizes, fund=given["fund"], threshold=given["threshold"], by=by)
    except InputError as problem:
        option = f"--{_WORDS.get(problem.field, problem.field)}"
        raise explained(problem, option, given["decide_by"]) from None
    return found


def explained(problem: InputError, option: str, by: str | None) -> InputError:
    """An error under the name of an option; if it is about groups of a file, with the line taken for its header."""
    if problem.field != "by" or not _is_file(by) or problem.hint:
        return problem.about(option)
    first = ",".join(_read(Path(str(by)), "by", "region,group")[0])
    hint = f"The first line of {by} is taken for its header: {first}."
    return InputError(option, problem.got, problem.allowed, hint)


def _is_file(by: str | None) -> bool:
    return by is not None and by.lower().endswith(".csv") and Path(by).is_file()


def _sizes(path: Path) -> dict[str, float]:
    """The number of each region: of a file with several columns of names, that of all of them together."""
    head, *rows = _read(path, "sizes", "region,number")
    if len(head) < 2 or any(len(row) != len(head) for row in rows):
        raise InputError("sizes", Phrase(f"{path.name} with other columns"), "a CSV file of region,number")
    if _is_number(head[-1]):
        hint = "Write names of the columns above it, such as region,number."
        given = Phrase(f"{path.name}, whose first line is {','.join(head)}")
        raise InputError("sizes", given, "a CSV file of region,number with a header", hint)
    found = {}
    for *names, size in rows:
        region = " / ".join(name.strip() for name in names)
        try:
            found[region] = float(size)
        except ValueError:
            raise InputError("sizes", Phrase(f"{size!r} for {region}"), "a number for each region") from None
    if len(found) < len(rows):
        raise InputError("sizes", Phrase("one region twice"), "one line for each region")
    return found


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def read_groups(by: str | None) -> Any:
    """A name, or the content of a file with a group for each region."""
    if by is None or not by.lower().endswith(".csv"):
        return by
    path = Path(by)
    rows = _read(path, "by", "region,group", "a CSV file that exists, a key, a level or size")
    if any(len(row) != 2 for row in rows):
        raise InputError("by", Phrase(f"{path.name} with other columns"), "a CSV file of region,group with a header")
    return dict(rows[1:])


def _read(path: Path, field: str, columns: str, allowed: str = "a CSV file that exists") -> list[list[str]]:
    """The lines of a CSV file, its header first."""
    if not path.is_file():
        raise InputError(field, str(path), allowed)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file) if row]
    except (UnicodeDecodeError, csv.Error):
        raise InputError(field, path.name, f"a CSV file of {columns} with a header, in UTF-8") from None
    if not rows:
        raise InputError(field, Phrase(f"{path.name} without lines"), f"a CSV file of {columns} with a header")
    return rows
