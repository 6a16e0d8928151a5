"""Two synthetic tables with a key between them: parents, and the rows that each of them has.

Asked for at a desk (`curator.relate`): `RelationsAsk`, its `RelationsPlan`, and the `RelationsRelease` of it. The unit
is the parent: a person, a household, a patient. Names load on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.lazy import lazy

if TYPE_CHECKING:
    from discreet.synth.relations.ask import RelationsAsk as RelationsAsk
    from discreet.synth.relations.plan import RelationsPlan as RelationsPlan
    from discreet.synth.relations.release import RelationsRelease as RelationsRelease

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {"ask": ("RelationsAsk",), "plan": ("RelationsPlan",), "release": ("RelationsRelease",)},
)
