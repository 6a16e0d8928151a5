"""The documentation as pages of this server: its Markdown files, rendered here, with links that stay here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from discreet.apps.web.manual_text import headings, parts, plain, rendered, slug
from discreet.core.glossary import glossary_page
from discreet.show import Markup

__all__ = ["GUIDES", "SECTIONS", "Hit", "Manual", "Page", "Section", "manual_folder"]

SECTIONS = {
    "tutorials": "Tutorials",
    "guides": "Guides",
    "coming-from": "Coming from another library",
    "concepts": "Concepts",
    "course": "Course",
    "proofs": "Proofs",
    "benchmarks": "Benchmarks",
}
"""Folders of the documentation, in the order in which they are listed and found."""
PICTURES = {".svg": "image/svg+xml", ".png": "image/png", ".webp": "image/webp"}
GUIDES = {
    "Data and budget": (
        "schema",
        "budget",
        "share-a-budget",
        "new-data",
        "backups",
        "ledger-postgres",
        "engines",
        "cluster",
    ),
    "Questions": ("questions", "command-line", "notebook", "accuracy", "choices", "publish", "pictures"),
    "A whole team": ("server", "deploy", "pages", "custodian-pages"),
    "Geography and flows": ("hierarchies", "hierarchy-files", "census", "maps", "constraints", "commuting"),
    "Private numbers": ("hide", "power"),
    "Synthetic rows": ("synthetic", "relations", "quality"),
    "Models": ("training", "estimators", "fine-tuning", "images"),
    "Surveys": ("surveys", "local"),
    "Attacks and audits": ("risk", "auditing"),
    "Extend discreet": ("own-mechanism", "extend"),
}
"""Guides by what they are about, as in the navigation of the site."""
_FOLDED = ("proofs", "benchmarks")
_AROUND = 90  # characters on either side of what was found


def manual_folder() -> Path | None:
    """Where the documentation lies: in the package, or beside the source; None where neither is."""
    package = Path(__file__).resolve().parents[2]
    return next((one for one in (package / "docs", package.parents[1] / "docs") if (one / "index.md").is_file()), None)


@dataclass(frozen=True, slots=True)
class Page:
    """One page of the documentation."""

    name: str
    """Its path without the ending, such as guides/budget."""
    title: str
    text: str

    @property
    def section(self) -> str:
        """The folder that it is in."""
        return self.name.partition("/")[0] if "/" in self.name else ""


@dataclass(frozen=True, slots=True)
class Hit:
    """A page that has what was searched for: where to go, and the words around it."""

    page: Page
    anchor: str
    heading: str
    before: str
    found: str
    after: str


@dataclass(frozen=True, slots=True)
class Section:
    """A folder of the documentation: its pages in groups, each with a name where there are several."""

    title: str
    groups: list[tuple[str, list[Page]]]
    pages: int
    folded: bool
    """Whether it is listed in a part that opens."""


class Manual:
    """All pages, read once: no path of a request is ever opened."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    @cached_property
    def pages(self) -> dict[str, Page]:
        """Every page by its name; the glossary is always there."""
        found = {"glossary": glossary_page()}
        for path in sorted(self.folder.rglob("*.md")) if self.folder is not None else ():
            name = path.relative_to(self.folder or path).with_suffix("").as_posix()
            found.setdefault(name, path.read_text(encoding="utf-8"))
        return {name: Page(name, _title(text, name), text) for name, text in found.items()}

    @cached_property
    def pictures(self) -> dict[str, Path]:
        """Every picture by its name."""
        listed = sorted(self.folder.rglob("*")) if self.folder is not None else []
        return {
            path.relative_to(self.folder or path).as_posix(): path for path in listed if path.suffix.lower() in PICTURES
        }

    def listed(self) -> list[Section]:
        """Pages by section, guides by what they are about."""
        found = []
        for name, title in SECTIONS.items():
            own = [page for page in self.pages.values() if page.section == name and not page.name.endswith("/index")]
            if own:
                found.append(Section(title, _groups(name, own), len(own), name in _FOLDED))
        return found

    def rendered(self, page: Page) -> Markup:
        """A page as HTML: raw HTML in it is text, and links to other hosts are written out."""
        return Markup(rendered(page.text, lambda link: self.address(link, page)))

    def outline(self, page: Page) -> list[tuple[str, str]]:
        """Anchors and names of the parts of a page, where it has several."""
        names = [name for level, name, _ in headings(page.text) if level == 2]
        return [(slug(name), plain(name)) for name in names] if len(names) > 3 and page.name != "glossary" else []

    @cached_property
    def _parts(self) -> dict[str, list[tuple[str, str]]]:
        return {name: parts(page.text) for name, page in self.pages.items()}

    def search(self, words: str, most: int = 20) -> list[Hit]:
        """Pages with all of some words: those with them in the title first, all others before proofs and figures."""
        wanted = [part for part in words.casefold().split() if part][:8]
        if not wanted:
            return []
        ranked = []
        for page in self.pages.values():
            own, title = self._parts[page.name], page.title.casefold()
            text = " ".join(f"{heading} {body}" for heading, body in own).casefold()
            if not all(part in text for part in wanted):
                continue
            named = sum(part in title for part in wanted)
            headed = sum(part in heading.casefold() for part in wanted for heading, _ in own)
            ranked.append((page.section in _FOLDED, -named, _place(page), -headed, page.title, page))
        ranked.sort(key=lambda one: one[:-1])
        return [_hit(page, self._parts[page.name], wanted) for *_, page in ranked[:most]]

    def address(self, link: str, page: Page) -> str | None:
        """Where a link of a page leads on this server; None if it leads elsewhere."""
        target, _, anchor = link.partition("#")
        if not target:
            return f"#{anchor}"
        if "://" in target or target.startswith(("mailto:", "/")):
            return None
        path = _joined(PurePosixPath(page.name).parent, target)
        if path is None:
            return None
        if path in self.pictures:
            return f"/help/file/{path}"
        name = path.removesuffix(".md").rstrip("/")
        name = name if name in self.pages else f"{name}/index".lstrip("/")
        if name not in self.pages:
            return None
        return f"/help/{name}{f'#{anchor}' if anchor else ''}"


