"""Who goes where, and when: flows that agree with their sums."""

from discreet.flows.mobility.ask import FlowsAsk

__all__ = ["FlowsAsk"]
