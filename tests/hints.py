"""Every hint that the source can give, read off its syntax: what tests of hints are compared with.

A hint is what stands in `hint=`, or after what is allowed, in the call that makes an error. Its text is found where it
is a constant, where it is put together from constants, and where it was given a name before, in the same function or
module.
"""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "discreet"
ERRORS = {"InputError": 3, "MissingError": 3, "refused": 3, "unknown": 2, "refuse": 2}
"""What makes an error, and how many arguments stand before the hint."""
HOLE = "\0"


@dataclass(frozen=True)
class Hint:
    """A text with holes where values are put in."""

    path: str
    text: str

    @property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(".*?".join(re.escape(part) for part in self.text.split(HOLE)), re.DOTALL)

    def __str__(self) -> str:
        return f"{self.path}: {self.text.replace(HOLE, '{}')}"


def hints(*rooms: str | Path) -> list[Hint]:
    """The hints of all files below some folders of the source, or of some files."""
    places = [SOURCE / room for room in rooms]
    files = [path for place in places for path in ([place] if place.is_file() else sorted(place.rglob("*.py")))]
    return [hint for path in files for hint in _in_file(path)]


def _in_file(path: Path) -> list[Hint]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found: dict[str, None] = {}
    for scope in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        named = {**_assigned(tree.body), **_assigned(ast.walk(scope))}
        for call in (node for node in ast.walk(scope) if isinstance(node, ast.Call)):
            for text in _texts(_hint(call), named):
                if re.search(r"[A-Za-z]{3}", text.replace(HOLE, "")):
                    found.setdefault(" ".join(text.split()))
    name = path.relative_to(SOURCE).as_posix() if path.is_relative_to(SOURCE) else path.name
    return [Hint(name, text) for text in found]


def _assigned(nodes) -> dict[str, list[ast.expr]]:
    named: dict[str, list[ast.expr]] = {}
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                named.setdefault(name, []).append(value)
    return named


def _hint(call: ast.Call) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == "hint":
            return keyword.value
    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
    place = ERRORS.get(name)
    return call.args[place] if place is not None and len(call.args) > place else None


def _texts(node: ast.expr | None, named: dict[str, list[ast.expr]], depth: int = 0) -> list[str]:
    """All texts that an expression can be; a hole for what is not known here."""
    match node:
        case None:
            return []
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr(values=parts):
            return ["".join(part.value if isinstance(part, ast.Constant) else HOLE for part in parts)]
        case ast.IfExp(body=first, orelse=second):
            return _texts(first, named, depth) + _texts(second, named, depth)
        case ast.BoolOp(values=values):
            return [text for value in values for text in _texts(value, named, depth)]
        case ast.Name(id=name) if name in named and depth < 4:
            return [text for value in named[name] for text in _texts(value, named, depth + 1)]
    return []
