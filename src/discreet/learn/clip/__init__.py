"""Sums of clipped per-example gradients, for any model that JAX can differentiate, unwrapped.

`clipped_sum` is the step of DP-SGD that bounds what one example can do. A model is a function
`losses(params, batch) -> [examples]`; nothing about it need be declared. `how` says which way:

    auto        norms from each layer's input and cotangent, one pass back, parameters of other layers copied
    ghost       the same norms, then a second, weighted pass back: less memory
    vmap        all per-example gradients at once, by jax.vmap
    microbatch  auto over slices, one after another: least memory

All give the same sums. `explain` says what `auto` would do with each parameter, `refuse_mixing` refuses models in
which one example's loss depends on others.
"""

from __future__ import annotations

from discreet.errors import MissingExtraError

try:
    import jax
except ImportError:  # the message names the pip command
    raise MissingExtraError("learn", "jax") from None
del jax

from discreet.learn.clip.clipping import HOW, Clipped, clipped_sum  # noqa: E402
from discreet.learn.clip.explain import explain  # noqa: E402
from discreet.learn.clip.mixing import refuse_mixing  # noqa: E402
from discreet.learn.clip.norms import slack  # noqa: E402

__all__ = ["HOW", "Clipped", "clipped_sum", "explain", "refuse_mixing", "slack"]
