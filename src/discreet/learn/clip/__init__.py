"""Sums of clipped per-example gradients, for any model that JAX can differentiate, unwrapped.

`clipped_sum` is the step of DP-SGD that bounds what one example can do. A model is a function
`losses(params, batch) -> [examples]`; nothing about it need be declared. `how` says which way:

    auto        norms from each layer's input and cotangent, one pass back (two through checkpoints), the rest copied
    vmap        all per-example gradients at once, by jax.vmap
    microbatch  auto over slices, one after another: least memory

All give the same sums. `explain` says what `auto` would do with each parameter, `refuse_mixing` and
`refuse_mixed_losses` refuse models in which one example's loss depends on others. Names load on first use; they need
the extra `learn`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.lazy import lazy

if TYPE_CHECKING:
    from discreet.learn.clip.clipping import HOW as HOW
    from discreet.learn.clip.clipping import Clipped as Clipped
    from discreet.learn.clip.clipping import clipped_sum as clipped_sum
    from discreet.learn.clip.clipping import explain as explain
    from discreet.learn.clip.mixing import refuse_mixing as refuse_mixing
    from discreet.learn.clip.mixing_probe import refuse_mixed_losses as refuse_mixed_losses
    from discreet.learn.clip.norms import slack as slack

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "clipping": ("HOW", "Clipped", "clipped_sum", "explain"),
        "mixing": ("refuse_mixing",),
        "mixing_probe": ("refuse_mixed_losses",),
        "norms": ("slack",),
    },
    extra="learn",
)
