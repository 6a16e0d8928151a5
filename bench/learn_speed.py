"""Speed of clipped sums: examples a second beside plain training and Opacus, on a CPU and on one GPU.

python bench/learn_speed.py [--quick] [--json] [--no-peers]   CPU time: MLP, CNN, transformer, LoRA, LSTM; exact noise
python bench/learn_speed.py --gpu [--quick] [--json]          wall time: WRN-16-4 on 32x32x3, transformer, LoRA, LSTM
"""

from __future__ import annotations

import time

import jax
import jax.numpy as jnp
import numpy as np

import learn_nets
from discreet.learn.clip import clipped_sum, explain
from discreet.learn.lot import capacity, microbatches
from discreet.learn.recipe import Recipe
from discreet.learn.step import Step
from harness import Report, arguments, cpu_seconds, peak_megabytes, peer

LOT = 600
MICROBATCH = 512
NETS = {
    "MLP 60-1000-10": learn_nets.mlp,
    "small CNN": learn_nets.cnn,
    "transformer": learn_nets.transformer,
    "transformer, checkpointed": learn_nets.checkpointed,
    "LoRA": learn_nets.lora,
    "LSTM": learn_nets.lstm,
}
LONG = (learn_nets.transformer, learn_nets.checkpointed, learn_nets.lora)  # a quick run takes fewer examples of them
# What `auto` should be at least, of the speed of plain training.
TARGETS = {
    "MLP 60-1000-10": 0.6,
    "transformer": 1 / 1.5,
    "transformer, checkpointed": 1 / 1.5,
    "LoRA": 1 / 1.5,
    "LSTM": 1 / 1.5,
}
OPACUS = ["torch==2.13.*", "opacus==1.6.*"]


def ways(losses, *, gpu=False):
    """The step of each way as a function of parameters, batch and mask."""

    def plain(params, batch, mask):
        return jax.grad(lambda params: jnp.sum(losses(params, batch) * mask))(params)

    def clipped(**how):
        def step(params, batch, mask):
            return clipped_sum(losses, params, batch, mask=mask, bound=1.0, **how).total

        return step

    found = {"not private": plain, "auto": clipped()}
    if gpu:
        found["auto, bfloat16"] = clipped(operands="bfloat16")
        found["auto, kept, bfloat16"] = clipped(keep=True, operands="bfloat16")
        found["auto, kept"] = clipped(keep=True)
    return {**found, "vmap": clipped(how="vmap")}


def timed(step, given, clock, seconds, least=3):
    """The least time of one step, for about `seconds` of wall time, the step compiled beforehand."""
    jax.block_until_ready(step(*given))
    best, many, end = float("inf"), 0, time.monotonic() + seconds
    while many < least or time.monotonic() < end:
        start = clock()
        jax.block_until_ready(step(*given))
        best = min(best, clock() - start)
        many += 1
    return best


def held(compiled):
    """Megabytes that a compiled step holds, with what goes in and comes out."""
    memory = compiled.memory_analysis()
    return (memory.temp_size_in_bytes + memory.argument_size_in_bytes + memory.output_size_in_bytes) / 2**20


def on_cpu(report: Report, *, quick: bool, peers: bool) -> None:
    theirs = peer("opacus", OPACUS, "learn_opacus.py", "3" if quick else "10", report=report) if peers else None
    for name, net in NETS.items():
        losses, params, batch = net(np.random.default_rng(3), **({"examples": 8} if quick and net in LONG else {}))
        examples = jax.tree.leaves(batch)[0].shape[0]
        given = params, batch, jnp.ones(examples)
        speeds = {}
        for way, step in ways(losses).items():
            made = jax.jit(step).lower(*given).compile()
            speeds[way] = examples / timed(made, given, time.process_time, 0.4 if quick else 4)
            report.figure(name, way, speeds[way], "examples/CPU s")
            report.figure(name, f"  {way}, memory", held(made), "MB")
        for way, speed in (theirs or {}).get(net.__name__, {}).items():
            speeds[way] = speed
            report.figure(name, way, speed, "examples/CPU s")
        ratio = speeds["auto"] / speeds["not private"]
        report.figure(name, "auto / not private", ratio, "x", at_least=TARGETS.get(name))
        if net not in (learn_nets.mlp, learn_nets.cnn):
            report.figure(name, "auto / vmap", speeds["auto"] / speeds["vmap"], "x", at_least=1)
        if "Opacus ghost" in speeds:
            target = 2 if net is learn_nets.mlp else None
            report.figure(name, "auto / Opacus ghost", speeds["auto"] / speeds["Opacus ghost"], "x", at_least=target)
    for name in ("MLP 60-1000-10", "small CNN"):
        with_noise(report, name, repeats=2 if quick else 6)
    report.figure("all", "peak memory", peak_megabytes(), "MB")


