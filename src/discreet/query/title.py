"""A question as a title: "Mean pay by sector, where hours > 0". Made of what is on record; no schema is needed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from fractions import Fraction
from itertools import pairwise
from typing import Any

from discreet.errors import DiscreetError
from discreet.query.limit_choice import table_of
from discreet.query.notation import write_condition
from discreet.query.predicate import predicate_from

__all__ = ["condition_text", "output_titles", "plain_name", "question_title"]

_MOST = 3  # outputs that are named; of more, how many there are
_LENGTHS = {"daily": (1, 1), "weekly": (7, 7), "monthly": (28, 31), "quarterly": (90, 92), "yearly": (365, 366)}
_NAMED = {
    "sum": "total {0}",
    "mean": "mean {0}",
    "median": "median {0}",
    "variance": "variance of {0}",
    "std": "standard deviation of {0}",
    "covariance": "covariance of {0} and {1}",
    "correlation": "correlation of {0} and {1}",
    "slope": "regression slope of {0} on {1}",
    "intercept": "regression intercept of {0} on {1}",
    "distinct": "number of different values of {0}",
    "people": "number of people",
    "share": "share of rows with {0}",
    "mode": "most frequent {0}",
    "spread": "spread of {0}",
}

_YES = re.compile(r"CASE WHEN ((?:(?! THEN ).)+) THEN 1 ELSE 0 END", re.DOTALL)


def question_title(query: Any) -> str:
    """A recorded question in words; nothing if it is none.

    Records keep no order of outputs, so counts come first and the others by their names: the same wherever it stands.

    >>> query = {"outputs": {"m": {"of": "mean", "column": "pay"}}, "group_by": [{"column": "sector"}]}
    >>> question_title(query | {"where": {"column": "hours", "is": ">", "value": {"number": "0"}}})
    'Mean pay by sector, where hours > 0'
    """
    if not isinstance(query, Mapping):
        return ""
    if isinstance(parts := query.get("union"), list):
        titles = [question_title(part.get("query", part)) for part in parts if isinstance(part, Mapping)]
        return "; ".join(dict.fromkeys(filter(None, titles)))
    if "top" in query:
        return _ended(_top(query["top"]), query)
    if isinstance(choices := query.get("choose"), list):
        options = [str(one.get("option", "")) for one in choices if isinstance(one, Mapping)]
        return _ended(f"The best of {_joined(_few(options))}", query)
    if "outputs" not in query:
        return ""
    if (choice := table_of(query)) is not None:
        what = "Limits on " + ("rows" if choice.by is None else f"groups by {plain_name(choice.by)}")
        return _ended(f"{what} per person", query["per_person"])
    named = sorted(query["outputs"].items(), key=lambda one: (not _counts(one[1]), one[0]))
    words = _joined(_several([entry for _, entry in named])) or "which groups there are"
    keys = [_key(key) for key in query.get("group_by") or ()]
    words += f" by {_joined(keys)}" if keys else ""
    if isinstance(persons := query.get("per_person"), Mapping):
        words += ", for each person" + (f" with {text}" if (text := condition_text(persons)) else "")
    return _ended(words[:1].upper() + words[1:], query)


def output_titles(query: Any) -> dict[str, str]:
    """What each output of a recorded question is, in words, by its name."""
    outputs = query.get("outputs") if isinstance(query, Mapping) else None
    return {name: _output(entry) for name, entry in outputs.items()} if isinstance(outputs, Mapping) else {}


def condition_text(query: Any) -> str:
    """The condition of a recorded question as it may be typed; nothing if it has none."""
    where = query.get("where") if isinstance(query, Mapping) else None
    if not where:
        return ""
    if isinstance(where, str):
        return where
    try:
        return write_condition(predicate_from(where))
    except DiscreetError:  # in a form of another version
        return ""


def plain_name(name: Any) -> str:
    """The name of a column as people say it; an expression stays as it is.

    >>> plain_name("visit_date"), plain_name("age // 10")
    ('visit date', 'age // 10')
    """
    text = str(name)
    return text.replace("_", " ").strip() if text.isidentifier() else text


def _ended(words: str, query: Any) -> str:
    return f"{words}, where {text}" if words and (text := condition_text(query)) else words


def _top(top: Any) -> str:
    entry = top if isinstance(top, Mapping) else {}
    key = entry.get("key", entry.get("column", top))
    many = entry.get("k")
    column = plain_name(key.get("column", "") if isinstance(key, Mapping) else key)
    return f"{many} most common values of {column}" if many else f"Most common values of {column}"


def _output(entry: Any) -> str:
    of, column = (entry.get("of"), entry.get("column")) if isinstance(entry, Mapping) else (entry, None)
    name = plain_name(column) if column is not None else ""
    if of == "count":
        return f"number of values of {name}" if name else "number of rows"
    if of == "quantile":
        rank = Fraction(str(entry.get("q", "1/2")))
        return f"median {name}" if 2 * rank == 1 else f"{_percentile(rank)} of {name}"
    if of == "share" and (yes := _YES.fullmatch(name)):  # recorded as what the condition is as 0 and 1
        name = yes[1]
    words = _NAMED.get(str(of), f"{str(of).replace('_', ' ')} of {{0}}" if name else str(of))
    return words.format(name, plain_name(entry.get("other", "")) if isinstance(entry, Mapping) else "")


def _counts(entry: Any) -> bool:
    return isinstance(entry, Mapping) and entry.get("of") in ("count", "people") and entry.get("column") is None


def _percentile(rank: Fraction) -> str:
    """A quantile as people say it.

    >>> _percentile(Fraction(9, 10)), _percentile(Fraction(1, 100)), _percentile(Fraction(1, 3))
    ('90th percentile', '1st percentile', 'quantile 1/3')
    """
    percent = 100 * rank
    if percent.denominator != 1:
        return f"quantile {rank}" if rank.denominator % 3 == 0 else f"quantile {float(rank):g}"
    number = int(percent)
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending} percentile"


def _several(entries: Sequence[Any]) -> list[str]:
    """Outputs in words: quantiles of one column together, and of many the first few."""
    ranked = [one for one in entries if isinstance(one, Mapping) and one.get("of") == "quantile"]
    if len(ranked) > 1 and len(ranked) == len(entries) and len({one.get("column") for one in ranked}) == 1:
        names = [_percentile(rank) for rank in sorted(Fraction(str(one.get("q", "1/2"))) for one in ranked)]
        return [f"{_joined(names).replace(' percentile', '')} percentiles of {plain_name(ranked[0].get('column'))}"]
    return _few(list(dict.fromkeys(_output(entry) for entry in entries)))


def _few(words: list[str]) -> list[str]:
    return words if len(words) <= _MOST else [*words[: _MOST - 1], f"{len(words) - _MOST + 1} more"]


def _joined(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def _key(key: Any) -> str:
    """What is grouped by, and in which bins."""
    if not isinstance(key, Mapping):
        return plain_name(key)
    named = plain_name(key.get("name") or key.get("column", ""))
    edges = key.get("edges")
    return named if not edges else f"{named} ({_bins(edges)})"


def _bins(edges: Sequence[Any]) -> str:
    """Bins in words: how wide they are, or how many there are."""
    many = f"{len(edges) - 1} bins" if len(edges) > 2 else "1 bin"
    try:
        numbers = [Fraction(str(edge)) for edge in edges]
    except ValueError:
        return _periods(edges) or many
    widths = {b - a for a, b in pairwise(numbers[:-1])} or {numbers[-1] - numbers[0]}
    last = numbers[-1] - numbers[-2]
    if len(numbers) < 3 or len(widths) > 1 or last > max(widths):
        return many
    return f"steps of {float(max(widths)):g}"


def _periods(edges: Sequence[Any]) -> str:
    """How long the periods between days are, if they all are as long: nothing if not."""
    try:
        days = [date.fromisoformat(str(edge)[:10]) for edge in edges]
    except ValueError:
        return ""
    lengths = [(b - a).days for a, b in pairwise(days)][1:-1]
    if not lengths:
        return ""
    short, long = min(lengths), max(lengths)
    return next((name for name, (least, most) in _LENGTHS.items() if least <= short and long <= most), "")
