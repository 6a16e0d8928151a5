"""Make a prior anew: python -m discreet.learn.priors --out FILE.npz.

The shipped one took 450 seconds on one NVIDIA H200. The same command makes the same pictures everywhere; weights agree
as far as the arithmetic of two devices does.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import jax

from discreet.learn.priors.contrast import gauged, learn_to_see
from discreet.learn.priors.prior import net_of, write_prior


def main(arguments: list[str] | None = None) -> None:
    """Learn to see, and write the weights and their card."""
    parser = argparse.ArgumentParser(prog="python -m discreet.learn.priors", description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="the file to write, ending in .npz")
    parser.add_argument("--steps", type=int, default=11_000)
    parser.add_argument("--batch", type=int, default=1536, help="scenes in a step")
    parser.add_argument("--depth", type=int, default=16)
    parser.add_argument("--width", type=int, default=4)
    parser.add_argument("--scenes", type=int, default=3000, help="scenes whose features are evened out")
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args(arguments)
    if given.out.suffix != ".npz":
        parser.error("--out must end in .npz")
    shape = {"depth": given.depth, "width": given.width}
    began = time.perf_counter()
    net = net_of(shape)
    body = learn_to_see(
        net,
        steps=given.steps,
        batch=given.batch,
        seed=given.seed,
        after=lambda step, loss: print(f"step {step:,} of {given.steps:,}, loss {loss:.3f}", flush=True),
    )
    gauge = gauged(net, body, given.scenes, seed=given.seed)
    card = {
        "name": given.out.stem,
        **shape,
        "made": f"{given.steps * given.batch:,} made-up scenes, each taken twice; no photograph",
        "steps": given.steps,
        "batch": given.batch,
        "scenes": given.scenes,
        "seed": given.seed,
        "device": jax.devices()[0].device_kind,
        "jax": jax.__version__,
        "seconds": round(time.perf_counter() - began),
    }
    write_prior(given.out, body, gauge, card)


if __name__ == "__main__":
    main()
