"""The hook of mkdocs that writes the reference at build time, and fails the build where something is not documented."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from handbook.book import NAVIGATION, Book
from handbook.links import dead_links, listed, unlisted

if TYPE_CHECKING:
    from mkdocs.structure.files import Files

SOURCE = Path(__file__).resolve().parents[2] / "src" / "discreet"


def on_config(config: Any) -> Any:
    """Put the pages that are made here into the navigation, unless it names them already."""
    if "reference/commands.md" not in listed(config.nav):
        parts = config.nav or []
        place = next((index for index, part in enumerate(parts) if "Proofs" in part), len(parts))
        config.nav = [*parts[:place], NAVIGATION, *parts[place:]]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages; leave programs out of the site; complain of everything at once."""
    from mkdocs.exceptions import PluginError
    from mkdocs.structure.files import File

    for file in list(files):
        if file.src_uri.endswith((".py", ".pyc")):
            files.remove(file)
    book = Book(SOURCE)
    made = book.pages()
    for path, text in made.items():
        files.append(File.generated(config, path, content=text))
    pages = {file.src_uri: file.content_string for file in files.documentation_pages()}
    others = [file.src_uri for file in files if not file.is_documentation_page()]
    problems = book.problems() + unlisted(pages, config.nav) + dead_links(pages, others)
    if problems:
        raise PluginError("The documentation is not complete:\n" + "\n".join(f"- {one}" for one in problems))
    return files
