"""Small models of every kind that clipping should know, their clipped sums, and the same sums written out."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from discreet.learn.clip import clipped_sum

EXAMPLES = 12


def chance():
    return np.random.default_rng(11)


def normal(rng, *shape, scale=1.0):
    return jnp.asarray(rng.normal(size=shape) * scale, jnp.float32)


def cross_entropy(outputs, labels):
    return -jnp.take_along_axis(jax.nn.log_softmax(outputs), labels[:, None], axis=1)[:, 0]


def images(rng, classes=3):
    x = normal(rng, EXAMPLES, 8, 7, 3)
    return x, jnp.asarray(rng.integers(0, classes, EXAMPLES))


def mlp():
    rng = chance()
    params = {"a": normal(rng, 5, 8), "b": normal(rng, 8), "c": normal(rng, 8, 3), "scale": jnp.float32(1.3)}
    batch = normal(rng, EXAMPLES, 5), jnp.asarray(rng.integers(0, 3, EXAMPLES))

    def losses(params, batch):
        hidden = jnp.tanh(batch[0] @ params["a"] + params["b"]) * params["scale"]
        return cross_entropy(hidden @ params["c"], batch[1])

    return losses, params, batch


def convolutions():
    """Strides, padding, dilation of either side, groups; weights standardised, transposed, cast and tied."""
    rng = chance()
    params = {
        "one": normal(rng, 3, 3, 3, 8, scale=0.3),
        "two": normal(rng, 3, 2, 4, 8, scale=0.3),
        "three": normal(rng, 8, 8, 2, 2, scale=0.3),
        "four": normal(rng, 2, 2, 8, 8, scale=0.3),
        "gain": normal(rng, 8),
        "head": normal(rng, 3, 8),
    }

    def standard(w):
        w = w - w.mean(axis=(0, 1, 2))
        return w / jnp.sqrt((w * w).mean(axis=(0, 1, 2)) + 1e-3)

    def losses(params, batch):
        sides = ("NHWC", "HWIO", "NHWC")
        x = lax.conv_general_dilated(batch[0], params["one"], (2, 1), "SAME", dimension_numbers=sides)
        x = jnp.tanh(x)
        x = lax.conv_general_dilated(
            x,
            params["two"],
            (1, 1),
            ((1, 2), (0, 1)),
            rhs_dilation=(1, 2),
            feature_group_count=2,
            dimension_numbers=sides,
        )
        x = jnp.tanh(x)
        w = jnp.transpose(params["three"], (3, 2, 1, 0))
        x = lax.conv_general_dilated(x, w, (2, 2), ((0, 0), (1, 0)), lhs_dilation=(2, 1), dimension_numbers=sides)
        x = jnp.tanh(x)
        w = standard(params["four"]) * params["gain"]
        for _ in range(2):
            x = jnp.tanh(lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=sides))
        return cross_entropy(x.mean(axis=(1, 2)) @ params["head"].T, batch[1])

    return losses, params, images(rng)


def attention():
    """Embedding and positions, one attention block with its own weights for each head, output tied to the embedding."""
    rng = chance()
    words, width, heads = 11, 8, 2
    params = {
        "table": normal(rng, words, width, scale=0.5),
        "positions": normal(rng, 6, width, scale=0.5),
        "qkv": normal(rng, 3, width, heads, width // heads, scale=0.5),
        "out": normal(rng, heads, width // heads, width, scale=0.5),
        "norm": {"scale": jnp.ones(width) * 1.1, "offset": normal(rng, width, scale=0.1)},
    }
    batch = jnp.asarray(rng.integers(0, words, (EXAMPLES, 7)))

    def losses(params, batch):
        x = params["table"][batch[:, :-1]] + params["positions"]
        mean, spread = x.mean(-1, keepdims=True), x.std(-1, keepdims=True)
        x = (x - mean) / (spread + 0.1) * params["norm"]["scale"] + params["norm"]["offset"]
        q, k, v = (jnp.einsum("btd,dhk->bthk", x, w) for w in params["qkv"])
        weights = jax.nn.softmax(jnp.einsum("bthk,bshk->bhts", q, k))
        y = jnp.einsum("bhts,bshk,hkd->btd", weights, v, params["out"])
        logits = (x + y) @ params["table"].T
        chances = jax.nn.log_softmax(logits)
        return -jnp.take_along_axis(chances, batch[:, 1:, None], axis=-1)[..., 0].mean(axis=1)

    return losses, params, batch


def recurrent():
    """A scan with tied weights, a checkpointed layer, a layer with a derivative of its own, and unused parameters."""
    rng = chance()
    params = {
        "in": normal(rng, 4, 6, scale=0.5),
        "state": normal(rng, 6, 6, scale=0.5),
        "head": normal(rng, 6, 3),
        "mid": normal(rng, 6, 6),
        "unused": normal(rng, 2),
        "count": jnp.int32(3),
    }
    batch = normal(rng, EXAMPLES, 5, 4), jnp.asarray(rng.integers(0, 3, EXAMPLES))

    @jax.custom_vjp
    def doubled(x):
        return x

    doubled.defvjp(lambda x: (x, None), lambda _, pulled: (2 * pulled,))

    def losses(params, batch):
        def step(state, x):
            state = jnp.tanh(x @ params["in"] + state @ params["state"])
            return state, None

        start = jnp.zeros((batch[0].shape[0], 6))
        state, _ = lax.scan(step, start, jnp.moveaxis(batch[0], 1, 0))
        state = jax.checkpoint(lambda w, x: jnp.sin(x @ w))(params["mid"], state)
        return cross_entropy(doubled(jax.nn.silu(state)) @ params["head"] * params["count"], batch[1])

    return losses, params, batch


def unrolled():
    """Weights used several times in the same way, and a low-rank weight made of two parameters."""
    rng = chance()
    params = {"w": normal(rng, 6, 6, scale=0.6), "left": normal(rng, 6, 2), "right": normal(rng, 2, 3)}
    batch = normal(rng, EXAMPLES, 6), jnp.asarray(rng.integers(0, 3, EXAMPLES))

    def losses(params, batch):
        x = batch[0]
        for _ in range(3):
            x = jnp.tanh(x @ params["w"])
        return cross_entropy(x @ (params["left"] @ params["right"]), batch[1])

    return losses, params, batch


def lstm():
    """Weights that all turns of a scan share: words looked up before it, one product for all gates inside it."""
    rng = chance()
    words, width = 9, 4
    params = {
        "table": normal(rng, words, width, scale=0.7),
        "gates": normal(rng, 2 * width, 4 * width, scale=0.5),
        "shift": normal(rng, 4 * width, scale=0.3),
        "head": normal(rng, width, 3),
    }
    batch = jnp.asarray(rng.integers(0, words, (EXAMPLES, 5))), jnp.asarray(rng.integers(0, 3, EXAMPLES))

    def losses(params, batch):
        def turn(state, x):
            hidden, cell = state
            both = jnp.concatenate([x, hidden], axis=-1) @ params["gates"] + params["shift"]
            update, keep, out, new = jnp.split(both, 4, axis=-1)
            cell = jax.nn.sigmoid(keep) * cell + jax.nn.sigmoid(update) * jnp.tanh(new)
            hidden = jax.nn.sigmoid(out) * jnp.tanh(cell)
            return (hidden, cell), None

        x = jnp.moveaxis(params["table"][batch[0]], 1, 0)
        start = jnp.zeros((batch[0].shape[0], width))
        (state, _), _ = lax.scan(turn, (start, start), x, reverse=True)
        return cross_entropy(state @ params["head"], batch[1])

    return losses, params, batch


def _stack(*, checkpoint=False, loop=True, kind=jnp.float32):
    """A transformer whose layers are stacked: fused q, k and v cut apart, a convolution, norms, a shared scale."""
    rng = chance()
    words, width, layers, length = 9, 4, 3, 5
    params = {
        "table": normal(rng, words, width, scale=0.7).astype(kind),
        "qkv": normal(rng, layers, width, 3 * width, scale=0.5).astype(kind),
        "out": normal(rng, layers, width, width, scale=0.5).astype(kind),
        "mix": normal(rng, layers, 2, width, width, scale=0.4).astype(kind),
        "norm": (1 + normal(rng, layers, 2, width, scale=0.2)).astype(kind),
        "scale": jnp.asarray(0.8, kind),
        "head": normal(rng, width, 3).astype(kind),
    }
    batch = jnp.asarray(rng.integers(0, words, (EXAMPLES, length))), jnp.asarray(rng.integers(0, 3, EXAMPLES))

    def losses(params, batch):
        def layer(x, own):
            y = x - x.mean(-1, keepdims=True)
            y = y * own["norm"][0] / jnp.sqrt((y * y).mean(-1, keepdims=True) + 0.1)
            query, key = (y @ w for w in jnp.split(own["qkv"][:, : 2 * width], 2, axis=1))
            value = y @ own["qkv"][:, 2 * width :]
            seen = jax.nn.softmax(jnp.einsum("btd,bsd->bts", query, key) * params["scale"])
            x = x + jnp.einsum("bts,bsd,de->bte", seen, value, own["out"]) * own["norm"][1]
            sides = ("NWC", "WIO", "NWC")
            return x + jnp.tanh(lax.conv_general_dilated(x, own["mix"], (1,), "SAME", dimension_numbers=sides))

        if checkpoint:
            layer = jax.checkpoint(layer)
        x = params["table"][batch[0]]
        stacks = {name: params[name] for name in ("qkv", "out", "mix", "norm")}
        if loop:
            x, _ = lax.scan(lambda x, own: (layer(x, own), None), x, stacks)
        else:
            for index in range(layers):
                x = layer(x, jax.tree.map(lambda stack, index=index: stack[index], stacks))
        wide = jnp.promote_types(x.dtype, jnp.float32)
        return cross_entropy(x.mean(axis=1).astype(wide) @ params["head"].astype(wide), batch[1])

    return losses, params, batch


def stacked():
    """A scan over layers."""
    return _stack()


def checkpointed():
    """A scan over layers, each of them checkpointed."""
    return _stack(checkpoint=True)


def cut():
    """Layers one after another, each cut out of the stack, checkpointed."""
    return _stack(loop=False, checkpoint=True)


def halved():
    """A scan over layers in few bits."""
    return _stack(kind=jnp.bfloat16)


def packed():
    """All parameters in one vector, one part of it used twice, and two parts that overlap."""
    rng = chance()
    params = {"all": normal(rng, 80, scale=0.5)}
    batch = normal(rng, EXAMPLES, 4), jnp.asarray(rng.integers(0, 3, EXAMPLES))

    def losses(params, batch):
        first, shift, second = params["all"][:16], params["all"][16:20], params["all"][20:36]
        x = jnp.tanh(batch[0] @ first.reshape(4, 4) + shift)
        x = jnp.tanh(x @ second.reshape(4, 4).T)
        x = jnp.tanh(x @ second.reshape(4, 4))
        x = jnp.tanh(x @ params["all"][36:52].reshape(4, 4)) + x @ params["all"][48:64].reshape(4, 4)
        return cross_entropy(x @ params["all"][64:76].reshape(4, 3)[::-1], batch[1])

    return losses, params, batch


def lora():
    """Frozen weights the model closes over, with a low-rank change in two factors, in a scan over layers."""
    rng = chance()
    frozen = normal(rng, 3, 6, 6, scale=0.5)
    params = {"down": normal(rng, 3, 6, 2), "up": normal(rng, 3, 2, 6, scale=0.5), "head": normal(rng, 6, 3)}
    batch = normal(rng, EXAMPLES, 4, 6), jnp.asarray(rng.integers(0, 3, EXAMPLES))

    def losses(params, batch):
        def layer(x, own):
            weight, down, up = own
            return jnp.tanh(x @ weight + x @ down @ up * 0.5), None

        x, _ = lax.scan(layer, batch[0], (frozen, params["down"], params["up"]))
        return cross_entropy(x.mean(axis=1) @ params["head"], batch[1])

    return losses, params, batch


def looped():
    """A scan over layers inside a scan over turns: weights of a layer are shared by turns, and one is given along."""
    rng = chance()
    params = {
        "w": normal(rng, 2, 4, 4, scale=0.6),
        "b": normal(rng, 2, 4),
        "start": normal(rng, 4),
        "made": normal(rng, 2, 4, 4, scale=0.6),
        "head": normal(rng, 4, 3),
    }
    batch = normal(rng, EXAMPLES, 3, 4), jnp.asarray(rng.integers(0, 3, EXAMPLES))

    def losses(params, batch):
        def layer(x, own):
            w, b, made = own
            return jnp.tanh(x @ w + b) + x @ jnp.tanh(made), b * 2

        def turn(state, x):
            state, given = lax.scan(layer, state + x, (params["w"], params["b"], params["made"]))
            return state, given.sum(axis=0)

        start = jnp.broadcast_to(params["start"], (batch[0].shape[0], 4))
        state, given = lax.scan(turn, start, jnp.moveaxis(batch[0], 1, 0))
        return cross_entropy((state + given.mean(axis=0)) @ params["head"], batch[1])

    return losses, params, batch


PLAIN = [mlp, convolutions, attention, recurrent, unrolled]
NESTED = [lstm, stacked, checkpointed, cut, packed, lora, looped]
EVERY = tuple([1] * 12)
SOME = (1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1)
QUICK = {"xla_backend_optimization_level": 0}  # compiling is nearly all that these tests do


def compiled(function, *given):
    return jax.jit(function).lower(*given).compile(compiler_options=QUICK)


@cache
def reference(model, mask=EVERY, copies=1, bound=0.5):
    """Written out, in 64 bits outside JAX: gradients of one example at a time, clipped and added up."""
    losses, params, batch = model()
    leaves, shape = jax.tree.flatten(params)
    real = [place for place, leaf in enumerate(leaves) if jnp.issubdtype(leaf.dtype, jnp.floating)]

    def mean(chosen, row):
        whole = list(leaves)
        for place, leaf in zip(real, chosen, strict=True):
            whole[place] = leaf
        return losses(jax.tree.unflatten(shape, whole), row).mean()

    chosen = [leaves[place] for place in real]
    rows = [
        jax.tree.map(lambda leaf, at=at: leaf[at : at + copies], batch) for at in range(0, len(mask) * copies, copies)
    ]
    slope = compiled(jax.grad(mean), chosen, rows[0])
    total, lengths = [np.zeros(leaf.shape) for leaf in leaves], []
    for row, counted in zip(rows, mask, strict=True):
        each = [np.asarray(g, np.float64) for g in slope(chosen, row)]
        lengths.append(np.sqrt(sum((g**2).sum() for g in each)))
        for place, gradient in zip(real, each, strict=True):
            total[place] += counted * min(1, bound / max(lengths[-1], 1e-30)) * gradient
    return total, np.array(lengths)


def worst_norm(model, how="auto"):
    """How far norms are from those of vmap, relatively, at most; in 64 bits, where rounding hides nothing."""
    with jax.enable_x64(True):
        losses, params, batch = model()
        params, batch = jax.tree.map(_long, (params, batch))
        mask = jnp.ones(EXAMPLES)

        def norms(losses, params, batch, how):
            return clipped_sum(losses, params, batch, mask=mask, bound=0.5, how=how).norms

        own = jax.checkpoint(losses) if how == "checkpoint" else losses
        pair = compiled(lambda p, b: (norms(own, p, b, "auto"), norms(losses, p, b, "vmap")), params, batch)
        made, plain = map(np.asarray, pair(params, batch))
    return float(np.abs(made / plain - 1).max())


def _long(leaf):
    return leaf.astype(jnp.float64) if jnp.issubdtype(leaf.dtype, jnp.floating) else leaf


def far(made, wanted):
    """The distance of two lists of arrays, relative to the second."""
    made = [np.asarray(leaf, np.float64) for leaf in jax.tree.leaves(made)]
    wanted = jax.tree.leaves(wanted)
    gap = sum(((a - b) ** 2).sum() for a, b in zip(made, wanted, strict=True))
    return float(np.sqrt(gap / sum((b**2).sum() for b in wanted)))


@cache
def program(model, copies=1, **how):
    """The clipped sum of a model as a function of params, batch, mask and bound: compiled once for many tests."""
    losses, params, batch = model()
    losses = inside(losses, how)
    mask, bound = jnp.ones(EXAMPLES // copies), jnp.float32(0.5)
    return compiled(
        lambda p, b, m, c: clipped_sum(losses, p, b, mask=m, bound=c, copies=copies, **how), params, batch, mask, bound
    )


def clipped(model, batch=None, mask=EVERY, bound=0.5, **how):
    """The clipped sum of a model's batch, or of another of that shape, by its compiled program."""
    _, params, own = model()
    given = params, own if batch is None else batch, jnp.asarray(mask, jnp.float32), jnp.float32(bound)
    return program(model, **how)(*given)


