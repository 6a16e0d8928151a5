"""What a stored release is about, in a line: wherever a question or a job is named."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from discreet.curator.kinds import kind_of
from discreet.query.title import condition_text, plain_name, question_title

__all__ = ["title_of"]

_MOST = 4  # columns that are named; of more, how many there are


def title_of(query: Any, recorded: str = "") -> str:
    """The title of what was asked, from its record; `recorded` is the kind that its records name.

    >>> title_of({"tree": {"levels": ["all", "state", "county"], "column": "county", "by": [{"column": "sex"}]}})
    'Hierarchical counts by state and county, each by sex'
    """
    made = kind_of(query, recorded)
    if made is None or not isinstance(query, Mapping):
        return ""
    words = question_title(query) or _TITLES.get(made.name, _nothing)(query)
    return words or made.noun[:1].upper() + made.noun[1:]


def _nothing(query: Mapping[str, Any]) -> str:
    return ""


def _batch(query: Mapping[str, Any]) -> str:
    first, *rest = dict.fromkeys(filter(None, map(question_title, _entry(query, "batch").values()))) or [""]
    return "; ".join([first, *(title[:1].lower() + title[1:] for title in rest)])


def _stream(query: Mapping[str, Any]) -> str:
    period, step = _entry(query, "period"), query.get("step")
    inner = question_title(_entry(query, "stream"))
    return f"{inner}: period {step} by {plain_name(period.get('column', ''))}" if inner and step else inner


def _tree(query: Mapping[str, Any]) -> str:
    tree = _entry(query, "tree")
    levels = [plain_name(level) for level in tree.get("levels") or () if level != "all"]
    where = condition_text(tree)
    summed = _entry(tree, "measure").get("column")
    what = f"Hierarchical sums of {plain_name(summed)}" if summed else "Hierarchical counts"
    by = f"{_by(levels)}, each{split}" if (split := _by(tree.get("by"))) and levels else _by(levels) + split
    return what + by + (f", where {where}" if where else "")


def _flows(query: Mapping[str, Any]) -> str:
    return _between("Flows", _entry(query, "mobility"))


def _commute(query: Mapping[str, Any]) -> str:
    return _between("Synthetic commuters", _entry(query, "commute"))


def _between(what: str, entry: Mapping[str, Any]) -> str:
    keys = [_named(key) for key in entry.get("group_by") or ()]
    if len(keys) < 2:
        return ""
    where = condition_text(entry)
    return f"{what} from {keys[0]} to {keys[1]}{_by(keys[2:])}" + (f", where {where}" if where else "")


def _synth(query: Mapping[str, Any]) -> str:
    columns = [_named(key) for key in _entry(query, "synth").get("columns") or ()]
    where = condition_text(_entry(query, "synth"))
    return f"Synthetic rows of {_listed(columns)}" + (f", where {where}" if where else "") if columns else ""


def _train(query: Mapping[str, Any]) -> str:
    return _model(_entry(query, "train"))


def _search(query: Mapping[str, Any]) -> str:
    models = query.get("search")
    found = _model(models[0]) if isinstance(models, Sequence) and models and isinstance(models[0], Mapping) else ""
    return f"{found}, the best of {len(models)}" if found and models else ""


def _model(entry: Mapping[str, Any]) -> str:
    target = _entry(entry, "encoding").get("target")
    name = _entry(entry, "model").get("name", "")
    what = f"{plain_name(name)} model".strip()
    of = f" of {plain_name(target[0])}" if isinstance(target, Sequence) and target else ""
    return what[:1].upper() + what[1:] + of


def _entry(query: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = query.get(name)
    return found if isinstance(found, Mapping) else {}


def _named(key: Any) -> str:
    return plain_name(key.get("name") or key.get("column", "")) if isinstance(key, Mapping) else plain_name(key)


def _by(keys: Any) -> str:
    return f" by {_listed([_named(key) for key in keys])}" if keys else ""


def _listed(names: Sequence[str]) -> str:
    shown = [*names] if len(names) <= _MOST else [*names[: _MOST - 1], f"{len(names) - _MOST + 1} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


_TITLES: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "batch": _batch,
    "stream": _stream,
    "tree": _tree,
    "flows": _flows,
    "commute": _commute,
    "synth": _synth,
    "train": _train,
    "search": _search,
}
