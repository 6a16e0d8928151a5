"""Ibis loads its compilers for all twenty engines to compile for one: for DuckDB, here, its own alone is loaded.

The others bring the dialects of sqlglot with them, a tenth of the CPU of a process that asks DuckDB one question.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from typing import Any

__all__ = ["load_only"]

_PACKAGE = "ibis.backends.sql.compilers"


def load_only(name: str = "duckdb", package: str = _PACKAGE) -> None:
    """Have the package load that module of its own when it is asked for it, and all the rest when asked for more.

    All the rest is what it is as it is written: some of its modules change dialects that others use, so no other
    engine's compiler is ever loaded without them. Where the package is loaded already, nothing is done.
    """
    if package in sys.modules or (spec := find_spec(package)) is None or spec.loader is None:
        return
    module, fill = module_from_spec(spec), spec.loader.exec_module

    def load(asked: str) -> Any:
        if asked == name:
            return import_module(f"{package}.{name}")
        if asked.startswith("__") and asked != "__all__":  # the machinery of imports looks for such names
            raise AttributeError(f"module {package!r} has no attribute {asked!r}", name=asked, obj=module)
        fill(module)
        vars(module).pop("__getattr__", None)  # not before: another thread may ask meanwhile
        return getattr(module, asked)

    vars(module)["__getattr__"] = load
    sys.modules[package] = module
    above, _, last = package.rpartition(".")
    setattr(sys.modules[above], last, module)