def way(how):
    """The settings of a way; slices are smaller than the batch, or they would not be slices."""
    return {"how": how, "microbatch": 5} if how == "microbatch" else {"how": how}


def inside(losses, how):
    """The losses, inside a checkpoint where `how` says so: then norms are taken in passing."""
    if how.get("how") != "checkpoint":
        return losses
    how["how"] = "auto"
    return jax.checkpoint(losses)


def size_of(total):
    """Of a tree of arrays as one vector."""
    return float(np.sqrt(sum((np.asarray(leaf, np.float64) ** 2).sum() for leaf in jax.tree.leaves(total))))


def run(losses, params, batch, mask=EVERY, bound=0.5, **how):
    losses = inside(losses, how)
    given = params, batch, jnp.asarray(mask)
    return compiled(lambda p, b, m: clipped_sum(losses, p, b, mask=m, bound=bound, **how), *given)(*given)


def contribution(model, row=None, **how):
    """How long what one example adds is, alone in its batch."""
    losses, params, batch = model
    return adder(losses, params, **how)(batch, row)


def adder(losses, params, **how):
    """`contribution`, compiled once for many rows."""
    losses = inside(losses, how)
    known = []

    def length(batch, row=None):
        lone = jax.tree.map(lambda leaf: leaf[:1], batch)
        if not known:
            known.append(compiled(lambda p, b: clipped_sum(losses, p, b, mask=jnp.ones(1), **how).total, params, lone))
        (step,) = known
        if row is not None:
            lone = jax.tree.map(lambda leaf: jnp.full_like(leaf, row) if leaf.dtype == jnp.float32 else leaf, lone)
        return size_of(step(params, lone))

    return length


