"""A schema to fill in, written from column names and declared types only. No value of the data is looked at."""

from __future__ import annotations

import json
import re

from discreet.query.source import Source

__all__ = ["skeleton"]

_HEAD = """\
# What discreet may know about this table. Fill in every "?"; nothing here may be read off the data itself:
# take bounds and categories from a codebook, the law, or common sense.

[dataset]
name = {name}
{names}# version = "?"            # your name for this state of the data, such as "2024-02"

# What is protected. Without `column` it is one row; with it, everything of one person.
[unit]
# column = "?"             # the column that identifies a person
# groups = 1               # in how many groups of a question a person may count
# rows = 1                 # as how many rows a person may count in one group
neighbours = "add-remove"  # or "replace": the number of units is public

# All that may ever be spent. epsilon alone, or epsilon with delta, or rho.
[budget]
epsilon = "?"
# delta = 1e-6
"""


def skeleton(source: Source, name: str) -> str:
    """The text of a `discreet.toml` for the columns of a source."""
    listed = ", ".join(map(_quoted, source.names))
    names = f"names = [{listed}]  # of the columns: the file has no header line\n" if source.names else ""
    parts = [_HEAD.format(name=_quoted(name), names=names)]
    parts.extend(_column(column, kind) for column, kind in source.columns().items())
    return "\n".join(parts)


def _quoted(text: str) -> str:
    """A TOML string. TOML wants one character more escaped than JSON does."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _column(name: str, kind: str) -> str:
    bare = name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quoted(name)
    kind = kind.removeprefix("!").lower()
    lines = [f"[columns.{bare}]"]
    if kind.startswith(("int", "uint")):
        lines += ['type = "integer"', 'lower = "?"', 'upper = "?"']
    elif kind.startswith(("float", "decimal")):
        lines += ['type = "real"', 'lower = "?"', 'upper = "?"']
    elif kind.startswith("bool"):
        lines += ['type = "boolean"']
    elif kind.startswith(("date", "timestamp")):
        lines += ['type = "date"', 'lower = "?"              # such as 2020-01-01', 'upper = "?"']
    else:
        lines += [
            'type = "?"               # integer, real, category, boolean, date or text',
            '# lower = "?"            # integer, real, date',
            '# upper = "?"',
            '# values = ["?"]         # category: every value that may occur',
        ]
    return "\n".join([*lines, "nullable = true           # false if a value is never missing", ""])
