"""Runs a page of documentation: its commands and Python blocks, in order, as printed, in an empty folder.

What a page may hold, as fenced blocks (others are for the eye):

* `console`: lines after `$ ` are commands, a line that ends in `\\` goes on; what follows is what they print. `cd` and
  `export` last for the rest of the page. A command may fail only if the page shows it: with a line that begins with
  `discreet: ` or `Traceback`, or by `$ echo $?` after it.
* `python`: run in one namespace; an `output` block right after it is what it prints. Without one it prints nothing.
* any language with `title="NAME"`: the file NAME, written as printed.
* `<!-- needs: learn -->` before a block: what follows is skipped where the extra is not installed.
* `<!-- another window -->` before a `console` block: its command goes on until the page ends, as a server does.

What is printed must be what comes out, but for chance and spacing: `...` stands for anything, a value with its interval
(`1,407 [1,389, 1,425]`, or `7% │ 2% │ 12%` in a table) for one that noise allows, and ids, hashes and times for others
of their kind.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import socket
import subprocess
import sys
import time
import traceback
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

EXTRAS = {
    "charts": ("vl_convert",),
    "learn": ("jax", "optax", "sklearn"),
    "polars": ("polars",),
    "postgres": ("psycopg",),
    "server": ("fastapi", "uvicorn", "jinja2"),
}
_BLOCK = re.compile(
    r"^(?P<pad> *)```(?P<kind>\w+)?(?P<info>[^\n`]*)\n(?P<body>.*?)^ *```$"
    r"|^<!-- needs: (?P<needs>[\w, ]+) -->$|^<!-- another (?P<window>window) -->$",
    re.M | re.S,
)
_TITLE = re.compile(r'title="([^"]+)"')


class DiffersError(AssertionError):
    """What came out is not what the page shows."""


@dataclass(frozen=True)
class Block:
    """A fenced block: where it begins, what it is, what it says."""

    line: int
    kind: str
    title: str | None
    body: str


def blocks(text: str) -> list[Block]:
    """The blocks of a page, those that are needed (`needs`) among them."""
    found = []
    for match in _BLOCK.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        if match["needs"]:
            found.append(Block(line, "needs", None, match["needs"]))
            continue
        if match["window"]:
            found.append(Block(line, "window", None, ""))
            continue
        title = _TITLE.search(match["info"] or "")
        body = "".join(row.removeprefix(match["pad"]) for row in match["body"].splitlines(keepends=True))
        found.append(Block(line, match["kind"] or "", title and title[1], body))
    return found


class Reader:
    """Someone who does what a page says, in a folder of their own."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self.environment = environment
        self.names: dict[str, object] = {"__name__": "__page__"}
        self.code = 0
        self.windows: list[subprocess.Popen[str]] = []

    def read(self, text: str) -> int:
        """Do all of it; how many commands and Python blocks were run. `DiffersError` names the line."""
        done, page = 0, blocks(text)
        for place, block in enumerate(page):
            try:
                if block.kind == "needs":
                    _needed(block.body)
                elif block.title is not None:
                    path = self.folder / block.title
                    path.write_text(block.body, encoding="utf-8")
                elif block.kind == "console" and place and page[place - 1].kind == "window":
                    self._window(block.body)
                    done += 1
                elif block.kind == "console":
                    done += self._session(block.body)
                elif block.kind == "python":
                    follows = page[place + 1] if place + 1 < len(page) else None
                    compare(follows.body if follows and follows.kind == "output" else "", self._python(block))
                    done += 1
            except DiffersError as problem:
                raise DiffersError(f"line {block.line}: {problem}") from None
        return done

    def _session(self, body: str) -> int:
        steps = commands(body)
        for place, (command, printed) in enumerate(steps):
            said, code = self.do(command)
            follow = steps[place + 1][0] if place + 1 < len(steps) else ""
            shown = follow == "echo $?" or re.search(r"^(discreet: |Traceback )", printed, re.M)
            if code and not shown:
                raise DiffersError(f"$ {command}\nended with {code}:\n{said}")
            compare(printed, said, f"$ {command}")
        return len(steps)

    def _window(self, body: str) -> None:
        """Start a command that goes on, and wait until it has said what is printed and listens."""
        [(command, printed)] = commands(body)
        port = int(re.search(r"http://127\.0\.0\.1:(\d+)", printed)[1])
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            pytest.skip(f"port {port}, which the page names, is taken on this machine")
        window = subprocess.Popen(
            ["bash", "-c", f"exec {command}"],
            cwd=self.folder,
            env={**self._shell(), "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        self.windows.append(window)
        compare(printed, "".join(window.stdout.readline() for _ in printed.splitlines()), f"$ {command}")
        _listening(port, window)

    def close(self) -> None:
        """Close the other windows, and forget modules that the page wrote."""
        for name, module in list(sys.modules.items()):
            if (getattr(module, "__file__", None) or "").startswith(f"{self.folder}{os.sep}"):
                del sys.modules[name]
        for window in self.windows:
            window.terminate()
            window.communicate(timeout=120)

    def _shell(self) -> dict[str, str]:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        return {**os.environ, **self.environment, "PATH": path}

    def do(self, command: str) -> tuple[str, int]:
        """What a command prints, and its exit code."""
        if command == "echo $?":
            return f"{self.code}\n", 0
        words = _plain(command)
        if words and words[0] == "cd":
            self.folder = (self.folder / words[1]).resolve()
            said, self.code = "", 0
        elif words and words[0] == "export":
            self.environment |= dict(word.split("=", 1) for word in words[1:])
            said, self.code = "", 0
        elif words and words[0] == "discreet":
            said, self.code = self._discreet(words[1:])
        else:
            run = subprocess.run(
                ["bash", "-c", command],
                cwd=self.folder,
                env=self._shell(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                check=False,
                timeout=600,
            )
            said, self.code = run.stdout, run.returncode
        return said, self.code

    def _discreet(self, words: list[str]) -> tuple[str, int]:
        """The command in this process: starting Python for each would take longer than all the rest."""
        from discreet.apps.cli import main

        said = io.StringIO()
        with self._here(), contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            try:
                main(words)
            except SystemExit as end:
                return said.getvalue(), int(end.code or 0)
        return said.getvalue(), 0

    def _python(self, block: Block) -> str:
        said = io.StringIO()
        with self._here(), contextlib.redirect_stdout(said):
            try:
                exec(compile(block.body, "page", "exec", dont_inherit=True), self.names)
            except Exception:
                raise DiffersError(f"{block.body}\n{traceback.format_exc()}") from None
        return said.getvalue()

    @contextlib.contextmanager
    def _here(self):
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            patch.setattr(sys, "stdin", io.StringIO())
            patch.setattr(sys, "path", [str(self.folder), *sys.path])
            for name, value in self.environment.items():
                patch.setenv(name, value)
            yield


def _listening(port: int, window: subprocess.Popen[str]) -> None:
    for _ in range(300):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        if window.poll() is not None:
            break
        time.sleep(0.1)
    raise DiffersError(f"nothing listens at port {port}")


def commands(body: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with what it prints."""
    found: list[list[str]] = []
    going_on = False
    for line in body.splitlines():
        if going_on:
            found[-1][0] += "\n" + line
        elif line.startswith("$ "):
            found.append([line[2:], ""])
        elif found:
            found[-1][1] += line + "\n"
        else:
            raise DiffersError(f"what prints {line!r}?")
        going_on = (going_on or line.startswith("$ ")) and line.endswith("\\")
    return [(command, printed) for command, printed in found]


def _plain(command: str) -> list[str]:
    """The words of a command that asks nothing of a shell; empty if it does."""
    joined = command.replace("\\\n", " ")
    bare = re.sub(r"'[^']*'|\"[^\"$`\\]*\"", "", joined)
    return [] if re.search(r"[|&;<>$`*?~(){}#\\\n]", bare) else shlex.split(joined)


def _needed(extras: str) -> None:
    for extra in (name.strip() for name in extras.split(",")):
        if not all(find_spec(module) for module in EXTRAS[extra]):
            pytest.skip(f"from here on the page needs: pip install 'discreet[{extra}]'")


_NUMBER = r"[-\u2212]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?"
_CELL = re.compile(rf"{_NUMBER} \[{_NUMBER}, {_NUMBER}\]|{_NUMBER}% │ {_NUMBER}% │ {_NUMBER}%")
# What no two runs have in common, by kind.
_KINDS = (
    (re.compile(r"\b[0-9a-f]{64}\b"), "<hash>"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "<id>"),
    (re.compile(r"(?<=│ )[0-9a-f]{8}(?= +│)"), "<short>"),
    (re.compile(r"\bfiles [0-9a-f]{12}\b"), "<version>"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)?\b"), "<time>"),
    (re.compile(r"([━─═])\1+"), r"\1"),
)


def _alike(text: str) -> str:
    for pattern, kind in _KINDS:
        text = pattern.sub(kind, text)
    return " ".join(text.split())


def compare(printed: str, said: str, after: str = "") -> None:
    """`DiffersError` unless `said` is what the page has printed, but for chance."""
    shown, came = _alike(printed), _alike(said)
    pattern, known, rest = "", [], 0
    for cell in _CELL.finditer(shown):
        pattern += _literal(shown[rest : cell.start()]) + f"({_CELL.pattern})"
        known.append(_values(cell[0]))
        rest = cell.end()
    match = re.fullmatch(pattern + _literal(shown[rest:]), came, re.S)
    if match is None:
        raise DiffersError(f"{after}\n--- the page says\n{printed}\n--- it was\n{said}")
    for expected, found in zip(known, (_values(text) for text in match.groups()), strict=True):
        # Four times both half-widths: noise of either law goes so far less than once in 1e9.
        room = 2 * (expected[2] - expected[1] + found[2] - found[1])
        if abs(expected[0] - found[0]) > room:
            raise DiffersError(f"{after}\nthe page says {expected}, it was {found}, which is more than noise\n{said}")


def _literal(text: str) -> str:
    return ".*?".join(re.escape(part.strip()) if i else re.escape(part) for i, part in enumerate(_split(text)))


def _split(text: str) -> list[str]:
    return re.split(r"\s*\.\.\.(?!\w)", text)


def _values(cell: str) -> tuple[float, float, float]:
    value, low, high = (
        float(part.replace(",", "").replace("\N{MINUS SIGN}", "-")) for part in re.findall(_NUMBER, cell)
    )
    return value, low, high
