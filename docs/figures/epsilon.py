"""The figures of "What epsilon is": beliefs with and without a person, the guessing game, what an output gives away."""

from __future__ import annotations

import numpy as np
from drawing import Axis, Panel, picture, write

from discreet import Gaussian, Laplace
from discreet.accounting import gaussian_sigma, posterior_curve, privacy_loss, tradeoff

SHARES = {0: "0%", 0.25: "25%", 0.5: "50%", 0.75: "75%", 1: "100%"}
LEFT, RIGHT, RARE = -1.2, 1.6, 1e-8  # of the stairs


def odds() -> str:
    """What a person's data adds to a belief."""
    panel = Panel(
        Axis(0, 1, "believed without the person's data", SHARES),
        Axis(0, 1, "may be believed with it", SHARES),
        width=400,
    )
    prior, low, high = posterior_curve(1)
    panel.band([*zip(prior, low, strict=True)], [*zip(prior, high, strict=True)])
    panel.line([(0, 0), (1, 1)], "quiet", 1.4)
    for epsilon, kind in ((0.1, "c"), (1, "a"), (3, "b")):
        prior, low, high = posterior_curve(epsilon)
        panel.line(zip(prior, high, strict=True), kind)
        panel.line(zip(prior, low, strict=True), kind)
    panel.key({"b": "epsilon = 3", "a": "epsilon = 1", "c": "epsilon = 0.1", "quiet": "nothing learned"})
    told = (
        "Two curves for each epsilon, above and below the diagonal: the most and the least that someone can come to "
        "believe. At epsilon 0.1 they hug the diagonal, at epsilon 3 they nearly fill the square."
    )
    return picture("What a person's data adds to a belief", told, [panel])


def guesses() -> str:
    """False alarms against missed detections."""
    panel = Panel(
        Axis(0, 1, "false alarms: says 'in' of someone who is not", SHARES),
        Axis(0, 1, "missed: says 'out' of someone who is in", SHARES),
        width=400,
    )
    panel.line([(0, 1), (1, 0)], "quiet", 1.4)
    for epsilon, kind in ((1, "a"), (3, "b")):
        curve = tradeoff((epsilon, 0))
        panel.line(zip(curve.false_alarm, curve.missed, strict=True), kind)
    curve = tradeoff(Gaussian(gaussian_sigma(1, 1e-6)).loss())
    panel.line(zip(curve.false_alarm, curve.missed, strict=True), "c")
    words = {"quiet": "guessing blindly", "c": "Gaussian, (1, 1e-6)", "a": "epsilon = 1", "b": "epsilon = 3"}
    panel.key(words)
    told = (
        "Missed detections against false alarms. Blind guessing is the falling diagonal. The line of epsilon 1 bends "
        "below it, that of epsilon 3 far below. Gaussian noise for epsilon 1 and delta 1e-6 stays near the diagonal."
    )
    return picture("No guesser gets below the line", told, [panel])


def losses() -> str:
    """How often an output gives away more than so much."""
    levels = {1: "always", 1e-2: "1 in 100", 1e-4: "1 in 10,000", 1e-6: "1 in a million", 1e-8: "1 in 100 million"}
    panel = Panel(
        Axis(LEFT, RIGHT, "privacy loss: log of how much likelier with the person", (-1, -0.5, 0, 0.5, 1, 1.5)),
        Axis(RARE, 1.6, "outputs that give away at least this much", levels, log=True),
        left=118,
        width=490,
    )
    beyond = 0.0
    for mechanism, kind in ((Laplace(1), "a"), (Gaussian(gaussian_sigma(1, 1e-6)), "b")):
        side = privacy_loss(mechanism.loss()).remove
        there = side.probabilities > 1e-13
        losses, chances = side.losses[there], side.probabilities[there]
        above = chances[::-1].cumsum()[::-1]
        panel.line(_steps(losses, above), kind)
        beyond = float(chances[losses > 1.0001].sum())  # of the last one: the grid rounds losses up by 0.0001
    panel.say("Laplace, epsilon = 1:", (-0.92, 0.12), "a")
    panel.say("never more than 1", (-0.92, 0.12), "a", move=(0, 17))
    panel.say("Gaussian, (1, 1e-6):", (0.1, 5e-5), "b", "end")
    panel.say("mostly less, but no limit", (0.1, 5e-5), "b", "end", move=(0, 17))
    told = (
        "The chance that an output's privacy loss is at least so much. For Laplace noise it falls to zero at 1. For "
        f"Gaussian noise it falls earlier, but goes on beyond 1: with a chance of {beyond:.1g}."
    )
    return picture("How much an output gives away, and how often", told, [panel])


def _steps(losses: np.ndarray, above: np.ndarray) -> list[tuple[float, float]]:
    """P[loss >= l] as stairs, as far as the panel goes."""
    points = [(LEFT, 1.0)]
    for loss, after in zip(losses, [*above[1:], 0.0], strict=True):
        if loss > RIGHT or points[-1][1] <= RARE:
            break
        points += [(max(float(loss), LEFT), points[-1][1]), (max(float(loss), LEFT), max(float(after), RARE))]
    return points


def figures() -> dict[str, str]:
    """All of the page's figures."""
    return {"epsilon-odds": odds(), "epsilon-guess": guesses(), "epsilon-loss": losses()}


if __name__ == "__main__":
    write(figures)
