"""Pages and their links, by their Markdown: every page is in the navigation, every link leads somewhere."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["anchors", "dead_links", "listed", "unlisted"]

_FENCE = re.compile(r"^([ \t]*)(`{3,}|~{3,}).*?^\1\2[ \t]*$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"(?<!\\)\[(?:[^\[\]]|\\.|\[[^\]]*\])*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
_HEAD = re.compile(r"^#{1,6}\s+(.+?)\s*#*\s*$", re.MULTILINE)
_ID = re.compile(r"<[^>]*\b(?:id|name)=\"([^\"]+)\"")


def listed(navigation: Any) -> list[str]:
    """Every page that a navigation of mkdocs.yml names."""
    if isinstance(navigation, str):
        return [navigation]
    parts = navigation.values() if isinstance(navigation, Mapping) else navigation or []
    return [page for part in parts for page in listed(part)]


def unlisted(pages: Iterable[str], navigation: Any) -> list[str]:
    """Problems: pages that nobody can find, entries that lead nowhere, entries that come twice."""
    known, named = set(pages), listed(navigation)
    problems = [f"{page} is not in the navigation of mkdocs.yml" for page in sorted(known - set(named))]
    problems += [f"the navigation names {page}, which is not there" for page in sorted(set(named) - known)]
    return problems + [
        f"the navigation names {page} twice" for page in sorted({p for p in named if named.count(p) > 1})
    ]


def anchors(text: str) -> set[str]:
    """Every place of a page that a link can lead to."""
    bare = _FENCE.sub("", text)
    found, seen = set(_ID.findall(bare)), set()
    for head in _HEAD.findall(bare):
        name = first = _slug(head)
        number = 0
        while name in seen:
            number += 1
            name = f"{first}_{number}"
        seen.add(name)
    return found | seen


def _slug(head: str) -> str:
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", head)
    plain = re.sub(r"<[^>]*>", "", plain)
    plain = re.sub(r"\\(.)", r"\1", plain).replace("`", "")
    plain = re.sub(r"(?<!\w)[*_]+|[*_]+(?!\w)", "", plain)
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain.encode("ascii", "ignore").decode()).strip().lower())


def dead_links(pages: Mapping[str, str], files: Iterable[str] = ()) -> list[str]:
    """Problems: links of pages to pages, files or places that are not there. Links out of the site are let be."""
    there, problems = {*pages, *files}, []
    places = {page: anchors(text) for page, text in pages.items()}
    for page, text in pages.items():
        for target in _LINK.findall(_CODE.sub("`", _FENCE.sub("", text))):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, place = target.partition("#")
            whole = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
            if whole not in there:
                problems.append(f"{page} links to {target}, which is not there")
            elif place and whole in places and place not in places[whole]:
                problems.append(f"{page} links to {target}: the page has no such place")
    return problems
