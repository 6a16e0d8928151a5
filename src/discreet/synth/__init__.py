"""Synthetic tables: rows that look like the private ones, and are nobody's.

Asked for at a desk (`curator.synthesize`): `SynthAsk`, its `SynthPlan`, and the `SyntheticRelease` that comes of it,
whose quality `discreet.synth.report` shows. Without a ledger: a method by name (`METHODS`, `method_named`) makes a
`Synthetic` of what a meter measures, `fit` a graphical `Model` of noisy marginals, and `rows_from_marginals` rows of
`NoisyMarginals`, those of a release or of another system. Names load on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.lazy import lazy

if TYPE_CHECKING:
    from discreet.synth.ask import SynthAsk as SynthAsk
    from discreet.synth.fitted_rows import FittedRows as FittedRows
    from discreet.synth.fitted_rows import rows_from_marginals as rows_from_marginals
    from discreet.synth.methods import METHODS as METHODS
    from discreet.synth.methods import method_named as method_named
    from discreet.synth.model import Model as Model
    from discreet.synth.model import fit as fit
    from discreet.synth.noisy_marginals import NoisyMarginals as NoisyMarginals
    from discreet.synth.plan import SynthPlan as SynthPlan
    from discreet.synth.release import SyntheticRelease as SyntheticRelease
    from discreet.synth.synthetic import Synthetic as Synthetic

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "ask": ("SynthAsk",),
        "fitted_rows": ("FittedRows", "rows_from_marginals"),
        "methods": ("METHODS", "method_named"),
        "model": ("Model", "fit"),
        "noisy_marginals": ("NoisyMarginals",),
        "plan": ("SynthPlan",),
        "release": ("SyntheticRelease",),
        "synthetic": ("Synthetic",),
    },
)
