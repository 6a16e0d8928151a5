"""Docstrings of the service as Markdown: paragraphs, examples, guarantees, links to proofs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from textwrap import dedent, wrap

__all__ = ["cell", "fence", "markdown", "prose", "table"]

_PROOF = re.compile(r"\bdocs/((?:proofs|guides|benchmarks|concepts)/[\w-]+\.md)")
_HEADS = ("Guarantee", "Formal guarantee", "Guarantees", "Proof", "Limits")


def markdown(doc: str, up: str) -> str:
    """A docstring as Markdown; `up` leads from its page to the root of the documentation."""
    blocks = [_block(block, up) for block in re.split(r"\n\s*\n", dedent(doc).strip("\n")) if block.strip()]
    return "\n\n".join(blocks)


def _block(block: str, up: str) -> str:
    lines = block.splitlines()
    if lines[0].lstrip().startswith(">>>"):
        return fence(dedent(block), "python")
    if lines[0].strip().rstrip(":") in _HEADS and len(lines) > 1:
        inside = prose(" ".join(line.strip() for line in lines[1:]), up)
        return f'!!! info "{lines[0].strip().rstrip(":")}"\n' + "\n".join(
            f"    {line}" for line in wrap(inside, 110, break_long_words=False, break_on_hyphens=False)
        )
    if all(line.startswith("    ") for line in lines):
        return fence(dedent(block))
    first = next((place for place, line in enumerate(lines) if line.lstrip().startswith(">>>")), None)
    if first is not None:
        return prose("\n".join(lines[:first]), up) + "\n\n" + fence(dedent("\n".join(lines[first:])), "python")
    if any(line.startswith("    ") for line in lines[1:]) or any(re.match(r"[-*] ", line) for line in lines):
        return fence(block)
    return prose(block, up)


def prose(text: str, up: str) -> str:
    """Plain text in which only back-ticks mean something, with links where pages are named."""
    parts = re.split(r"(`[^`]*`)", text)
    for place in range(0, len(parts), 2):
        plain = parts[place].replace("&", "&amp;").replace("<", "&lt;").replace("*", r"\*").replace("[", r"\[")
        parts[place] = _PROOF.sub(lambda found: f"[{found[1]}]({up}{found[1]})", plain)
    return "".join(parts)


def fence(text: str, language: str = "text") -> str:
    """A block that is shown as it is."""
    marks = "````" if "```" in text else "```"
    return f"{marks}{language}\n{text.rstrip()}\n{marks}"


def cell(text: str, up: str = "") -> str:
    """Text for one cell of a table."""
    return prose(" ".join(text.split()), up).replace("|", r"\|")


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table; cells are Markdown already."""
    names = list(head)
    lines = [names, ["---"] * len(names), *[list(row) for row in rows]]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
