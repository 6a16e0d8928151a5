"""The figures of "Why anonymisation fails": who is alone in a table, and secrets rebuilt from counts."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
from drawing import Axis, Panel, picture, write

from discreet.noise.replay import Replay
from discreet.risk import (
    anonymity,
    curator_answers,
    link_ratings,
    map_runs,
    random_halves,
    rebuild_bits,
    sloppy_answers,
)
from discreet.risk.draws import draw_bits
from discreet.risk.heat_map import SIDE

COLUMNS = ("age", "sex", "county", "schooling", "sector", "hours")
PEOPLE, QUESTIONS, EPSILON, TIMES = 300, 1200, 1, 6


def alone() -> str:
    """How many of the 5,000 invented people look like nobody else, by how many columns are known."""
    table = str(files("discreet.apps.demo") / "people.csv")
    shares = []
    for known in range(1, len(COLUMNS) + 1):
        measured = anonymity(table, quasi=COLUMNS[:known], few=1)
        shares.append(measured.alone / measured.rows)
    ticks = {place: name if not place else f"+ {name}" for place, name in enumerate(COLUMNS)}
    panel = Panel(
        Axis(-0.5, len(COLUMNS) - 0.5, "what is known of a person", ticks),
        Axis(0, 1, "of 5,000 people look like nobody else", {0: "0%", 0.25: "25%", 0.5: "50%", 0.75: "75%", 1: "100%"}),
        left=58,
        width=560,
    )
    for place, share in enumerate(shares):
        panel.bar((place - 0.32, 0), (place + 0.32, share), "a")
        panel.say(f"{share:.1%}", (place, share), "ink", "middle", move=(0, -5))
    told = "The share of people who are alone in the table, by what is known of them: " + ", ".join(
        f"{words} {share:.1%}" for share, words in zip(shares, ticks.values(), strict=True)
    )
    return picture("Alone in a table without names", f"{told}.", [panel])


def found(error: float | None, bits: Replay) -> float:
    """The part of the bits that one attack gets right: answers off by up to `error`, or under a budget."""
    secret = draw_bits(bits, PEOPLE)
    asked = random_halves(PEOPLE, QUESTIONS, bits)
    if error is None:
        answers = curator_answers(asked, secret, EPSILON, bits)
    else:
        answers = sloppy_answers(asked, secret, error, bits)
    return float(np.mean(rebuild_bits(asked, answers) == secret))


def rebuilt_secrets() -> str:
    """The part of secret bits that follows from counts, by how wrong each count was."""
    bits = Replay(b"figures of the concept pages")  # the same draws every time: these people do not exist
    sloppy = [
        (error, float(np.mean([found(error, bits) for _ in range(TIMES)])))
        for error in (2, 3, 5, 8, 12, 17, 25, 40, 70, 150, 300)
    ]
    private = float(np.mean([found(None, bits) for _ in range(TIMES)]))
    at = dict(sloppy)
    panel = Panel(
        Axis(1, 400, "how far each count may be off", (1, 3, 10, 30, 100, 300), log=True),
        Axis(0.4, 1, "secrets guessed right", {share / 10: f"{share}0%" for share in range(4, 11)}),
        left=58,
        width=380,
    )
    panel.line([(1, 0.5), (400, 0.5)], "quiet", 1.4)
    panel.line([(1, private), (400, private)], "b")
    panel.line(sloppy, "a")
    panel.dots(sloppy, "a", 3.5)
    panel.key({"a": "counts nearly right", "b": f"epsilon = {EPSILON} for all", "quiet": "coin flips"})
    told = (
        f"{QUESTIONS:,} counts over random halves of {PEOPLE} people. Where each count is off by up to 3, {at[3]:.0%} "
        f"of the secrets are found; up to 17, the square root of the people, {at[17]:.0%}; up to 70, {at[70]:.0%}. "
        f"Under one budget of epsilon {EPSILON} for all counts {private:.0%} are guessed right, and coin flips get 50%."
    )
    return picture("Secrets rebuilt from counts that were nearly right", told, [panel])


def ratings() -> str:
    """People found in a table of ratings without names, by how many of their ratings are known."""
    known = link_ratings(1000, EPSILON, bits=Replay(b"ratings of films"))
    panel = Panel(
        Axis(0, 8.5, "ratings known of a person", known.known),
        Axis(0, 1, "people found", {share / 4: f"{25 * share}%" for share in range(5)}),
        left=58,
        width=380,
    )
    series = {"a": known.with_days, "b": known.without_days}
    for kind, shares in series.items():
        points = list(zip(known.known, shares, strict=True))
        panel.line(points, kind)
        panel.dots(points, kind, 3.5)
    panel.key({"a": "scores and days", "b": "scores alone"})
    said = ", ".join(
        f"{with_days:.0%} and {without:.0%} by {many}"
        for many, with_days, without in zip(known.known, known.with_days, known.without_days, strict=True)
    )
    told = f"People found among {known.people:,} by so many known ratings, with days and without: {said}."
    return picture("Found in a table of ratings without names", told, [panel])


def heat_maps() -> str:
    """Cells that somebody runs in, in exact counts and under a budget."""
    runs = map_runs(5000, 12, EPSILON, bits=Replay(b"runs"))
    panels = []
    for place, (name, counts) in enumerate({"exact counts": runs.exact, "epsilon = 1": runs.private}.items()):
        panel = Panel(Axis(0, SIDE, "", ()), Axis(0, SIDE, name, ()), left=30 + 310 * place, width=270, height=270)
        for row, line in enumerate(counts > 0):
            edges = np.flatnonzero(np.diff(np.concatenate([[0], line, [0]])))
            for start, end in zip(edges[::2], edges[1::2], strict=True):
                panel.bar((int(start), SIDE - row - 1), (int(end), SIDE - row), "a")
        panels.append(panel)
    told = (
        f"Where runners are seen. Exact counts show a city and {runs.seen:.0%} of the fences of two remote bases, in "
        f"each of which {runs.guards} people run. Under epsilon {EPSILON} a person, the middle of the city is seen and "
        f"{runs.seen_private:.0%} of the fences."
    )
    return picture("A heat map of runs, and two bases", told, panels)


def figures() -> dict[str, str]:
    """All of the page's figures."""
    return {
        "anonymisation-alone": alone(),
        "anonymisation-rebuilt": rebuilt_secrets(),
        "anonymisation-ratings": ratings(),
        "anonymisation-runs": heat_maps(),
    }


if __name__ == "__main__":
    write(figures)