_ORDERED = (
    *("analyst", "custodian", "statistician", "engineer", "survey"),
    *("epsilon", "anonymisation", "sensitivity", "mechanisms", "composition", "post-processing", "group-privacy"),
    *("local-or-central", "decisions", "sharp-edges"),
)
_LAST = ("architecture", "coverage")
_ORDER = ["glossary", *SECTIONS]


def _place(page: Page) -> int:
    """Where a page of its section stands in a search: sections in their order, then pages of none."""
    name = page.section or page.name
    return _ORDER.index(name) if name in _ORDER else len(_ORDER)


def _groups(section: str, pages: Sequence[Page]) -> list[tuple[str, list[Page]]]:
    """The pages of a section: guides by what they are about, others in one group."""
    left = {page.name.partition("/")[2]: page for page in pages}
    made = []
    if section == "guides":
        for title, names in GUIDES.items():
            made.append((title, [left.pop(name) for name in names if name in left]))
    order = {name: place for place, name in enumerate(_ORDERED)} | dict.fromkeys(_LAST, len(left) + len(_ORDERED))
    rest = sorted(left, key=lambda name: (order.get(name, len(_ORDERED)), _numbered(left[name].title)))
    made.append(("More" if made else "", [left[name] for name in rest]))
    return [(title, own) for title, own in made if own]


def _numbered(title: str) -> list[tuple[int, str]]:
    """A title to sort by, numbers by their size."""
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", title.casefold()) if part]


def _joined(folder: PurePosixPath, target: str) -> str | None:
    """A relative path from a folder, within the documentation."""
    parts: list[str] = [part for part in folder.parts if part != "."]
    for part in PurePosixPath(target).parts:
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _title(text: str, name: str) -> str:
    found = headings(text)
    return plain(found[0][1]) if found else name


def _hit(page: Page, own: Sequence[tuple[str, str]], wanted: Sequence[str]) -> Hit:
    """The part of a page that has most of the words, in its heading or below it, and the words around one of them."""

    def score(part: tuple[str, str]) -> int:
        heading, body = part[0].casefold(), part[1].casefold()
        return sum(3 * (word in heading) + 2 * (word in body) for word in wanted)

    heading, body = max(own, key=score)
    lower = body.casefold()
    found = [(at, len(word)) for word in wanted if (at := lower.find(word)) >= 0]
    if not found:  # in the heading alone
        return Hit(page, slug(heading), heading, "", "", _cut(body[: 2 * _AROUND], end=True))
    at, length = min(found)
    before, after = body[max(0, at - _AROUND) : at], body[at + length : at + length + _AROUND]
    before = before if at <= _AROUND else f"…{before.partition(' ')[2]}"
    return Hit(
        page, slug(heading), heading, before, body[at : at + length], _cut(after, end=at + length + _AROUND < len(body))
    )


def _cut(text: str, end: bool) -> str:
    """Some text without the word that it breaks off in, if it does."""
    return f"{text.rpartition(' ')[0]}…" if end and " " in text else text
