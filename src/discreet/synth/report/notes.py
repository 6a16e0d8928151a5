"""Notes of a release in groups: how rows were made, how values are told apart, what is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.show import Markup, element

if TYPE_CHECKING:
    from discreet.synth.release import SyntheticRelease

__all__ = ["grouped_notes", "note_lists"]

_MADE, _VALUES, _OUT = "How the rows were made", "How values are binned", "What is left out"
_KINDS = {
    **dict.fromkeys(("marginals", "prior", "data"), _MADE),
    **dict.fromkeys(("bins", "bounds", "missing", "discovered"), _VALUES),
}


def grouped_notes(release: SyntheticRelease) -> dict[str, list[str]]:
    """Every note once, as a sentence, in the group of its kind; groups without a note are left out."""
    groups: dict[str, list[str]] = {_MADE: [], _VALUES: [], _OUT: []}
    told = [(_MADE, f"{text[:1].upper()}{text[1:]}") for text in release.remarks]
    told += [(_KINDS.get(note.kind, _OUT), note.text) for note in release.table_notes()]
    for group, text in told:
        sentence = f"{text.rstrip('.')}."  # which may begin with the name of a column
        if sentence not in groups[group]:
            groups[group].append(sentence)
    return {group: texts for group, texts in groups.items() if texts}


def note_lists(release: SyntheticRelease) -> list[Any]:
    """The notes as lists below headings."""
    lists = [_list(title, texts) for title, texts in grouped_notes(release).items()]
    return [element("h2", None, "Notes"), element("div", {"class": "notes"}, *lists)]


def _list(title: str, texts: list[str]) -> Markup:
    lines = [element("li", None, text) for text in texts]
    return element("section", None, element("h3", None, title), element("ul", None, *lines))
