"""Nets of the classic experiments, in plain JAX: pure functions of parameters and a batch, which any trainer takes."""
