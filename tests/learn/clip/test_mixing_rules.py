"""Where the axis of examples goes: rules agree with what JAX does to an axis, and say when examples meet."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from discreet.learn.clip.mixing_rules import RULES, Lost, Mixed, Place

MANY = 7


def followed(function, axis, shape):
    """The rule's answer for the one operation of a function, and where an axis of examples truly went."""
    program = jax.make_jaxpr(function)(jnp.zeros(shape)).jaxpr
    (equation,) = program.eqns
    shapes = [variable.aval.shape for variable in equation.invars]
    made = [variable.aval.shape for variable in equation.outvars]
    given = [Place(axis, 1), *[None] * (len(shapes) - 1)]
    (found, *_) = RULES[equation.primitive.name](dict(equation.params), given, shapes, made, MANY)
    labels = np.moveaxis(np.broadcast_to(np.arange(MANY), (*np.delete(shape, axis), MANY)), -1, axis)
    return found, np.asarray(function(jnp.asarray(labels, jnp.float32)))


MOVES = {
    "transpose": (lambda x: jnp.transpose(x, (2, 0, 1)), 1, (3, MANY, 2)),
    "expand_dims": (lambda x: lax.broadcast_in_dim(x, (1, MANY, 3), (1, 2)), 0, (MANY, 3)),
    "squeeze": (lambda x: lax.squeeze(x, (0, 2)), 1, (1, MANY, 1, 4)),
    "reshape": (lambda x: lax.reshape(x, (MANY * 3, 2)), 0, (MANY, 6)),
    "reduce": (lambda x: lax.reduce_max_p.bind(x, axes=(0,), out_sharding=None), 1, (3, MANY, 2)),
    "reverse": (lambda x: lax.rev(x, (1,)), 0, (MANY, 3)),
    "slice": (lambda x: lax.slice(x, (0, 1), (MANY, 3)), 0, (MANY, 4)),
    "cumulate": (lambda x: lax.cummax(x, axis=1), 0, (MANY, 4)),
}


@pytest.mark.parametrize("name", MOVES)
def test_a_rule_says_where_the_examples_went(name):
    found, labels = followed(*MOVES[name])
    assert isinstance(found, Place)
    place = np.arange(labels.shape[found.axis]) // found.inner % MANY
    moved = np.moveaxis(labels, found.axis, -1)
    assert np.array_equal(moved, np.broadcast_to(place, moved.shape))


MEETINGS = {
    "over the examples": (lambda x: lax.reduce_max_p.bind(x, axes=(0,), out_sharding=None), 0, (MANY, 3)),
    "turns the examples": (lambda x: lax.rev(x, (0,)), 0, (MANY, 3)),
    "picks some": (lambda x: lax.slice(x, (1, 0), (MANY, 3)), 0, (MANY, 3)),
    "along the examples": (lambda x: lax.cummax(x, axis=0), 0, (MANY, 3)),
}


@pytest.mark.parametrize("said", MEETINGS)
def test_a_rule_says_when_examples_meet(said):
    with pytest.raises(Mixed, match=said):
        followed(*MEETINGS[said])


def test_values_of_different_examples_may_not_be_added():
    shapes = [(MANY, MANY)] * 2
    assert RULES["add"]({}, [Place(0, 1), None], shapes, shapes[:1], MANY) == [Place(0, 1)]
    with pytest.raises(Mixed, match="different examples"):
        RULES["add"]({}, [Place(0, 1), Place(1, 1)], shapes, shapes[:1], MANY)


def test_a_reshape_that_cuts_through_examples_is_lost():
    assert isinstance(followed(lambda x: lax.reshape(x, (2, MANY)), 0, (MANY, 2))[0], Lost)
