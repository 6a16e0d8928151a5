"""What a quality report says in words: the privacy of a release in a sentence, and how to read the figures."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from discreet.accounting.convert import approx
from discreet.accounting.words import readable
from discreet.core.loss import ZCDP
from discreet.synth.explanation import attribute_words
from discreet.synth.parts import MadeColumn

__all__ = [
    "ASKS",
    "BANNER",
    "CLOSEST",
    "DIFFERS",
    "GAPS",
    "GIVEN",
    "INTERVALS",
    "NO_NOISE",
    "OWNER",
    "PAIRS",
    "PUBLIC",
    "REAL",
    "ROUNDING",
    "TOGETHER",
    "VALUES",
    "WARNING",
    "clock_range",
    "column_titles",
    "is_time_of_day",
    "privacy",
]

_DELTA = "1e-6"
_NONE = 1e6  # odds that may change by more are not protected in any sense

BANNER = "For the data owner\u2019s eyes. Not a release."
WARNING = (
    "Figures on this page were computed from the private rows without noise. No guarantee covers them and nothing was "
    "charged for them. Do not publish, share or archive this page where the private rows may not be."
)
ASKS = (
    "Shares are of all rows. Where the columns of a question were measured together, or its parts were, the noisy "
    "counts alone bound the true answer. Trials say how far answers stray through noise and drawing; what the method "
    "never measured is in neither the trials nor the rows. An interval is for a question fixed beforehand: one picked "
    "because of what the rows say is missed more often."
)
GAPS = (
    "Each dot is a measured marginal: how far synthetic counts are from the noisy ones, in standard deviations of the "
    "noise. About 1 is as near as noise lets one see; much more says that the rows miss something that was measured. "
    "Less than 1 is no merit: the rows were fitted to these counts, noise and all."
)
NO_NOISE = (
    "{exact:,} of {every:,} measured marginals have next to no noise at this price: their counts are exact, and gaps "
    "are those of the rows alone, in the last column."
)
TOGETHER = (
    "Two columns of numbers or days: Pearson\u2019s correlation, from \u22121 to 1. Others: Cram\u00e9r\u2019s V, "
    "from 0 to 1, less what chance alone would make of it."
)
REAL = (
    "Each dot is a marginal: the total variation distance between real and synthetic shares, half the sum of the "
    "gaps. Max error is the largest gap of one cell, as a share of all rows. Of many marginals some are shown, always "
    "the same ones, none with more cells than there are rows (or 10,000). Numbers and times are counted in the bins "
    "that were measured: what happens inside a bin is seen above, not here."
)
DIFFERS = (
    "Synthetic rows against real ones, value by value, the largest difference first. A difference is the share of "
    "rows it concerns; of a pair, what it adds to the errors of its columns. Values beside their rounding step come "
    "last. Differences below 2%, and those that chance explains, are left out."
)
VALUES = (
    "Real rows above, synthetic rows below. Lines are single values that at least 1% of the rows share, bars all "
    "other values: a spike that was smeared over its neighbours is a line above and a bar below. The last bars hold "
    "all that is farther out. Values beyond the declared bounds were moved to the bound, as they were for the "
    "release."
)
ROUNDING = (
    "KS is the Kolmogorov-Smirnov distance, the largest gap between the distribution functions. Wasserstein is the "
    "area between them: how far values would have to be moved, on average; sd are standard deviations of the real "
    "values. Two samples of one law exceed a KS of {chance} in 1 of 100 cases. The spike is the value whose share "
    "differs most. A rounding step is the one on which most real values and fewest synthetic ones lie."
)
PAIRS = (
    "The total variation distance between pairs of values, half the sum of the gaps. Values that many rows share "
    "count alone, others in up to eight groups. A pair cannot be nearer than its worse column alone, nor, on average, "
    "than chance allows: what the pair adds is the rest."
)
GIVEN = (
    "How one column is distributed among the rows with a value of another: bars are synthetic rows, lines in another "
    "colour real ones, in percent. First the columns that are farthest off, given the column they go with most; then "
    "the pairs that add most to the errors of their columns."
)
CLOSEST = (
    "A sanity check, and no privacy guarantee. Each synthetic row is compared with half of the real rows, and so are "
    "real rows of the other half. Synthetic rows that are copies, or much closer than real rows are to each other, "
    "would be a sign of a mistake. That there are none proves nothing: what protects is the noise, and its price is "
    "on the ledger. A distance of 0 is an equal row, 1 one that differs in every column as much as can be."
)
PUBLIC = (
    "Made from the release alone: its rows, its noisy counts and the law of their noise. It costs nothing and may be "
    "published with the rows."
)
OWNER = (
    "Made from the release and from private rows, which were given by their owner. Nothing of it is on the ledger. The "
    "comparison is with all rows of that table; where a unit may have many rows, fewer were counted for the release."
)
INTERVALS = (
    "Intervals are for the rows that were counted, not simultaneous, and are about the noise added for privacy, not "
    "about mistakes made when the data was collected."
)


def column_titles(attributes: Sequence[str], made: Sequence[MadeColumn]) -> list[str]:
    """What attributes are called on a page: those that a column is made of in words, others by their names.

    >>> parts = ("CAST(seen AS DATE)", "HOUR(seen) * 60 + MINUTE(seen)")
    >>> column_titles([*parts, "age"], [MadeColumn("seen", parts), MadeColumn("age", ("age",))])
    ['Day of seen', 'Time of seen', 'age']
    """
    return [_title(name, made) for name in attributes]


def _title(attribute: str, made: Sequence[MadeColumn]) -> str:
    for one in made:
        if one.base is not None and attribute == one.parts[0]:
            return f"{one.name} less {one.base}"
    words = attribute_words(attribute, made)
    if words == attribute:
        return attribute
    kind, _, column = words.removeprefix("the ").partition(" ")
    return f"{kind.capitalize()} {column}"


def is_time_of_day(attribute: str, made: Sequence[MadeColumn]) -> bool:
    """Whether an attribute is the time of day of a column, in minutes."""
    return any(not one.plain and one.base is None and attribute in one.parts[1:] for one in made)


def clock_range(label: str) -> str:
    """Minutes since midnight as times of day.

    >>> clock_range("0..72"), clock_range("1439"), clock_range("missing")
    ('0:00..1:12', '23:59', 'missing')
    """
    try:
        minutes = [int(part) for part in label.split("..")]
    except ValueError:
        return label
    return "..".join(f"{minute // 60}:{minute % 60:02d}" for minute in minutes)


def privacy(cost: str, owner_only: bool = False) -> str:
    """What a price, as releases word it, means for one person or row. An owner's page is not covered by it.

    >>> privacy("epsilon = 0.5").split(": ")[1]
    'its odds would be at most 1.65 times higher or lower if that one had not been in the data (epsilon = 0.5).'
    """
    covered = "these rows, this page and all else that was released at this price"
    if owner_only:
        covered = "the synthetic rows and their noisy counts (not from this page)"
    what = (
        "What is protected is what the schema says, a row or everything of one person. Whatever anybody concludes "
        f"about it from {covered}: "
    )
    if found := re.fullmatch(r"epsilon = ([0-9.e+-]+)", cost):
        return f"{what}{_odds(float(found[1]))} ({cost})."
    if found := re.fullmatch(r"rho = ([0-9.e+-]+)", cost):
        claim = approx(ZCDP(found[1]), _DELTA)
        also = f"{cost} of zero-concentrated privacy, which is epsilon = {readable(claim.epsilon)} at delta = {_DELTA}"
        return f"{what}{_odds(float(claim.epsilon))}, but for a chance of {_DELTA} ({also})."
    return f"{what}it is bounded by the price of the release, {cost}."


def _odds(epsilon: float) -> str:
    if math.exp(min(epsilon, 700.0)) > _NONE:
        return "its odds may be more than a million times higher or lower: this price protects nobody"
    factor = readable(math.exp(epsilon) * (1 + 1e-12), 3)
    return f"its odds would be at most {factor} times higher or lower if that one had not been in the data"
