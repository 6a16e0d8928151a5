"""Losses of examples for common jobs: classes, yes or no, numbers. Any function `loss(outputs, y) -> [B]` will do."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from discreet.errors import InputError, Phrase

__all__ = ["absolute", "check_labels", "cross_entropy", "logistic", "squared"]

Array = Any


def cross_entropy(outputs: Array, y: Array) -> Array:
    """For classes numbered from zero: minus the log of the probability given to the right one.

    A label out of range makes the loss not a number, and the example counts for nothing.
    """
    scores = jax.nn.log_softmax(outputs.astype(jnp.float32))
    return -jnp.take_along_axis(scores, y[:, None].astype(jnp.int32), axis=1, mode="fill", fill_value=jnp.nan)[:, 0]


def logistic(outputs: Array, y: Array) -> Array:
    """For yes (1) or no (0), one output for each example."""
    score = outputs.reshape(outputs.shape[0]).astype(jnp.float32)
    return jnp.logaddexp(0.0, score) - score * y


def squared(outputs: Array, y: Array) -> Array:
    """For numbers: half the squared distance."""
    apart = outputs.reshape(outputs.shape[0], -1).astype(jnp.float32) - y.reshape(y.shape[0], -1)
    return 0.5 * (apart * apart).sum(axis=1)


def absolute(outputs: Array, y: Array) -> Array:
    """For numbers: the distance, softened near zero. Outliers pull no harder than others."""
    apart = outputs.reshape(outputs.shape[0], -1).astype(jnp.float32) - y.reshape(y.shape[0], -1)
    return (jnp.sqrt(1 + apart * apart) - 1).sum(axis=1)


def check_labels(y: Any, classes: int) -> None:
    """Refuse labels that are not whole numbers from 0 to classes - 1. The one who calls has the labels in hand."""
    labels = np.asarray(y)
    if labels.ndim != 1 or labels.dtype.kind not in "iub":
        raise InputError("y", Phrase(f"{labels.dtype} of shape {labels.shape}"), "one whole number for each example")
    if labels.size and (int(labels.min()) < 0 or int(labels.max()) >= classes):
        raise InputError("y", Phrase("a label out of range"), f"labels from 0 to {classes - 1}, one for each output")
