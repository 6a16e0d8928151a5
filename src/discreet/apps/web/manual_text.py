"""Markdown of the documentation: as HTML, as plain words for a search, and its headings."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

from discreet.apps.web.formulas import set_formula
from discreet.errors import InputError

__all__ = ["headings", "parts", "plain", "rendered", "slug"]

_HEADING = re.compile(r"^(#{1,4}) +(.+?) *$", re.MULTILINE)
_ADMONITION = re.compile(r'^!!! \w+ "([^"]+)"\n((?:\n| {4}.*\n?)+)', re.MULTILINE)
_IMAGE = re.compile(r'^<img src="([^"]+)"[^>]*? alt="([^"]*)">$', re.MULTILINE)
_FRAME = re.compile(r"^</?(?:div|picture|source)\b[^>]*>\n", re.MULTILINE)  # around pictures of the site alone
_FENCE = re.compile(r"^(`{3,}).*?^\1", re.MULTILINE | re.DOTALL)
_FORMULA = re.compile(r"\$(?=\S)([^$\n]+?)(?<=\S)\$(?!\w)")
_NOT_READ = (
    (_FRAME, ""),
    (_IMAGE, r"\2"),
    (re.compile(r"^[ \t]*(?:`{3,}|~{3,}).*$", re.MULTILINE), " "),  # the marks around code, with its language
    (re.compile(r"^[ \t]*\|?(?:[ :-]*-{3}[ :-]*\|)+[ :-]*$", re.MULTILINE), " "),  # the line below a table's head
    (re.compile(r"!?\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\([^()\s]*\)"), r"\1"),
    (re.compile(r'^!!! \w+ "([^"]+)"$', re.MULTILINE), r"\1."),
    (re.compile(r"^[ \t]*(?:>>>|\.\.\.|\$|>(?!>)|[-*])(?: |$)", re.MULTILINE), ""),  # prompts, quotations, items
    (re.compile(r"\*\*|`|^#+ +", re.MULTILINE), ""),
    (re.compile(r"(?<!\|)\|(?!\|)"), " "),
    (re.compile(r"\s+"), " "),
)


def slug(heading: str) -> str:
    """The anchor of a heading, as the documentation's links name it.

    >>> slug("One row for each person"), slug("`discreet ask`, again")
    ('one-row-for-each-person', 'discreet-ask-again')
    """
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower())


def plain(text: str) -> str:
    """What a reader sees of some Markdown, in one line.

    >>> plain("More: [a guide](guides/budget.md#left), **soon**." + chr(10) + "| `x` | 1 |")
    'More: a guide, soon. x 1'
    """
    for pattern, instead in _NOT_READ:
        text = pattern.sub(instead, text)
    return text.strip()


def headings(text: str) -> list[tuple[int, str, int]]:
    """The headings outside of code: their level, their words, and where they begin."""
    blank = _FENCE.sub(lambda match: " " * len(match[0]), text)
    return [(len(match[1]), match[2], match.start()) for match in _HEADING.finditer(blank)]


def parts(text: str) -> list[tuple[str, str]]:
    """Each heading in plain words, and the plain words below it: sentences first, then what stands in code."""
    found = headings(text)
    ends = [start for _, _, start in found[1:]] + [len(text)]
    made = []
    for (_, name, start), end in zip(found, ends, strict=True):
        body = text[start:end].partition("\n")[2]
        code = "\n".join(match[0] for match in _FENCE.finditer(body))
        made.append((plain(name), plain(f"{_FENCE.sub('', body)}\n{code}")))
    return made


def rendered(text: str, address: Callable[[str], str | None]) -> str:
    """A page as HTML: raw HTML in it is text, and links whose `address` is not here are written out."""
    written = _FRAME.sub("", _IMAGE.sub(r"![\2](\1)", text))
    return str(_renderer(address).render(_ADMONITION.sub(_quoted, written)))


def _quoted(match: re.Match[str]) -> str:
    """An admonition as a quotation with its title."""
    body = re.sub(r"^ {4}", "", match[2], flags=re.MULTILINE).strip()
    return "\n".join(f"> {line}".rstrip() for line in [f"**{match[1]}**", "", *body.splitlines()]) + "\n\n"


def _formula(state: Any, silent: bool) -> bool:
    """LaTeX between dollars, within a line."""
    match = _FORMULA.match(state.src, state.pos)
    if match is None or re.match(r"[\\$\w]", state.src[state.pos - 1 : state.pos]):
        return False
    if not silent:
        state.push("formula", "", 0).content = match[1]
    state.pos = match.end()
    return True


def _formula_block(state: Any, first: int, last: int, silent: bool) -> bool:
    """LaTeX between lines of two dollars."""

    def line(index: int) -> str:
        return str(state.src[state.bMarks[index] + state.tShift[index] : state.eMarks[index]]).strip()

    end = next((index for index in range(first + 1, last) if line(index) == "$$"), None)
    if line(first) != "$$" or end is None:
        return False
    if not silent:
        token = state.push("formula_block", "", 0)
        token.content = "\n".join(line(index) for index in range(first + 1, end))
        token.map = [first, end + 1]
        state.line = end + 1
    return True


def _set(latex: str, display: bool) -> str:
    """A formula, or its source where it cannot be set."""
    try:
        return set_formula(latex, display=display)
    except (InputError, ImportError):
        source = f"<code>{html.escape(latex)}</code>"
        return f"<p>{source}</p>" if display else source


def _renderer(address: Callable[[str], str | None]) -> Any:
    """A Markdown renderer for one page."""
    from markdown_it import MarkdownIt

    made = MarkdownIt("commonmark", {"html": False}).enable("table")
    made.inline.ruler.before("escape", "formula", _formula)
    made.block.ruler.before("fence", "formula_block", _formula_block, {"alt": ["paragraph", "blockquote", "list"]})

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
        here = address(link)
        env.setdefault("links", []).append("" if here else link)
        return f'<a href="{html.escape(here)}">' if here else "<span>"

    def link_close(self: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
        outside = env["links"].pop()
        written = f" <small>({html.escape(outside)})</small>" if "://" in outside else ""
        return f"</span>{written}" if outside else "</a>"

    def image(self: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
        token = tokens[index]
        here = address(str(token.attrs.get("src", "")))
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
        "formula": lambda self, tokens, index, options, env: _set(tokens[index].content, False),
        "formula_block": lambda self, tokens, index, options, env: _set(tokens[index].content, True),
    }.items():
        made.add_render_rule(name, rule)
    return made
