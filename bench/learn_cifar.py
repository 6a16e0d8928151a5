"""Private training on CIFAR-10: two convolutions and two dense layers, the same on scattering, a wide residual net.

python bench/learn_cifar.py [--quick] [--json] [--data FOLDER] [--gpu] [--jobs NAMES] [--minutes M] [--picture FILE]

FOLDER/cifar10 holds the images and load_med.py, which reads them; without it, images are made up. Every run is DP-SGD
by the library's own trainer: true Poisson lots, clipped gradients, delta 1e-5, one image added or removed, the whole
run counted by its privacy loss distribution. Accuracy on training and test images is looked at every few steps: that is
for the page, and would cost budget elsewhere. Full runs need an accelerator (`--gpu`); `--quick` shows that it works.

`--fit M` chooses as many steps as fit into M minutes at the speed measured; `--minutes` stops and keeps where the run
stands in `--checkpoint`, from where the same command goes on. `--holdout` trains on 45,000 images and looks at the
other 5,000 instead of the test images: for tuning. Where dp-accounting is missing, `--noise FILE` has the noise
multipliers, which `--calibrate` writes.

`--jobs plain` trains the classic net without privacy first, for what it can reach (500 epochs; 86 % is published):
CIFAR-10 is public. Nothing of that run is private.
"""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from discreet.learn.baseline import NOT_PRIVATE, train_baseline
from discreet.learn.checkpoint import Checkpoint
from discreet.learn.curve import Curve
from discreet.learn.keys import new_secret
from discreet.learn.nets import Net, convolutional, flipped_and_shifted, wide_residual
from discreet.learn.objective import cross_entropy
from discreet.learn.recipe import Recipe
from discreet.learn.step import State
from discreet.learn.trainer import losses_of, train_losses
from harness import ENVIRONMENTS, Report, arguments, peak_megabytes
from scattering import Scattering

DELTA = Fraction(1, 100_000)
STEPS = (100, 200, 300, 400, 500, 600, 800, 1000, 1250, 1500, 2000, 2500)  # what `--fit` chooses from
LOOK = 1000  # images at a time where accuracy is looked at
SCATTERING = Scattering(places=8, octaves=2, directions=8, margin=4)


@dataclass(frozen=True)
class Job:
    """One run: which net, at which price, and how it is trained."""

    net: str
    epsilon: float
    lot: int = 4096
    steps: int = 600
    copies: int = 1
    bound: float = 1.0
    rate: float = 2.0
    momentum: float = 0.0
    schedule: str = "constant"
    ema: float = 0.99
    microbatch: int = 528  # eight hold nearly every lot
    depth: int = 16
    width: int = 4
    examples: int = 50_000


JOBS = {
    "classic-2": Job("classic", 2, steps=400, rate=4.0),
    "classic-4": Job("classic", 4, steps=600, rate=4.0),
    "classic-8": Job("classic", 8, steps=1000, rate=4.0),
    "scattered-3": Job("scattered", 3, steps=500, bound=0.1, rate=30.0, copies=4, ema=0.98),
    "wide-3": Job("wide", 3, steps=1250, rate=4.0, copies=4, ema=0.995),
    "wide-8": Job("wide", 8, steps=1500, rate=4.0, copies=4, ema=0.995),
    "tiny": Job("wide", 8, lot=32, steps=2, rate=1.0, copies=2, microbatch=32, depth=10, width=1),
    "tiny-classic": Job("classic", 8, lot=32, steps=2, rate=1.0, microbatch=32),
    "tiny-scattered": Job("scattered", 8, lot=32, steps=2, rate=1.0, copies=2, microbatch=32),
}

PLAIN, PLAIN_EPOCHS, PLAIN_GOAL = "plain", 500, 86.0  # the classic net without privacy
PLAIN_RECIPE = {"activation": "relu", "rate": "0.02", "decay": "0.002"}  # of four tried on held-out images
TARGETS = {("scattered", 3.0): 70.0, ("wide", 3.0): 70.0, ("wide", 8.0): 79.5}


class StoppedError(Exception):
    """Time is up; the run stands in its checkpoint."""


