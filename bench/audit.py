"""Audits: how much of an epsilon is found, what is caught, and how long the house takes to attack itself.

python bench/audit.py [--quick] [--json]
"""

from __future__ import annotations

import math
import time

import numpy as np

from discreet.accounting import gaussian_sigma
from discreet.apps.audits import MODULES
from discreet.audit import OneRun, Pair, audit, audit_until_sure
from discreet.audit.gate import _attack, _of, list_subjects
from discreet.core.loss import Pure
from discreet.mechanisms import Gaussian, Laplace, RandomizedResponse
from discreet.noise.bernoulli import bernoulli
from harness import Report, arguments, peak_megabytes

STEPS = 20
SURE = 1 - 1e-9


def additive(noise, moved):
    return Pair(lambda runs: noise.release(np.full(runs, moved)), lambda runs: noise.release(np.zeros(runs, np.int64)))


def response():
    coin = RandomizedResponse(2, math.log(3))
    return Pair(lambda runs: coin.release(np.ones(runs, np.int64)), lambda runs: coin.release(np.zeros(runs, np.int64)))


def skipping(value):
    def run(runs):
        return np.where(bernoulli("0.01", runs), value, Laplace(10**6).release(np.full(runs, value)))

    return run


def floats(value):
    return lambda runs: value + np.random.default_rng().laplace(size=runs)


# name: the pair, what is claimed, and what is wanted at 95% with 200,000 runs a side
TABLE = {
    "Laplace, correct": (additive(Laplace(STEPS), STEPS), Pure(1), 0.959),
    "RR 3/4": (response(), Pure("1.09862"), 1.069),
    "Gaussian, correct (delta 1e-5)": (additive(Gaussian(STEPS * gaussian_sigma(1, 1e-5)), STEPS), (1, 1e-5), 0.378),
    "sensitivity wrong by 2": (additive(Laplace(STEPS), 2 * STEPS), Pure(1), 1.956),
    "inverted scale": (additive(Laplace("0.5"), 1), Pure("0.5"), 1.978),
    "no noise at zero": (
        Pair(lambda runs: Laplace(1).release(np.ones(runs, np.int64)), lambda runs: np.zeros(runs, np.int64)),
        Pure(1),
        9.51,
    ),
    "noise skipped in 1% of runs": (Pair(skipping(10**6), skipping(0)), Pure(1), 4.90),
    "noise in floats (numpy)": (Pair(floats(1.0), floats(0.0)), Pure(1), 7.1),
}


def found(report: Report) -> None:
    for name, (pair, claim, wanted) in TABLE.items():
        start = time.process_time()
        one = audit(pair, claim, runs=200_000, confidence=0.95)
        used = time.process_time() - start
        report.figure(name, "claimed epsilon", one.claimed, "")
        report.figure(name, "found at 95%", one.found, "", at_least=wanted * 0.97)
        report.figure(name, "CPU time", used, "s")


def early(report: Report) -> None:
    for name, noise, claim in (
        ("half noise", Laplace(STEPS // 2), Laplace(STEPS).loss(STEPS)),
        ("a tenth less noise", Laplace(18), Laplace(STEPS).loss(STEPS)),
        ("a tenth less noise, Gaussian", Gaussian(18), Gaussian(STEPS).loss(STEPS)),
    ):
        one = audit_until_sure(additive(noise, STEPS), claim, confidence=SURE)
        report.figure(name, "caught at 1 - 1e-9", float(one.violated), "", at_least=1)
        report.figure(name, "runs until sure", one.runs, "a side")


def one_run(report: Report) -> None:
    """The worst that pure epsilon allows: every guess right with probability e^epsilon/(1 + e^epsilon)."""
    for epsilon in (1, 2, 4):
        for canaries in (1_000, 10_000):
            right = round(canaries / (1 + math.exp(-epsilon)))
            bound = OneRun(canaries, canaries, right).epsilon(1e-5)
            report.figure(f"one run, {canaries:,} canaries", f"of epsilon {epsilon}", bound, "")


def itself(report: Report, *, quick: bool) -> None:
    places, skipped = list_subjects(MODULES)
    for text in skipped:
        report.note(f"not attacked: {text}")
    claims = sum(not _of(module)[place].planted for module, place in places)
    caught = planted = violated = 0
    total = 0.0
    for module, place in places:
        subject = _of(module)[place]
        if quick and subject.kind in ("synthesiser", "question") and not subject.planted:
            continue
        start = time.process_time()
        one = _attack((module, place, 1, 1 - 1e-9 / claims))
        total += time.process_time() - start
        name = f"{subject.name}{' (' * bool(subject.planted)}{subject.planted}{')' * bool(subject.planted)}"
        if subject.planted:
            planted, caught = planted + 1, caught + one.violated
            report.figure(name, "caught after", one.runs if one.violated else math.inf, "runs a side")
        else:
            violated += one.violated
            report.figure(f"{subject.kind}: {name}", "found / claimed", one.found / one.claimed, "")
    report.figure("tier 1", "planted bugs caught", caught / planted, "", at_least=1)
    report.figure("tier 1", "claims refuted", violated, "", at_most=0)
    if not quick:
        report.figure("tier 1", "CPU time, two cores have 60", total, "s", at_most=60)
    report.figure("tier 1", "peak memory", peak_megabytes(), "MB")


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    report = Report("audit", as_json=options.json)
    found(report)
    early(report)
    one_run(report)
    itself(report, quick=options.quick)


if __name__ == "__main__":
    main()
