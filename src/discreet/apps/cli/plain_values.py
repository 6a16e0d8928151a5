"""Values of options that need no reading: none at all, text as it was typed, a default that is a number already.

Newer versions of typer hand every value of every option, given or not, to a library whose loading takes a fifth of the
time of a short command. Here it is loaded for a number or a path that somebody typed, and for nothing else. Older
versions of typer have no such readers, and are left as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["PlainValue", "read_plainly"]


class PlainValue:
    """What stands in for a parameter's reader until a value needs it."""

    def __init__(self, parameter: Any) -> None:
        self._parameter = parameter

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value as its command gets it."""
        kind = self._parameter.type_descriptor.annotation
        several = param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        if several and kind == list[str] and all(isinstance(one, str) for one in value):
            return list(value)
        if not several and kind in (str, int, float) and type(value) is kind:
            return value
        self._parameter._runtime_param = None  # from now on its own reader reads it
        return self._parameter.get_runtime_param().coerce(value, param=param, ctx=ctx)


def read_plainly(parameters: Iterable[Any]) -> list[Any]:
    """The same parameters, which load what reads their values when a value needs it."""
    found = list(parameters)
    for parameter in found:
        if hasattr(parameter, "get_runtime_param") and getattr(parameter, "_runtime_param", ...) is None:
            parameter._runtime_param = PlainValue(parameter)
    return found
