"""`discreet tree read`, `discreet detail read`: tables of noisy measurements, without a ledger and without data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.apps.cli import options as shared
from discreet.apps.cli.delivery import TREE
from discreet.apps.cli.detail import GROUPS
from discreet.apps.cli.output import AsJson, progress
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.trees.rules import Rules

__all__ = ["read", "read_detail"]

_FOLDER = Annotated[Path, typer.Argument(help="Folder that --measurements wrote, or someone published.")]
_RULES = Annotated[Path | None, typer.Option(help="Other public facts than those it was published under: TOML, JSON.")]
_SURE = Annotated[float | None, typer.Option(help="Another confidence of the intervals.")]


def read() -> Callable[..., None]:
    """The command, with the options by which every hierarchy is delivered."""

    def tree_read(**given: Any) -> None:
        from discreet.trees import read_measurements

        TREE.check(given)
        how = {name: given[name] for name in ("method", "confidence")}
        with progress():
            try:
                answer = read_measurements(given["folder"], **how, rules=_rules(given["rules"]))
            except InputError as problem:
                if problem.field not in ("method", "confidence", "rules"):
                    raise
                raise problem.about(f"--{problem.field}") from None
        TREE.deliver(answer, given)

    tree_read.__doc__ = (
        "Compute tables, sums and maps from noisy measurements: by any method, without a ledger, at no cost."
    )
    more = {"rules": (_RULES, None), "confidence": (_SURE, None)}
    delivered = {**TREE.parameters, **TREE.shown, "as_json": (AsJson, False)}
    return shared.with_signature(tree_read, {"folder": (_FOLDER, shared.REQUIRED), **more, **delivered})


def read_detail() -> Callable[..., None]:
    """The same for groups in adaptive detail."""

    def detail_read(**given: Any) -> None:
        from discreet.trees.detail import read_groups

        GROUPS.check(given)
        with progress():
            try:
                answer = read_groups(given["folder"], confidence=given["confidence"])
            except InputError as problem:
                raise problem.about("--confidence") if problem.field == "confidence" else problem from None
        GROUPS.deliver(answer, given)

    detail_read.__doc__ = (
        "Compute the table, sums and a map from noisy measurements of groups: without a ledger, at no cost."
    )
    delivered = {**GROUPS.parameters, **GROUPS.shown, "as_json": (AsJson, False)}
    head = {"folder": (_FOLDER, shared.REQUIRED), "confidence": (_SURE, None)}
    return shared.with_signature(detail_read, {**head, **delivered})


def _rules(path: Path | None) -> Rules | None:
    from discreet.trees.declaration import load_rules
    from discreet.trees.rules import Rules

    return None if path is None else Rules(**load_rules(str(path)))
