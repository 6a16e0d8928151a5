"""A budget as a schema's file writes it: what `discreet.curator.setup.budget_from` reads back as the same budget."""

from __future__ import annotations

import re
import tomllib
from decimal import Decimal
from fractions import Fraction

from discreet.curator.setup import budget_from
from discreet.data.toml import toml_table, toml_text
from discreet.errors import InputError, Phrase
from discreet.ledger.budget import Allotment, Budget

__all__ = ["amount_of", "budget_toml", "exact_text", "with_budget"]

_HEADER = re.compile(r"\s*\[")
_OWN = re.compile(r"\s*\[\[?\s*[\"']?budget[\"']?\s*[.\]]")


def exact_text(number: Fraction) -> str:
    """A number as a person would write it, and exactly: a decimal where there is one, else a fraction.

    >>> [exact_text(number) for number in (Fraction(1, 8), Fraction(1, 1000000), Fraction(1, 3), Fraction(2))]
    ['0.125', '1e-6', '1/3', '2']
    """
    rest = number.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest != 1 or number.denominator.bit_length() > 100:
        return str(number)
    exact = (Decimal(number.numerator) / Decimal(number.denominator)).normalize()
    if Fraction(exact) != number:
        return str(number)
    if -4 <= exact.adjusted() < 12:
        return f"{exact:f}"
    return f"{exact:e}".replace("e+", "e")


def budget_toml(budget: Budget) -> str:
    """The [budget] of a schema, with its allotments where it is divided."""
    lines = ["[budget]", *_amounts(budget.epsilon, budget.rho, budget.delta)]
    for part in () if _plain(budget) else budget.allotments:
        lines += ["", toml_table("budget", "allotments", part.name), f"kind = {toml_text(part.kind)}"]
        lines += _amounts(part.epsilon, None if part.epsilon is not None else part.cap.amount, part.delta)
        share = part.cap.delta / part.delta if part.delta else Fraction(1, 2)
        if part.kind == "zcdp" and part.epsilon is not None and share != Fraction(1, 2):
            lines.append(f"failure_share = {_number(share)}")
    return "\n".join(lines) + "\n"


def with_budget(text: str, budget: Budget) -> str:
    """The text of a schema with another [budget]: everything else, comments too, stays as it was.

    `InputError` where that cannot be done safely, as of a budget that is written in another form.
    """
    kept: list[str] = []
    place: int | None = None
    inside = False
    for line in text.splitlines():
        if _HEADER.match(line):
            inside = _OWN.match(line) is not None
            place = len(kept) if inside and place is None else place
        if not inside or line.lstrip().startswith("#"):
            kept.append(line)
    place = len(kept) if place is None else place
    parts = ["\n".join(kept[:place]).rstrip(), budget_toml(budget).rstrip(), "\n".join(kept[place:]).strip("\n")]
    found = "\n\n".join(filter(None, parts)) + "\n"
    try:
        old, new = tomllib.loads(text), tomllib.loads(found)
        written = budget_from(new.pop("budget"))
    except (tomllib.TOMLDecodeError, KeyError, InputError):
        written = None
    if written != budget or new != {name: value for name, value in old.items() if name != "budget"}:
        hint = "Nothing was written. Change its [budget] in an editor."
        raise InputError("schema", Phrase("a file in another form"), "one with a table [budget]", hint)
    return found


def _plain(budget: Budget) -> bool:
    """Whether it is what the amounts alone declare."""
    return Budget(budget.epsilon, rho=budget.rho, delta=budget.delta) == budget


def _amounts(epsilon: Fraction | None, rho: Fraction | None, delta: Fraction) -> list[str]:
    named = {"epsilon": epsilon, "rho": rho, "delta": delta or None}
    return [f"{name} = {_number(value)}" for name, value in named.items() if value is not None]


def _number(value: Fraction) -> str:
    text = exact_text(value)
    return toml_text(text) if "/" in text else text


def amount_of(part: Allotment) -> str:
    """What an allotment was given, in the currency it was given in."""
    return exact_text(part.cap.amount if part.epsilon is None else part.epsilon)
