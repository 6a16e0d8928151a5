"""Images of handwritten digits, as published or made up, for the benchmarks of training."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np

from harness import ENVIRONMENTS, Report


def images(folder: Path | None, report: Report) -> dict[str, np.ndarray]:
    """Training and test images from 0 to 1, and their labels."""
    home = (folder or ENVIRONMENTS / "data") / "mnist"
    if not home.exists():
        report.note(f"no {home.name} under --data: images are made up")
        return invented()

    def read(name: str, header: int) -> np.ndarray:
        return np.frombuffer(gzip.decompress((home / f"{name}.gz").read_bytes()), np.uint8, offset=header)

    found = {}
    for kind, name in (("", "train"), ("test ", "t10k")):
        pixels = read(f"{name}-images-idx3-ubyte", 16).reshape(-1, 28, 28)
        found[f"{kind}x"] = pixels.astype(np.float32) / 255
        found[f"{kind}y"] = read(f"{name}-labels-idx1-ubyte", 8).astype(np.int32)
    return found


def invented(count: int = 6_000) -> dict[str, np.ndarray]:
    """Ten pictures, shifted and blurred by noise."""
    chance = np.random.default_rng(7)
    labels = chance.integers(0, 10, count).astype(np.int32)
    looks = np.kron(chance.random((10, 7, 7)) < 0.4, np.ones((4, 4)))
    pixels = np.clip(looks[labels] * chance.random((count, 1, 1)) + 0.3 * chance.random((count, 28, 28)), 0, 1)
    cut = count * 5 // 6
    pixels = pixels.astype(np.float32)
    return {"x": pixels[:cut], "y": labels[:cut], "test x": pixels[cut:], "test y": labels[cut:]}


def held_out(data: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The last sixth of the training images in place of the test images."""
    cut = len(data["x"]) * 5 // 6
    return {"x": data["x"][:cut], "y": data["y"][:cut], "test x": data["x"][cut:], "test y": data["y"][cut:]}


def strokes(count: int) -> np.ndarray:
    """Images of one to three random curves, made from nobody's handwriting."""
    chance = np.random.default_rng(1)
    t = np.linspace(0, 1, 24)
    curve = np.stack([(1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t**2, t**3], axis=1)
    ends = chance.uniform(5, 23, (count, 3, 4, 2))
    for one in (1, 2):  # most curves begin where the last one ended
        joined = chance.random((count, 1)) < 0.6
        ends[:, one, 0] = np.where(joined, ends[:, one - 1, 3], ends[:, one, 0])
    points = np.einsum("tk,nskc->nstc", curve, ends).reshape(count, -1, 2)
    shown = np.repeat(np.arange(3)[None, :] < chance.integers(1, 4, (count, 1)), len(t), axis=1)
    points = np.where(shown[..., None], points, 1e3).astype(np.float32)
    centres = np.arange(28, dtype=np.float32) + 0.5
    nearest = np.full((count, 28, 28), np.inf, dtype=np.float32)  # squared distance to a curve
    for place in range(points.shape[1]):
        down, right = ((centres - points[:, place, axis, None]) ** 2 for axis in (0, 1))
        np.minimum(nearest, down[:, :, None] + right[:, None, :], out=nearest)
    wide = chance.uniform(1.3, 2.2, (count, 1, 1)).astype(np.float32)
    return np.clip(wide - np.sqrt(nearest), 0, 1)
