"""The figure of "Sharp edges": a person with many rows, where the unit is a row."""

from __future__ import annotations

from drawing import Axis, Panel, picture, write

from discreet import Pure
from discreet.accounting import advantage, group


def units() -> str:
    """How well a guesser does about a person with so many rows, by what was declared to be protected."""
    rows = range(1, 13)
    panel = Panel(
        Axis(1, 12, "rows of the person", (1, 2, 4, 6, 8, 10, 12)),
        Axis(0.5, 1, "guessed right, at most", {share / 10: f"{share}0%" for share in range(5, 11)}),
        left=58,
        width=380,
    )
    one = (1 + float(advantage(Pure(1)))) / 2
    panel.line([(k, (1 + float(advantage(group(Pure(1), k)))) / 2) for k in rows], "b")
    panel.line([(k, one) for k in rows], "a")
    panel.key({"b": "unit: one row", "a": "unit: one person"})
    told = (
        f"Epsilon 1. Where the unit is a person, a guesser is right at most {one:.0%} of the time, however many rows "
        "the person has. Where it is a row, that holds for people with one row only: with five rows the guesser may be "
        "right more than 99% of the time."
    )
    return picture("Many visits, one person: what the unit decides", told, [panel])


def figures() -> dict[str, str]:
    """All of the page's figures."""
    return {"sharp-edges": units()}


if __name__ == "__main__":
    write(figures)
