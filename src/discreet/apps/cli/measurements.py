"""`discreet tree read`: tables made of a folder of noisy measurements, without a ledger and without data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.apps.cli import options as shared
from discreet.apps.cli.delivery import TREE
from discreet.apps.cli.output import AsJson, progress
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.trees.rules import Rules

__all__ = ["read"]

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

    tree_read.__doc__ = "Tables, sums and maps made of noisy measurements: by any method, without a ledger, at no cost."
    more = {"rules": (_RULES, None), "confidence": (_SURE, None)}
    delivered = {**TREE.parameters, **TREE.shown, "as_json": (AsJson, False)}
    return shared.with_signature(tree_read, {"folder": (_FOLDER, shared.REQUIRED), **more, **delivered})


def _rules(path: Path | None) -> Rules | None:
    from discreet.trees.declaration import load_rules
    from discreet.trees.rules import Rules

    return None if path is None else Rules(**load_rules(str(path)))
