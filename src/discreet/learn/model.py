"""What is trained on a table: a model by name, or any `apply(params, x)` of JAX with parameters to start from."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from discreet.errors import InputError, Phrase
from discreet.learn.encoding import Encoding
from discreet.learn.gradients import Augment, Losses
from discreet.learn.objective import cross_entropy, squared
from discreet.learn.recipe import Recipe
from discreet.learn.row_keys import predictor
from discreet.learn.trainer import check_losses, losses_of

__all__ = ["Model", "check_trainable", "fit_model", "model_named", "pack_weights", "two_rows", "unpack_weights"]

Tree = Any
Array = Any
_NAMES = ("logistic", "mlp")
_WIDEST = 100_000
_LONGEST = 200  # characters of a name, which cards and pages show


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A function `apply(params, x) -> outputs` and the parameters it starts from, all public.

    Or `apply(params, x, key)`, where rows are trained with keys of their own (dropout) and predicted with `key=None`.
    `params` is a tree of arrays, or a function of the number of inputs and of outputs that makes one. `loss(outputs,
    y)` is one number for each example; by default cross entropy for classes and squared distance for numbers.
    """

    apply: Callable[[Tree, Array], Array]
    params: Tree
    loss: Callable[[Array, Array], Array] | None = None
    name: str = "model"
    hidden: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        named = isinstance(self.name, str) and 0 < len(self.name) <= _LONGEST and self.name.isprintable()
        if not named:
            raise InputError("name", self.name, f"a printable name of at most {_LONGEST} characters")

    @property
    def losses(self) -> Losses:
        """The loss of each example of a batch (x, y)."""
        return losses_of(self.apply, self.loss or cross_entropy)

    @property
    def described(self) -> dict[str, Any]:
        """Plain values for the record."""
        return {"name": self.name, "hidden": list(self.hidden)}


def model_named(name: str, hidden: Sequence[int] = ()) -> Model:
    """ "logistic" (one line for each class, or for a number) or "mlp" (layers of `hidden` units between)."""
    if name not in _NAMES:
        hint = "On a command line a model of your own is named MODULE:OBJECT, such as mine:net."
        raise InputError("model", name, "a Model, or the name of one", hint, among=_NAMES)
    sizes = tuple(hidden) if name == "mlp" else ()
    if name == "mlp" and not sizes:
        sizes = (64,)
    if name == "logistic" and hidden:
        raise InputError("hidden", list(hidden), "left out: only the model mlp has hidden layers")
    for size in sizes:
        if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= _WIDEST:
            raise InputError("hidden", size, f"whole numbers from 1 to {_WIDEST:,}")

    def params(inputs: int, outputs: int) -> Tree:
        wide = (inputs, *sizes, outputs)
        # A fixed key: where training starts is public, and the same for everyone.
        keys = jax.random.split(jax.random.key(0), len(wide))
        return [
            {
                "w": jax.random.normal(keys[i], (a, b)) * (np.sqrt(2 / a) if sizes else 0.0),
                "b": jnp.zeros(b),
            }
            for i, (a, b) in enumerate(pairwise(wide))
        ]

    return Model(_layers, params, None, name, sizes)


def _layers(params: Tree, x: Array) -> Array:
    for layer in params[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


def fit_model(model: Model, encoding: Encoding) -> Model:
    """The model for a table: parameters made, loss chosen, and outputs as many as there are classes."""
    outputs = len(encoding.classes) or 1
    params = model.params(encoding.width, outputs) if callable(model.params) else model.params
    loss = model.loss or (cross_entropy if encoding.classes else squared)
    shaped: Any = jax.ShapeDtypeStruct
    try:
        found = jax.eval_shape(predictor(model.apply), params, shaped((2, encoding.width), np.float32))
        shape = getattr(found, "shape", None)
    except (TypeError, ValueError) as problem:
        allowed = f"a function of (params, x) that takes x of shape (examples, {encoding.width})"
        hint = f"It says: {str(problem).splitlines()[0][:200]}"
        raise InputError("model", Phrase("one that fails"), allowed, hint) from None
    if model.loss is None and shape not in ((2, outputs), (2,) if outputs == 1 else (2, outputs)):
        raise InputError(
            "model", shape, f"a model with outputs of shape (examples, {outputs}) for {encoding.target.name!r}"
        )
    return Model(model.apply, params, loss, model.name, model.hidden)


def check_trainable(model: Model, encoding: Encoding, recipe: Recipe, augment: Augment | None = None) -> None:
    """Raise what training this model by a recipe would raise, before anything is spent or read."""
    check_losses(model.losses, model.params, two_rows(encoding), recipe, augment)


def two_rows(encoding: Encoding) -> tuple[Array, Array]:
    """Two made-up examples of a table, of the shapes that all have."""
    kind = np.int32 if encoding.classes else np.float32
    return np.zeros((2, encoding.width), dtype=np.float32), np.zeros(2, dtype=kind)


def pack_weights(tree: Tree) -> list[dict[str, Any]]:
    """The arrays of a tree as plain values, bit for bit."""
    packed = []
    for leaf in jax.tree.leaves(tree):
        array = np.asarray(leaf)
        data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
        packed.append({"kind": str(array.dtype), "shape": list(array.shape), "data": data})
    return packed


def unpack_weights(entries: Sequence[Mapping[str, Any]]) -> list[Any]:
    """What `pack_weights` was given, as a list of arrays."""
    found = []
    for entry in entries:
        data = base64.b64decode(entry["data"])
        found.append(np.frombuffer(data, dtype=jnp.dtype(entry["kind"])).reshape(entry["shape"]))
    return found
