"""The panels of --help: what a command's options are about, in the same order for every command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from typer.core import TyperCommand, TyperGroup

from discreet.apps.cli.plain_values import read_plainly

__all__ = ["PANELS", "PanelCommand", "PanelGroup", "panel_of"]

OWN = "Options"
PANELS: Mapping[str, tuple[str, ...]] = {
    "Budget": (
        "--epsilon",
        "--rho",
        "--share",
        "--within",
        "--delta",
        "--confidence",
        "--noise",
        "--allotment",
        "--budget",
        "--shares",
        "--weights",
        "--why",
        "--who",
        "--yes",
    ),
    "Decision": ("--assume", "--fund", "--threshold", "--decide-by"),
    "Data": ("--schema", "--ledger", "--table", "--dataset", "--tokens", "--db", "--grid"),
    "Output": (
        "--id",
        "--csv",
        "--plot",
        "--out",
        "--format",
        "--part",
        "--picture",
        "--html",
        "--page",
        "--map",
        "--map-table",
        "--geometry",
        "--code-property",
        "--measurements",
        "--marginals",
        "--replicates",
        "--workers",
        "--folder",
        "--plan",
        "--json",
        "--help",
    ),
}
"""The options that mean the same wherever they are, by panel. All others are a command's own and stand first."""

_PLACES = {flag: title for title, flags in PANELS.items() for flag in flags}


def panel_of(flags: list[str], *, number: bool = False) -> str:
    """The panel of an option, by the names it has, and whether it is a number where others of that name are files.

    >>> panel_of(["-y", "--yes"]), panel_of(["--levels"]), panel_of(["--workers"], number=True)
    ('Budget', 'Options', 'Options')
    """
    if number and "--workers" in flags:  # people or processes; elsewhere the file for made-up ones
        return OWN
    return next((_PLACES[flag] for flag in flags if flag in _PLACES), OWN)


# What versions of typer call a type, and what people do.
_TYPES = {"str": "TEXT", "int": "INTEGER", "float": "NUMBER", "path": "PATH", "Path": "PATH"}


def _shown(names: str, argument: bool) -> str:
    """The names of a parameter and what it takes; an argument stands for itself."""
    head, _, kind = names.rpartition(" ")
    word = _TYPES.get(kind.strip("<>").removeprefix("list[").removesuffix("]"))
    if not head or word is None or not kind.startswith("<"):
        return names
    return head if argument else f"{head} {word}"


class PanelCommand(TyperCommand):
    """A command whose help shows arguments, its own options, and then one panel after the other."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its parameters and --help."""
        return read_plainly(super().get_params(ctx))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write them."""
        panels: dict[str, list[tuple[str, str]]] = {title: [] for title in ("Arguments", OWN, *PANELS)}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                argument = parameter.param_type_name == "argument"
                number = record[0].rpartition("--")[2].partition(" ")[2].strip("<").lower().startswith("int")
                title = "Arguments" if argument else panel_of(parameter.opts, number=number)
                panels[title].append((_shown(record[0], argument), record[1]))
        for title, records in panels.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


class PanelGroup(TyperGroup):
    """A group of such commands."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its parameters and --help."""
        return read_plainly(super().get_params(ctx))
