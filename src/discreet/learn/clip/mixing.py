"""Models whose loss for one example depends on others are refused: batch norm, contrastive losses, batch means.

The loss is traced (shapes only, no data) for a batch of several examples, and the axis of examples is followed through
every operation. Clipping itself never needs this: it runs each example alone, so it is private whatever the model is.
But a model that mixes examples would then be trained as another model than the one written down, without a word.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import jax
from jax.extend import core

from discreet.errors import InputError
from discreet.learn.clip import mixing_rules
from discreet.learn.clip.flat import Flat, Step, apply_step, flatten, of_rows
from discreet.learn.clip.mixing_rules import Lost, Mixed, Place, Where

__all__ = ["refuse_mixing", "values_of"]

_MANY = (31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79)  # examples to trace with: numbers that no other axis has
_SMALL = 100_000  # constants up to this size are worked out, to know an example's own number when it is used


def refuse_mixing(losses: Callable[[Any, Any], Any], params: Any, batch: Any, *, copies: int = 1) -> tuple[str, ...]:
    """Raise InputError naming the operation that mixes examples; else the operations that could not be followed.

    An empty answer is a proof that each loss depends on its own example (and its copies) alone, in batches of two sizes
    that no axis inside the model has or is a multiple of. Only shapes are looked at. Operations that could not be
    followed are safe for privacy (each example is run alone) but might make the trained model differ from the one
    written down.
    """
    traces: dict[int, Any] = {}

    def traced(many: int) -> Any:
        if many not in traces:
            traces[many] = jax.make_jaxpr(losses)(params, of_rows(batch, many * copies))
        return traces[many]

    # Sizes that stay when the batch grows are the model's own. With as many examples, its axes could pass for theirs.
    own = _sizes(traced(_MANY[-1]).jaxpr) & _sizes(traced(_MANY[-2]).jaxpr)
    apart = [many for many in _MANY if not any(size and size % many == 0 for size in own)]
    lost: set[str] = set()
    for many in (apart if len(apart) > 1 else _MANY)[:2]:
        flat = flatten(traced(many), len(jax.tree.leaves(params)), len(jax.tree.leaves(batch)))
        follower = _Follower(many)
        places: dict[int, Where] = dict.fromkeys(flat.batch, Place(0, copies))
        follower.follow(flat, places)
        outcome = places.get(flat.outcome)
        if isinstance(outcome, Place) and outcome != Place(0, copies):
            raise _refusal("the losses are not in the order of the examples")
        lost |= follower.lost
    return tuple(sorted(lost))


def values_of(jaxpr: Any) -> Iterator[Any]:
    """The types of all values of a program, within loops and calls too."""
    yield from (value.aval for value in (*jaxpr.invars, *jaxpr.constvars))
    for equation in jaxpr.eqns:
        yield from (value.aval for value in equation.outvars)
        for setting in equation.params.values():
            for part in setting if isinstance(setting, (tuple, list)) else (setting,):
                inner = getattr(part, "jaxpr", part)
                if hasattr(inner, "eqns"):
                    yield from values_of(inner)


def _sizes(jaxpr: Any) -> set[int]:
    """The sizes of all axes of all values."""
    return {size for value in values_of(jaxpr) for size in getattr(value, "shape", ())}


class _Follower:
    def __init__(self, many: int) -> None:
        self.many = many
        self.lost: set[str] = set()

    def follow(self, flat: Flat, places: dict[int, Where]) -> None:
        """Fill in where the examples lie in every value that depends on them."""
        known: dict[int, Any] = dict(flat.constants)
        own: dict[int, frozenset[int]] = {}  # columns of indices that hold each row's own number
        for step in flat.steps:
            given = [places.get(value) for value in step.inputs]
            if all(place is None for place in given):
                self._work_out(flat, step, known)
                continue
            shapes = [tuple(flat.shapes[value].shape) for value in step.inputs]
            made = [tuple(flat.shapes[value].shape) for value in step.outputs]
            if step.name == "concatenate":
                own[step.outputs[0]] = self._own_columns(step, given, shapes, known)
            elif step.name == "convert_element_type" and step.inputs[0] in own:
                own[step.outputs[0]] = own[step.inputs[0]]
            try:
                found = self._through(flat, step, given, shapes, made, own)
            except Mixed as mixed:
                raise _refusal(f"{step.name} {mixed}") from None
            if any(isinstance(place, Lost) for place in found) and not any(isinstance(p, Lost) for p in given):
                self.lost.add(step.name)
            places.update(zip(step.outputs, found, strict=True))

    def _through(
        self,
        flat: Flat,
        step: Step,
        given: list[Where],
        shapes: list[tuple[int, ...]],
        made: list[tuple[int, ...]],
        own: dict[int, frozenset[int]],
    ) -> list[Where]:
        if any(isinstance(place, Lost) for place in given):
            return [Lost()] * len(made)
        inner = step.params.get("call_jaxpr", step.params.get("fun_jaxpr"))
        if inner is not None:
            return self._inside(inner, given)
        if step.name == "scan":
            return self._scan(step, given)
        if step.name == "cond":
            branches = [self._inside(branch, given[1:]) for branch in step.params["branches"]]
            if given[0] is not None:
                return [Lost()] * len(made)
            return [_joined(list(each)) for each in zip(*branches, strict=True)]
        if step.name == "gather":
            columns = own.get(step.inputs[1], frozenset())
            return [mixing_rules.gather(step.params, given, shapes, made[0], columns)]
        rule = mixing_rules.RULES.get(step.name)
        if rule is None:
            return [Lost()] * len(made)
        return rule(step.params, given, shapes, made, self.many)

    def _inside(self, inner: Any, given: list[Where]) -> list[Where]:
        closed = inner if hasattr(inner, "consts") else core.ClosedJaxpr(inner, ())
        found: list[Where] = []
        for number in range(len(closed.jaxpr.outvars)):
            flat = flatten(closed, 0, len(closed.jaxpr.invars), outcome=number)
            places: dict[int, Where] = {
                value: place for value, place in zip(flat.batch, given, strict=True) if place is not None
            }
            self.follow(flat, places)
            found.append(places.get(flat.outcome))
        return found

    def _scan(self, step: Step, given: list[Where]) -> list[Where]:
        settings = step.params
        inside = settings["jaxpr"].jaxpr
        # What is gone over, and what is stacked, has one axis more outside. JAX has named it in several ways over time.
        over = sum(map(_deeper, step.equation.invars, inside.invars))
        carried = len(inside.outvars) - sum(map(_deeper, step.equation.outvars, inside.outvars))
        consts = len(given) - carried - over
        fixed, state, rows = given[:consts], given[consts : consts + carried], given[consts + carried :]
        if any(isinstance(place, Place) and place.axis == 0 for place in rows):
            raise Mixed("goes from one example to the next")
        inner = [Place(place.axis - 1, place.inner) if isinstance(place, Place) else place for place in rows]
        for _ in range(carried + 1):
            found = self._inside(settings["jaxpr"], [*fixed, *state, *inner])
            joined = [_joined([before, after]) for before, after in zip(state, found[:carried], strict=True)]
            if joined == state:
                break
            state = joined
        stacked = [
            Place(place.axis + 1, place.inner) if isinstance(place, Place) else place for place in found[carried:]
        ]
        return [*state, *stacked]

    def _work_out(self, flat: Flat, step: Step, known: dict[int, Any]) -> None:
        small = all(math.prod(flat.shapes[value].shape) <= _SMALL for value in (*step.inputs, *step.outputs))
        if small and all(value in known for value in step.inputs) and not step.equation.effects:
            with jax.ensure_compile_time_eval():
                known.update(zip(step.outputs, apply_step(step, [known[at] for at in step.inputs]), strict=True))

    def _own_columns(
        self, step: Step, given: list[Where], shapes: list[tuple[int, ...]], known: dict[int, Any]
    ) -> frozenset[int]:
        place = next(one for one in given if one is not None)
        if not isinstance(place, Place) or step.params["dimension"] != len(shapes[0]) - 1:
            return frozenset()
        columns, at = set(), 0
        for value, where, shape in zip(step.inputs, given, shapes, strict=True):
            if where is None and value in known and shape[-1] == 1:
                numbers = jax.numpy.moveaxis(jax.numpy.asarray(known[value]), place.axis, -1)
                if bool((numbers == jax.numpy.arange(shape[place.axis])).all()):
                    columns.add(at)
            at += shape[-1]
        return frozenset(columns)


def _deeper(outside: Any, inside: Any) -> bool:
    return bool(outside.aval.ndim > inside.aval.ndim)


def _joined(places: list[Where]) -> Where:
    known = [place for place in places if place is not None]
    if not known:
        return None
    return known[0] if all(place == known[0] for place in known) else Lost()


def _refusal(what: str) -> InputError:
    return InputError(
        "losses",
        what,
        "a function in which the loss of an example depends on that example alone",
        "Use group norm or layer norm instead of batch norm, and no statistics over the batch.",
    )
