"""How long accounting takes, and how tight it is, beside dp-accounting's own accountants.

python bench/accounting.py [--quick] [--json]
"""

from __future__ import annotations

import time
from fractions import Fraction

from discreet.accounting import (
    approx,
    compose,
    gaussian_sigma,
    noise_multiplier,
    privacy_loss,
    pure,
    renyi_epsilon,
    zcdp,
)
from discreet.accounting.training import training_loss
from discreet.core.loss import ZCDP, Composed, GaussianNoise, LaplaceNoise, Pure, Repeated
from harness import Report, arguments, cpu_seconds


def cold(work) -> float:
    """CPU seconds of the first run: later ones are remembered."""
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    report = Report("accounting", as_json=options.json)
    different = [Pure(Fraction(i, 10**6)) for i in range(1, 10_001)]
    concentrated = [ZCDP(Fraction(i, 10**9)) for i in range(1, 10_001)]
    cases = {
        "10,000 different pure losses, epsilon": lambda: pure(Composed(different)),
        "10,000 different zCDP losses, rho": lambda: zcdp(Composed(concentrated)),
        "10,000 pure losses as (epsilon, delta)": lambda: approx(compose(different), 1e-6, tight=False),
    }
    for case, work in cases.items():
        report.figure(case, "CPU", cpu_seconds(work, 1 if options.quick else 3), "s", at_most=1)
    privacy_loss(GaussianNoise(2, 1))  # loads the libraries
    equal = cold(lambda: privacy_loss(Repeated(GaussianNoise(1000, 1), 10_000)).epsilon(1e-6))
    report.figure("10,000 equal Gaussians, PLD", "CPU", equal, "s", at_most=1)

    run = training_loss("1.1", "0.01", 6000)
    report.figure(
        "q 0.01, sigma 1.1, 6000 steps, delta 1e-5",
        "epsilon (PLD)",
        float(approx(run, 1e-5).epsilon),
        "",
        at_most=3.9024,
    )
    report.figure("q 0.01, sigma 1.1, 6000 steps, delta 1e-5", "epsilon (RDP)", float(renyi_epsilon(run, 1e-5)), "")
    spent = cpu_seconds(lambda: privacy_loss(run).epsilon(1e-5), 1)
    report.figure("q 0.01, sigma 1.1, 6000 steps, delta 1e-5", "CPU", spent, "s")

    exact = float(gaussian_sigma(1, 1e-5))
    report.figure("discrete Gaussian sigma, epsilon 1, delta 1e-5", "analytic", exact, "", at_most=3.76)
    classic = float(gaussian_sigma("0.999", 1e-5, method="classic"))
    report.figure(
        "discrete Gaussian sigma, epsilon 1, delta 1e-5", "classic / analytic", classic / exact, "x", at_least=1
    )
    if not options.quick:
        found = cold(lambda: noise_multiplier(2, 1e-5, "0.01", 6000))
        report.figure("noise multiplier for epsilon 2, 6000 steps", "CPU", found, "s")
    tight = float(zcdp(LaplaceNoise(100, 100)).rho)
    report.figure("discrete Laplace, epsilon 1, as zCDP", "rho", tight, "", at_most=float(zcdp(Pure(1)).rho))


if __name__ == "__main__":
    main()
