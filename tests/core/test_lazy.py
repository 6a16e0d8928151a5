"""Packages whose names load on first use: both lists of names agree, every name loads, a missing one says so."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import discreet
from discreet.errors import MissingExtraError

SOURCE = Path(discreet.__file__).parent
LAZY = [path for path in sorted(SOURCE.rglob("__init__.py")) if "discreet.core.lazy" in path.read_text()]


def package_of(path: Path) -> str:
    return ".".join(["discreet", *path.parent.relative_to(SOURCE).parts])


def for_type_checkers(path: Path) -> set[str]:
    """Names imported under `if TYPE_CHECKING`, as `module.name`."""
    blocks = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.If)]
    imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
    return {f"{node.module}.{alias.name}" for node in imports for alias in node.names if alias.name == alias.asname}


@pytest.mark.parametrize("path", LAZY, ids=package_of)
def test_type_checkers_and_python_know_the_same_names_from_the_same_modules(path):
    package = importlib.import_module(package_of(path))
    found = set()
    for name in package.__all__:
        try:
            value = getattr(package, name)  # loads it
        except MissingExtraError as problem:
            pytest.skip(str(problem))
        assert getattr(package, name) is value
        assert not (path.parent / f"{name}.py").exists(), "importing that module would hide the name"
        found.add(name)
    listed = for_type_checkers(path)
    assert {name.rpartition(".")[2] for name in listed} == found
    for name in listed:
        module, _, last = name.rpartition(".")
        assert getattr(importlib.import_module(module), last) is getattr(package, last)


@pytest.mark.parametrize("path", LAZY, ids=package_of)
def test_a_name_that_is_not_there_is_an_attribute_error(path):
    package = importlib.import_module(package_of(path))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        package.nothing  # noqa: B018
    assert set(package.__all__) <= set(dir(package))


@pytest.mark.parametrize("path", LAZY, ids=package_of)
def test_importing_the_package_loads_none_of_its_modules(path):
    name = package_of(path)
    own = f"m.startswith('{name}.') and m != 'discreet.core.lazy'"
    code = f"import sys, {name}; print([m for m in sys.modules if {own}])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
