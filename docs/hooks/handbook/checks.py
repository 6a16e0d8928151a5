"""What must be documented. Each check gives its problems as sentences; none is good."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from handbook.commands import Command
from handbook.failures import Failure
from handbook.names import Module, Source
from handbook.paths import operations
from handbook.settings import KEYS, READERS, VARIABLES, variables_read

__all__ = ["commands_told", "failures_told", "keys_told", "names_told", "paths_told", "sentence", "variables_told"]

_ERRORS = ("401", "403", "422", "429", "500")


def sentence(text: str) -> bool:
    """Whether the first paragraph of a docstring is a sentence: it begins with a word and comes to an end.

    >>> sentence("What it is for.\\n\\nMore."), sentence("what it is for"), sentence("")
    (True, False, False)
    """
    first = " ".join(text.split("\n\n")[0].split())
    return bool(re.match(r"[\w`(\"'{\[-]", first)) and first.endswith((".", "!", "?", ":", ")", "`")) and " " in first


def commands_told(found: Iterable[Command]) -> list[str]:
    """Every command says what it does and has an example; every argument and option says what it is."""
    problems = []
    for one in found:
        if not sentence(one.help):
            problems.append(f"{one.words} has no help that is a sentence")
        if not one.group and not one.examples:
            problems.append(f"{one.words} has no example: add one to discreet/apps/cli/examples.py")
        problems += [
            f"{one.words}: {parameter.names[0]} has no help"
            for parameter in one.parameters
            if not parameter.help.strip()
        ]
    return problems


def variables_told(folder: Path, found: Iterable[Command], told: Mapping[str, str] = VARIABLES) -> list[str]:
    """Every environment variable that code or a command reads is on the settings page, and no other is."""
    read = variables_read(folder) | {name for one in found for part in one.parameters for name in part.variables}
    problems = [
        f"{name} is read and is not documented: docs/hooks/handbook/settings.py" for name in sorted(read - set(told))
    ]
    return problems + [f"{name} is documented and nothing reads it" for name in sorted(set(told) - read)]


def keys_told(read: Mapping[tuple[str, str], set[str]], told: Mapping[str, Mapping[str, str]] = KEYS) -> list[str]:
    """Every key that a reader of files looks for is on the settings page under its table, and no other is."""
    problems = [
        f"{name} in {file} is not there any more: READERS" for file, name in READERS if (file, name) not in read
    ]
    covered: dict[str, set[str]] = {table: set() for table in told}
    for (file, name), words in read.items():
        tables = READERS[file, name]
        known = {key for table in tables for key in told.get(table, {})}
        problems += [
            f"{file} reads the key {word!r}, which {' and '.join(tables)} does not document"
            for word in sorted(words - known)
        ]
        for table in tables:
            covered.setdefault(table, set()).update(words)
    for table, keys in told.items():
        problems += [f"{table} documents {key!r}, which nothing reads" for key in keys if key not in covered[table]]
    return problems


def names_told(rooms: Mapping[str, Iterable[Module]], source: Source) -> list[str]:
    """Every public name, and every public method of one, says what it is for in a sentence."""
    problems = []
    for modules in rooms.values():
        for module in modules:
            if not sentence(module.doc):
                problems.append(f"{module.name} does not say what it is for")
            for one in source.names(module):
                if one.kind == "value":
                    continue
                if not sentence(one.doc):
                    problems.append(f"{one.place} has no docstring that begins with a sentence")
                problems += [
                    f"{one.place}.{member.name} has no docstring that begins with a sentence"
                    for member in one.members
                    if not sentence(member.doc)
                ]
    return problems


def failures_told(found: Iterable[Failure]) -> list[str]:
    """Every error says what it means and what to do."""
    problems = []
    for one in found:
        if not sentence(one.doc):
            problems.append(f"{one.name} does not say what it means")
        if not sentence(one.advice):
            problems.append(f"{one.name} has no advice: docs/hooks/handbook/failures.py")
    return problems


def paths_told(described: Mapping[str, Any]) -> list[str]:
    """Every path of the API has a summary, says what it does, and documents its good answers and its errors."""
    problems = []
    for method, path, operation in operations(described):
        where = f"{method} {path}"
        if not operation.get("summary"):
            problems.append(f"{where} has no summary")
        if not sentence(operation.get("description", "")):
            problems.append(f"{where} does not say what it does")
        answers = operation.get("responses", {})
        missing = [code for code in _ERRORS if not answers.get(code, {}).get("description")]
        if missing:
            problems.append(f"{where} does not document {', '.join(missing)}")
        if not any(code < "400" and one.get("description") for code, one in answers.items()):
            problems.append(f"{where} has no good answer")
    return problems
