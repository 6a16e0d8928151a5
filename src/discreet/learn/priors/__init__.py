"""Priors for images: nets that learned to see from made-up pictures, as a public start for private training.

`read_prior` reads what is shipped; `python -m discreet.learn.priors` makes one anew. Names load on first use; they
need the extra `learn`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.lazy import lazy

if TYPE_CHECKING:
    from discreet.learn.priors.contrast import learn_to_see as learn_to_see
    from discreet.learn.priors.pictures import taken_twice as taken_twice
    from discreet.learn.priors.prior import PRIORS as PRIORS
    from discreet.learn.priors.prior import Prior as Prior
    from discreet.learn.priors.prior import read_prior as read_prior
    from discreet.learn.priors.prior import write_prior as write_prior

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "contrast": ("learn_to_see",),
        "pictures": ("taken_twice",),
        "prior": ("PRIORS", "Prior", "read_prior", "write_prior"),
    },
    extra="learn",
)
