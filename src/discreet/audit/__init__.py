"""Trying to break it: what a guarantee claims, against what many runs refute."""
