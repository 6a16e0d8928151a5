"""Every text that a person may read on pages, in plans, notes, errors and help, gathered as a gettext template.

    python .ci/strings.py                 the template on the standard output
    python .ci/strings.py discreet.pot    the same in a file
    python .ci/strings.py --list errors   the texts of one sort, one in a line: file:line, text

What is computed stands as a named placeholder: `{epsilon}`. What is gathered from Python are constants that read as
prose, by where they stand: as an argument of an error, in a plan, as help; docstrings only where they are shown.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple, TypeAlias

SOURCE = Path(__file__).resolve().parent.parent / "src" / "discreet"
SORTS = ("pages", "scripts", "plans", "errors", "hints", "help", "api", "charts", "terms", "texts")


class Text(NamedTuple):
    """A text, where it stands, and of which sort it is."""

    path: str
    line: int
    sort: str
    text: str


def gather(source: Path = SOURCE) -> list[Text]:
    """Every text under a folder, in the order of files and lines; one that stands twice in a line, once."""
    texts: list[Text] = []
    for path in sorted(source.rglob("*")):
        name = path.relative_to(source).as_posix()
        match path.suffix:
            case ".py":
                texts += _python(name, path.read_text(encoding="utf-8"))
            case ".html":
                texts += _template(name, path.read_text(encoding="utf-8"))
            case ".js":
                texts += _script(name, path.read_text(encoding="utf-8"))
    return sorted(dict.fromkeys(texts))


def template(texts: Sequence[Text]) -> str:
    """A gettext template: each text once, with every place it stands in and its sort."""
    places: dict[str, list[Text]] = {}
    for text in texts:
        places.setdefault(text.text, []).append(text)
    head = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n"Content-Transfer-Encoding: 8bit\\n"\n'
    entries = [head]
    for text, uses in places.items():
        sorts = ", ".join(dict.fromkeys(one.sort for one in uses))
        references = " ".join(f"src/discreet/{one.path}:{one.line}" for one in uses)
        mark = "#, python-brace-format\n" if re.search(r"\{\w+\}", text) else ""
        entries.append(f'#. {sorts}\n#: {references}\n{mark}msgid {_quoted(text)}\nmsgstr ""\n')
    return "\n".join(entries)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'


# Python

_ERRORS = re.compile(r"[A-Z]\w*Error|Phrase|Exit|BadParameter")
_PLANS = {"Note", "Explanation", "Accuracy"}
_PLAN_FUNCTIONS = re.compile(r"explain|explained|note|shape|steps|_lines?$|sentence")
_SHOWN = {"help": "help", "hint": "hints", "allowed": "errors", "summary": "api", "description": "api"}
_QUERY_WORDS = re.compile(r"\b(SELECT|INSERT|CREATE|PRAGMA|FROM|UPDATE|DELETE|CAST|ALTER|VALUES|COPY|PRIMARY KEY)\b")
_CLASSES = "line|bar|point|chart|cell|card|tick|thick|fill|page|reference|shape|region-shape|plainlist"
_NO_PROSE = re.compile(
    r"\(\?[:!=<P]|\\[bdsw]|^[\w.\-/:]+$|[{;]\s*[\w-]+:\s*[^;]+;|^@|data:image|;base64|\bpx\b|^M\d"  # patterns, styles
    r"|^(?:text/\w+|attachment|default-src|all: revert|width=device|light dark|<!doctype)\b"  # headers
    rf"|^(?:{_CLASSES}) [\w{{}}]+(?: \w+)?$"
    r"|^discreet [a-z]+(?: [^\n]*[^.\n])?$"  # commands, names for an engine
    r"|await |document\.|=>|^#\w|, input|\[type="  # scripts
)
_WORDS = re.compile(r"(?<![\w<\-.])[A-Za-z][a-z]+(?:['\u2019-][a-z]+)?[,.:;?]?\s+\(?[A-Za-z`{'\"][a-z`'\w]*")

_PHRASE = re.compile(r"^(?!discreet ).*[a-z]{2} [a-z]")  # of an error or help less is enough


def _prose(text: str) -> bool:
    """Whether a constant reads as words, rather than as a name, a pattern, a style or a statement for an engine."""
    return bool(_WORDS.search(text)) and not _NO_PROSE.search(text) and not _QUERY_WORDS.search(text)


def _python(name: str, code: str) -> Iterator[Text]:
    tree = ast.parse(code)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node, sort in _shown_docstrings(name, tree):
        for part in _paragraphs(ast.get_docstring(node) or ""):
            yield Text(name, node.lineno, sort, part)
    for node in ast.walk(tree):
        parent = parents.get(node)
        if isinstance(parent, ast.Expr) or (parent is not None and _text_of(parent) is not None):
            continue  # a docstring; a part of a longer text
        text = _text_of(node)
        if text is None:
            continue
        sort = _sort(name, node, parents)
        for part in _pieces(text):
            if _prose(part) or (sort in ("errors", "hints", "help") and _PHRASE.search(part)):
                yield Text(name, node.lineno, sort, part)  # type: ignore[attr-defined]


def _text_of(node: ast.AST) -> str | None:
    """A text as it is written, with names for what is computed; none of what is no text."""
    match node:
        case ast.Constant(value=str() as value):
            return value
        case ast.JoinedStr(values=parts):
            return "".join(_text_of(part) or f"{{{_name(part)}}}" for part in parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            first, second = _text_of(left), _text_of(right)
            if first is not None or second is not None:
                return (first or f"{{{_name(left)}}}") + (second or f"{{{_name(right)}}}")
    return None


def _name(node: ast.AST) -> str:
    """What to call something computed in a text."""
    match node:
        case ast.FormattedValue(value=value) | ast.Starred(value=value) | ast.Subscript(value=value):
            return _name(value)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.strip("_") or "value"
        case ast.Call(args=[first, *_]) if _name(first) != "value":
            return _name(first)
        case ast.Call(func=function):
            return _name(function)
        case ast.BinOp(left=left):
            return _name(left)
    return "value"


def _sort(name: str, node: ast.AST, parents: dict[ast.AST, ast.AST]) -> str:
    """By the nearest thing around it that says what it is for; else by its room."""
    at: ast.AST | None = node
    while at is not None:
        match at:
            case ast.keyword(arg=str() as word) if word in _SHOWN:
                return _SHOWN[word]
            case ast.Assign(targets=[ast.Name(id=word)]) if word in _SHOWN:
                return _SHOWN[word]
            case ast.Call(func=ast.Name(id=call) | ast.Attribute(attr=call), args=args):
                if call in _PLANS:
                    return "plans"
                if call in ("InputError", "MissingError") and len(args) > 3 and _within(node, args[3], parents):
                    return "hints"
                if _ERRORS.fullmatch(call) or call in ("refused", "unknown"):
                    return "errors"
                if call == "Term":
                    return "terms"
            case ast.Raise():
                return "errors"
            case ast.FunctionDef(name=function) if _PLAN_FUNCTIONS.search(function) and not name.startswith("apps/"):
                return "plans"
        at = parents.get(at)
    rooms = {
        "apps/web/": "pages",
        "apps/survey/": "pages",
        "apps/cli/": "help",
        "apps/server/": "api",
        "show/": "charts",
    }
    return next((sort for room, sort in rooms.items() if name.startswith(room)), "texts")


def _within(node: ast.AST, outer: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    at: ast.AST | None = node
    while at is not None and at is not outer:
        at = parents.get(at)
    return at is not None


_ROUTE = {"get", "post", "put", "delete", "command", "callback"}


_Documented: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def _shown_docstrings(name: str, tree: ast.Module) -> Iterator[tuple[_Documented, str]]:
    """Docstrings of commands, which are their help, and of paths and models of the API, which describe them."""
    if not name.startswith(("apps/cli/", "apps/server/")):
        return
    sort = "help" if name.startswith("apps/cli/") else "api"
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() if ast.get_docstring(node):
                routed = any(
                    isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in _ROUTE
                    for one in node.decorator_list
                )
                if routed or "typer.Option" in (spelt := ast.dump(node.args)) or "AsJson" in spelt:
                    yield node, sort
            case ast.ClassDef(bases=[_, *_]) if sort == "api" and ast.get_docstring(node):
                yield node, sort


def _paragraphs(text: str) -> list[str]:
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", text) if part.strip()]


# Pages

_ATTRIBUTES = {"title", "aria-label", "placeholder", "alt", "content", "aria-description"}
_INLINE = {"a", "abbr", "b", "br", "code", "em", "i", "kbd", "small", "span", "strong", "sub", "sup", "time", "var"}
_CUT = "\0"
_JINJA = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
_INNER = re.compile(r""""([^"\n]*)"|'([^'\n]*)'""")


