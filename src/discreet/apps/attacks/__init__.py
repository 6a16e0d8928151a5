"""Attacks that need a model or a synthetic table to attack: made here, on made-up people, with and without a budget."""
