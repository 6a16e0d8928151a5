"""Figures on dark pages: those that bring no colours for the dark are marked, and a style sheet turns them round."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable

__all__ = ["follows_the_reader", "mark_figures"]

_IMAGE = re.compile(r'<img\b(?=[^>]*\bsrc="([^":]+\.svg)")')


def follows_the_reader(svg: str) -> bool:
    """Whether a figure has colours for light and for dark."""
    return "prefers-color-scheme" in svg


def mark_figures(html: str, url: str, read: Callable[[str], str | None]) -> str:
    """Mark the figures of the page at `url` that have light colours alone; `read` gives a figure by its path."""

    def marked(match: re.Match[str]) -> str:
        svg = read(posixpath.normpath(posixpath.join(url, match[1])))
        return match[0] if svg is None or follows_the_reader(svg) else f'{match[0]} class="light-only"'

    return _IMAGE.sub(marked, html)
