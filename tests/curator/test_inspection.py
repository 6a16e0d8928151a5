"""What does not fit a schema is for the custodian: who may import what reads rows to say it."""

import ast
from pathlib import Path

import discreet

SOURCE = Path(discreet.__file__).parent
MAY = {
    SOURCE / "curator" / "inspection.py",
    SOURCE / "curator" / "schema_draft.py",
    SOURCE / "apps" / "cli" / "check.py",
    SOURCE / "apps" / "web" / "custodian" / "datasets.py",
    SOURCE / "apps" / "web" / "custodian" / "schema_editor.py",
}
DRAFT = {SOURCE / "apps" / "cli" / "init.py", SOURCE / "apps" / "web" / "custodian" / "drafts.py"}
"""Who may have types guessed: that reads rows too."""


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Import):
            yield from (one.name for one in node.names)


def test_nothing_that_serves_others_imports_it():
    for path in SOURCE.rglob("*.py"):
        inside = path.is_relative_to(SOURCE / "data" / "inspection") or path in MAY
        assert inside or not any("inspection" in name for name in imported(path)), path
        assert path in DRAFT or not any("schema_draft" in name for name in imported(path)), path