def images(folder: Path | None, report: Report) -> dict[str, Any]:
    """Training and test images and labels, as bytes."""
    home = (folder or ENVIRONMENTS / "data") / "cifar10"
    if not (home / "load_med.py").exists():
        report.note(f"no {home.name} under --data: images are made up")
        chance = np.random.default_rng(7)
        labels = chance.integers(0, 10, 2_500).astype(np.int32)
        looks = chance.integers(0, 256, (10, 32, 32, 3))
        pixels = (0.5 * looks[labels] + 0.5 * chance.integers(0, 256, (2_500, 32, 32, 3))).astype(np.uint8)
        return {"x": pixels[:2000], "y": labels[:2000], "test x": pixels[2000:], "test y": labels[2000:]}
    spec = importlib.util.spec_from_file_location("load_med", home / "load_med.py")
    reader = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reader)
    parts = [reader.load(home / f"cifar10_{name}_med.npz") for name in ("train_1", "train_2", "test")]
    x, y = (np.concatenate([parts[0][place], parts[1][place]]) for place in (0, 1))
    return {"x": x, "y": y.astype(np.int32), "test x": parts[2][0], "test y": parts[2][1].astype(np.int32)}


def held_out(data: dict[str, Any]) -> dict[str, Any]:
    """The last tenth of the training images in place of the test images."""
    cut = len(data["x"]) * 9 // 10
    return {"x": data["x"][:cut], "y": data["y"][:cut], "test x": data["x"][cut:], "test y": data["y"][cut:]}


def net_of(job: Job) -> Net:
    match job.net:
        case "classic":
            return convolutional((32, 32, 3), 10, activation=jnp.tanh)
        case "scattered":
            return convolutional((8, 8, 3 * SCATTERING.channels), 10, kernel=3, hidden=128, activation=jnp.tanh)
        case _:
            return wide_residual(job.depth, job.width, standardise=True, low_precision=jax.default_backend() != "cpu")


