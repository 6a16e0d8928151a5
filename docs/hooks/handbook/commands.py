"""The commands page, from the command line's own tree of commands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from handbook.words import cell, fence, prose, table

__all__ = ["Command", "Parameter", "command_pages", "commands"]

_UP = "../"


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument or option of a command."""

    names: tuple[str, ...]
    argument: bool
    kind: str
    required: bool
    default: str
    variables: tuple[str, ...]
    help: str


@dataclass(frozen=True, slots=True)
class Command:
    """A command or a group of commands, by its words."""

    words: str
    group: bool
    help: str
    epilog: str
    parameters: tuple[Parameter, ...]

    @property
    def examples(self) -> list[str]:
        """The lines of its examples."""
        lines = [line.strip() for line in self.epilog.splitlines()]
        return [line for line in lines if line.startswith("discreet ")]


def commands(application: Any = None) -> list[Command]:
    """Every command of a Typer application, ours unless another is given."""
    from typer.main import get_command

    if application is None:
        from discreet.apps.cli import app as application
    return _walked(get_command(application), "discreet")


def _walked(command: Any, words: str) -> list[Command]:
    inside = getattr(command, "commands", None)
    parameters = tuple(_parameter(one) for one in command.params)
    told = (command.help or "").replace("\b", "").strip()
    found = [Command(words, inside is not None, told, (command.epilog or "").replace("\b", ""), parameters)]
    for name, one in (inside or {}).items():
        if one.hidden:  # another word for the same
            continue
        found += _walked(one, f"{words} {name}")
    return found


def _parameter(one: Any) -> Parameter:
    argument = one.param_type_name == "argument"
    names = (one.metavar or one.name,) if argument else (*one.opts, *one.secondary_opts)
    variables = one.envvar if isinstance(one.envvar, (list, tuple)) else [one.envvar] if one.envvar else []
    flag = getattr(one, "is_flag", False)
    default = "" if one.default is None or flag or callable(one.default) else str(one.default)
    kind = "flag" if flag else _kind(one)
    return Parameter(
        tuple(names), argument, kind, one.required, default, tuple(variables), getattr(one, "help", "") or ""
    )


def _kind(one: Any) -> str:
    """What a parameter takes, in a word, or the words to choose from. Where the type is kept depends on typer."""
    if (one.metavar or "").startswith("["):
        return one.metavar.strip("[]").replace("|", ", ")
    told = getattr(one, "type_descriptor", None)
    name = getattr(one, "type", None)
    found = str(getattr(told, "annotation", "")) if told is not None else str(getattr(name, "name", ""))
    words = {"int": "whole number", "float": "number", "Path": "path", "path": "path", "integer": "whole number"}
    kind = next((word for part, word in words.items() if part in found), "text")
    return f"{kind}, repeated" if getattr(one, "multiple", False) or one.nargs == -1 else kind


def command_pages(found: list[Command], codes: dict[int, str]) -> dict[str, str]:
    """The page, by its path."""
    parts = ["# Commands", _INTRO, "## Exit codes"]
    parts.append(table(["code", "meaning"], [[f"`{code}`", cell(text)] for code, text in codes.items()]))
    parts += ["## Shell completion", _COMPLETION]
    for one in found:
        parts.append(f"## {one.words}" if one.words.count(" ") < 2 else f"### {one.words}")
        parts += [prose(paragraph, _UP) for paragraph in one.help.split("\n\n")]
        if one.examples:
            parts.append(fence("\n".join(one.examples), "sh"))
        for title, wanted in (("argument", True), ("option", False)):
            rows = [_row(parameter) for parameter in one.parameters if parameter.argument is wanted]
            if rows:
                parts.append(table([title, "takes", ""], rows))
    return {"reference/commands.md": "\n\n".join([*parts, ""])}


def _row(one: Parameter) -> list[str]:
    told = cell(one.help, _UP)
    if one.required:
        told += " Required."
    elif one.default:
        told += f" Default: `{one.default}`."
    if one.variables:
        told += " Environment: " + ", ".join(f"`{name}`" for name in one.variables) + "."
    return [", ".join(f"`{name}`" for name in one.names), one.kind, told]


_INTRO = """\
Every command takes `--help`, which ends with the examples shown here. The project's tests parse each of them and run
those that end and are cheap, in a folder that holds the tables and the schemas of the demonstration, and a ledger in
which nothing was spent yet. Servers and long attacks are parsed only. How commands find schemas and ledgers, and what
they show: [The command line](../guides/command-line.md).
`python -m discreet` is the same as `discreet`. With `--json` a command prints one JSON value, and errors as JSON on
stderr."""

_COMPLETION = """\
`discreet --install-completion` sets up the shell it is called from: bash, zsh, fish or PowerShell. Open a new one, and
TAB completes commands, options and values: columns and allotments of the schema, methods, noise, formats, ids of stored
releases. Only declarations and the ledger file are read for it, never a row. `discreet --show-completion` prints the
script instead. For another shell than the one it is called from:

```sh
_DISCREET_COMPLETE=source_bash discreet > ~/.local/share/bash-completion/completions/discreet
_DISCREET_COMPLETE=source_zsh discreet > ~/.zfunc/_discreet
_DISCREET_COMPLETE=source_fish discreet > ~/.config/fish/completions/discreet.fish
```"""
