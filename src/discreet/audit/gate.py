"""Discreet attacks itself: every subject must stand, and every planted bug must be caught.

The chance that a run of the gate cries wolf over mechanisms that keep their word is `ALARM` at most, divided evenly
among the subjects (Bonferroni); planted bugs must be caught at the very same level, so the run proves its own strength.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from discreet.accounting.words import readable
from discreet.audit.claim import AnyClaim
from discreet.audit.finding import BLIND, Finding
from discreet.audit.outputs import Pair
from discreet.audit.sequential import audit_until_sure
from discreet.errors import InputError, MissingExtraError

__all__ = ["ALARM", "MODULES", "TIERS", "Gate", "Subject", "list_subjects", "run_gate"]

ALARM = 1e-9
_RAREST = 1e-12  # beyond this, one minus it would lose its digits
TIERS = {1: 1, 2: 16, 3: 200}  # how many times the runs of the first tier: half a minute, ten minutes, a night
MODULES = ("discreet.audit.subjects",)
"""Subjects of the rooms below; those of other rooms are named by whoever runs the gate."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A mechanism or job, what it claims, and pairs of neighbours.

    `runs` on either side are what the first tier can afford, and `tier` is the first that attacks it. `planted` names
    the bug of a broken twin, which an audit must catch. `attack` makes the claim and the pairs when they are needed.
    """

    name: str
    kind: str
    attack: Callable[[], tuple[AnyClaim, Sequence[Pair]]]
    runs: int
    planted: str = ""
    tier: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Gate:
    """What a run of the gate found."""

    findings: tuple[Finding, ...]
    planted: tuple[Finding, ...]
    skipped: tuple[str, ...]
    tier: int
    alarm: float
    seconds: float

    @property
    def violations(self) -> tuple[Finding, ...]:
        """Subjects whose claim was refuted."""
        return tuple(found for found in self.findings if found.violated)

    @property
    def escaped(self) -> tuple[Finding, ...]:
        """Planted bugs that were not caught."""
        return tuple(found for found in self.planted if not found.violated)

    @property
    def weak(self) -> tuple[Finding, ...]:
        """Claims of which attacks showed less than a tenth."""
        return tuple(found for found in self.findings if found.weak)

    @property
    def blind(self) -> tuple[Finding, ...]:
        """Claims where an error of twice the loss would likely have gone unnoticed."""
        return tuple(found for found in self.findings if found.blind)

    @property
    def idle(self) -> tuple[Finding, ...]:
        """Claims that so few runs could not refute, whatever came out."""
        return tuple(found for found in self.findings if found.idle)

    @property
    def passed(self) -> bool:
        """Whether all subjects stand and all bugs were caught."""
        return not self.violations and not self.escaped

    def sentence(self) -> str:
        """The outcome in words."""
        caught = len(self.planted) - len(self.escaped)
        bugs = f"{caught} of {len(self.planted)} planted bugs were caught"
        if self.violations:
            names = ", ".join(found.name for found in self.violations)
            return f"{len(self.violations)} of {len(self.findings)} claims were refuted: {names}. {bugs}."
        weak = " The audit is too weak to be trusted." if self.escaped else ""
        return (
            f"We attacked {len(self.findings)} claims and found no violation; {bugs}.{weak} {self.strength()} "
            f"The chance of a false alarm in such a run is {readable(self.alarm)} at most. "
            "That our attacks failed does not prove that every attack will."
        )

    def strength(self) -> str:
        """What was shown, and what would have been caught, in a sentence."""
        total = len(self.findings)
        names = "; ".join(found.name for found in self.blind)
        few = "; ".join(found.name for found in self.idle)
        none = f" {len(self.idle)} of {total} could not have been refuted with so few runs: {few}." if few else ""
        missed = f"in {len(self.blind)} of {total} (attacked too seldom: {names})" if self.blind else "in none"
        return (
            f"Attacks showed less than a tenth of the claim for {len(self.weak)} of {total}; "
            f"an error of {BLIND} times the claimed loss would likely have been missed {missed}.{none}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "passed": self.passed,
            "tier": self.tier,
            "alarm": self.alarm,
            "seconds": round(self.seconds, 2),
            "words": self.sentence(),
            "weak": [found.name for found in self.weak],
            "could_not_refute": [found.name for found in self.idle],
            "would_miss_twice_the_claim": [found.name for found in self.blind],
            "findings": [found.to_dict() for found in self.findings],
            "planted": [found.to_dict() for found in self.planted],
            "skipped": list(self.skipped),
        }


def list_subjects(modules: Sequence[str], tier: int = 1, only: str = "") -> tuple[list[tuple[str, int]], list[str]]:
    """Where each subject of a tier is, as (module, place in it); and why some modules are left out.

    A module lists what is attacked in `subjects()` and broken twins in `planted()`; either may be absent. `only` keeps
    those whose name, kind or bug holds this text.
    """
    found, skipped = [], []
    for module in modules:
        try:
            for place, subject in enumerate(_of(module)):
                if subject.tier <= tier and only.lower() in f"{subject.name} {subject.kind} {subject.planted}".lower():
                    found.append((module, place))
        except MissingExtraError as problem:
            skipped.append(f"{module.rpartition('.')[2]}: {problem}")
    return found, skipped


def run_gate(
    modules: Sequence[str] = MODULES,
    *,
    tier: int = 1,
    alarm: float = ALARM,
    only: str = "",
    workers: int = 1,
    on_finding: Callable[[Finding], None] | None = None,
) -> Gate:
    """Attack every subject of the modules, in `workers` processes. `on_finding` hears each finding."""
    if tier not in TIERS:
        raise InputError("tier", tier, "1 (half a minute), 2 (ten minutes) or 3 (a night)")
    if isinstance(alarm, bool) or not isinstance(alarm, (int, float)) or not _RAREST <= alarm < 1:
        raise InputError("alarm", alarm, "a probability of 1e-12 or more, such as 1e-9")
    begun = time.perf_counter()
    places, skipped = list_subjects(modules, tier, only)
    if not places:
        raise InputError("only", only, "part of the name or kind of an attack", "Leave it out for all.")
    claims = sum(not _of(module)[place].planted for module, place in places)
    confidence = 1 - alarm / max(1, claims)
    found = []
    for one in _each([(module, place, tier, confidence) for module, place in places], workers):
        found.append(one)
        if on_finding is not None:
            on_finding(one)
    return Gate(
        tuple(one for one in found if not one.planted),
        tuple(one for one in found if one.planted),
        tuple(skipped),
        tier,
        alarm,
        time.perf_counter() - begun,
    )


def _of(module: str) -> list[Subject]:
    loaded = import_module(module)
    return [subject for name in ("subjects", "planted") for subject in getattr(loaded, name, tuple)()]


def _each(tasks: list[tuple[str, int, int, float]], workers: int) -> Iterator[Finding]:
    if workers <= 1 or len(tasks) < 2:
        yield from map(_attack, tasks)
        return
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    # Fresh processes: an engine's threads do not survive a fork.
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        yield from pool.map(_attack, tasks)


def _attack(task: tuple[str, int, int, float]) -> Finding:
    module, place, tier, confidence = task
    subject = _of(module)[place]
    begun = time.perf_counter()
    claim, pairs = subject.attack()
    runs = subject.runs if subject.planted else subject.runs * TIERS[tier]
    each = 1 - (1 - confidence) / len(pairs)
    found = [audit_until_sure(pair, claim, most_runs=runs, confidence=each, name=subject.name) for pair in pairs]
    worst = max(found, key=lambda one: (one.violated, one.found, one.mu))
    # Any of the pairs would have caught it.
    known = [one.catchable for one in found if one.catchable is not None]
    return replace(
        worst,
        kind=subject.kind,
        planted=subject.planted,
        seconds=time.perf_counter() - begun,
        catchable=None if worst.violated or not known else min(known),
    )
