"""The table of commands: what each is for, and where it lies. A command loads when it is used, not when listed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import Any, cast

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from discreet.apps.cli.examples import adorn
from discreet.apps.cli.panels import PanelGroup

__all__ = ["AS_JSON", "COMMANDS", "SECTIONS", "VERBS", "CommandGroup", "Commands"]

AS_JSON: ContextVar[bool] = ContextVar("AS_JSON", default=False)
"""Whether a program reads what the command prints: then nothing is said to people."""
_KIND = "jobs:job_app"
COMMANDS: Mapping[str, tuple[str, str]] = {
    "init": ("init:init", "Write a schema to fill in."),
    "check": ("check:check", "List what in the data does not fit its schema: for the custodian only."),
    "plan": ("ask:plan", "Show the price of a question and the expected error of its answers."),
    "ask": ("ask:ask", "Ask a question, after showing its price."),
    "sql": ("ask:sql", "Ask a question in SQL."),
    "shell": ("shell:shell", "A prompt for SQL: it shows each plan and asks before spending."),
    "limits": ("ask:limits", "Estimate privately what contribution limits would leave out."),
    "risk": ("risk:app", "How easily people in a table are identified, and what coarsening costs: report, measure."),
    "serve": ("serve:serve", "Serve curators over HTTP."),
    "doctor": ("doctor:doctor", "Check whether a server could run here: ledger, guard, data, permissions, clock."),
    "help": ("help:help_", "Explain a term: epsilon, privacy budget, confidence interval and others."),
    "demo": ("demo:demo", "A demonstration: two tables, a budget, answers, a refusal; then the same in a browser."),
    "batch": (_KIND, "Several questions with one price: plan, release, show."),
    "choose": (
        _KIND,
        "The option with the highest score, as far as noise allows; scores are sums over rows and are not published: "
        "plan, release, show.",
    ),
    "stream": (_KIND, "The same question every period: plan, release, show."),
    "tree": (_KIND, "Hierarchies that add up, nation to block: plan, release, show, read, explain."),
    "detail": (_KIND, "Population groups, in as much detail as their size allows: plan, release, show, read."),
    "census": (_KIND, "Persons and households in tables that agree: plan, release, show."),
    "flows": (_KIND, "Flows by origin, destination and time that add up: plan, release, show."),
    "mobility": ("mobility:mobility", "From a file of trips with times to half-hour tables that add up."),
    "commute": (_KIND, "Synthetic rows of origin and destination: plan, release, show, lodes, prior."),
    "synth": (_KIND, "Synthetic tables: plan, release, show, report, fit."),
    "relations": (_KIND, "Synthetic parents and child rows, with a key: plan, release, show."),
    "train": (_KIND, "Models trained with differential privacy: plan, release, show, card, predict, images, baseline."),
    "search": (_KIND, "Models tuned privately: plan, release, show."),
    "loads": (_KIND, "Loads of a power grid, protected: plan, release, show."),
    "hide": ("hide:app", "Private numbers, each hidden up to a distance: plan, release, show."),
    "survey": ("survey:app", "Surveys randomised on the respondent's device."),
    "releases": ("ledger:releases_app", "Stored releases, read again for free: list, show, publish, decide."),
    "ledger": ("ledger:ledger_app", "Budgets and charges: show, verify, raise, ..."),
    "calibrate": ("calibrate:app", "Noise for a budget, and what an epsilon means."),
    "attack": ("attack:app", "Run attacks, and see them fail under a privacy budget."),
    "audit": ("audit:app", "Try to refute privacy claims."),
    "jobs": ("queue:jobs_app", "Long jobs of a server: list, cancel."),
    "token": ("token:token_app", "Tokens of a server: create, list, rotate, cap, revoke."),
}
"""Where each command lies, as `module:name` of this package, and what the list of commands says of it.

A kind of job that is not named here has its commands all the same.
"""
SECTIONS: Mapping[str, tuple[str, ...]] = {
    "Start": ("demo", "init", "check", "help"),
    "Questions": ("plan", "ask", "sql", "shell", "limits"),
    "Other kinds of release": (
        *("batch", "choose", "stream", "tree", "detail", "census", "flows", "mobility", "commute"),
        *("synth", "relations", "train", "search", "loads", "hide"),
    ),
    "Budgets and releases": ("ledger", "releases", "serve", "token", "jobs", "doctor"),
    "Surveys, risks and audits": ("survey", "risk", "attack", "audit", "calibrate"),
}
"""How the list of commands is divided."""
_KINDS_OF_JOB = "Other kinds of release"
VERBS = {"hidden": "hide"}
"""Kinds of job whose commands have another name."""


class Commands(Mapping[str, Any]):
    """The commands by name, each made when it is asked for."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            if name not in COMMANDS and name not in _other_kinds():
                raise KeyError(name)
            self._made[name] = _command(name)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter([*COMMANDS, *_other_kinds()])

    def __len__(self) -> int:
        return len(list(iter(self)))


def _other_kinds() -> list[str]:
    """Kinds of job that the table does not name."""
    from discreet.curator import KINDS

    return [name for name, kind in KINDS.items() if kind.sent and VERBS.get(name, name) not in COMMANDS]


def _command(name: str) -> Any:
    home, _ = COMMANDS.get(name, (_KIND, ""))
    module, _, attribute = home.partition(":")
    found = getattr(import_module(f"{__package__}.{module}"), attribute)
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.callback()(lambda: None)  # with it, one command is a group too
    if home == _KIND:
        found = found(name)
    if isinstance(found, typer.Typer):
        app.add_typer(found, name=name)
    else:
        app.command(name)(found)
    adorn(app)
    return cast(TyperGroup, get_command(app)).commands[name]


class CommandGroup(PanelGroup):
    """A group over the table: to list the commands, or to complete the name of one, none of them is loaded."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{**settings, "commands": None})
        self.commands: Any = Commands()

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names, in the order of the table."""
        return list(self.commands)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The list that --help shows, by section; kinds of job that the table does not name are with the others."""
        for title, names in SECTIONS.items():
            others = _other_kinds() if title == _KINDS_OF_JOB else []
            rows = [(name, COMMANDS[name][1]) for name in names if name in COMMANDS]
            rows += [(name, self.commands[name].get_short_help_str(80)) for name in others]
            with formatter.section(title):
                formatter.write_dl(rows)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Names of commands, and options."""
        with self._listed():
            return super().shell_complete(ctx, incomplete)

    @contextmanager
    def _listed(self) -> Iterator[None]:
        """While this lasts, commands are what the table says of them."""
        loading = self.commands
        self.commands = {
            name: TyperCommand(name, short_help=COMMANDS[name][1]) if name in COMMANDS else loading[name]
            for name in loading
        }
        try:
            yield
        finally:
            self.commands = loading
