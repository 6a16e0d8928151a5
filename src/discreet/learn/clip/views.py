"""Parameters in other places: slices, reshapes and transposes that give entries new positions and leave their values.

A gradient keeps its norm through such moves. Where two uses of a parameter touch different entries of it, their
gradients are at right angles, as if they were two parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from discreet.learn.clip.flat import Flat, Step, apply_step

__all__ = ["View", "view_of"]

_KEEP = {"reshape", "transpose", "squeeze", "expand_dims", "copy", "copy_p", "neg", "rev"}
_CUT = {"slice", "split", "dynamic_slice"}
_LARGEST = 2**27  # entries of a parameter whose positions are numbered

Array = Any


@dataclass(frozen=True, eq=False)
class _Move:
    """One step on the way from a parameter to a view, made in every turn of `turns` scans."""

    step: Step
    output: int
    turns: int
    others: tuple[Any, ...]  # where a slice starts


@dataclass(frozen=True, eq=False)
class View:
    """A value that holds entries of one parameter, each at most once.

    `chain` are the values on the way, from the parameter on. `stacked` are the scans (counted from the outermost) whose
    turns each have a slice of their own; the view of all turns together has an axis for each of them in front.
    """

    leaf: int
    chain: tuple[int, ...]
    moves: tuple[_Move, ...]
    stacked: frozenset[int]
    whole: bool  # every entry of the parameter is in it

    def apply(self, leaf: Array) -> Array:
        """The view of an array in the shape of the parameter, whatever its type: entries move, no cast is made."""
        for move in self.moves:

            def moved(array: Array, move: _Move = move) -> Array:
                return apply_step(move.step, [array, *move.others])[move.output]

            for _ in range(move.turns):
                moved = jax.vmap(moved)
            leaf = moved(leaf)
        return leaf

    def entries(self, shape: tuple[int, ...]) -> NDArray[np.bool_] | None:
        """Which entries of the parameter are in the view; None for all of them, or where that is not known."""
        size = int(np.prod(shape))
        if self.whole or size > _LARGEST:
            return None
        with jax.ensure_compile_time_eval():
            numbers = np.asarray(self.apply(jnp.arange(1, size + 1, dtype=jnp.int32).reshape(shape)))
        mask = np.zeros(size, dtype=bool)
        mask[np.abs(numbers).ravel() - 1] = True
        return mask


def view_of(flat: Flat, value: int) -> View | None:
    """The value as a view of one parameter, or None where it is computed in another way."""
    chain, stacked = [value], set()
    back: list[tuple[Step, int] | None] = []  # None: a scan is left
    while value not in flat.leaves:
        if value in flat.stacks:
            stacked.add(flat.depths[value] - 1)
            back.append(None)
            value = flat.stacks[value]
        else:
            step = flat.maker.get(value)
            if step is None or not _moves(flat, step, value):
                return None
            back.append((step, step.outputs.index(value)))
            value = step.inputs[0]
        chain.append(value)
    if flat.kinds[value] != "parameter":
        return None
    moves, turns, whole = [], 0, True
    for entry in reversed(back):
        if entry is None:
            turns += 1
            continue
        step, output = entry
        whole = whole and step.name not in _CUT
        if step.name != "convert_element_type":
            moves.append(_Move(step, output, turns, tuple(flat.constants[at] for at in step.inputs[1:])))
    return View(flat.leaves.index(value), tuple(reversed(chain)), tuple(moves), frozenset(stacked), whole)


def _moves(flat: Flat, step: Step, value: int) -> bool:
    given, made = flat.shapes[step.inputs[0]], flat.shapes[value]
    if not all(at in flat.constants for at in step.inputs[1:]):
        return False
    match step.name:
        case "convert_element_type":
            return given.dtype.kind in "fV" and made.dtype.kind in "fV"  # V: bfloat16
        case "broadcast_in_dim":
            return bool(given.size == made.size)
        case name:
            return name in _KEEP or name in _CUT
