"""Whole objects that public functions take: another kind is refused by name, before anything is done with it."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Collection, Mapping
from collections.abc import Set as AbstractSet
from functools import wraps
from typing import Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from discreet.errors import InputError, Phrase, kind_of, nearest

__all__ = ["typed"]

P = ParamSpec("P")
T = TypeVar("T")

# Numbers and arrays have readers of their own, which take more and say more.
_READ_ELSEWHERE = (int, float, complex, bool, bytes)


def typed(function: Callable[P, T]) -> Callable[P, T]:
    """The same function, which checks the kinds of objects it was annotated with.

    >>> @typed
    ... def first(days: list[date]) -> date:
    ...     return days[0]
    >>> from datetime import date
    >>> first([3])
    Traceback (most recent call last):
        ...
    discreet.errors.InputError: `days` must be a list of date; got a list of int.
    """
    signature = inspect.signature(function)
    hints: dict[str, Any] = {}

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> T:
        if not hints:  # on the first call: annotations may name what is defined further down
            hints.update(_hints(function))
        refused, misspelt = _refused(signature, hints, args, kwargs), _misspelt(signature, kwargs)
        try:
            if misspelt is not None:
                raise TypeError(f"{function.__name__}() got an unexpected keyword argument {misspelt}")
            if refused is not None:
                raise InputError(*refused)
            return function(*args, **kwargs)
        finally:
            del args, kwargs  # rows may be among them, and a traceback that shows variables would show those

    return checked


def _refused(
    signature: inspect.Signature, hints: Mapping[str, Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[str, str, str] | None:
    """Field, value and what is allowed, for the first argument of another kind. It returns: no frame holds the rest."""
    try:
        given = signature.bind(*args, **kwargs).arguments
    except TypeError:  # Python's own error names the argument that is missing or unknown
        return None
    for name, value in given.items():
        hint = hints.get(name)
        many = signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
        for one in value if many else (value,):
            if hint is not None and not _is(one, hint):
                return name, _shown(one), _allowed(hint)
    return None


def _misspelt(signature: inspect.Signature, names: Collection[str]) -> str | None:
    """The first name that is not one of an argument, with the one that is nearest to it, if one is."""
    known = signature.parameters.values()
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in known):
        return None
    listed = [one.name for one in known if one.kind is not inspect.Parameter.VAR_POSITIONAL and one.name != "self"]
    for name in names:
        if name not in listed and (close := nearest(name, listed)) is not None:
            return f"{name!r}. Did you mean `{close}`?"
    return None


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Annotations by argument; what only a type checker imports is known by the name of its class."""
    known: dict[str, Any] = {}
    while True:
        try:
            return get_type_hints(function, localns=known)
        except NameError as problem:
            known[str(problem.name)] = _known_by_name(str(problem.name))


def _known_by_name(name: str) -> type:
    """A class that takes for its own whatever has a class of this name."""

    class Named(type):
        def __instancecheck__(cls, value: object) -> bool:
            return any(kind.__name__ == name for kind in type(value).__mro__)

    return Named(name, (), {})


def _is(value: Any, hint: Any) -> bool:
    """Whether a value may be of an annotated kind; true where only its reader can tell."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(_is(value, one) for one in inner)
    if origin is Literal:
        return isinstance(value, str) and value in inner
    if origin is not None:
        return _is_container(value, origin, inner)
    if hint is None or hint is type(None):
        return value is None
    if hint is Any or not isinstance(hint, type) or hint in _READ_ELSEWHERE or hint.__module__.startswith("numpy"):
        return True
    if getattr(hint, "_is_protocol", False):
        return all(hasattr(value, name) for name in _members(hint))
    return isinstance(value, hint)


def _is_container(value: Any, origin: Any, inner: tuple[Any, ...]) -> bool:
    if not isinstance(origin, type) or origin.__module__.startswith("numpy"):
        return True
    if issubclass(origin, Mapping):
        return isinstance(value, Mapping) and all(_is(key, inner[0]) and _is(value[key], inner[1]) for key in value)
    if origin is not type and issubclass(origin, (Collection, AbstractSet)):
        if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Collection) or _is_table(value):
            return False
        return all(_is(one, inner[0]) for one in value) if len({*map(str, inner)} - {"Ellipsis"}) == 1 else True
    return isinstance(value, origin)


def _is_table(value: Any) -> bool:
    return getattr(value, "ndim", 1) != 1


def _members(protocol: type) -> list[str]:
    own = [name for kind in protocol.__mro__ if getattr(kind, "_is_protocol", False) for name in vars(kind)]
    noted = [name for kind in protocol.__mro__ for name in vars(kind).get("__annotations__", {})]
    return [name for name in {*own, *noted} if not name.startswith("_")]


def _shown(value: Any) -> Phrase:
    kind = kind_of(value)  # never a value: it may be data
    inside = sorted({type(one).__name__ for one in value}) if isinstance(value, (list, tuple)) else []
    return Phrase(f"{kind} of {', '.join(inside[:3])}") if inside else kind


def _allowed(hint: Any) -> str:
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(_allowed(one) for one in inner if one is not type(None)))
    if origin is Literal:
        return " or ".join(repr(one) for one in inner)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return f"a dictionary of {_allowed(inner[1])}"
    if isinstance(origin, type) and issubclass(origin, Collection):
        return f"a list of {_allowed(inner[0])}"
    return "text" if hint is str else str(getattr(hint, "in_words", getattr(hint, "__name__", hint)))
