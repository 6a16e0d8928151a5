"""Synthetic commuters: rows of origin and destination that look like the private ones and are nobody's."""
