"""A report of an audit as one page that needs nothing else, with pictures: no network, no scripts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.accounting.words import percent, readable
from discreet.audit.finding import Finding
from discreet.audit.gate import Gate
from discreet.show import Line, Markup, Picture, Reach, Table, element, reach, roc
from discreet.show import page as shell

__all__ = ["HEAD", "attack_roc", "caught", "claim_reach", "outcome", "page", "rows", "say_caught"]

HEAD = ("what", "claim", "claimed epsilon", "found, at least", "would have caught, from", "runs", "outcome")
_READ = (
    "The shaded region is what the claim allows. The line is the best attack we found; the dot is what we are sure of. "
    "A claim is refuted by a dot outside the region, or by bets that win too often. A dot inside proves nothing."
)
_GRID = np.concatenate([np.geomspace(1e-4, 0.05, 40), np.linspace(0.05, 1, 60)])


def rows(findings: Sequence[Finding]) -> list[list[str]]:
    """The findings as a table; a number that is a lower bound is rounded down."""
    table = []
    for found in findings:
        name = f"{found.name} ({found.planted})" if found.planted else found.name
        at = f" at delta {readable(found.delta)}" if found.delta else ""
        claimed = readable(found.claimed, 4) + at if math.isfinite(found.claimed) else "none"
        shown = readable(found.found, 3, "down") if math.isfinite(found.found) else "infinite"
        table.append([name, found.claim.words, claimed, shown, caught(found), f"{found.runs:,}", outcome(found)])
    return table


def caught(found: Finding) -> str:
    """The smallest error of the claim that would have been refuted."""
    if found.violated:
        return "-"
    if found.idle:
        return "nothing"
    if found.catchable is None:
        return say_caught(found.finest, found.finest_epsilon, at_best=True)
    return say_caught(found.catchable, found.catchable_epsilon)


def say_caught(times: float | None, epsilon: float | None, *, at_best: bool = False) -> str:
    """The least epsilon that would have been refuted, and how many times the claim that is.

    >>> say_caught(1.3, 2.6), say_caught(1.9, None, at_best=True), say_caught(None, None)
    ('2.6 (1.3 times)', 'at best 1.9 times', 'unknown')
    """
    if times is None:
        return "unknown"
    often = f"{readable(times, 3)} times"
    said = often if epsilon is None else f"{readable(epsilon, 3)} ({often})"
    return f"at best {said}" if at_best else said


def outcome(found: Finding) -> str:
    """One word or two."""
    if found.planted:
        return "caught" if found.violated else "NOT CAUGHT"
    return "VIOLATED" if found.violated else "no violation"


def page(report: Gate | Finding | Sequence[Finding], title: str = "Privacy audit") -> str:
    """The whole page."""
    findings: Sequence[Finding]
    if isinstance(report, Gate):
        findings, planted, said = report.findings, report.planted, report.sentence()
        notes = [f"Not attacked: {text}" for text in report.skipped]
        fine = report.passed
    else:
        findings, planted, notes = [report] if isinstance(report, Finding) else report, (), []
        said, fine = " ".join(one.sentence() for one in findings), not any(one.violated for one in findings)
    body: list[Any] = [
        element("h1", None, title),
        element("p", {"class": "fine" if fine else "alert"}, said),
        *(element("p", {"class": "note"}, note) for note in notes),
        element("h2", None, "Claims"),
        _table("How much of each claim the best attack showed", findings),
    ]
    if planted:
        heading = element("h2", None, "Bugs that were planted, and must be caught")
        body += [heading, _table("What attacks on planted bugs showed", planted)]
    body += [element("h2", None, "What an attacker reached"), element("p", None, _READ)]
    body += [_figure(found) for found in findings]
    return shell(title, body)


def _table(caption: str, findings: Sequence[Finding]) -> Table:
    """The findings, with how much of each claim was shown between the numbers."""
    lines = []
    for found, cells in zip(findings, rows(findings), strict=True):
        bad = found.violated != bool(found.planted)
        last = element("span", {"class": "wrong" if bad else "right"}, cells[-1])
        # The claim in full stands beside the picture below: the table keeps to the width of a page.
        epsilon = cells[4].partition(" (")[0]  # how many times that is stands below, too
        lines.append([cells[0], *cells[2:4], claim_reach(found), epsilon, cells[5], last])
    # Short ones: names are long.
    heads = ("what", "claimed", "found, at least", "of the claim", "would catch", "runs", "outcome")
    return Table.of(heads, lines, f"{caption}; epsilons", numbers=(1, 2, 5))


def _figure(found: Finding) -> Markup:
    sure = percent(found.confidence, 3, "down")
    words = [element("h3", None, found.name), element("p", None, found.sentence())]
    if found.neighbours:
        most = f" They can show an epsilon of {readable(found.reachable, 3)} at most." if found.reachable else ""
        words.append(element("p", None, f"Neighbours: {found.neighbours}.{most}"))
    counted = found.witness() or f"Sign looked for: {found.event}."
    words.append(element("p", None, f"{counted} Each bound holds with {sure}."))
    return element("figure", {"class": "card withtext"}, attack_roc(found), element("figcaption", None, *words))


def attack_roc(found: Finding) -> Picture:
    """Detections against false alarms: the region the claim allows, the attack's curve, and what is sure."""
    corners = (1 - found.claim.deltas) / (1 + np.exp(np.minimum(found.claim.epsilons, 700.0)))  # where two lines meet
    at = np.unique(np.concatenate([[0.0], _GRID, corners]))
    upper = list(zip(at.tolist(), found.claim.most_of(at).tolist(), strict=True))
    lower = [(1 - x, 1 - y) for x, y in upper]  # an attack turned round is an attack
    x, y = found.attack.alarmed, found.attack.detected
    curves = [Line("attack", found.roc)] if found.roc else []
    point = (1 - y, 1 - x) if found.swapped else (x, y)
    return roc(
        f"What attacks on {found.name} reached", curves, region=[*upper, *lower], point=point, bad=found.violated
    )


def claim_reach(found: Finding) -> Markup:
    """How much of the claimed epsilon the best attack showed."""
    share = found.shown
    if share is None and (not math.isfinite(found.found) or found.violated):
        share = math.inf
    return reach(Reach(share, f"{found.name}: found {found.found:.3g}, claimed {found.claimed:.3g}", found.violated))
