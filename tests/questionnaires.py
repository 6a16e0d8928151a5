"""Questions of every kind and mechanism, and a small survey of three."""

from __future__ import annotations

import pytest

from discreet.local.questionnaire.entry import question_from

LABELS = ["a", "b", "c", "d", "e"]

ENTRIES = [
    {"kind": "binary", "epsilon": 1},
    {"kind": "binary", "epsilon": "0.1", "options": ["Never", "Ever"]},
    *(
        {"kind": "choice", "options": LABELS, "epsilon": epsilon, "mechanism": mechanism}
        for mechanism in ("grr", "oue", "sue", "subset", "olh", "hadamard")
        for epsilon in ("0.5", 3)
    ),
    *(
        {"kind": "number", "low": -2, "high": high, "step": "0.5", "epsilon": epsilon, "mechanism": mechanism}
        for mechanism in ("duchi", "piecewise")
        for high, epsilon in ((2, 1), ("1.5", 4))
    ),
]


def asked(entry, **more):
    return question_from({"name": "q", "text": "Q?", **entry, **more}, "questions[0]")


def named(entry):
    return " ".join(str(entry.get(field, "")) for field in ("kind", "mechanism", "epsilon", "high"))


every = pytest.mark.parametrize("entry", ENTRIES, ids=named)

SURVEY = {
    "id": "night",
    "title": "Night",
    "questions": [
        {"name": "pills", "text": "Pills?", "kind": "binary", "epsilon": 1},
        {"name": "fruit", "text": "Fruit?", "kind": "choice", "options": LABELS, "epsilon": "0.5"},
        {"name": "hours", "text": "Hours?", "kind": "number", "low": 0, "high": 12, "step": 1, "epsilon": 1},
    ],
}
