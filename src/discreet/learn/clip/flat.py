"""The steps of one example's loss: a jaxpr with the calls inside it laid open, and what each value depends on.

The loss is traced for a batch that holds one example only (its copies, where there are several). Whatever is computed
from these steps for a batch is therefore computed for every example alone, as `jax.vmap` would do it. Scans and
checkpoints in which parameters meet data stay what they are, with steps of their own inside.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
from jax.extend import core

__all__ = ["Flat", "Kind", "Region", "Step", "apply_step", "flatten", "of_rows", "scan_counts", "trace"]

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


_CHECKPOINTS = ("checkpoint", "remat2")


@dataclass(frozen=True, eq=False)
class Region:
    """The inside of a scan or a checkpoint.

    Its steps read values of the outside by their own numbers. In a scan every turn has values `carried` over from the
    turn before and slices (`sliced`) of what is scanned over; `results` are what is carried on and what is stacked.
    """

    steps: list[Step]
    carried: tuple[int, ...]
    sliced: tuple[int, ...]
    results: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Step:
    """One operation: values are numbered, each is written once."""

    equation: Any
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    region: Region | None = None

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
    stacks: dict[int, int] = field(default_factory=dict)  # of a slice in a scan: what it is a slice of
    depths: dict[int, int] = field(default_factory=dict)  # scans around a value

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
            elif one in self.stacks:
                waiting.append(self.stacks[one])
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
    return flatten(closed, leaves, rows, nested=True), outcome


def of_rows(batch: Tree, rows: int) -> Tree:
    """The shapes of a batch of so many rows."""
    shaped: Any = jax.ShapeDtypeStruct
    return jax.tree.map(lambda leaf: shaped((rows, *leaf.shape[1:]), leaf.dtype), batch)


def flatten(closed: Any, leaves: int, rows: int, outcome: int = 0, *, nested: bool = False) -> Flat:
    """Lay a jaxpr open: `leaves` inputs are parameters, the next `rows` the batch; `outcome` is which output counts.

    With `nested`, scans and checkpoints in which parameters meet data become steps with a region.
    """
    walk = _Walk(nested)
    inputs = [walk.fresh(variable.aval, "data") for variable in closed.jaxpr.invars]
    for leaf in inputs[:leaves]:  # whole numbers are constants: they have no gradient
        walk.flat.kinds[leaf] = "parameter" if _real(walk.flat.shapes[leaf]) else "constant"
    flat = walk.flat
    flat.leaves, flat.batch = inputs[:leaves], inputs[leaves : leaves + rows]
    flat.outcome = walk.through(closed.jaxpr, closed.consts, inputs, flat.steps)[outcome]
    flat.steps = _needed(flat.steps, flat.outcome)
    return flat


class _Walk:
    """Goes through a jaxpr and the ones inside it, and numbers their values."""

    def __init__(self, nested: bool) -> None:
        self.nested, self.depth, self.numbers = nested, 0, itertools.count()
        self.flat = Flat([], [], [], {}, -1, {})

    def fresh(self, aval: Any, kind: Kind) -> int:
        number = next(self.numbers)
        self.flat.shapes[number], self.flat.kinds[number], self.flat.depths[number] = aval, kind, self.depth
        return number

    def constant(self, aval: Any, value: Any) -> int:
        number = self.fresh(aval, "constant")
        self.flat.constants[number] = value
        return number

    def through(self, jaxpr: Any, consts: Sequence[Any], inputs: Sequence[int], steps: list[Step]) -> list[int]:
        """Append the steps of a jaxpr; the numbers of its results."""
        known: dict[Any, int] = dict(zip(jaxpr.invars, inputs, strict=True))
        for variable, value in zip(jaxpr.constvars, consts, strict=True):
            known[variable] = self.constant(variable.aval, value)

        def read(atom: Any) -> int:
            return self.constant(atom.aval, atom.val) if isinstance(atom, core.Literal) else known[atom]

        for equation in jaxpr.eqns:
            made = self._equation(equation, [read(atom) for atom in equation.invars], steps)
            known.update(zip(equation.outvars, made, strict=True))
        return [read(atom) for atom in jaxpr.outvars]

    def _equation(self, equation: Any, given: list[int], steps: list[Step]) -> Sequence[int]:
        name, body = equation.primitive.name, _body(equation)
        kinds = {self.flat.kinds[value] for value in given}
        if self.nested and {"data", "parameter"} <= kinds:
            if name == "scan":
                return self._scan(equation, given, steps)
            if name in _CHECKPOINTS and body is not None:
                inside: list[Step] = []
                results = tuple(self.through(*body, given, inside))
                steps.append(Step(equation, tuple(given), results, Region(inside, (), (), results)))
                return results
        if body is not None and not (self.nested and name in _CHECKPOINTS):
            return self.through(*body, given, steps)
        kind = "data" if "data" in kinds else "parameter" if "parameter" in kinds else "constant"
        made = [self.fresh(variable.aval, kind) for variable in equation.outvars]
        step = Step(equation, tuple(given), tuple(made))
        self.flat.maker.update(dict.fromkeys(made, step))
        steps.append(step)
        return made

    def _scan(self, equation: Any, given: list[int], steps: list[Step]) -> Sequence[int]:
        """A scan as a step with a region. What is carried counts as data unless it is constant in every turn."""
        kinds, body = self.flat.kinds, equation.params["jaxpr"]
        first, count = scan_counts(equation.params)
        last = first + count
        avals = [variable.aval for variable in body.jaxpr.invars]
        carry = [_carried(kinds[value]) for value in given[first:last]]
        self.depth += 1
        while True:
            inside: list[Step] = []
            carried = [self.fresh(aval, kind) for aval, kind in zip(avals[first:last], carry, strict=True)]
            sliced = [self.fresh(aval, kinds[stack]) for aval, stack in zip(avals[last:], given[last:], strict=True)]
            self.flat.stacks.update(zip(sliced, given[last:], strict=True))
            results = self.through(body.jaxpr, body.consts, [*given[:first], *carried, *sliced], inside)
            after = [
                _carried(kinds[value]) if kind == "constant" else kind
                for value, kind in zip(results[: len(carry)], carry, strict=True)
            ]
            if after == carry:
                break
            carry = after
        self.depth -= 1
        made = [
            self.fresh(variable.aval, _carried(kinds[value]))
            for variable, value in zip(equation.outvars, results, strict=True)
        ]
        region = Region(inside, tuple(carried), tuple(sliced), tuple(results))
        steps.append(Step(equation, tuple(given), tuple(made), region))
        return made


def scan_counts(settings: Mapping[str, Any]) -> tuple[int, int]:
    """How many values a scan is given as they are, and how many it carries from turn to turn."""
    if "ft_in" in settings:  # from JAX 0.11 on
        constants, carried, _ = settings["ft_in"].unpack()
        return len(constants), len(carried)
    return settings["num_consts"], settings["num_carry"]


def _carried(kind: Kind) -> Kind:
    """The kind of what a scan carries or gives: every example has its own, unless it is constant."""
    return "constant" if kind == "constant" else "data"


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


def _real(aval: Any) -> bool:
    return bool(jax.numpy.issubdtype(aval.dtype, jax.numpy.floating))
