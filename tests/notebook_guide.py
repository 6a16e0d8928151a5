"""The notebook guide as a notebook: its blocks of Python are cells, the text between them too.

After a change of the page: PYTHONPATH=src:tests python tests/notebook_guide.py
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

GUIDE = Path(__file__).parent.parent / "docs" / "guides" / "notebook.md"
NOTEBOOK = GUIDE.with_suffix(".ipynb")
_BLOCK = re.compile(r"^```python\n(.*?)^```\n?", re.DOTALL | re.MULTILINE)
_PICTURE = re.compile(r"^!\[.*\n\n?", re.MULTILINE)
_KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}


def notebook(page: str) -> dict:
    """The notebook of a page, without pictures and outputs: it makes its own."""
    parts = _BLOCK.split(_PICTURE.sub("", page))
    cells = [_cell(index, text.strip("\n")) for index, text in enumerate(parts) if text.strip()]
    return {"cells": cells, "metadata": _KERNEL, "nbformat": 4, "nbformat_minor": 5}


def _cell(index: int, text: str) -> dict:
    code = index % 2 == 1
    source = text.splitlines(keepends=True)
    name = hashlib.sha256(f"{index} {text}".encode()).hexdigest()[:8]
    cell = {"cell_type": "code" if code else "markdown", "id": name, "metadata": {}, "source": source}
    return cell | ({"execution_count": None, "outputs": []} if code else {})


def text(page: str) -> str:
    """The file."""
    return json.dumps(notebook(page), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    NOTEBOOK.write_text(text(GUIDE.read_text(encoding="utf-8")), encoding="utf-8")
