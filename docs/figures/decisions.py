"""The figure of "Decisions and fairness": who gains and who loses where a fund is dealt by noisy counts cut at zero."""

from __future__ import annotations

from drawing import Axis, Panel, picture, write

from discreet import Laplace
from discreet.noise.spread import laplace_above

LARGEST, EMPTY = 120, 40  # towns of every size up to the largest, and empty ones beside them
SHOWN = range(5, LARGEST + 1)


def counted(epsilon: str) -> list[float]:
    """What is published on average of every true count up to the largest: noisy, cut at zero."""
    scale = Laplace.for_epsilon(epsilon).scale
    most = int(20 * scale)
    noise = [(x, laplace_above(scale, x - 1)[0] - laplace_above(scale, x)[0]) for x in range(-most, most + 1)]
    return [sum(max(0, n + x) * p for x, p in noise) for n in range(LARGEST + 1)]


def shifts(epsilon: str) -> tuple[list[tuple[int, float]], float]:
    """By how much of its due a town of every size gets more, and the part of the fund that goes to empty towns."""
    published = counted(epsilon)
    whole, given = sum(range(LARGEST + 1)), sum(published[1:]) + EMPTY * published[0]
    return [(n, published[n] / given * whole / n - 1) for n in SHOWN], EMPTY * published[0] / given


def dealt() -> str:
    """Gain and loss by true size, at three prices."""
    marks = {share / 100: f"{share:+d}%" if share else "0" for share in range(-40, 81, 20)}
    panel = Panel(
        Axis(0, LARGEST, "people who live there", range(0, LARGEST + 1, 20)),
        Axis(-0.4, 0.8, "more than its due", marks),
        left=58,
        width=390,
    )
    found = {epsilon: shifts(epsilon) for epsilon in ("0.05", "0.1", "0.5")}
    for colour, (line, _) in zip("bac", found.values(), strict=True):
        panel.line([(n, min(max(shift, -0.4), 0.8)) for n, shift in line], colour)
    panel.key({colour: f"epsilon {epsilon}" for colour, epsilon in zip("bac", found, strict=True)})
    told = (
        "A fund dealt by noisy counts cut at zero, among towns of every size up to 120 and 40 empty ones. At epsilon "
        f"0.05 the largest get {found['0.05'][0][-1][1]:+.0%} of their due, and empty towns {found['0.05'][1]:.0%} of "
        f"the fund; at epsilon 0.1 {found['0.1'][0][-1][1]:+.0%} and {found['0.1'][1]:.0%}; at epsilon 0.5 "
        f"{found['0.5'][0][-1][1]:+.0%} and {found['0.5'][1]:.0%}."
    )
    return picture("The same noise for all, and who pays for it", told, [panel])


def figures() -> dict[str, str]:
    """All of the page's figures."""
    return {"decisions": dealt()}


if __name__ == "__main__":
    write(figures)
