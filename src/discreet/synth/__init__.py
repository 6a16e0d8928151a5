"""Synthetic tables: rows that look like the private ones, and are nobody's."""
