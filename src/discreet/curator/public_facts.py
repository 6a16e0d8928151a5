"""What is public of data that is no table, in words: a power grid, or private numbers and what released ones meet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.core.release import number
from discreet.query.ask import Described
from discreet.show import Markup, Table, element

__all__ = ["grid", "numbers"]

_LISTED = 100  # names that a page lists, and weights of one constraint
_WEIGHED = 12
_ENDS = {"equal": "equal to", "least": "at least", "most": "at most"}


def grid(declared: Described) -> dict[str, Any]:
    """What is declared and public of the loads of a grid, for its page."""
    public = declared.to_dict()["grid"]["public"]
    facts = [(name.capitalize(), f"{public[name]:,}") for name in ("buses", "branches", "generators", "loads")]
    return {
        "distance": getattr(declared.unit, "reach", ""),
        "facts": [*facts, ("Capacity of the generators", f"{number(public['capacity_mw'])} MW")],
        "grid_digest": public["digest"],
    }


def numbers(declared: Described) -> dict[str, Any]:
    """What is declared and public of private numbers, for their page."""
    values = declared.to_dict()["values"]
    rules = [(name, rule) for name, rule in values.get("constraints", {}).items()]
    if objective := values.get("objective"):
        rules.append((f"{objective['name']} (objective)", objective))
    rows = [(name, _each(rule, "weights"), _each(rule, "squares"), _ends(rule)) for name, rule in rules]
    head = ("Name", "Weight of a number", "Weight of its square", "The sum is")
    return {
        "distance": getattr(declared.unit, "reach", ""),
        "measure": values["measure"],
        "many": len(values["names"]),
        "names": _chips(values["names"]),
        "rules": Table.of(head, rows, "Constraints and objective", numbers=()) if rows else "",
    }


def _chips(names: list[str]) -> Markup:
    rest = len(names) - _LISTED
    chips = [element("span", {"class": "chip"}, name) for name in names[:_LISTED]]
    more = [element("span", {"class": "muted"}, f"and {rest:,} more")] if rest > 0 else []
    return element("span", {"class": "chips"}, *chips, *more)


def _each(rule: Mapping[str, Any], part: str) -> str:
    """The weights of a constraint as they are declared: one for all, one for each, or by name."""
    usual = "0" if part == "squares" or "squares" in rule else "1"
    value = rule.get(part, usual)
    if isinstance(value, Mapping):
        return f"{_few([f'{name} {weight}' for name, weight in value.items()])}; of others 0"
    return _few(value) if isinstance(value, list) else str(value)


def _few(texts: list[str]) -> str:
    rest = len(texts) - _WEIGHED
    return ", ".join(texts[:_WEIGHED]) + (f" and {rest:,} more" if rest > 0 else "")


def _ends(rule: Mapping[str, Any]) -> str:
    said = [f"{word} {rule[end]}" for end, word in _ENDS.items() if end in rule]
    if not said:
        return "about as large as of the private numbers"
    return " and ".join(said)
