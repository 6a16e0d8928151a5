"""The steps of one example's loss: a jaxpr with the calls inside it laid open, and what each value depends on.

The loss is traced for a batch that holds one example only (its copies, where there are several). Whatever is computed
from these steps for a batch is therefore computed for every example alone, as `jax.vmap` would do it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
from jax.extend import core

__all__ = ["Flat", "Kind", "Step", "apply_step", "flatten", "of_rows", "trace"]

# Calls whose body can be run in place of the call. custom_jvp and custom_vjp stay closed: their rules must hold.
_OPEN = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "checkpoint": "jaxpr",
    "remat2": "jaxpr",
}

Kind = str  # "constant", "parameter" (depends on parameters alone) or "data"
Tree = Any


@dataclass(frozen=True, eq=False)
class Step:
    """One operation: values are numbered, each is written once."""

    equation: Any
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]

    @property
    def name(self) -> str:
        """What JAX calls the operation."""
        return str(self.equation.primitive.name)

    @property
    def params(self) -> dict[str, Any]:
        """The settings of the operation (dimension numbers, strides, ...)."""
        return dict(self.equation.params)


@dataclass(eq=False)
class Flat:
    """A straight list of steps with its inputs, constants, result and the kind of every value."""

    steps: list[Step]
    leaves: list[int]
    batch: list[int]
    constants: dict[int, Any]
    outcome: int
    shapes: dict[int, Any]
    kinds: dict[int, Kind] = field(default_factory=dict)
    maker: dict[int, Step] = field(default_factory=dict)

    def roots(self, value: int) -> frozenset[int]:
        """The parameters (places in `leaves`) that a value of kind parameter is computed from."""
        found, waiting, seen = set(), [value], set()
        places = {leaf: place for place, leaf in enumerate(self.leaves)}
        while waiting:
            one = waiting.pop()
            if one in seen or self.kinds[one] != "parameter":
                continue
            seen.add(one)
            if one in places:
                found.add(places[one])
            else:
                waiting.extend(self.maker[one].inputs)
        return frozenset(found)


def apply_step(step: Step, values: Sequence[Any]) -> list[Any]:
    """Run one operation on `values`."""
    equation = step.equation
    found = equation.primitive.get_bind_params(equation.params)
    functions, settings = found if isinstance(found, tuple) else ((), found)  # JAX before 0.8 gives functions too
    with equation.ctx.manager:
        made = equation.primitive.bind(*functions, *values, **settings)
    return list(made) if equation.primitive.multiple_results else [made]


def trace(losses: Callable[[Tree, Tree], Any], params: Tree, batch: Tree, copies: int) -> tuple[Flat, tuple[int, ...]]:
    """The steps of `losses` for one example of `copies` rows, and the shape of what it returns."""

    closed, shape = jax.make_jaxpr(losses, return_shape=True)(params, of_rows(batch, copies))
    leaves, rows = len(jax.tree.leaves(params)), len(jax.tree.leaves(batch))
    made = jax.tree.leaves(shape)
    outcome = made[0].shape if len(made) == 1 else ()
    return flatten(closed, leaves, rows), outcome


def of_rows(batch: Tree, rows: int) -> Tree:
    """The shapes of a batch of so many rows."""
    shaped: Any = jax.ShapeDtypeStruct
    return jax.tree.map(lambda leaf: shaped((rows, *leaf.shape[1:]), leaf.dtype), batch)


def flatten(closed: Any, leaves: int, rows: int, outcome: int = 0) -> Flat:
    """Lay a jaxpr open: `leaves` inputs are parameters, the next `rows` the batch; `outcome` is which output counts."""
    numbers = itertools.count()
    steps: list[Step] = []
    constants: dict[int, Any] = {}
    shapes: dict[int, Any] = {}

    def fresh(aval: Any) -> int:
        number = next(numbers)
        shapes[number] = aval
        return number

    def walk(jaxpr: Any, consts: Sequence[Any], inputs: Sequence[int]) -> list[int]:
        place: dict[Any, int] = dict(zip(jaxpr.invars, inputs, strict=True))
        for variable, value in zip(jaxpr.constvars, consts, strict=True):
            place[variable] = fresh(variable.aval)
            constants[place[variable]] = value

        def read(atom: Any) -> int:
            if isinstance(atom, core.Literal):
                number = fresh(atom.aval)
                constants[number] = atom.val
                return number
            return place[atom]

        for equation in jaxpr.eqns:
            given = [read(atom) for atom in equation.invars]
            body = _body(equation)
            if body is not None:
                made = walk(*body, given)
            else:
                made = [fresh(variable.aval) for variable in equation.outvars]
                steps.append(Step(equation, tuple(given), tuple(made)))
            place.update(zip(equation.outvars, made, strict=True))
        return [read(atom) for atom in jaxpr.outvars]

    inputs = [fresh(variable.aval) for variable in closed.jaxpr.invars]
    made = walk(closed.jaxpr, closed.consts, inputs)[outcome]
    flat = Flat(_needed(steps, made), inputs[:leaves], inputs[leaves : leaves + rows], constants, made, shapes)
    _classify(flat)
    return flat


def _body(equation: Any) -> tuple[Any, Sequence[Any]] | None:
    inner = equation.params.get(_OPEN.get(equation.primitive.name, ""))
    if inner is None:
        return None
    return (inner.jaxpr, inner.consts) if hasattr(inner, "consts") else (inner, ())


def _needed(steps: list[Step], outcome: int) -> list[Step]:
    needed, used = {outcome}, []
    for step in reversed(steps):
        if needed.intersection(step.outputs):
            needed.update(step.inputs)
            used.append(step)
    return used[::-1]


def _classify(flat: Flat) -> None:
    """Parameters that are whole numbers are constants: they have no gradient."""
    kinds = flat.kinds
    kinds.update(dict.fromkeys(flat.constants, "constant"))
    kinds.update(dict.fromkeys(flat.batch, "data"))
    for leaf in flat.leaves:
        kinds[leaf] = "parameter" if _real(flat.shapes[leaf]) else "constant"
    for step in flat.steps:
        given = {kinds[value] for value in step.inputs}
        kind = "data" if "data" in given else "parameter" if "parameter" in given else "constant"
        for value in step.outputs:
            kinds[value] = kind
            flat.maker[value] = step


def _real(aval: Any) -> bool:
    return bool(jax.numpy.issubdtype(aval.dtype, jax.numpy.floating))
