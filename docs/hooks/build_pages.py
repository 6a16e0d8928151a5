"""The hook of mkdocs for every page: formulas are set, a search knows what to find first, no other host is asked."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from handbook.figures import mark_figures
from handbook.formulas import FormulaError, font, set_formulas
from handbook.hosts import loaded_elsewhere, styles_elsewhere
from handbook.tables import plain_corners
from handbook.weights import weight

_SESSION = re.compile(r"^([ \t]*```)python\n(?=[ \t]*>>> )", re.MULTILINE)  # what is printed is no Python
_SEARCH = 'data-md-component="search" role="dialog"'  # of the theme, which leaves it without a name


def on_files(files: Any, config: Any) -> Any:
    """Bring the font of formulas."""
    from mkdocs.structure.files import File

    files.append(File.generated(config, "looks/STIXTwoMath-Regular.ttf", abs_src_path=str(font())))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Weigh the page for the search, unless it does that itself; know a session from a program."""
    page.meta.setdefault("search", {}).setdefault("boost", weight(page.file.src_uri))
    return _SESSION.sub(r"\1pycon\n", markdown)


def on_page_content(html: str, page: Any, files: Any, **_: Any) -> str:
    """Set the formulas of the page, mark the figures that know no dark, mend the corners of tables."""
    from mkdocs.exceptions import PluginError

    def read(path: str) -> str | None:
        file = files.get_file_from_path(path)
        return None if file is None else file.content_string

    try:
        return plain_corners(mark_figures(set_formulas(html), page.url, read))
    except FormulaError as error:
        raise PluginError(f"{page.file.src_uri}: {error}") from error


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Finish a page."""
    return _finish(output, page.file.src_uri)


def on_post_template(output_content: str, template_name: str, **_: Any) -> str:
    """Finish a page that is made without Markdown, such as 404.html."""
    return _finish(output_content, template_name) if template_name.endswith(".html") else output_content


def on_post_build(config: Any, **_: Any) -> None:
    """Refuse a style sheet that loads something from another host."""
    from mkdocs.exceptions import PluginError

    for path in Path(config.site_dir).rglob("*.css"):
        if elsewhere := styles_elsewhere(path.read_text(encoding="utf-8")):
            raise PluginError(f"{path.name} loads from another host: {', '.join(elsewhere)}")


def _finish(html: str, name: str) -> str:
    """Name the search for those who hear the page; refuse a page that loads something from another host."""
    from mkdocs.exceptions import PluginError

    if elsewhere := loaded_elsewhere(html):
        raise PluginError(f"{name} loads from another host: {', '.join(elsewhere)}")
    return html.replace(_SEARCH, f'{_SEARCH} aria-label="Search"')
