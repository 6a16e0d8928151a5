"""The settings page: environment variables, and every key of a schema file and of a survey file."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from pathlib import Path

from handbook.words import fence, table

__all__ = ["DIARY", "KEYS", "READERS", "SCHEMA", "SURVEY", "VARIABLES", "keys_read", "setting_pages", "variables_read"]

VARIABLES: Mapping[str, str] = {
    "DISCREET_LEDGER": "Where the ledger is, unless a command or `discreet.open` names one: a path or `postgresql://...`.",
    "DISCREET_ANCHOR": "A guard that machines share, beside each one's own: a file, a folder, `sqlite:///path` or `postgresql://...`.",
    "DISCREET_SCHEMA": "The schema file, for commands that are not given `--schema`.",
    "DISCREET_SERVER": "The address of the server that `discreet jobs` speaks to.",
    "DISCREET_TOKEN": "The token that `discreet jobs --server` shows.",
    "DISCREET_TOKENS": "The file of a server's tokens, for `discreet serve` and `discreet token`.",
    "DISCREET_WHO": "The name that goes on the ledger with a charge. By default the name of the user of the system.",
    "DISCREET_SERVING": "Set by `discreet serve` for its own worker processes. Not for people.",
    "DISCREET_KEY": "The file with the secret that fingerprints of data are made with; several machines may share one.",
    "DISCREET_STATE": "The folder for what belongs to ledgers, not to data: secrets, spilled rows, compiled programs.",
    "DISCREET_MEMORY": "How much memory DuckDB may take, such as `4GB`; by default half a GiB a core. The rest spills.",
    "DISCREET_OBJECTS": "How much disk copies of files in object stores may take, such as `50GB`; 20 GB by default.",
}

# By table of a file: each key, and what it says. `*` stands for a name of the custodian's choice.
KEYS: Mapping[str, Mapping[str, str]] = {
    "discreet.toml": {
        "dataset": "A table: the dataset.",
        "unit": "A table: what is protected.",
        "budget": "A table: all that may ever be spent. The first opening writes it on the ledger.",
        "columns": "A table of tables: one for each column that may be asked about.",
        "derived": "A table of tables: columns computed from others.",
        "lookups": "A table of tables: public tables that add columns.",
        "joins": "A table of tables: private tables of the same persons that add columns.",
        "ledger": "A table that other programs may keep beside the rest. Nothing here reads it.",
    },
    "[dataset]": {
        "name": "The name by which the ledger knows the dataset.",
        "version": 'Your name for this state of the data, such as `"2024-02"`: it stands on charges and releases.',
        "names": "The columns of a CSV file that has no header line, in the order of the file.",
        "timezone": "The time zone of timestamp columns that state none.",
        "row_count": "How many rows there are, where that is public: where rows are replaced by others.",
    },
    "[unit]": {
        "column": "The column that identifies a person. Without it, one row is protected.",
        "neighbours": '`"add-remove"` (the number of units is private, the default) or `"replace"` (it is public).',
        "groups": "In how many groups of a question a person may count. 1 unless given.",
        "rows": "As how many rows a person may count in one group. 1 unless given. Without `column`: how many rows one "
        "person has at most, though no column says whose they are.",
        "rows_total": "With how many rows a person may count over all groups, drawn at random. No limit unless given.",
    },
    "[budget]": {
        "epsilon": "The pure budget; or, with `delta`, the (epsilon, delta) one.",
        "delta": "The chance of failure, such as `1e-6`.",
        "rho": "Instead of `epsilon`: the budget as zCDP.",
        "allotments": "A table of tables: parts of the budget, each with its own way of counting.",
    },
    "[budget.allotments.*]": {
        "kind": '`"pure"`, `"zcdp"` or `"plan"`: how charges add up.',
        "epsilon": "What the part may spend, as epsilon.",
        "rho": "What the part may spend, as zCDP.",
        "delta": "The delta of the part.",
        "failure_share": "Of a zCDP part given by epsilon and delta: the share of delta that is for releases with a "
        "delta of their own; the rest turns rho into epsilon. One half unless given.",
    },
    "[columns.*]": {
        "type": "`integer`, `real`, `category`, `boolean`, `date`, `timestamp` or `text`.",
        "lower": "The least value (`integer`, `real`, `date`, `timestamp`). Others are moved to it.",
        "upper": "The largest value (`integer`, `real`, `date`, `timestamp`). Others are moved to it.",
        "values": "All values there may be (`category`).",
        "values_file": "Instead of `values`: a public file that lists them, beside the schema (`category`).",
        "values_column": "The column of `values_file` that has them, where it has several (`category`).",
        "timezone": "The time zone whose clocks and days count, such as `Europe/Vienna` (`timestamp`).",
        "naive": "The time zone of values stored without an offset (`timestamp`). That of `timezone` unless given.",
        "nullable": "Whether a value may be missing. `false` unless given.",
        "step": "How values are rounded, such as 0.01; of a `timestamp`, in seconds (`integer`, `real`, `timestamp`). "
        "For synthetic rows.",
        "spikes": "Values that many rows are known to share, such as `[0]` (`integer`, `real`). For synthetic rows.",
    },
    "[derived.*]": {
        "expression": 'How it is computed, such as `"pay * 12"`. The other keys are those of a column.',
    },
    "[lookups.*]": {
        "key": "The declared column by which rows are looked up.",
        "columns": "A table of tables: the columns that are added, each as in `[columns.*]`.",
        "file": "A CSV file of the public table, beside the schema.",
        "table": "Instead of `file`: the public table itself, a list for each of its columns.",
    },
    "[joins.*]": {
        "columns": "A table of tables: the columns that are added, each as in `[columns.*]`.",
        "rows": "How many rows of the other table a person may have. 1 unless given.",
    },
    "survey.toml": {
        "id": "Goes into every report: up to 64 letters, digits, `-` and `_`.",
        "title": "The heading of the page.",
        "intro": "What the page says before the questions.",
        "minimum": "How many reports there must be before the public is shown an estimate; 100 if it is left out.",
        "cross": 'Pairs of questions whose cross-table is shown with the results: `[["pills", "reason"]]`.',
        "repeat": "A table, `[repeat]`, of a survey that asks the same people in several rounds.",
        "questions": "A list of tables, `[[questions]]`: 1 to 50 of them.",
    },
    "survey.toml [repeat]": {
        "rounds": "How many rounds there are, 1 to 1,000. Each question has an `instant` epsilon, too.",
    },
    "[[questions]]": {
        "name": "A short name, for tables: a letter, then up to 39 letters, digits and `_`.",
        "text": "The question as people read it.",
        "kind": "`binary`, `choice`, `number`, `several`, `ranking`, `distribution` or `word`.",
        "epsilon": "How much the answer may reveal.",
        "instant": "In a survey with `[repeat]`: how much each round's report may reveal of what the device remembers, "
        "which `epsilon` is for (`binary`, `choice`).",
        "coin": "Instead of `epsilon`: the chance of telling the truth, else any answer (`binary`, `choice`).",
        "mechanism": "`auto`, `grr`, `oue`, `sue`, `subset`, `olh`, `hadamard`; of a number `duchi`, `piecewise`.",
        "options": "The answers to choose from (`binary`: two, Yes and No unless given).",
        "low": "The least number (`number`, `distribution`).",
        "high": "The largest number (`number`, `distribution`).",
        "step": "Answers are whole steps from `low` (`number`, `distribution`).",
        "ranges": "Where the ranges begin that are shown of a `distribution`, such as `[0, 6, 9]`.",
        "unit": "What is counted, such as `hours` (`number`, `distribution`).",
        "letters": "The letters that a `word` may be made of, in one text; a to z unless given.",
        "length": "The most letters that count of a `word`: 8 unless given.",
    },
}

# Where files are read: functions and constants in which keys are spelled out, and the tables they are keys of.
READERS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("data/schema.py", "from_dict"): ("discreet.toml", "[dataset]", "[unit]"),
    ("data/schema.py", "_join"): ("[joins.*]",),
    ("data/schema.py", "_lookup"): ("[lookups.*]",),
    ("data/schema.py", "_derived"): ("[derived.*]",),
    ("data/column.py", "column_from"): ("[columns.*]",),
    ("data/column.py", "_FIELDS"): ("[columns.*]",),
    ("data/column.py", "_OPTIONAL"): ("[columns.*]",),
    ("curator/setup.py", "budget_from"): ("[budget]", "[budget.allotments.*]"),
    ("local/questionnaire/questionnaire.py", "from_dict"): ("survey.toml",),
    ("local/questionnaire/questionnaire.py", "_FIELDS"): ("survey.toml",),
    ("local/questionnaire/questionnaire.py", "_REPEAT"): ("survey.toml [repeat]",),
    ("local/questionnaire/entry.py", "question_from"): ("[[questions]]",),
    ("local/questionnaire/entry.py", "_of_parts"): ("[[questions]]",),
    ("local/questionnaire/entry.py", "_grid"): ("[[questions]]",),
    ("local/questionnaire/entry.py", "_ALL"): ("[[questions]]",),
    ("local/questionnaire/entry.py", "_FIELDS"): ("[[questions]]",),
}
_KINDS = {"binary", "choice", "number", "several", "ranking", "distribution", "word"}
# Words in them that are values or kinds, not keys.
_NOT_KEYS = {
    "column_from": {"missing", "present", "integer", "real", "category", "boolean", "date", "text"},
    "_FIELDS": {"integer", "real", "category", "boolean", "date", "timestamp", "text"} | _KINDS,
    "_OPTIONAL": {"integer", "real", "timestamp", "category"},
    "question_from": _KINDS,
    "_of_parts": _KINDS,
}


def variables_read(folder: Path) -> set[str]:
    """Every DISCREET_* name that a source folder mentions in code."""
    found = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found |= {node.value} if re.fullmatch(r"DISCREET_[A-Z_]+", node.value) else set()
    return found


def keys_read(folder: Path) -> dict[tuple[str, str], set[str]]:
    """Every word that the readers of files look for, by reader."""
    found: dict[tuple[str, str], set[str]] = {}
    for file in dict.fromkeys(file for file, _ in READERS):
        for node in ast.walk(ast.parse((folder / file).read_text(encoding="utf-8"))):
            match node:
                case ast.FunctionDef(name=name) if (file, name) in READERS:
                    found[file, name] = _words(node) - _NOT_KEYS.get(name, set())
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if (file, name) in READERS:
                    found[file, name] = _words(value) - _NOT_KEYS.get(name, set())
    return found


def _words(node: ast.AST) -> set[str]:
    """Words of a program's text that may be keys: in displays, subscripts, lookups; not in messages."""
    found = set()
    for one in ast.walk(node):
        inside: list[ast.expr | None] = []
        match one:
            case ast.Set(elts=items) | ast.Tuple(elts=items) | ast.List(elts=items) | ast.Dict(keys=items):
                inside = list(items)
            case ast.Subscript(slice=index):
                inside = [index]
            case ast.Call(func=ast.Attribute(attr="get" | "pop"), args=[first, *_]):
                inside = [first]
            case ast.Compare(left=left):
                inside = [left]
        for item in inside:
            if isinstance(item, ast.Constant) and isinstance(item.value, str) and re.fullmatch(r"[a-z_]+", item.value):
                found.add(item.value)
    return found