def with_noise(report: Report, name: str, repeats: int) -> None:
    """The sum of a lot and its noise, exact and drawn on the device."""
    losses, params, data = NETS[name](np.random.default_rng(3), LOT)
    size = sum(leaf.size for leaf in jax.tree.leaves(params))
    taken = {}
    for noise in ("device", "exact"):
        recipe = Recipe(examples=100 * LOT, lot=LOT, steps=1, bound=1, multiplier=1, noise=noise)
        step, lot = Step(losses, recipe, None), microbatches(np.arange(LOT), capacity(recipe, 1, size))
        placed = step.place(data)

        def run(step=step, lot=lot, placed=placed):
            secret = bytes(32)
            return jax.block_until_ready(
                step.add_noise(step.sum_lot(params, placed, lot, secret, 0), params, secret, 0)
            )

        taken[noise] = cpu_seconds(run, repeats)
        report.figure(f"{name}, with noise", noise, 1e3 * taken[noise], "CPU ms a step")
    report.figure(f"{name}, with noise", "exact / device", taken["exact"] / taken["device"], "x", at_most=10)


def on_gpu(report: Report, *, quick: bool) -> None:
    from discreet.learn.nets import wide_residual

    begun = time.monotonic()
    net = wide_residual(16, 4)
    params = net.init(jax.random.key(0))
    size = sum(leaf.size for leaf in jax.tree.leaves(params))
    report.note(f"{jax.devices()[0].device_kind}, jax {jax.__version__}, {size:,} parameters")
    images = jax.random.normal(jax.random.key(1), (MICROBATCH, 32, 32, 3))
    labels = jax.random.randint(jax.random.key(2), (MICROBATCH,), 0, 10)
    # The head starts at zero, which would stop all gradients below it.
    params["head"]["weights"] = 0.1 * jax.random.normal(jax.random.key(3), params["head"]["weights"].shape)

    def losses(params, batch):
        return learn_nets.cross_entropy(net.apply(params, batch[0]), batch[1])

    report.note(explain(losses, params, (images, labels)))
    time_ways(report, "WRN-16-4, one GPU", losses, params, (images, labels), begun if quick else None, 25_000)
    for name in ("transformer", "transformer, checkpointed", "LoRA", "LSTM"):
        losses, params, batch = NETS[name](np.random.default_rng(3), MICROBATCH)
        time_ways(report, f"{name}, one GPU", losses, params, batch, begun if quick else None)


def time_ways(
    report: Report, name: str, losses, params, batch, begun: float | None, target: float | None = None
) -> None:
    """Wall time and memory of every way on a GPU; in a quick run (`begun`) those for which there is time."""
    examples, quick = jax.tree.leaves(batch)[0].shape[0], begun is not None
    given = params, batch, jnp.ones(examples)
    speeds = {}
    for way, step in ways(losses, gpu=True).items():
        if begun is not None and time.monotonic() - begun > 110:
            report.note(f"{way} left out: time is up")
            continue
        start = time.monotonic()
        try:
            made = jax.jit(step).lower(*given).compile()
            report.note(f"{way}: compiled in {time.monotonic() - start:.0f} s")
            speeds[way] = examples / timed(made, given, time.perf_counter, 1.5 if quick else 5, least=10)
        except (RuntimeError, ValueError) as problem:  # out of memory, mostly: the others still count
            report.note(f"{way} did not run: {str(problem)[:300]}")
            continue
        goal = target if way.startswith("auto") else None
        report.figure(name, way, speeds[way], "examples/s", at_least=goal)
        report.figure(name, f"  {way}, memory", held(made), "MB")
    for way in [way for way in speeds if way != "not private" and "not private" in speeds]:
        report.figure(name, f"{way} / not private", speeds[way] / speeds["not private"], "x")


def main() -> None:
    options = arguments(__doc__.splitlines()[0], gpu={"action": "store_true", "help": "the part for a GPU"})
    report = Report("learn_speed", as_json=options.json)
    if not options.gpu:
        on_cpu(report, quick=options.quick, peers=not options.no_peers)
    elif jax.default_backend() == "gpu":
        on_gpu(report, quick=options.quick)
    else:
        report.note("JAX sees no GPU here; nothing measured")


if __name__ == "__main__":
    main()
