"""Exact cryptographic noise against numpy's insecure floats and OpenDP, in one run.

python bench/noise.py [--quick] [--json] [--no-peers]
"""

from __future__ import annotations

import numpy as np

from discreet import noise
from harness import Report, arguments, child_cpu_seconds, cpu_seconds, peak_megabytes, peer

FRESH = "from discreet.noise import laplace; laplace(10, 10)"
NUMPY = "import numpy; numpy.random.default_rng().laplace(0, 10, 10)"


def insecure(draw, scale, count):
    """What people write with numpy: a float draw, rounded to integers."""
    return np.rint(draw(0, scale, count)).astype(np.int64)


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    report = Report("noise", as_json=options.json)
    count = 1_000_000
    repeats = 5 if options.quick else 15
    rng = np.random.default_rng()
    laws = {"laplace": (noise.laplace, rng.laplace), "gaussian": (noise.gaussian, rng.normal)}
    for law, (ours, theirs) in laws.items():
        for scale in (1, 10, 1e3, 1e6, 1e9):
            mine = cpu_seconds(lambda: ours(scale, count), repeats)
            numpys = cpu_seconds(lambda: insecure(theirs, scale, count), repeats)
            case = f"{law}, scale {scale:g}, N = 1e6"
            report.figure(case, "discreet", mine / count * 1e9, "ns/draw")
            report.figure(case, "numpy (insecure)", numpys / count * 1e9, "ns/draw")
            report.figure(case, "numpy / discreet", numpys / mine, "x", at_least=1 if scale == 10 else None)

    for size in (10**4, 10**5, 10**6, 10**7):
        seconds = cpu_seconds(lambda: noise.laplace(10, size), 3)
        report.figure(f"growth: laplace, scale 10, N = {size:.0e}", "discreet", seconds / size * 1e9, "ns/draw")
    report.figure("memory after N = 1e7 (result: 80 MB)", "peak RSS", peak_megabytes(), "MB")

    scores = rng.integers(0, 1000, 1_000_000)
    report.figure("selection among 1e6 scores", "choice", cpu_seconds(lambda: noise.choice(scores, 1), 3) * 1e3, "ms")

    ours = min(child_cpu_seconds(FRESH) for _ in range(3))
    numpys = min(child_cpu_seconds(NUMPY) for _ in range(3))
    report.figure("ten draws in a fresh process", "discreet", ours * 1e3, "ms")
    report.figure("ten draws in a fresh process", "over numpy's", (ours - numpys) * 1e3, "ms", at_most=300)

    if not options.no_peers:
        compare_opendp(report, 20_000 if options.quick else 100_000)


def compare_opendp(report: Report, count: int) -> None:
    """OpenDP on the same counts; it takes about the same time per draw at any count."""
    for scale in (10, 1000):
        theirs = peer("opendp", ["opendp==0.16.*"], "noise_opendp.py", str(count), str(scale), report=report)
        if theirs is None:
            return
        for law, draw in (("laplace", noise.laplace), ("gaussian", noise.gaussian)):
            case = f"{law}, scale {scale:g}, N = {count:.0e}"
            mine = cpu_seconds(lambda: draw(scale, count), 15)
            report.figure(case, "OpenDP", theirs[law] / count * 1e9, "ns/draw")
            report.figure(case, "OpenDP / discreet", theirs[law] / mine, "x", at_least=300)


if __name__ == "__main__":
    main()
