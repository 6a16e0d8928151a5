"""Private training on MNIST: a dense net on private principal components, and a linear model on fixed features.

python bench/learn_mnist.py [--quick] [--json] [--data FOLDER] [--seeds N] [--parts NAMES] [--picture FILE]

FOLDER/mnist holds the four files as published; without it, digits are made up of random strokes. delta is 1e-5 and one
image is added or removed. Everything goes through the library's own trainer: true Poisson lots, clipped gradients, the
whole run counted by its privacy loss distribution, private components included. Accuracy after each epoch is looked at
for the page; it would cost budget elsewhere. `--holdout` trains on 50,000 images and looks at the other 10,000 instead
of the test images: that is how settings were chosen.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from digits import held_out, images, strokes
from discreet.accounting.convert import approx
from discreet.accounting.pld import COARSE, privacy_loss
from discreet.accounting.training import training_loss
from discreet.core.loss import Composed, Loss, RealGaussianNoise
from discreet.learn.estimators.pca import DPPCA
from discreet.learn.nets import dense, flipped_and_shifted
from discreet.learn.objective import cross_entropy
from discreet.learn.recipe import Recipe
from discreet.learn.step import State
from discreet.learn.trainer import train
from harness import Report, arguments, peak_megabytes
from scattering import Scattering

DELTA = Fraction(1, 100_000)
LOT = 600
COMPONENTS = 60
SIDE = 28  # pixels of an image
EPOCHS = 40  # without privacy
DECAY = 5e-4  # of weights, without privacy


@dataclass(frozen=True)
class Classic:
    """One run of the classic net: its price, and how it is trained."""

    epsilon: float
    epochs: int
    moments: float
    """Noise on second moments of images of length one, for the private components."""
    floor: float = 0.003
    """Added to the variance along each component before it is taken out."""
    bound: float = 1.0
    rate: float = 0.5
    momentum: float = 0.0
    ema: float = 0.99
    copies: int = 1
    """Of each image, moved by up to a pixel, whose gradients are averaged before clipping."""
    noise: str = "auto"


CLASSIC = (
    Classic(0.5, epochs=6, moments=16, rate=2),
    Classic(2, epochs=20, moments=7, rate=4),
    Classic(8, epochs=40, moments=3, floor=0.02, bound=0.3, rate=12, copies=4, noise="device"),
)
PUBLISHED = {0.5: 90.0, 2: 95.0, 8: 97.0}


@dataclass(frozen=True)
class Linear:
    """One run of the linear model: its price, and how it is trained."""

    epsilon: float
    steps: int
    rate: float
    bound: float = 0.1
    share: float = 0.3
    """Of the price, in squares of what noise costs: second moments, by which features are whitened."""


LINEAR = (
    Linear(1, steps=20, rate=500),
    Linear(2, steps=30, rate=800),
    Linear(3, steps=40, rate=1000),
)
WANTED = {1: 97.9, 3: 98.7}
SCATTERING = Scattering()
STROKES = 3000  # made-up images
KEPT = 600  # directions of features
SOFT = 1e-3  # added to variances of strokes before they are taken out
BIAS = 0.3  # the constant beside features of length one


def unit_rows(pixels: np.ndarray) -> np.ndarray:
    """Images as rows of length one."""
    rows = pixels.reshape(len(pixels), -1)
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6)


def accuracy(apply: Callable[..., Any], params: Any, x: np.ndarray, y: np.ndarray) -> float:
    return float(np.mean(np.asarray(apply(params, x)).argmax(axis=1) == y))


def components(
    rows: np.ndarray, noise: float, kept: int = COMPONENTS, bounds: tuple[int, int] = (0, 1)
) -> tuple[DPPCA, RealGaussianNoise]:
    """Private principal components of rows of length one, and what they cost as one release with Gaussian noise.

    The estimator states its cost in zCDP. Its noise is discrete Gaussian on integers in steps of 2^-28, as in
    docs/proofs/training.md ("Exact noise"): real noise narrower by 1e-9 of it costs no less, up to a delta of 1e-40.
    """
    rho = Fraction(1) / (2 * Fraction(str(noise)) ** 2)
    found = DPPCA(kept, rho=rho, bounds=bounds, origin=0, norm=1).fit(rows)
    return found, RealGaussianNoise(Fraction(str(noise)) * (1 - Fraction(1, 10**9)))


class Along:
    """Rows along private components, each of about the same spread, cut to a common length: nothing else is private."""

    def __init__(self, pca: DPPCA, floor: float) -> None:
        self.middle = jnp.asarray(pca.mean_, jnp.float32)
        self.axes = jnp.asarray(pca.components_.T / np.sqrt(pca.explained_variance_ + floor), jnp.float32)

    def __call__(self, rows: Any) -> Any:
        return math.sqrt(COMPONENTS) * to_length_one((rows - self.middle) @ self.axes)


def moved(copies: int, key: Any, batch: tuple[Any, Any]) -> tuple[Any, Any]:
    """Copies of images that are rows of pixels, moved by up to a pixel."""
    rows, labels = batch
    found = flipped_and_shifted(key, rows.reshape(-1, SIDE, SIDE, 1), copies, shift=1, mirror=False)
    return found.reshape(found.shape[0], -1), jnp.repeat(labels, copies)


def whole_cost(parts: list[Loss], multiplier: Fraction, probability: Fraction, steps: int) -> Loss:
    return Composed([*parts, training_loss(multiplier, probability, steps)]) if steps else Composed(parts)


@lru_cache(maxsize=32)
def least_noise(epsilon: float, parts: tuple[Loss, ...], probability: Fraction, steps: int) -> tuple[Fraction, float]:
    """The least noise multiplier with which a run and what was released before it stay within epsilon at DELTA."""

    def coarse(noise: float) -> float:
        return privacy_loss(whole_cost([*parts], Fraction(str(noise)), probability, steps), COARSE).epsilon(
            float(DELTA)
        )

    low, high = 0.3, 1.0
    while coarse(high) > epsilon:
        low, high = high, 2 * high
    while high - low > 1e-4 * high:
        middle = round((low + high) / 2, 6)
        low, high = (middle, high) if coarse(middle) > epsilon else (low, middle)
    noise = Fraction(math.ceil(high * 10_000), 10_000)
    while (spent := approx(whole_cost([*parts], noise, probability, steps), DELTA).epsilon) > Fraction(str(epsilon)):
        noise += Fraction(1, 1_000)
    return noise, float(spent)


def plain(rows: np.ndarray, data: dict[str, np.ndarray], epochs: int, seed: int) -> list[dict[str, float]]:
    """The classic net without privacy: exact components, shuffled lots, momentum, decay. Accuracy by epoch."""
    middle = rows.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(rows, rowvar=False))
    axes = vectors[:, ::-1][:, :COMPONENTS] / math.sqrt(values[-COMPONENTS:].mean())
    x, test = (((one - middle) @ axes).astype(np.float32) for one in (rows, unit_rows(data["test x"])))
    net = dense((COMPONENTS, 1000, 10))
    params = net.init(jax.random.key(seed))
    moving = jax.tree.map(jnp.zeros_like, params)

    @jax.jit
    def step(params: Any, moving: Any, x: Any, y: Any, rate: Any) -> tuple[Any, Any]:
        gradient = jax.grad(lambda p: cross_entropy(net.apply(p, x), y).mean())(params)
        moving = jax.tree.map(lambda m, g, p: 0.9 * m + g + DECAY * p, moving, gradient, params)
        return jax.tree.map(lambda p, m: p - rate * m, params, moving), moving

    chance, curve = np.random.default_rng(seed), []
    for epoch in range(epochs):
        order = chance.permutation(len(x))
        for at in range(0, len(x) - LOT + 1, LOT):
            part = order[at : at + LOT]
            params, moving = step(params, moving, x[part], data["y"][part], 0.2 * (1 - epoch / epochs))
        found = {"training": accuracy(net.apply, params, x[:10_000], data["y"][:10_000])}
        curve.append({"epoch": epoch + 1, **found, "test": accuracy(net.apply, params, test, data["test y"])})
    return curve


def classic(job: Classic, rows: np.ndarray, data: dict[str, np.ndarray], seed: int) -> dict[str, Any]:
    """Private components, then the net on them by private descent; accuracy and epsilon after each epoch."""
    before = time.process_time(), time.perf_counter()
    pca, first = components(rows, job.moments)
    x, test = (one.astype(np.float32) for one in (rows, unit_rows(data["test x"])))
    seen, net = Along(pca, job.floor), dense((COMPONENTS, 1000, 10))
    augment = None
    if job.copies == 1:  # nothing moves: components are computed once
        x, test, apply = np.asarray(seen(x)), np.asarray(seen(test)), net.apply
    else:
        augment = partial(moved, job.copies)

        def apply(params: Any, rows: Any) -> Any:
            return net.apply(params, seen(rows))

    many = len(rows)
    steps = round(job.epochs * many / LOT)
    noise, spent = least_noise(job.epsilon, (first,), Fraction(LOT, many), steps)
    how = {key: getattr(job, key) for key in ("bound", "rate", "momentum", "ema", "copies", "noise")}
    recipe = Recipe(examples=many, lot=LOT, steps=steps, multiplier=noise, schedule="linear", **how)
    curve: list[dict[str, float]] = []
    look = jax.jit(apply)
    looked = 0.0

    def after(state: State) -> None:
        nonlocal looked
        if state.step % max(1, many // LOT) and state.step != steps:
            return
        start = time.process_time()
        params = state.average if job.ema else state.params
        found = {"training": accuracy(look, params, x[:10_000], data["y"][:10_000])}
        found["test"] = accuracy(look, params, test, data["test y"])
        curve.append({"step": state.step, "epoch": state.step * LOT / many, **found})
        looked += time.process_time() - start

    start = net.init(jax.random.key(seed))
    train(apply, cross_entropy, start, (x, data["y"]), recipe, after=after, augment=augment)
    cpu, wall = time.process_time() - before[0] - looked, time.perf_counter() - before[1]
    found = {"job": job, "noise": noise, "spent": spent, "first": first, "images": many, "curve": curve}
    return {**found, "cpu": cpu, "wall": wall}


@jax.jit
def scattered(pixels: Any) -> Any:
    """Scattering of each image, evened out in nine groups of channels, as rows of length one."""
    found = SCATTERING.within(pixels)
    groups = found.reshape(len(pixels), -1, 9, found.shape[-1] // 9)
    groups = groups - groups.mean(axis=(1, 3), keepdims=True)
    groups = groups / (jnp.sqrt(jnp.square(groups).mean(axis=(1, 3), keepdims=True)) + 1e-5)
    return to_length_one(groups.reshape(len(pixels), -1))


def to_length_one(rows: Any) -> Any:
    return rows / jnp.maximum(jnp.sqrt(jnp.square(rows).sum(axis=1, keepdims=True)), 1e-9)


def in_blocks(work: Callable[[Any], Any], rows: np.ndarray, block: int = 1000) -> np.ndarray:
    return np.concatenate([np.asarray(work(rows[at : at + block])) for at in range(0, len(rows), block)])


def public_axes(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Where the features of made-up strokes lie and how they spread: a mean, and directions scaled to take it out."""
    rows = in_blocks(scattered, strokes(count))
    middle = rows.mean(axis=0)
    rows = rows - middle
    kept = min(KEPT, count // 3)
    guess = rows.T @ (rows @ np.random.default_rng(2).standard_normal((rows.shape[1], kept + 60), dtype=np.float32))
    basis = np.linalg.qr(rows.T @ (rows @ np.linalg.qr(guess)[0]))[0]
    inside = rows @ basis
    values, vectors = np.linalg.eigh(inside.T @ inside / len(rows))
    values, vectors = values[::-1][:kept], vectors[:, ::-1][:, :kept]
    return middle, (basis @ vectors / np.sqrt(values + SOFT)).astype(np.float32)


class Features:
    """Fixed features of images, rows of length one: scattering, along the directions in which strokes spread."""

    def __init__(self, count: int) -> None:
        self.middle, self.axes = public_axes(count)

    def __call__(self, pixels: np.ndarray) -> np.ndarray:
        middle, axes = jnp.asarray(self.middle), jnp.asarray(self.axes)
        return in_blocks(lambda part: to_length_one((scattered(part) - middle) @ axes), pixels)


def score(params: Any, x: Any) -> Any:
    return x @ params["weights"] + BIAS * params["bias"]


def one_noise(epsilon: float) -> float:
    """The noise multiplier of one Gaussian release at (epsilon, DELTA)."""
    return float(least_noise(epsilon, (), Fraction(1), 1)[0])


def linear(job: Linear, x: np.ndarray, test: np.ndarray, data: dict[str, np.ndarray]) -> dict[str, Any]:
    """Second moments with noise, by which features are whitened; then descent with all images in every step."""
    before = time.process_time(), time.perf_counter()
    many, width = x.shape
    moments = round(one_noise(job.epsilon) / math.sqrt(job.share), 4)
    pca, first = components(x, moments, kept=width, bounds=(-1, 1))
    floor = 2 * math.sqrt(width) * pca.noise_["others"] / many  # as far as noise moves a variance
    axes = (pca.components_.T / np.sqrt(pca.explained_variance_ + floor)).astype(np.float32)
    middle = pca.mean_.astype(np.float32)
    seen = [in_blocks(lambda part: to_length_one((part - middle) @ axes), rows, 10_000) for rows in (x, test)]
    noise, spent = least_noise(job.epsilon, (first,), Fraction(1), job.steps)
    how = {"bound": job.bound, "rate": job.rate, "momentum": 0.9, "schedule": "linear", "microbatch": 10_000}
    recipe = Recipe(examples=many, lot=many, steps=job.steps, multiplier=noise, **how)
    params = {"weights": jnp.zeros((width, 10)), "bias": jnp.zeros(10)}
    trained = train(score, cross_entropy, params, (seen[0], data["y"]), recipe)
    cpu, wall = time.process_time() - before[0], time.perf_counter() - before[1]
    found = {
        name: accuracy(score, trained.params, *pair)
        for name, pair in (("training", (seen[0], data["y"])), ("test", (seen[1], data["test y"])))
    }
    return {"job": job, "moments": moments, "noise": noise, "spent": spent, "cpu": cpu, "wall": wall, **found}


def told(report: Report, case: str, runs: list[dict[str, Any]], key: str, target: float | None) -> None:
    """The mean over runs, and the spread where there are several."""
    values = [100 * one[key] for one in runs]
    report.figure(case, f"{key} accuracy, mean", float(np.mean(values)), f"%, {len(runs)} runs", at_least=target)
    if len(runs) > 1:
        report.figure(case, f"{key} accuracy, spread", float(np.std(values, ddof=1)), "points, standard deviation")
        report.figure(case, f"{key} accuracy, least", min(values), "%")


def run_classic(report: Report, data: dict[str, np.ndarray], options: Any) -> list[dict[str, Any]]:
    rows = unit_rows(data["x"])
    epochs = 2 if options.quick else EPOCHS
    start = time.process_time()
    found = [plain(rows, data, epochs, seed) for seed in range(options.seeds)]
    case = f"classic net, not private, {epochs} epochs"
    told(report, case, [curve[-1] for curve in found], "test", None if options.quick else 98.3)
    report.figure(case, "time a run", (time.process_time() - start) / options.seeds, "CPU s, looking included")
    everything = []
    for job in [replace(CLASSIC[1], epochs=1)] if options.quick else CLASSIC:
        runs = [classic(job, rows, data, seed) for seed in range(options.seeds)]
        case = f"classic net, epsilon {job.epsilon:g}, {job.epochs} epochs"
        report.figure(case, "epsilon", runs[0]["spent"], f"at delta {float(DELTA):g}", at_most=job.epsilon)
        report.figure(case, "noise multiplier", float(runs[0]["noise"]), f"{job.moments:g} on second moments")
        told(
            report, case, [one["curve"][-1] for one in runs], "test", None if options.quick else PUBLISHED[job.epsilon]
        )
        told(report, case, [one["curve"][-1] for one in runs], "training", None)
        report.figure(case, "time a run", float(np.mean([one["cpu"] for one in runs])), "CPU s")
        report.figure(case, "time a run, on the clock", float(np.mean([one["wall"] for one in runs])), "s")
        everything += runs
    return everything


def run_linear(report: Report, data: dict[str, np.ndarray], options: Any) -> None:
    start = time.process_time(), time.perf_counter()
    make = Features(600 if options.quick else STROKES)
    middle = time.process_time(), time.perf_counter()
    x, test = make(data["x"]), make(data["test x"])
    end = time.process_time(), time.perf_counter()
    case = f"linear, {x.shape[1]} features of {len(x) + len(test):,} images"
    report.figure(case, "public directions", middle[0] - start[0], "CPU s, once")
    report.figure(case, "features", end[0] - middle[0], "CPU s")
    report.figure(case, "both, on the clock", end[1] - start[1], "s")
    for job in LINEAR[:1] if options.quick else LINEAR:
        runs = [linear(job, x, test, data) for _ in range(options.seeds)]
        case = f"linear, epsilon {job.epsilon:g}, {job.steps} steps"
        report.figure(case, "epsilon", runs[0]["spent"], f"at delta {float(DELTA):g}", at_most=job.epsilon)
        noises = f"{runs[0]['moments']:g} on second moments"
        report.figure(case, "noise multiplier", float(runs[0]["noise"]), noises)
        told(report, case, runs, "test", None if options.quick else WANTED.get(job.epsilon))
        told(report, case, runs, "training", None)
        cpu, wall = (float(np.mean([one[key] for one in runs])) for key in ("cpu", "wall"))
        report.figure(case, "whitening and training", cpu, "CPU s")
        report.figure(case, "whitening and training", wall, "s on the clock")
        report.figure(case, "everything", end[0] - start[0] + cpu, "CPU s", at_most=None if options.quick else 60)


def picture(runs: list[dict[str, Any]], path: Path) -> None:
    """Accuracy on training and test images, and epsilon, after each epoch: one panel for each price, the first run."""
    import altair

    panels = []
    for job in dict.fromkeys(one["job"] for one in runs):
        run = next(one for one in runs if one["job"] == job)
        probability = Fraction(LOT, run["images"])
        shown, spent = [], []
        for entry in run["curve"]:
            kinds = ("test", "training")
            shown += [{"epoch": entry["epoch"], "kind": kind, "value": 100 * entry[kind]} for kind in kinds]
            loss = whole_cost([run["first"]], run["noise"], probability, entry["step"])
            epsilon = float(privacy_loss(loss, COARSE).epsilon(float(DELTA)))
            spent.append({"epoch": entry["epoch"], "value": epsilon})
        base = altair.Chart().encode(x=altair.X("epoch:Q", title="epoch"))
        lines = base.mark_line().encode(
            y=altair.Y("value:Q", title="accuracy, %", scale=altair.Scale(zero=False)),
            color=altair.Color("kind:N", title=None, scale=altair.Scale(range=["#2166ac", "#67a9cf"])),
        )
        cost = base.mark_line(strokeDash=[4, 3], color="#b2182b").encode(
            y=altair.Y("value:Q", title="epsilon", axis=altair.Axis(titleColor="#b2182b"))
        )
        parts = [
            lines.properties(data=altair.InlineData(values=shown)),
            cost.properties(data=altair.InlineData(values=spent)),
        ]
        title = f"epsilon {job.epsilon:g}: noise {float(run['noise']):.2f}"
        panels.append(
            altair.layer(*parts).resolve_scale(y="independent").properties(title=title, width=220, height=200)
        )
    altair.concat(*panels, columns=3).save(str(path))


def main() -> None:
    options = arguments(
        __doc__.splitlines()[0],
        seeds={"type": int, "default": 3, "help": "how often each case is run"},
        parts={"default": "classic,linear", "help": "which of classic, linear"},
        holdout={"action": "store_true", "help": "train on 50,000 images, look at the other 10,000"},
        picture={"type": Path, "help": "draw accuracy and epsilon of each epoch of the classic net into this file"},
    )
    report = Report("learn_mnist", as_json=options.json)
    data = images(options.data, report)
    data = held_out(data) if options.holdout else data
    if options.quick:
        options.seeds = 1
        data = {name: array[: 6_000 if "test" not in name else 1_000] for name, array in data.items()}
    report.note(f"{len(data['x']):,} images to train on, {len(data['test x']):,} to look at")
    if "linear" in options.parts:
        run_linear(report, data, options)
    if "classic" in options.parts:
        found = run_classic(report, data, options)
        if options.picture:
            picture(found, options.picture)
    report.figure("all", "peak memory", peak_megabytes(), "MB")


if __name__ == "__main__":
    main()
