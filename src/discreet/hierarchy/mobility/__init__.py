"""Who goes where, and when: flows that agree with their sums."""

from discreet.hierarchy.mobility.question import MobilityQuestion, mobility

__all__ = ["MobilityQuestion", "mobility"]