MANY = 4128  # a sum of so many ones has steps of 32 in bfloat16, of 4 in float16


def widest_step(kind, how, model):
    """How far one more example of many alike moves the sum, at most; each adds a gradient of length one."""

    def losses(params, batch):
        weight = params["w"].astype(kind)
        if model == "made":  # the weight is computed from the parameter, not just moved about
            weight = weight * jnp.ones(2, kind) - weight[::-1]
        if model == "looked up":
            return weight.reshape(2, 1)[batch[1]][:, 0].astype(jnp.float32)
        made = batch[0].astype(kind) @ weight.reshape(2, 1)
        return made[:, 0] + params["b"].astype(kind) * 0

    params = {"w": jnp.zeros(2, kind if model == "low" else "float32"), "b": jnp.zeros((), kind)}
    batch = jnp.tile(jnp.array([1.0, 0.0]), (MANY, 1)), jnp.zeros(MANY, jnp.int32)
    way = {"how": how}
    losses = inside(losses, way)
    step = compiled(lambda m: clipped_sum(losses, params, batch, mask=m, bound=1.0, **way).total["w"], jnp.ones(MANY))
    sums = [np.asarray(step(jnp.ones(MANY).at[:gone].set(0)), np.float64) for gone in range(34)]
    return max(float(np.linalg.norm(one - other)) for one, other in pairwise(sums))