class _Reader(HTMLParser):
    """Text between tags and in attributes that are read out or shown; inline tags stay in it, without attributes."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[tuple[int, str]] = []
        self._line = 0
        self._held = ""
        self._silent = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for key, value in attributes:
            if key in _ATTRIBUTES and value and not (key == "content" and tag != "meta"):
                self.texts += [(self.getpos()[0], part) for part in value.split(_CUT)]
        if tag in ("script", "style", "svg"):
            self._silent = self._silent or tag
        if tag in _INLINE:
            self._held += f"<{tag}>"
        else:
            self.flush()

    def handle_endtag(self, tag: str) -> None:
        self._silent = "" if tag == self._silent else self._silent
        if tag in _INLINE:
            self._held += f"</{tag}>"
        else:
            self.flush()

    def handle_data(self, data: str) -> None:
        if self._silent:
            return
        if not re.sub(r"<[^>]*>", "", self._held).strip():  # the first words: they are where the text begins
            self._line = self.getpos()[0] + data[: len(data) - len(data.lstrip())].count("\n")
        self._held += data

    def flush(self) -> None:
        """End a text: at a tag that is not inline, or a branch of the template."""
        self.texts += [(self._line, part) for part in self._held.split(_CUT)]
        self._held = ""


def _marked(html: str) -> list[tuple[int, str]]:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    reader.flush()
    texts = []
    for line, text in reader.texts:
        trimmed = " ".join(re.sub(r"^(\s|</?\w+>)+|(\s|<\w+>)+$", "", text).split())
        bare = re.sub(r"<[^>]*>|\{\w*\}", "", trimmed)
        if re.search(r"[A-Za-z]{2}", bare):
            texts.append((line, trimmed))
    return texts


def _pieces(text: str) -> list[str]:
    """A text of Python as it is shown: where it is a piece of a page, what stands between its tags."""
    if re.search(r"</?(?:p|h\d|li|td|th|div|section|details|summary|button|label|title|option)\b[^>]*>", text):
        return [part for _, part in _marked(text)]
    return [text.strip()]


def _template(name: str, text: str) -> Iterator[Text]:
    inner: list[tuple[int, str]] = []

    def stand_in(match: re.Match[str]) -> str:
        found, line = match.group(), text.count("\n", 0, match.start()) + 1
        if found.startswith("{#"):
            return "\n" * found.count("\n")
        inner.extend((line, a or b) for a, b in _INNER.findall(found))
        if found.startswith("{%"):
            return _CUT + "\n" * found.count("\n")
        words = re.findall(r"[A-Za-z_]\w*", re.sub(_INNER, "", found.split("|")[0]))
        return f"{{{words[-1] if words else 'value'}}}" + "\n" * found.count("\n")

    html = _JINJA.sub(stand_in, text)
    for line, part in _marked(html):
        yield Text(name, line, "pages", part)
    for line, part in inner:
        if _prose(part) or re.fullmatch(r"[A-Z][a-z]+(?: [a-z]+)*\??", part.strip()):
            yield Text(name, line, "pages", part.strip())


# Scripts

_LITERAL = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`""", re.DOTALL
)


