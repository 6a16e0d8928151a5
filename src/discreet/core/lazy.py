"""Names of a package that load on first use, so that importing the package costs next to nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from discreet.errors import MissingExtraError


def lazy(
    package: str, homes: Mapping[str, Sequence[str]], *, extra: str | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package whose names lie in modules of its own.

    A package writes its names twice: imported under `if TYPE_CHECKING` for type checkers, as `from discreet.synth.ask
    import SynthAsk as SynthAsk`, and here for Python, by module: `lazy(__name__, {"ask": ("SynthAsk",)})`. A test
    compares the two lists. A name must not be that of a module beside it: importing the module would put it there.
    Where a library of the `extra` is missing, the error names the pip command.
    """
    home = {name: f"{package}.{module}" for module, names in homes.items() for name in names}

    def load(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package])
        from discreet.core.garbage import rarely_collected

        try:
            with rarely_collected():
                value = getattr(import_module(home[name]), name)
        except ModuleNotFoundError as problem:
            library = (problem.name or "discreet").partition(".")[0]
            if extra is None or library == "discreet":
                raise
            raise MissingExtraError(extra, library) from None
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home})

    return load, names, sorted(home)
