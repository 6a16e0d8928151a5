"""States and counties of the United States, shipped with the package (us-atlas, ISC), and when to draw them unasked."""

from __future__ import annotations

import functools
from importlib.resources import as_file, files
from typing import Protocol

from discreet.show.map.topojson import Collection, collections

__all__ = ["LATER", "Regions", "atlas", "fits"]

# Places with a code and no shape in the atlas: territories, and counties redrawn after its edition of 2017.
LATER = {
    "60": "American Samoa",
    "66": "Guam",
    "69": "Northern Mariana Islands",
    "72": "Puerto Rico",
    "78": "U.S. Virgin Islands",
    "02063": "Chugach",
    "02066": "Copper River",
    "09110": "Capitol",
    "09120": "Greater Bridgeport",
    "09130": "Lower Connecticut River Valley",
    "09140": "Naugatuck Valley",
    "09150": "Northeastern Connecticut",
    "09160": "Northwest Hills",
    "09170": "South Central Connecticut",
    "09180": "Southeastern Connecticut",
    "09190": "Western Connecticut",
}
_HINTS = ("state", "count", "fips", "geoid")


class Regions(Protocol):
    """The regions of a level: a layer, or codes alone."""

    @property
    def name(self) -> str:
        """What the level is called."""
        ...

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of its regions."""
        ...


@functools.cache
def atlas(counties: bool) -> tuple[Collection, ...]:
    """States, and with `counties` counties whose borders run exactly along those of the states."""
    name = "counties" if counties else "states"
    with as_file(files(__package__) / f"us-atlas-{name}-albers-10m.json.gz") as path:
        return tuple(found for found in collections(path) if len(found))


def fits(layer: Regions) -> bool:
    """Whether a layer's codes are FIPS codes of states (all known) or of counties (nearly all known).

    No one else's codes should land in Alabama: one or two codes may be a coincidence, so then the layer's name must
    say what it is.

    >>> from discreet.show.map import Layer
    >>> fits(Layer("land", ["01", "02", "03"], {"n": ([1, 2, 3], [0, 0, 0], [9, 9, 9])}))  # no state is 03
    False
    """
    if len(layer.codes) < 3 and not any(hint in layer.name.lower() for hint in _HINTS):
        return False
    if all(len(code) == 2 for code in layer.codes):
        known = sum(code in LATER or code in atlas(False)[0].rings for code in layer.codes)
        return known == len(layer.codes)
    if all(len(code) == 5 and code.isdigit() for code in layer.codes):
        county = next(found for found in atlas(True) if "01001" in found.rings)
        known = sum(code in LATER or code in county.rings or code[:2] in LATER for code in layer.codes)
        return known >= 0.9 * len(layer.codes)
    return False
