"""The figure of "Group privacy": how well a guesser does against several people who change together."""

from __future__ import annotations

from drawing import Axis, Panel, picture, write

from discreet import Pure
from discreet.accounting import advantage, group


def guessed() -> str:
    """The chance to guess right whether a group was in the data, by its size."""
    sizes = range(1, 21)
    panel = Panel(
        Axis(1, 20, "people who are in the data together, or not at all", (1, 5, 10, 15, 20)),
        Axis(0.5, 1, "guessed right, at most", {share / 10: f"{share}0%" for share in range(5, 11)}),
        left=58,
        width=410,
    )
    for epsilon, kind in (("1", "b"), ("0.5", "d"), ("0.1", "a"), ("0.02", "c")):
        panel.line([(k, (1 + float(advantage(group(Pure(epsilon), k)))) / 2) for k in sizes], kind)
    panel.key({"b": "epsilon = 1", "d": "epsilon = 0.5", "a": "epsilon = 0.1", "c": "epsilon = 0.02"})
    told = (
        "The chance that a guesser is right about whether a group was in the data, against its size, for four epsilons "
        "per person. At epsilon 1 it is 73% for one person and more than 99% from five on; at 0.1 it takes twenty "
        "people to reach 88%; at 0.02 it stays below 60%."
    )
    return picture("The larger the group, the less is hidden", told, [panel])


def figures() -> dict[str, str]:
    """All of the page's figures."""
    return {"group-privacy": guessed()}


if __name__ == "__main__":
    write(figures)
