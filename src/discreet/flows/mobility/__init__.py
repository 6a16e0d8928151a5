"""Who goes where, and when: flows that agree with their sums."""

from discreet.flows.mobility.question import MobilityQuestion, mobility

__all__ = ["MobilityQuestion", "mobility"]
