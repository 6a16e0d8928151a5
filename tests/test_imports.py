"""What is imported from the package, in benchmarks, figures, checks and tests, is there."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FILES = [path for folder in ("bench", "docs", ".ci", "tests") for path in sorted((ROOT / folder).rglob("*.py"))]


def imports(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "discreet":
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if alias.name.split(".")[0] == "discreet")


def missing(module, name):
    try:
        found = importlib.import_module(module)
        return (
            bool(name)
            and name != "*"
            and not hasattr(found, name)
            and importlib.import_module(f"{module}.{name}") is None
        )
    except ModuleNotFoundError as problem:
        return (problem.name or "").split(".")[0] == "discreet"  # an extra may be absent


@pytest.mark.parametrize("folder", ["bench", "docs", ".ci", "tests"])
def test_every_name_that_is_imported_is_there(folder):
    paths = [path for path in FILES if path.is_relative_to(ROOT / folder)]
    assert paths
    assert [(path.name, *each) for path in paths for each in imports(path) if missing(*each)] == []


def test_a_name_that_is_gone_is_noticed():
    assert missing("discreet.nothing", "")
    assert missing("discreet.core.loss", "Nothing")
    assert not missing("discreet.core.loss", "Pure")
