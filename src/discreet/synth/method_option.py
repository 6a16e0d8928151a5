"""What may be said of how a method works, beside its name: `rounds=5` of `rap`, say. All of it is public.

A method's module lists its options (`OPTIONS`); their names are those of the keyword arguments of its function. They
stand on the plan and on the record: what is made again from what was measured is made in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from discreet.errors import InputError, kind_of

__all__ = ["MethodOption", "Options", "Setting", "check_options", "option_words"]

Setting = int | str
Options = tuple[tuple[str, Setting], ...]


@dataclass(frozen=True, slots=True)
class MethodOption:
    """One option: a whole number between bounds, or one of some words."""

    name: str
    help: str
    least: int = 1
    most: int = 0
    words: tuple[str, ...] = ()
    """What it may be, where it is no number."""
    for_each: bool = False
    """Whether both bounds rise by one with every column of the table beyond the first."""

    def check(self, value: object, columns: int, field: str | None = None) -> Setting:
        """The value, if it is one: `field` is what the caller calls the option."""
        field = self.name if field is None else field
        if self.words:
            if not isinstance(value, str) or value not in self.words:
                raise InputError(field, value, among=self.words)
            return value
        more = columns - 1 if self.for_each else 0
        least, most = self.least + more, self.most + more
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            hint = "Every column is measured at the price of a round before the first." if self.for_each else ""
            raise InputError(field, value, f"a whole number from {least:,} to {most:,}", hint)
        return value


def check_options(known: Iterable[MethodOption], given: object, method: str, columns: int) -> Options:
    """Options of a method as they were given, in the order of their names. Wrong ones are refused."""
    if not isinstance(given, Mapping):
        raise InputError("options", kind_of(given), 'options of the method by name, such as {"rounds": 5}')
    named = {one.name: one for one in known}
    for name in given:
        if name not in named:
            hint = f"Method {method} has no option." if not named else f"These are the options of {method}."
            raise InputError.unknown(f"options.{name}", named, hint)
    return tuple((name, named[name].check(given[name], columns, f"options.{name}")) for name in sorted(given))


def option_words(options: Options) -> str:
    """Options in words.

    >>> option_words((("per_round", 10), ("rounds", 5)))
    'per_round=10, rounds=5'
    """
    return ", ".join(f"{name}={value}" for name, value in options)
