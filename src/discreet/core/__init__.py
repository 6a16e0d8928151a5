"""The nouns every room shares.

* `Loss` (`Pure`, `ZCDP`, `Approx`, ...), `Unit`, `Sensitivity` and `Lattice` are the values guarantees are made of.
* `Plan`, `Additive`, `Selection` and `Bits` are protocols. `Explanation`, with an `Accuracy` for each output, is what a
  plan says of itself.
* `Release` is a published table with its `Note`s, `Publication` anything else that was published, `DataVersion` what
  it was made from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.lazy import lazy as _lazy

if TYPE_CHECKING:
    from discreet.core.digest import digest_of as digest_of
    from discreet.core.explanation import Accuracy as Accuracy
    from discreet.core.explanation import Explanation as Explanation
    from discreet.core.lattice import Lattice as Lattice
    from discreet.core.loss import ZCDP as ZCDP
    from discreet.core.loss import Approx as Approx
    from discreet.core.loss import Loss as Loss
    from discreet.core.loss import Pure as Pure
    from discreet.core.mechanism import Additive as Additive
    from discreet.core.mechanism import Bits as Bits
    from discreet.core.mechanism import Selection as Selection
    from discreet.core.note import Note as Note
    from discreet.core.plan import Plan as Plan
    from discreet.core.publication import Publication as Publication
    from discreet.core.release import Release as Release
    from discreet.core.sensitivity import Sensitivity as Sensitivity
    from discreet.core.unit import Neighbours as Neighbours
    from discreet.core.unit import Unit as Unit
    from discreet.core.version import DataVersion as DataVersion

__getattr__, __dir__, __all__ = _lazy(
    __name__,
    {
        "digest": ("digest_of",),
        "explanation": ("Accuracy", "Explanation"),
        "lattice": ("Lattice",),
        "loss": ("Approx", "Loss", "Pure", "ZCDP"),
        "mechanism": ("Additive", "Bits", "Selection"),
        "note": ("Note",),
        "plan": ("Plan",),
        "publication": ("Publication",),
        "release": ("Release",),
        "sensitivity": ("Sensitivity",),
        "unit": ("Neighbours", "Unit"),
        "version": ("DataVersion",),
    },
)
