"""Who goes where, and when: flows that agree with their sums."""

from discreet.hierarchy.mobility.question import MobilityOffer, MobilityQuestion, mobility

__all__ = ["MobilityOffer", "MobilityQuestion", "mobility"]
