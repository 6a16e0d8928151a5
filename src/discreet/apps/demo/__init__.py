"""The demonstrations: a small invented table and what a curator does with it; lectures, one file each."""

__all__ = ["LECTURES"]

LECTURES = {
    "census": "cost tables, and a hierarchy that adds up",
    "survey": "two coins, and a picture with flipped bits",
    "sgd": "accuracy and epsilon by epoch at three noise levels",
    "onthemap": "made-up workers, by urns and by measuring",
    "grid": "loads that a power grid can feed",
    "mobility": "trips by half hour, with sums that agree",
    "rap": "relaxed adaptive projection, its largest error by epsilon",
    "reconstruction": "secret bits from nearly right counts",
}
