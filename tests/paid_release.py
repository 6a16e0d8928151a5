"""A release with everything that is known of one: for what is said of it in files and on pages."""

from discreet.core.note import Note
from discreet.core.release import Release

FACTS = {
    "title": "Mean pay by sector, where hours > 0",
    "where": "hours > 0",
    "outputs": {"m": "mean pay"},
    "unit": "one row, added or removed",
    "released": "2026-03-05T10:11:12.000001+00:00",
    "price": {"rho": 0.125, "epsilon": 2.5, "delta": 1e-6},
}
MADE = Release(
    id="r1",
    dataset="people",
    columns={"sector": ["a"], "m": [1.5], "m_lower": [1.0], "m_upper": [2.0]},
    keys=("sector",),
    outputs=("m",),
    confidence=0.9,
    cost="rho = 0.125",
    mechanism="discrete Gaussian",
    digest="d" * 64,
    notes=(Note("bounds", "Values are clipped to the nearer bound.", ("m",)),),
    facts=FACTS,
)
