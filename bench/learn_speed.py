"""Speed of clipped sums: examples a second beside plain training and Opacus, on a CPU and on one GPU.

python bench/learn_speed.py [--quick] [--json] [--no-peers]      CPU time, MLP 60-1000-10 and a small CNN, batch 600
python bench/learn_speed.py --gpu [--quick] [--json]             wall time, WRN-16-4 on 32x32x3, microbatch 512

The part for a GPU needs JAX and NumPy alone.
"""

from __future__ import annotations

import time

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from discreet.learn.clip import clipped_sum, explain
from harness import Report, arguments, peak_megabytes, peer

BATCH = 600
MICROBATCH = 512
OPACUS = ["torch==2.13.*", "opacus==1.6.*"]


def cross_entropy(outputs, labels):
    """The loss of each example."""
    return jax.nn.logsumexp(outputs, axis=-1) - jnp.take_along_axis(outputs, labels[:, None], axis=1)[:, 0]


def normal(chance, *shape):
    """Weights and a bias, scaled by what goes in."""
    return jnp.asarray(chance.normal(size=shape) / np.sqrt(np.prod(shape[:-1])), jnp.float32), jnp.zeros(shape[-1])


def mlp(chance):
    """60-1000-10: losses, parameters and a batch."""

    def losses(params, batch):
        (first, shift), (second, rest) = params
        return cross_entropy(jax.nn.relu(batch[0] @ first + shift) @ second + rest, batch[1])

    images = jnp.asarray(chance.normal(size=(BATCH, 60)), jnp.float32)
    return losses, [normal(chance, 60, 1000), normal(chance, 1000, 10)], images


def cnn(chance):
    """16 filters of 8x8 and 32 of 4x4, both of stride 2 with max pooling, then 32 and 10 units, on 28x28."""

    def convolved(x, weights, edge):
        x = lax.conv_general_dilated(x, weights[0], (2, 2), edge, dimension_numbers=("NHWC", "HWIO", "NHWC"))
        x = jax.nn.relu(x + weights[1])
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 1, 1, 1), "VALID")

    def losses(params, batch):
        x = convolved(batch[0], params[0], [(3, 3), (3, 3)])
        x = convolved(x, params[1], "VALID").reshape(batch[0].shape[0], -1)
        x = jax.nn.relu(x @ params[2][0] + params[2][1])
        return cross_entropy(x @ params[3][0] + params[3][1], batch[1])

    params = [normal(chance, *shape) for shape in ((8, 8, 1, 16), (4, 4, 16, 32), (512, 32), (32, 10))]
    return losses, params, jnp.asarray(chance.normal(size=(BATCH, 28, 28, 1)), jnp.float32)


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
    return {**found, "ghost": clipped(how="ghost"), "vmap": clipped(how="vmap")}


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


def on_cpu(report: Report, *, quick: bool, peers: bool) -> None:
    theirs = peer("opacus", OPACUS, "learn_opacus.py", "3" if quick else "10", report=report) if peers else None
    chance = np.random.default_rng(3)
    for name, net in (("MLP 60-1000-10", mlp), ("small CNN", cnn)):
        losses, params, images = net(chance)
        labels = jnp.asarray(chance.integers(0, 10, BATCH))
        given = params, (images, labels), jnp.ones(BATCH)
        speeds = {}
        for way, step in ways(losses).items():
            best = timed(jax.jit(step), given, time.process_time, 1.5 if quick else 6)
            speeds[way] = BATCH / best
            report.figure(name, way, speeds[way], "examples/CPU s")
        for way, speed in (theirs or {}).get(net.__name__, {}).items():
            speeds[way] = speed
            report.figure(name, way, speed, "examples/CPU s")
        target = 0.6 if net is mlp else None
        report.figure(name, "auto / not private", speeds["auto"] / speeds["not private"], "x", at_least=target)
        if "Opacus ghost" in speeds:
            target = 2 if net is mlp else None
            report.figure(name, "auto / Opacus ghost", speeds["auto"] / speeds["Opacus ghost"], "x", at_least=target)
    report.figure("all", "peak memory", peak_megabytes(), "MB")


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
        return cross_entropy(net.apply(params, batch[0]), batch[1])

    given = params, (images, labels), jnp.ones(MICROBATCH)
    report.note(explain(losses, params, (images, labels)))
    speeds = {}
    for way, step in ways(losses, gpu=True).items():
        if quick and time.monotonic() - begun > 110:
            report.note(f"{way} left out: time is up")
            continue
        start = time.monotonic()
        try:
            made = jax.jit(step).lower(*given).compile()
            report.note(f"{way}: compiled in {time.monotonic() - start:.0f} s")
            speeds[way] = MICROBATCH / timed(made, given, time.perf_counter, 1.5 if quick else 5, least=10)
            memory = made.memory_analysis()
        except (RuntimeError, ValueError) as problem:  # out of memory, mostly: the others still count
            report.note(f"{way} did not run: {str(problem)[:300]}")
            continue
        target = 25_000 if way.startswith("auto") else None
        report.figure("WRN-16-4, one GPU", way, speeds[way], "examples/s", at_least=target)
        if memory is not None:
            held = memory.temp_size_in_bytes + memory.argument_size_in_bytes + memory.output_size_in_bytes
            report.figure("WRN-16-4, one GPU", f"  {way}, memory", held / 2**20, "MB")
    for way in [way for way in speeds if way != "not private"]:
        ratio = speeds[way] / speeds["not private"]
        report.figure("WRN-16-4, one GPU", f"{way} / not private", ratio, "x")


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
