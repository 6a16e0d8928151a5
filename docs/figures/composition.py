"""The figure of "Composition": what many small questions cost together, counted in three ways."""

from __future__ import annotations

from drawing import Axis, Panel, picture, write

from discreet import Laplace
from discreet.accounting import approx, compose, pure, zcdp

DELTA = 1e-6


def total() -> str:
    """The epsilon of k counts, each with Laplace noise for epsilon 0.1."""
    one = Laplace.for_epsilon("0.1").loss()
    counts = (1, 5, 10, 15, 20, 30, 40, 50, 60, 80, 100, 120, 150, 180, 200)
    spent = {k: compose([one] * k) for k in counts}
    ways = {
        "b": [(k, float(pure(loss).epsilon)) for k, loss in spent.items()],
        "a": [(k, float(approx(zcdp(loss), DELTA).epsilon)) for k, loss in spent.items()],
        "c": [(k, float(approx(loss, DELTA).epsilon)) for k, loss in spent.items()],
    }
    panel = Panel(
        Axis(0, 200, "questions asked, each at epsilon = 0.1", (0, 50, 100, 150, 200)),
        Axis(0, 20, "epsilon of all of them together", (0, 5, 10, 15, 20)),
        left=50,
        width=410,
    )
    for kind, points in ways.items():
        panel.line([(0, 0), *points] if kind == "b" else points, kind)
    panel.key({"b": "sum (pure)", "a": "zCDP, delta 1e-6", "c": "whole law (plan)"})
    crossing = next(
        k for k in range(20, 100) if pure(compose([one] * k)).epsilon > approx(zcdp(compose([one] * k)), DELTA).epsilon
    )
    told = (
        f"The epsilon of k counts at 0.1 each. The plain sum reaches {ways['b'][-1][1]:g} at 200; counted as zCDP it "
        f"is {ways['a'][-1][1]:.1f} at delta 1e-6, and {ways['c'][-1][1]:.1f} when the whole law of a fixed plan is "
        f"used. From {crossing} questions on zCDP is below the sum."
    )
    return picture("Many small questions", told, [panel])


def figures() -> dict[str, str]:
    """All of the page's figures."""
    return {"composition": total()}


if __name__ == "__main__":
    write(figures)
