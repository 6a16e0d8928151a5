"""Mechanisms: one file each, integers in, integers out, each with its guarantee."""
