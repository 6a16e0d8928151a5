"""How often intervals hold the truth in simulated releases: known measures, a plan's own noise and publishing."""

from __future__ import annotations

import numpy as np
from scipy import stats

from chance import LEVEL
from discreet.core.unit import Unit
from discreet.data.column import Integer, Real
from discreet.data.schema import Schema
from discreet.ledger.budget import Allotment
from discreet.query.measure import Moment, People, Rows, Total

SCHEMA = Schema(
    "t", {"x": Real(0, 100, nullable=True), "n": Integer(0, 1000, nullable=False)}, Unit("who", groups=2, rows=3)
)
PURE = Allotment("q", "pure", epsilon=100)
ZCDP = Allotment("q", "zcdp", rho=100)
_generator = np.random.Generator(np.random.PCG64(20))
VALUES = {
    "middle": lambda size: _generator.normal(50, 12, size),
    "low": lambda size: _generator.exponential(8, size),
    "spread": lambda size: _generator.uniform(0, 100, size),
}


def exact(measure, values):
    """What a group with these values would count."""
    match measure:
        case Rows() | People():
            return len(values)
        case Total(lattice=lattice):
            return int(lattice.encode(values).sum())
        case Moment(lattice=lattice):
            return int(measure.of(lattice.encode(values)).sum())


def holds(hits, releases, low, high):
    """Whether a count of hits agrees with a chance between `low` and `high` (false alarms: LEVEL each way)."""
    above = stats.binom.cdf(hits, releases, low) > LEVEL
    return bool(above and stats.binom.sf(hits - 1, releases, min(high, 1.0)) > LEVEL)
