"""Mechanisms read back from plain values: a survey's file says which one it uses, and nothing is guessed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import fields

from discreet.core.wire import fraction
from discreet.errors import MISSING, InputError
from discreet.local.duchi import Duchi
from discreet.local.grr import GRR
from discreet.local.hadamard import Hadamard
from discreet.local.hybrid import Hybrid
from discreet.local.olh import OLH
from discreet.local.piecewise import Piecewise
from discreet.local.protocol import Responder
from discreet.local.subset import Subset
from discreet.local.unary import OUE, SUE
from discreet.local.vector import VectorMean

__all__ = ["KINDS", "responder_from_dict"]

KINDS: dict[str, type[Any]] = {
    kind.kind: kind for kind in (GRR, OUE, SUE, OLH, Hadamard, Subset, Duchi, Piecewise, Hybrid, VectorMean)
}
_FRACTIONS = {"epsilon", "ratio", "lower", "upper", "share"}


def responder_from_dict(entry: Mapping[str, Any]) -> Responder:
    """Read back what `to_dict` wrote.

    >>> responder_from_dict(GRR(5, epsilon=1).to_dict()) == GRR(5, epsilon=1)
    True
    """
    values = dict(entry) if isinstance(entry, Mapping) else {}
    kind = KINDS.get(str(values.pop("kind", None)))
    if kind is None:
        raise InputError("kind", entry.get("kind") if isinstance(entry, Mapping) else entry, among=KINDS)
    known = {one.name for one in fields(kind)}
    if unknown := set(values) - known:
        raise InputError.unknown(min(unknown), sorted(known))
    if missing := known - set(values):
        raise InputError(min(missing), MISSING, "given")
    for name in _FRACTIONS & known:
        values[name] = fraction(values[name], name)
    made: Responder = kind(**values)
    if made.to_dict() != dict(entry):
        raise InputError("mechanism", dict(entry), "parameters that belong together")
    return made
