"""The likeliest shares of a question's labels, from how often each report came."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.local.likelihood import Likeliest, likeliest_shares, rates
from discreet.local.protocol import Oracle
from discreet.local.questionnaire.form import Scale
from discreet.local.questionnaire.question import Question, pack
from discreet.local.sampled import Sampled

__all__ = ["likeliest_labels"]

_GAP = 1.0  # of a logarithm: a likelihood ratio test would not see it


def likeliest_labels(question: Question, column: Mapping[Any, int]) -> NDArray[np.float64] | None:
    """The share of each label under which the reports are likeliest; None for what is no share of one."""
    if not sum(column.values()):
        return None
    if isinstance(question.mechanism, Oracle):
        ordered = dict(sorted(column.items()))
        table = rates(question.mechanism, question.packed(ordered))
        return _sure(likeliest_shares(table, np.array(list(ordered.values()), dtype=np.float64)))[
            : len(question.labels)
        ]
    if not isinstance(question.form, Scale) or not isinstance(question.mechanism, Sampled):
        return None
    told, times = question.by_part(column)
    points = np.arange(question.form.grid.points)
    levels = zip(question.mechanism.parts, told, question.form.blocks, strict=True)
    tables = [rates(part, pack(part, reports))[:, points // block] for part, reports, block in levels if reports]
    often = np.array([count for part in times for count in part], dtype=np.float64)
    shares = _sure(likeliest_shares(np.concatenate(tables), often))
    return np.array([shares[first:last].sum() for first, last in question.form.ranges()])


def _sure(found: Likeliest) -> NDArray[np.float64]:
    """The shares, or none where others could be likelier: that is what they are said to be."""
    return found.shares if found.gap <= _GAP else np.full(len(found.shares), np.nan)
