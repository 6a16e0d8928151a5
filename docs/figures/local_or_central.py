"""The figure of "Local or central": what it costs to trust nobody, by the number of people."""

from __future__ import annotations

from fractions import Fraction

from drawing import Axis, Panel, picture, write

from discreet import Laplace
from discreet.local import GRR, shuffled

EPSILON, DELTA, SHARE = 1, 1e-6, 0.3


def through_a_crowd(people: int) -> Fraction:
    """The largest epsilon for each report, in steps of 1/8, that a shuffler brings down to EPSILON."""
    low, high = 8, 128
    while high - low > 1:
        middle = (low + high) // 2
        fits = shuffled(GRR(2, Fraction(middle, 8)), people, DELTA).epsilon <= EPSILON
        low, high = (middle, high) if fits else (low, middle)
    return Fraction(low, 8)


def errors() -> str:
    """The standard error of a count of people with a trait that 30% have."""
    sizes = (100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
    alone = [(n, n * GRR(2, EPSILON).variance(n, SHARE) ** 0.5) for n in sizes]
    crowd = [(n, n * GRR(2, through_a_crowd(n)).variance(n, SHARE) ** 0.5) for n in sizes[2::2]]
    trusted = [(n, Laplace.for_epsilon(EPSILON).variance ** 0.5) for n in sizes]
    panel = Panel(
        Axis(100, 1_000_000, "people", (100, 1000, 10_000, 100_000, 1_000_000), log=True),
        Axis(1, 2000, "standard error of the count, in people", (1, 10, 100, 1000), log=True),
        width=380,
    )
    panel.line(alone, "b")
    panel.line(crowd, "d")
    panel.line(trusted, "a")
    panel.key({"b": "local: root of n", "d": "local, shuffled", "a": "a curator: about 1"})
    told = (
        "The standard error of a count at epsilon 1 (shuffled: and delta 1e-6), against the number of people. With a "
        f"curator it is {trusted[0][1]:.1f} people whatever the number. Without one it grows as its root, from "
        f"{alone[0][1]:.0f} at a hundred to {alone[-1][1]:,.0f} at a million. With a shuffler it is between."
    )
    return picture("The price of trusting nobody", told, [panel])


def figures() -> dict[str, str]:
    """All of the page's figures."""
    return {"local-or-central": errors()}


if __name__ == "__main__":
    write(figures)