def seen(job: Job, pixels: Any) -> Any:
    """What the net is shown of images given as bytes: numbers around zero, or normed scattering of each image."""
    scaled = pixels.astype(jnp.float32) / 255
    if job.net != "scattered":
        return (scaled - 0.5) * 4
    features = SCATTERING.within(scaled)
    count, down, right, channels = features.shape
    groups = features.reshape(count, down * right, 27, channels // 27)
    groups = groups - groups.mean(axis=(1, 3), keepdims=True)
    spread = jnp.sqrt(jnp.square(groups).mean(axis=(1, 3), keepdims=True))
    return (groups / (spread + 1e-4)).reshape(features.shape)


def looks(job: Job, key: Any, batch: Any) -> Any:
    """Augmented copies of a batch, as the net is shown them."""
    x, y = batch
    if job.copies > 1:
        x = flipped_and_shifted(key, x, job.copies)
    return seen(job, x), jnp.repeat(y, job.copies)


def multiplier(job: Job, known: dict[str, str]) -> Fraction:
    """The least noise for the job, found or looked up."""
    name = f"{job.epsilon:g} {job.lot} {job.steps} {job.examples}"
    if name in known:
        return Fraction(known[name])
    from discreet.accounting.training import noise_multiplier

    return noise_multiplier(Fraction(str(job.epsilon)), DELTA, Fraction(job.lot, job.examples), job.steps)


def recipe_of(job: Job, noise: Fraction) -> Recipe:
    names = ("examples", "lot", "steps", "bound", "rate", "momentum", "schedule", "ema", "copies", "microbatch")
    return Recipe(multiplier=noise, **{name: getattr(job, name) for name in names})


def accuracy(predict: Callable[..., Any], params: Any, x: np.ndarray, y: np.ndarray) -> float:
    right = sum(
        int((np.asarray(predict(params, x[at : at + LOOK])) == y[at : at + LOOK]).sum())
        for at in range(0, len(x), LOOK)
    )
    return right / len(x)


def speed(losses: Any, params: Any, data: Any, recipe: Recipe, augment: Any) -> float:
    """Seconds a step takes, without compiling: of steps whose outcome is thrown away."""
    marks = []

    def after(state: State) -> None:
        jax.block_until_ready(state.params)
        marks.append(time.perf_counter())
        if len(marks) > 6:
            raise StoppedError

    with contextlib.suppress(StoppedError):
        train_losses(losses, params, data, recipe, augment=augment, after=after)
    return float(np.median(np.diff(marks[1:]))) if len(marks) > 2 else 0.0


def run(job: Job, data: dict[str, Any], report: Report, options: Any, known: dict[str, str], seed: int = 0) -> dict:
    """Train by the job, from where it stands; the curve and the figures. Raises StoppedError when time is up."""
    name = f"{job.net}, epsilon {job.epsilon:g}" + (f", run {seed + 1}" if seed else "")
    net = net_of(job)
    losses = losses_of(net.apply, cross_entropy)
    params = net.init(jax.random.key(seed))
    augment = partial(looks, job)
    pair = data["x"], data["y"]
    began = time.perf_counter()
    kept = options.checkpoint and options.checkpoint.exists()
    if options.fit and not kept:
        pace = speed(losses, params, pair, recipe_of(replace(job, steps=8), Fraction(1)), augment)
        report.note(f"{name}: {pace:.3f} s a step, {job.lot * job.copies / pace:,.0f} images/s")
        fitting = [steps for steps in STEPS if steps * pace * 1.03 < options.fit * 60 - (time.perf_counter() - began)]
        job = replace(job, steps=max(fitting, default=STEPS[0]))
    curve: list[dict[str, float]] = []
    checkpoint = Checkpoint(options.checkpoint) if options.checkpoint else None
    notes = options.checkpoint.with_suffix(".json") if checkpoint else None
    if kept:
        before = json.loads(notes.read_text())
        job, curve = Job(**before["job"]), before["curve"]
    recipe = recipe_of(job, multiplier(job, known))
    identity = {"job": json.dumps(asdict(job)), "noise": str(recipe.multiplier)}
    secret, state, seconds = new_secret(), None, 0.0
    if kept:
        from discreet.learn.optimizer import optimizer_of
        from discreet.learn.step import Step

        like = Step(losses, recipe, optimizer_of(recipe), augment).start(params)
        found = checkpoint.load(like, identity)
        secret, state, seconds = found.secret, found.state, before["seconds"]
    predict = jax.jit(lambda params, x: net.apply(params, seen(job, x)).argmax(axis=1))
    every = max(1, -(-job.steps // 20))
    mark = [time.perf_counter(), 0.0]  # when training went on, and how long it has taken

    def keep(state: State) -> None:
        checkpoint.save(state, secret, [], identity)
        entry = {"job": asdict(job), "curve": curve, "seconds": seconds + mark[1]}
        notes.write_text(json.dumps(entry))

    def after(state: State) -> None:
        if state.step % 10 == 0 or state.step == job.steps:
            jax.block_until_ready(state.params)
        late = time.perf_counter() - options.started > options.minutes * 60
        if state.step % every == 0 or state.step == job.steps or late:
            jax.block_until_ready(state.params)
            mark[1] += time.perf_counter() - mark[0]
            entry = {
                "step": state.step,
                "epoch": state.step * job.lot / job.examples,
                "test": accuracy(predict, state.average, data["test x"], data["test y"]),
                "test, last": accuracy(predict, state.params, data["test x"], data["test y"]),
                "training": accuracy(predict, state.average, data["x"][:10_000], data["y"][:10_000]),
            }
            curve.append(entry)
            report.note(f"{name}: " + json.dumps({key: round(value, 4) for key, value in entry.items()}))
            mark[0] = time.perf_counter()
        if late and state.step < job.steps and checkpoint:
            keep(state)
            raise StoppedError

    train_losses(losses, params, pair, recipe, secret=secret, augment=augment, state=state, after=after)
    if checkpoint:
        checkpoint.destroy()
        notes.unlink(missing_ok=True)
    spent = seconds + mark[1]
    target = TARGETS.get((job.net, job.epsilon)) if job.steps > 50 else None  # a try is not held to it
    case = f"{name}, {sum(leaf.size for leaf in jax.tree.leaves(params)):,} parameters"
    report.figure(case, "noise multiplier", float(recipe.multiplier), f"for {job.steps} lots of {job.lot}")
    report.figure(case, "test accuracy", 100 * curve[-1]["test"], "%", at_least=target)
    report.figure(case, "test accuracy, last", 100 * curve[-1]["test, last"], "%")
    report.figure(case, "training accuracy", 100 * curve[-1]["training"], "%")
    report.figure(case, "images", job.steps * job.lot * job.copies / max(spent, 1e-9), "copies/s, compiling included")
    report.figure(case, "time on the clock", spent, "s")
    return {"job": asdict(job), "multiplier": str(recipe.multiplier), "curve": curve, "seconds": spent, "run": seed}


def plain(data: dict[str, Any], report: Report, epochs: float, seed: int, changes: dict[str, str]) -> dict:
    """The classic net without privacy: shuffled batches, images moved and mirrored anew in every epoch."""
    job = Job("classic", float("inf"))
    chosen = PLAIN_RECIPE | changes
    net = convolutional((32, 32, 3), 10, activation=getattr(jax.nn, chosen["activation"]))
    curve = Curve(data["test x"], data["test y"])

    def apply(params: Any, pixels: Any) -> Any:
        return net.apply(params, seen(job, pixels))

    def moved(key: Any, batch: Any) -> Any:
        return flipped_and_shifted(key, batch[0]), batch[1]

    start = time.perf_counter()
    how = {"lot": 128, "epochs": epochs, "augment": moved, "seed": seed, "curve": curve}
    how |= {name: float(chosen[name]) for name in ("rate", "decay")}
    params = net.init(jax.random.key(seed))
    train_baseline(
        apply, params, data["x"], data["y"], public="CIFAR-10, published by the University of Toronto", **how
    )
    case = f"classic net, not private, {epochs:g} epochs"
    goal = {"at_least": PLAIN_GOAL} if epochs >= PLAIN_EPOCHS else {}
    report.note(NOT_PRIVATE)
    report.figure(case, "test accuracy", 100 * curve.points[-1].accuracy, "%, one run", **goal)
    report.figure(case, "time", time.perf_counter() - start, "s")
    return {"label": NOT_PRIVATE, "recipe": chosen, "epochs": epochs, "curve": curve.to_dict(), "run": seed}


def main() -> None:
    options = arguments(
        __doc__.splitlines()[0],
        gpu={"action": "store_true", "help": "the full runs, for an accelerator"},
        jobs={
            "default": "classic-2,classic-4,classic-8,scattered-3,wide-8",
            "help": f"which of plain, {', '.join(JOBS)}",
        },
        set={"default": "", "help": "changes of the jobs, such as rate=4,copies=8"},
        runs={"type": int, "default": 1, "help": "how often each job is run"},
        minutes={"type": float, "default": 1e9, "help": "stop then, and keep where the run stands"},
        fit={"type": float, "default": 0.0, "help": "choose as many steps as fit into so many minutes"},
        checkpoint={"type": Path, "help": "the file a run is kept in and goes on from"},
        results={"type": Path, "help": "add the figures of each run to this file, one JSON object a line"},
        cache={"type": Path, "help": "a folder for compiled programs"},
        noise={"type": Path, "help": "a file of noise multipliers"},
        calibrate={"action": "store_true", "help": "only write the file of noise multipliers"},
        holdout={"action": "store_true", "help": "train on 45,000 images, look at the other 5,000"},
        picture={"type": Path, "help": "draw the curves in --results into this file"},
    )
    options.started = time.perf_counter()
    report = Report("learn_cifar", as_json=options.json)
    names = options.jobs.split(",")
    if not options.gpu and not options.calibrate:
        report.note("without --gpu: small tries on few images, to see that it works")
        names = [PLAIN, "tiny", "tiny-classic"]
    changes = dict(one.split("=") for one in options.set.split(",") if one)
    epochs = float(changes.pop("epochs", PLAIN_EPOCHS)) if options.gpu else 2.0
    known = json.loads(options.noise.read_text()) if options.noise and options.noise.exists() else {}
    if options.calibrate:
        options.noise.write_text(json.dumps(calibrated(names, changes, known, report), indent=0))
        return
    if options.picture and options.results and not options.gpu:
        runs = [json.loads(line) for line in options.results.read_text().splitlines()]
        picture([one for one in runs if "job" in one], options.picture)
        return
    if options.cache:
        jax.config.update("jax_compilation_cache_dir", str(options.cache))
    data = images(options.data if options.gpu else None, report)
    data = held_out(data) if options.holdout else data
    if not options.gpu:
        data = {name: array[:1000] if "test" not in name else array[:200] for name, array in data.items()}
    report.note(f"{len(data['x']):,} images, {jax.devices()[0].device_kind}")
    try:
        for name, seed in itertools.product([PLAIN] if PLAIN in names else [], range(options.runs)):
            found = plain(data, report, epochs, seed, changes)
            if options.results:
                with options.results.open("a") as file:
                    file.write(json.dumps({"name": name, **found}) + "\n")
        for name in (one for one in names if one != PLAIN):
            job = replace(changed(JOBS[name], changes), examples=len(data["x"]))
            for seed in range(options.runs):
                found = run(job, data, report, options, known, seed)
                if options.results:
                    with options.results.open("a") as file:
                        file.write(json.dumps({"name": name, "holdout": options.holdout, **found}) + "\n")
    except StoppedError:
        report.note("time is up: the same command goes on from the checkpoint")
    report.figure("all", "peak memory", peak_megabytes(), "MB")
    if stats := jax.devices()[0].memory_stats():
        report.figure("all", "peak memory of the device", stats.get("peak_bytes_in_use", 0) / 2**20, "MB")


def changed(job: Job, changes: dict[str, str]) -> Job:
    return replace(job, **{name: type(getattr(job, name))(value) for name, value in changes.items()})


def calibrated(names: list[str], changes: dict[str, str], known: dict[str, str], report: Report) -> dict[str, str]:
    """The noise of the jobs, and of those of wide nets for every number of steps that `--fit` may choose."""
    for name in names:
        job = changed(JOBS[name], changes)
        for examples in (50_000, 45_000):
            for steps in sorted({job.steps, *(STEPS if job.net == "wide" else ())}):
                one = replace(job, steps=steps, examples=examples)
                if examples == 45_000 and steps != job.steps:
                    continue
                key = f"{one.epsilon:g} {one.lot} {one.steps} {one.examples}"
                known.setdefault(key, str(multiplier(one, known)))
                report.note(f"{key}: {float(Fraction(known[key])):.4f}")
    return known


def picture(results: list[dict], path: Path) -> None:
    """Accuracy on training and test images, and epsilon, after each epoch: one panel for each price."""
    import altair

    from discreet.accounting.pld import COARSE, privacy_loss

    shown = []
    for one in results:
        job = Job(**one["job"])
        recipe = recipe_of(job, Fraction(one["multiplier"]))
        for entry in one["curve"]:
            spent = float(privacy_loss(recipe.cost_of(int(entry["step"])), COARSE).epsilon(float(DELTA)))
            for kind in ("test", "training"):
                title = f"{job.net}, epsilon {job.epsilon:g}"
                shown.append({"panel": title, "epoch": entry["epoch"], "kind": kind, "value": 100 * entry[kind]})
            shown.append({"panel": title, "epoch": entry["epoch"], "kind": "epsilon", "value": spent})
    panels = []
    for title in dict.fromkeys(entry["panel"] for entry in shown):
        mine = [entry for entry in shown if entry["panel"] == title]
        base = altair.Chart().encode(x=altair.X("epoch:Q", title="epoch"))
        right = [entry for entry in mine if entry["kind"] == "epsilon"]
        left = [entry for entry in mine if entry["kind"] != "epsilon"]
        lines = base.mark_line().encode(
            y=altair.Y("value:Q", title="accuracy, %", scale=altair.Scale(zero=False)),
            color=altair.Color("kind:N", title=None, scale=altair.Scale(range=["#2166ac", "#67a9cf"])),
        )
        cost = base.mark_line(strokeDash=[4, 3], color="#b2182b").encode(
            y=altair.Y("value:Q", title="epsilon", axis=altair.Axis(titleColor="#b2182b"))
        )
        parts = [
            lines.properties(data=altair.InlineData(values=left)),
            cost.properties(data=altair.InlineData(values=right)),
        ]
        panels.append(
            altair.layer(*parts).resolve_scale(y="independent").properties(title=title, width=220, height=200)
        )
    altair.concat(*panels, columns=3).save(str(path))


if __name__ == "__main__":
    main()
