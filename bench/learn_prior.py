"""Images classified in private, from a prior that learned to see from made-up pictures.

python bench/learn_prior.py [--quick] [--json] [--data FOLDER] [--gpu] [--epsilons 1,3,8] [--runs N] [--holdout]

FOLDER/cifar10 and FOLDER/mnist hold images as the other benchmarks have them; scikit-learn's digits need nothing.
Without `--gpu` the head alone is trained on what the prior sees (`DPImageClassifier(tune="head")`), beside a linear
model on pixels and, with `--random`, the same head on features of random weights. With it all weights are trained on
CIFAR-10: 40 steps for the head, the rest for all, one figure at the end of a run. `--holdout` trains on nine tenths of
the training images and scores the last tenth: for choosing settings.
"""

from __future__ import annotations

import time

import numpy as np

import digits
import learn_cifar
from discreet.learn.estimators import DPImageClassifier, DPLinearClassifier
from harness import Report, arguments, peak_megabytes

DELTA = 1e-5
STEPS = {1.0: 540, 3.0: 840, 8.0: 1540}
TARGETS = {1.0: 70.0, 3.0: 77.0, 8.0: 83.0}
SMALL = 4_000  # training images where the head alone is trained; a quarter as many are scored


def tables(folder, report: Report, names: list[str], *, quick: bool) -> dict[str, tuple]:
    """Images to train on and to score, their labels, and what white is: at most SMALL of each table."""
    from sklearn.datasets import load_digits

    chance = np.random.default_rng(1)
    pixels, labels = load_digits(return_X_y=True)
    order = chance.permutation(len(labels))
    pixels, labels = pixels.reshape(-1, 8, 8)[order], labels[order]
    cut = len(labels) * 4 // 5
    found = {"scikit-learn digits": (pixels[:cut], labels[:cut], pixels[cut:], labels[cut:], 16, False)}
    if quick:
        return {"scikit-learn digits": (pixels[:300], labels[:300], pixels[cut:], labels[cut:], 16, False)}
    found = found if "digits" in names else {}
    for name, read, white, mirror in (("mnist", digits.images, 1, False), ("cifar", learn_cifar.images, 255, True)):
        if name in names:
            data = read(folder, report)
            picked = data["x"][:SMALL], data["y"][:SMALL], data["test x"][: SMALL // 4], data["test y"][: SMALL // 4]
            found[name] = (*picked, white, mirror)
    return found


def heads(report: Report, options) -> None:
    """The head alone, from the prior and from random weights, and a linear model on pixels."""
    for name, (x, y, test_x, test_y, white, mirror) in tables(
        options.data, report, options.tables.split(","), quick=options.quick
    ).items():
        for epsilon in map(float, options.epsilons.split(",")):
            common = {"epsilon": epsilon, "delta": DELTA, "classes": 10, "bounds": (0, white), "examples": len(x)}
            models = {
                "prior": DPImageClassifier(tune="head", mirror=mirror, average=False, **common),
                "random weights": DPImageClassifier(tune="head", mirror=mirror, average=False, prior=None, **common),
                "pixels": DPLinearClassifier(**common),
            }
            if not options.random:
                models.pop("random weights")
            for kind, model in models.items():
                flat = kind == "pixels"
                rows, scored = (part.reshape(len(part), -1) if flat else part for part in (x, test_x))
                began = time.process_time()
                model.fit(rows, y)
                seconds = time.process_time() - began
                case = f"{name} ({len(x):,}), epsilon {epsilon:g}, head on {kind}"
                report.figure(case, "accuracy", 100 * model.score(scored, test_y), "%")
                report.figure(case, "fit", seconds, "CPU s")
            if options.quick:
                return


def all_weights(report: Report, options) -> None:
    """All weights on CIFAR-10, on an accelerator."""
    data = learn_cifar.images(options.data, report)
    data = learn_cifar.held_out(data) if options.holdout else data
    for epsilon in map(float, options.epsilons.split(",")):
        for run in range(options.runs):
            model = DPImageClassifier(
                epsilon=epsilon, delta=DELTA, classes=10, examples=len(data["x"]), lot=4096, steps=STEPS[epsilon]
            ).fit(data["x"], data["y"])
            target = None if options.holdout else TARGETS[epsilon]
            case = f"CIFAR-10, epsilon {epsilon:g}, run {run + 1}"
            report.figure(case, "accuracy", 100 * model.score(data["test x"], data["test y"]), "%", at_least=target)
            model.average = False
            report.figure(case, "accuracy, one look", 100 * model.score(data["test x"], data["test y"]), "%")


def main() -> None:
    options = arguments(
        __doc__.splitlines()[0],
        gpu={"action": "store_true", "help": "train all weights, on an accelerator"},
        epsilons={"default": "1,3,8", "help": "which prices"},
        random={"action": "store_true", "help": "also from random weights"},
        tables={"default": "digits,mnist,cifar", "help": "where the head alone is tried"},
        runs={"type": int, "default": 1, "help": "how often each is run"},
        holdout={
            "action": "store_true",
            "help": "score the last tenth of the training images instead",
        },
    )
    report = Report("learn_prior", as_json=options.json)
    (all_weights if options.gpu else heads)(report, options)
    report.figure("all", "peak memory", peak_megabytes(), "MB")


if __name__ == "__main__":
    main()
