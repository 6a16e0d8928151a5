"""A survey as its file is written, from what somebody filled in: the text that `Questionnaire.from_text` reads."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from discreet.data.toml import toml_text

__all__ = ["survey_toml"]

_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")
_NUMBERS = ("epsilon", "low", "high", "step", "minimum", "length")


def survey_toml(declared: Mapping[str, Any], questions: Sequence[Mapping[str, Any]]) -> str:
    """The file of a survey: what is said of the whole, then each question. What is empty is left out.

    >>> print(survey_toml({"id": "sleep", "intro": ""}, [{"name": "pills", "epsilon": "1", "options": ["Yes", "No"]}]))
    id = "sleep"
    <BLANKLINE>
    [[questions]]
    name = "pills"
    epsilon = 1
    options = ["Yes", "No"]
    <BLANKLINE>
    """
    lines = list(_lines(declared))
    for question in questions:
        lines += ["", "[[questions]]", *_lines(question)]
    return "\n".join(lines) + "\n"


def _lines(values: Mapping[str, Any]) -> list[str]:
    return [f"{name} = {_written(name, value)}" for name, value in values.items() if value]


def _written(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value if name in _NUMBERS and _NUMBER.fullmatch(value) else toml_text(value)
    return f"[{', '.join(map(toml_text, value))}]"
