"""The figure of "Post-processing": cutting noisy counts at zero is free, and what it does to them."""

from __future__ import annotations

from drawing import Axis, Panel, picture, write

from discreet import Laplace
from discreet.noise.spread import laplace_above

EPSILON = "0.2"


def law(most: int) -> list[tuple[int, float]]:
    """The chance of every value of the noise up to `most` on either side."""
    scale = Laplace.for_epsilon(EPSILON).scale
    return [(x, laplace_above(scale, x - 1)[0] - laplace_above(scale, x)[0]) for x in range(-most, most + 1)]


def cut() -> str:
    """The mean error of a noisy count as it is and cut at zero, and how far off it is on average."""
    noise, counts = law(200), range(41)
    plain = [(n, sum(abs(x) * p for x, p in noise)) for n in counts]
    better = [(n, sum(abs(max(0, n + x) - n) * p for x, p in noise)) for n in counts]
    offset = [(n, sum(max(0, n + x) * p for x, p in noise) - n) for n in counts]
    panel = Panel(Axis(0, 40, "true count", (0, 10, 20, 30, 40)), Axis(0, 6, "people", range(7)), left=42, width=390)
    panel.line(plain, "a")
    panel.line(better, "c")
    panel.line(offset, "b")
    panel.key({"a": "error as it comes", "c": "error, cut at zero", "b": "too many on average"})
    told = (
        f"Laplace noise for epsilon {EPSILON}. The mean error is {plain[0][1]:.1f} for every true count; cut at zero "
        f"it is {better[0][1]:.1f} at a true count of zero and the same from about 20 on. The price is a bias: cut "
        f"counts are {offset[0][1]:.1f} too many on average at zero, and right on average from about 20 on."
    )
    return picture("Cutting at zero: free, nearer, and biased", told, [panel])


def figures() -> dict[str, str]:
    """All of the page's figures."""
    return {"post-processing": cut()}


if __name__ == "__main__":
    write(figures)
