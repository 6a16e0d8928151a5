"""The whole reference: its pages, its place in the navigation, and what is missing."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

from handbook import checks
from handbook.commands import Command, command_pages, commands
from handbook.failures import Failure, failure_pages, failures
from handbook.names import Source
from handbook.paths import description, path_pages
from handbook.python_pages import ORDER, documented, python_pages
from handbook.settings import keys_read, setting_pages

__all__ = ["NAVIGATION", "Book"]

NAVIGATION: dict[str, Any] = {
    "Reference": [
        {"What is here": "reference/index.md"},
        {"Commands": "reference/commands.md"},
        {"Settings": "reference/settings.md"},
        {"Errors": "reference/errors.md"},
        {"HTTP": "reference/http.md"},
        {
            "Python": [
                {"Names": "reference/python/index.md"},
                *({room: f"reference/python/{room}.md"} for room in ("curator", *ORDER)),
            ]
        },
    ]
}

_INDEX = """\
# Reference

Made from the program itself when the documentation is built. The build fails where a command, an option, a setting, a
key of a file, an error, a path or a public name says nothing about itself.

- [Commands](commands.md): every command, its options, examples, exit codes; completion in the shell.
- [Settings](settings.md): environment variables, the schema file, the survey file.
- [Errors](errors.md): what each means and what to do.
- [HTTP](http.md): what a server answers.
- [Python](python/index.md): every public name, with its guarantee.
"""


class Book:
    """Everything read once from a source folder and the program."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def source(self) -> Source:
        """The source of the package."""
        return Source(self.folder)

    @cached_property
    def commands(self) -> list[Command]:
        """The commands."""
        return commands()

    @cached_property
    def failures(self) -> list[Failure]:
        """The errors."""
        return failures(self.source)

    @cached_property
    def paths(self) -> dict[str, Any]:
        """The API."""
        return description()

    def pages(self) -> dict[str, str]:
        """Every page, by its path in the documentation."""
        from discreet.apps.cli.examples import CODES

        return {
            "reference/index.md": _INDEX,
            **command_pages(self.commands, dict(CODES)),
            **setting_pages(),
            **failure_pages(self.failures, self.source),
            **path_pages(self.paths),
            **python_pages(self.source),
        }

    def problems(self) -> list[str]:
        """What is not documented, as sentences."""
        return [
            *checks.commands_told(self.commands),
            *checks.variables_told(self.folder, self.commands),
            *checks.keys_told(keys_read(self.folder)),
            *checks.names_told(documented(self.source), self.source),
            *checks.failures_told(self.failures),
            *checks.paths_told(self.paths),
        ]
