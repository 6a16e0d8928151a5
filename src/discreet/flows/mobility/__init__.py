"""Who goes where, and when: flows that agree with their sums. `FlowsAsk` is what is asked; names load on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.lazy import lazy

if TYPE_CHECKING:
    from discreet.flows.mobility.ask import FlowsAsk as FlowsAsk

__getattr__, __dir__, __all__ = lazy(__name__, {"ask": ("FlowsAsk",)})
