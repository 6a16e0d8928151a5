"""The documentation as pages of this server: its Markdown files, rendered here, with links that stay here."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from discreet.core.glossary import glossary_page
from discreet.show import Markup

__all__ = ["SECTIONS", "Hit", "Manual", "Page", "manual_folder"]

SECTIONS = {
    "tutorials": "Tutorials",
    "guides": "Guides",
    "coming-from": "Coming from another library",
    "concepts": "Concepts",
    "course": "Course",
    "proofs": "Proofs",
    "benchmarks": "Measured",
}
"""Folders of the documentation, in the order in which they are listed and found."""
_LATE = ("proofs", "benchmarks")
PICTURES = {".svg": "image/svg+xml", ".png": "image/png", ".webp": "image/webp"}
_HEADING = re.compile(r"^(#{1,4}) +(.+?) *$", re.MULTILINE)
_ADMONITION = re.compile(r'^!!! \w+ "([^"]+)"\n((?:\n| {4}.*\n?)+)', re.MULTILINE)
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

    def listed(self) -> list[tuple[str, list[Page]]]:
        """Pages by section."""
        order = {name: place for place, name in enumerate(_FIRST)}
        found = []
        for section, title in SECTIONS.items():
            own = [page for page in self.pages.values() if page.section == section and not page.name.endswith("/index")]
            own.sort(key=lambda page: (order.get(page.name, len(order)), _numbered(page.title)))
            if own:
                found.append((title, own))
        return found

    def rendered(self, page: Page) -> Markup:
        """A page as HTML: raw HTML in it is text, and links to other hosts are written out."""
        return Markup(_renderer(self, page).render(_ADMONITION.sub(_quoted, page.text)))

    def outline(self, page: Page) -> list[tuple[str, str]]:
        """Anchors and names of the parts of a page, where it has several."""
        parts = [match[2] for match in _HEADING.finditer(_without_code(page.text)) if match[1] == "##"]
        return (
            [(slug(name), name.replace("`", "")) for name in parts]
            if len(parts) > 3 and page.name != "glossary"
            else []
        )

    def search(self, words: str, most: int = 20) -> list[Hit]:
        """Pages with all of some words: those with them in the title first, all others before proofs and figures."""
        parts = [part for part in words.casefold().split() if part][:8]
        if not parts:
            return []
        ranked = []
        places = ["", *SECTIONS]
        for page in self.pages.values():
            text, title = page.text.casefold(), page.title.casefold()
            if not all(part in text for part in parts):
                continue
            named = sum(part in title for part in parts)
            headed = sum(part in heading.casefold() for part in parts for heading in _headings(page.text))
            place = places.index(page.section) if page.section in places else len(places)
            ranked.append((page.section in _LATE, -named, place, -headed, page.title, page))
        return [_hit(page, parts) for *_, page in sorted(ranked, key=lambda one: one[:-1])[:most]]

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


_FIRST = (
    "tutorials/analyst",
    "tutorials/custodian",
    "tutorials/statistician",
    "tutorials/engineer",
    "tutorials/survey",
    "guides/pages",
    "guides/questions",
    "guides/accuracy",
    "guides/budget",
    "guides/share-a-budget",
    "guides/schema",
    "guides/publish",
    "guides/new-data",
    "concepts/epsilon",
)


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


def _headings(text: str) -> list[str]:
    return [match[2] for match in _HEADING.finditer(_without_code(text))]


def _title(text: str, name: str) -> str:
    found = _headings(text)
    return found[0].replace("`", "") if found else name


def _without_code(text: str) -> str:
    """The text with blocks of code blanked, so that a comment is taken for no heading."""
    return re.sub(r"^(`{3,}).*?^\1", lambda match: " " * len(match[0]), text, flags=re.MULTILINE | re.DOTALL)


def slug(heading: str) -> str:
    """The anchor of a heading, as the documentation's links name it.

    >>> slug("One row for each person"), slug("`discreet ask`, again")
    ('one-row-for-each-person', 'discreet-ask-again')
    """
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower())


def _quoted(match: re.Match[str]) -> str:
    """An admonition as a quotation with its title."""
    body = re.sub(r"^ {4}", "", match[2], flags=re.MULTILINE).strip()
    return "\n".join(f"> {line}".rstrip() for line in [f"**{match[1]}**", "", *body.splitlines()]) + "\n\n"


def _hit(page: Page, parts: Iterable[str]) -> Hit:
    text = page.text
    at = min(place for part in parts if (place := text.casefold().find(part)) >= 0)
    length = max((len(part) for part in parts if text.casefold().startswith(part, at)), default=0)
    before = [match for match in _HEADING.finditer(_without_code(text)) if match.start() <= at]
    heading = before[-1][2] if before else page.title
    start, end = max(0, at - _AROUND), min(len(text), at + length + _AROUND)
    parts_of = (text[start:at], text[at : at + length], text[at + length : end])
    clean = [re.sub(r"\s+", " ", re.sub(r"[#*`>|]", "", one)) for one in parts_of]
    return Hit(page, slug(heading), heading.replace("`", ""), *clean)


def _renderer(manual: Manual, page: Page) -> Any:
    """A Markdown renderer for one page."""
    from markdown_it import MarkdownIt

    made = MarkdownIt("commonmark", {"html": False}).enable("table")

    def heading_open(self: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
        seen = env.setdefault("seen", {})
        anchor = slug(tokens[index + 1].content)
        seen[anchor] = seen.get(anchor, 0) + 1
        again = f"_{seen[anchor] - 1}" if seen[anchor] > 1 else ""
        if tokens[index].tag == "h1" and len(seen) > 1:  # a page has one title
            tokens[index].tag = next(token for token in tokens[index:] if token.type == "heading_close").tag = "h2"
        return f'<{tokens[index].tag} id="{html.escape(anchor + again)}">'

    def link_open(self: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
        link = str(tokens[index].attrs.get("href", ""))
        here = manual.address(link, page)
        env.setdefault("links", []).append("" if here else link)
        return f'<a href="{html.escape(here)}">' if here else "<span>"

    def link_close(self: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
        outside = env["links"].pop()
        written = f" <small>({html.escape(outside)})</small>" if "://" in outside else ""
        return f"</span>{written}" if outside else "</a>"

    def image(self: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
        token = tokens[index]
        here = manual.address(str(token.attrs.get("src", "")), page)
        said = html.escape(self.renderInlineAsText(token.children or [], options, env))
        return f'<img src="{html.escape(here)}" alt="{said}" loading="lazy">' if here else f"<em>{said}</em>"

    def table_open(self: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
        return '<div class="scroll" role="region" aria-label="Table" tabindex="0"><table>'

    def fence(self: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
        return f'<pre tabindex="0"><code>{html.escape(tokens[index].content)}</code></pre>\n'

    for name, rule in {
        "heading_open": heading_open,
        "link_open": link_open,
        "link_close": link_close,
        "image": image,
        "table_open": table_open,
        "table_close": lambda *_: "</table></div>",
        "fence": fence,
    }.items():
        made.add_render_rule(name, rule)
    return made