def _script(name: str, text: str) -> Iterator[Text]:
    for match in _LITERAL.finditer(text):
        literal = next((part for part in match.groups() if part), "")
        plain = re.sub(r"\$\{([^{}]*(?:\{[^{}]*\})?[^{}]*)\}", _computed, literal).strip()
        if _prose(plain) or re.fullmatch(r"[A-Z][a-z]+(?: [a-z]+)+[.?]?", plain):
            yield Text(name, text.count("\n", 0, match.start()) + 1, "scripts", plain)


def _computed(match: re.Match[str]) -> str:
    words = re.findall(r"[A-Za-z_]\w*", re.sub(_INNER, "", match.group(1)))
    return f"{{{words[-1] if words else 'value'}}}"


def main(arguments: Sequence[str]) -> str | int:
    match list(arguments):
        case []:
            print(template(gather()), end="")
        case ["--list", *sorts] if set(sorts) <= set(SORTS):
            for one in gather():
                if not sorts or one.sort in sorts:
                    print(f"{one.path}:{one.line}: {one.text!r}")
        case [path] if not path.startswith("-"):
            texts = gather()
            Path(path).write_text(template(texts), encoding="utf-8")
            counted = Counter(one.sort for one in texts)
            print(f"{len(texts):,} texts in {path}: " + ", ".join(f"{counted[sort]:,} {sort}" for sort in SORTS))
        case _:
            return "usage: strings.py [FILE.pot | --list [SORT ...]]"
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
