"""The commands that a page of documentation shows: between backticks, or on an indented line of their own."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import Any

from discreet.apps.cli.commands import Commands


@dataclass(frozen=True)
class Typed:
    """A command as printed, the line where it stands, what it leads to, and the words after its name."""

    line: int
    text: str
    command: Any
    rest: list[str]

    @property
    def options(self) -> set[str]:
        return {name for parameter in self.command.params for name in parameter.opts}


def typed_commands(text: str) -> list[Typed]:
    """Every command of a page, in order."""
    shown = re.finditer(r"(?:`|^    )(discreet [a-z][^`\n]*)", text, re.M)
    return [read_command(match[1], text.count("\n", 0, match.start())) for match in shown]


def read_command(text: str, line: int = 0) -> Typed:
    words = shlex.split(text)[1:]
    command = Commands()[words.pop(0)]
    while words and words[0] in getattr(command, "commands", {}):
        command = command.commands[words.pop(0)]
    return Typed(line, text, command, words)