def setting_pages() -> dict[str, str]:
    """The page, by its path."""
    parts = ["# Settings", _INTRO, "## Environment"]
    parts.append(table(["variable", "what it sets"], [[f"`{name}`", text] for name, text in VARIABLES.items()]))
    for title, keys in KEYS.items():
        if title == "discreet.toml":
            parts += ["## The schema file", _SCHEMA]
        elif title == "survey.toml":
            parts += ["## The survey file", _SURVEY]
        parts.append(f"### {title}".replace("*", r"\*"))
        parts.append(table(["key", "what it says"], [[f"`{name}`", text] for name, text in keys.items()]))
        if title == "[joins.*]":
            parts += ["### A schema with every key", fence(SCHEMA, "toml")]
    parts += ["### A survey with every key but those of rounds", fence(SURVEY, "toml")]
    parts += ["### A survey in rounds", fence(DIARY, "toml")]
    return {"reference/settings.md": "\n\n".join([*parts, ""])}


_INTRO = """\
An option of a command goes before its variable, and the variable before the default. What is in a file is checked when
it is read: a key that is not listed here is refused by name."""
_SCHEMA = """\
`discreet.toml`, written by a person and never from the data; `discreet init DATA` writes one to fill in. See
[Ask questions](../guides/questions.md)."""
_SURVEY = "`survey.toml`; `discreet survey new` writes one to start from. See [the guide](../guides/surveys.md)."

