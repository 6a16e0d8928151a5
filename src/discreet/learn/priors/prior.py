"""A prior: where private training on images starts, learned from pictures of nothing and nobody.

The weights are shipped with the package, as bfloat16, with a card that says how they were made. No photograph and no
person's data is behind them, so using one costs nothing and needs nobody's leave.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from discreet.errors import InputError
from discreet.learn.nets import Net, wide_residual

__all__ = ["PRIORS", "Prior", "read_prior", "write_prior"]

Array = Any
Tree = Any
PRIORS = ("wide-16-4",)
"""The priors that are shipped."""
_GAUGE = ("gauge.mean", "gauge.turn")


@dataclass(frozen=True, slots=True, eq=False)
class Prior:
    """A wide residual net, the weights of all of it but the head, and how they were made (`card`).

    `mean` and `turn` are of what the net sees in made-up pictures: with them features have mean zero and spread alike
    in all directions there, so that noise on a head's gradient drowns none of them.
    """

    name: str
    net: Net
    body: Tree
    mean: Array
    turn: Array
    card: Mapping[str, Any]

    def params(self, classes: int) -> Tree:
        """The weights to start from, with a head of zeros for so many classes."""
        width = self.body["norm"]["scale"].shape[0]
        return {**self.body, "head": {"weights": jnp.zeros((width, classes)), "bias": jnp.zeros(classes)}}

    def __reduce__(self) -> tuple[Any, ...]:
        """Of the net only its card is pickled."""
        return _rebuilt, (self.name, self.body, self.mean, self.turn, dict(self.card))

    def __repr__(self) -> str:
        return f"Prior({self.name}: {self.card['made']})"


def read_prior(name: str | Path = PRIORS[0]) -> Prior:
    """A prior that is shipped, by its name, or one's own: the path of the file that `write_prior` wrote.

    The weights are checked against the SHA-256 on their card.
    """
    if isinstance(name, str) and not name.endswith(".npz"):
        if name not in PRIORS:
            raise InputError("prior", name, "the name of a prior, or the path of an .npz file", among=PRIORS)
        path: Any = files("discreet.learn.priors").joinpath(f"{name}.npz")
    else:
        path = Path(name)
        if not path.is_file() or not path.with_suffix(".json").is_file():
            raise InputError("prior", str(path), "a file that write_prior wrote, with its card (.json) beside it")
    beside = path.with_suffix(".json") if isinstance(path, Path) else files("discreet.learn.priors") / f"{name}.json"
    card, content = json.loads(beside.read_text()), path.read_bytes()
    if hashlib.sha256(content).hexdigest() != card["sha256"]:
        raise InputError(
            "prior", str(name), "a file with the SHA-256 that its card states", "Install or copy it again."
        )
    net = net_of(card)
    with np.load(io.BytesIO(content)) as arrays:
        bits = dict(arrays)
    mean, turn = (_floats(bits.pop(name)) for name in _GAUGE)
    return Prior(str(card["name"]), net, _body_like(net, bits), mean, turn, card)


def _rebuilt(name: str, body: Tree, mean: Array, turn: Array, card: Mapping[str, Any]) -> Prior:
    return Prior(name, net_of(card), body, mean, turn, card)


def net_of(card: Mapping[str, Any]) -> Net:
    """The net that a card describes; on an accelerator activations are bfloat16."""
    low = jax.default_backend() != "cpu"
    return wide_residual(int(card["depth"]), int(card["width"]), standardise=True, low_precision=low)


def write_prior(path: Path, body: Tree, gauge: tuple[Array, Array], card: Mapping[str, Any]) -> dict[str, Any]:
    """Write weights (.npz, bfloat16) and their card (.json) beside them; the card with its SHA-256 comes back."""
    content = io.BytesIO()
    named = {**_named(body), **dict(zip(_GAUGE, gauge, strict=True))}
    low: dict[str, Any] = {name: np.asarray(jnp.asarray(leaf, jnp.bfloat16)) for name, leaf in named.items()}
    bits: dict[str, Any] = {name: leaf.view(np.uint16) for name, leaf in low.items()}
    np.savez_compressed(content, **bits)
    whole = {**card, "sha256": hashlib.sha256(content.getvalue()).hexdigest()}
    path.write_bytes(content.getvalue())
    path.with_suffix(".json").write_text(json.dumps(whole, indent=2) + "\n")
    return whole


def _named(body: Tree) -> dict[str, Any]:
    """The arrays of a body by where they stand in it."""
    paths = jax.tree_util.tree_leaves_with_path(body)
    return {".".join(re.findall(r"\w+", jax.tree_util.keystr(path))): leaf for path, leaf in paths}


def _body_like(net: Net, bits: Mapping[str, Any]) -> Tree:
    shapes: Any = jax.eval_shape(net.init, jax.random.key(0))
    like = {name: part for name, part in shapes.items() if name != "head"}
    wanted = _named(like)
    if {name: leaf.shape for name, leaf in wanted.items()} != {name: leaf.shape for name, leaf in bits.items()}:
        raise InputError("prior", sorted(bits)[:3], "weights of the net that its card describes")
    return jax.tree.unflatten(jax.tree.structure(like), [_floats(bits[name]) for name in wanted])


def _floats(bits: Any) -> Array:
    return jnp.asarray(bits.view(jnp.bfloat16).astype(np.float32))
