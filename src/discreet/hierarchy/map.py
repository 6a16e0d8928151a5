"""Maps of a hierarchy, under the name they had before they moved to `discreet.show.map`."""

from discreet.show.map import Layer, Map, choropleth

__all__ = ["Layer", "Map", "choropleth"]