SCHEMA = """\
[dataset]
name = "visits"
version = "2024-02"
names = ["patient", "age", "county"]

[unit]
column = "patient"
neighbours = "add-remove"
groups = 3
rows = 10
rows_total = 20

[budget]
epsilon = 3
delta = 1e-6

[budget.allotments.questions]
kind = "zcdp"
epsilon = 2
delta = 5e-7
failure_share = 0.1

[budget.allotments.models]
kind = "plan"
epsilon = 1
delta = 5e-7

[columns.age]
type = "integer"
lower = 0
upper = 120
nullable = true

[columns.fee]
type = "real"
lower = 0
upper = 500
step = 0.01
spikes = [0]

[columns.arrival]
type = "timestamp"
lower = "2024-01-01"
upper = "2024-12-31"
timezone = "Europe/Vienna"
naive = "UTC"
nullable = true

[columns.county]
type = "category"
values = ["Ash", "Oak"]

[derived.months]
expression = "age * 12"
type = "integer"
lower = 0
upper = 1440

[lookups.counties]
key = "county"
table = { county = ["Ash", "Oak"], area = [12, 40] }   # or file = "counties.csv"
columns = { area = { type = "real", lower = 0, upper = 100 } }

[joins.incomes]
columns = { income = { type = "real", lower = 0, upper = 200000 } }
rows = 1
"""
DIARY = """\
id = "diary-2026"
title = "Every month"

[repeat]
rounds = 12

[[questions]]
name = "medication"
text = "Have you taken medication in order to cope with work this month?"
kind = "binary"
epsilon = 2
instant = 1
"""

SURVEY = """\
id = "sleep-2026"
title = "Sleep"
intro = "Chance changes your answers before they leave your device."
minimum = 200
cross = [["pills", "why"]]

[[questions]]
name = "pills"
text = "Have you taken pills in order to sleep?"
kind = "binary"
options = ["Yes", "No"]
coin = 0.5

[[questions]]
name = "why"
text = "What keeps you awake?"
kind = "choice"
options = ["Work", "Noise", "Nothing"]
epsilon = 1
mechanism = "grr"

[[questions]]
name = "hours"
text = "How many hours did you sleep?"
kind = "number"
low = 0
high = 12
step = 0.5
unit = "hours"
epsilon = 1

[[questions]]
name = "night"
text = "How many hours do you sleep in most nights?"
kind = "distribution"
low = 0
high = 12
step = 0.5
ranges = [0, 6, 7, 9]
epsilon = 1

[[questions]]
name = "remedy"
text = "What helps you to sleep, in a word?"
kind = "word"
letters = "abcdefghijklmnopqrstuvwxyz"
length = 6
epsilon = 2
"""
