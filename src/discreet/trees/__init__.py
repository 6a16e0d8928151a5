"""Releases that add up: nation to block, parent the sum of its children, every number a whole one."""
