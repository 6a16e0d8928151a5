"""Membership attacks on what somebody has: a file of scores or of losses, or a module with a model to train.

A file has a row for each person. With `member` (1 or 0) and `score` (higher: more like a member) or `loss` it is judged
as it is. With `model`, `row`, `member` and `loss` it has the losses of several models, each trained on about half of
the same rows: LiRA attacks every one of them with the others as its shadows.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.apps.attacks.exposure import Exposed, Exposure
from discreet.apps.attacks.membership import attack_fit, exposed
from discreet.audit.custom import load_module
from discreet.errors import MISSING, InputError, Phrase
from discreet.learn.shadow_scores import FEWEST, score_each
from discreet.risk.attack_result import check_epsilon
from discreet.risk.membership import judge_membership
from discreet.risk.records import Records

__all__ = ["attack_module", "attack_scores"]

_MEMBER = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
_SHADOWED = ("model", "row", "member", "loss")
_HINT = "A file has the columns member and score, member and loss, or model, row, member and loss."


def attack_scores(source: Any, *, epsilon: float = 1.0, delta: float = 0.0) -> Exposure:
    """Judge scores or losses of one's own: a CSV or Parquet file, a data frame, or a mapping of columns.

    >>> table = {"member": [1, 1, 1, 0, 0, 0], "loss": [0.1, 0.2, 0.9, 0.8, 1.1, 1.2]}
    >>> round(attack_scores(table).targets[0].found.area, 2)
    0.89
    """
    check_epsilon(epsilon)
    _check_delta(delta)
    table = Records.read(source)
    if all(name in table.columns for name in _SHADOWED):
        target = _shadowed(table)
    elif "member" in table.columns and {"score", "loss"} & table.columns.keys():
        kind = "score" if "score" in table.columns else "loss"
        inside, numbers = _flags(table), _numbers(table, kind)
        scores = numbers if kind == "score" else -numbers
        attack = "the scores given" if kind == "score" else "a threshold on the loss"
        target = Exposed("as given", None, judge_membership(scores[inside], scores[~inside]), attack)
    else:
        raise InputError("--scores", Phrase(f"the columns {', '.join(table.columns)}"), "a table of scores", _HINT)
    return Exposure("Your model", (target,), float(epsilon), float(delta), "", "")


def attack_module(module: str, *, epsilon: float = 1.0, delta: float = 0.0, shadows: int = 16) -> Exposure:
    """Attack a model of one's own, in a module by its dotted name or the path of its file.

    The module defines `rows` (arrays, or a tree of them), `losses(params, rows)`, the loss of each row, and a training:
    `fit(rows, weights)` made of JAX, where a row of weight 0 changes nothing, or `fit(rows)` made of anything. It may
    define `name`.
    """
    _check_delta(delta)
    loaded = load_module(module)
    for name in ("rows", "losses", "fit"):
        if not hasattr(loaded, name):
            raise InputError(f"module.{name}", MISSING, "defined in the module, beside rows, losses and fit")
    many = len(inspect.signature(loaded.fit).parameters)
    if many not in (1, 2):
        raise InputError("module.fit", Phrase(f"{many} arguments"), "a function of rows, or of rows and weights")
    return attack_fit(
        loaded.fit,
        loaded.losses,
        loaded.rows,
        epsilon=epsilon,
        delta=delta,
        shadows=shadows,
        together=many == 2,
        name=str(getattr(loaded, "name", "Your model")),
    )


def _check_delta(delta: float) -> None:
    if not 0 <= delta < 1:
        raise InputError("delta", delta, "at least zero and below one")


def _shadowed(table: Records) -> Exposed:
    """LiRA, of losses that are there for every model and every row."""
    models, rows = table["model"], table["row"]
    shape = (models.size, rows.size)
    cells = models.codes * rows.size + rows.codes
    if table.rows != shape[0] * shape[1] or len(np.unique(cells)) != table.rows:
        given = Phrase(f"{table.rows:,} losses of {shape[0]:,} models and {shape[1]:,} rows")
        raise InputError("--scores", given, "one loss for each model and each row")
    if models.size <= FEWEST:
        raise InputError("--scores", Phrase(f"{models.size} models"), f"at least {FEWEST + 1} models")
    order = np.argsort(cells)
    losses, inside = _numbers(table, "loss")[order].reshape(shape), _flags(table)[order].reshape(shape)
    return exposed("as given", None, score_each(losses, inside), models.size - 1)


def _flags(table: Records) -> NDArray[np.bool_]:
    column = table["member"]
    known = [_MEMBER.get(str(value).lower()) for value in column.values]
    if None in known:
        raise InputError("member", Phrase("another value"), "1 or 0, true or false, yes or no in every row")
    return np.array(known, dtype=bool)[column.codes]


def _numbers(table: Records, name: str) -> NDArray[np.float64]:
    column = table[name]
    try:
        return np.array([float(value) for value in column.values], dtype=np.float64)[column.codes]
    except (TypeError, ValueError):
        raise InputError(name, Phrase("text or nothing"), "a number in every row") from None
