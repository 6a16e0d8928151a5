"""Releases with a public covariate of the leaves: error of leaves' totals and cells, with a good one and a useless one.

The data have no true public covariate, so it is simulated: true totals times a log-normal factor of a stated spread,
rounded; shuffled ones are the true totals of other leaves. Blocks of Rhode Island, else a generated country.

python bench/hierarchy_covariate.py [--quick] [--json] [--data FOLDER] [--draws N]
"""

from __future__ import annotations

import numpy as np

from discreet.trees.bayes import bayes
from discreet.trees.intervals.typical import Replay, remeasure
from discreet.trees.rules import Rules
from harness import HERE, Report, arguments
from hierarchy_accuracy import generated, questions, ri

SPREADS = (0.3, 0.6)


def covariates(totals):
    """Name and values of what is tried."""
    random = np.random.default_rng(7)
    yield "none", None
    for spread in SPREADS:
        sigma = np.sqrt(np.log1p(spread**2))  # of the logarithm, for a factor of mean one
        yield f"spread {spread:g}", np.round(totals * random.lognormal(-(sigma**2) / 2, sigma, len(totals)))
    yield "shuffled", random.permutation(totals)


def main() -> None:
    options = arguments(__doc__.splitlines()[0], draws={"type": int, "default": 0, "help": "draws of the noise"})
    report = Report("hierarchy_covariate", as_json=options.json)
    folder = options.data or HERE.parent / "data"
    real = (folder / "census-blocks-ri-2010").exists()
    tree, leaves = ri(folder) if real else generated(folder)
    totals = leaves.sum(axis=1)
    for epsilon in (0.1, 1.0):
        blank = questions(tree, leaves.shape[1], epsilon, "auto")
        draws = range(options.draws or (1 if options.quick else 3))
        measured = [remeasure(blank, leaves, Replay(f"{epsilon} {draw}".encode())) for draw in draws]
        plain = {}
        for name, values in covariates(totals):
            found = [bayes(one, Rules(covariate=values)).counts[-1] for one in measured]
            for what, errors in (
                ("totals", [np.abs(one.sum(axis=1) - totals).mean() for one in found]),
                ("cells", [np.abs(one - leaves).mean() for one in found]),
            ):
                error = float(np.mean(errors))
                plain.setdefault(what, error)
                case = f"{'Rhode Island' if real else 'generated'}, epsilon {epsilon:g}, covariate {name}"
                goal = {"at_most": round(plain[what] * 1.02, 3)} if name == "shuffled" else {}
                report.figure(case, f"MAE {what} {tree.names[-1]}", error, "people", **goal)


if __name__ == "__main__":
    main()
