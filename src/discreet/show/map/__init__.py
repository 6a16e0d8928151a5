"""Maps of a release: one HTML file, states and counties or any geometry, every number with its interval."""

from discreet.show.map.drawing import Map, choropleth
from discreet.show.map.layer import Layer

__all__ = ["Layer", "Map", "choropleth"]
