"""Public names of the package, read from its source: nothing is imported, so that no extra is needed."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

__all__ = ["Member", "Module", "Name", "Source"]

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Member:
    """A public method or property of a class; `signature` is empty for a property."""

    name: str
    signature: str
    doc: str


@dataclass(frozen=True, slots=True)
class Name:
    """What a module exports. `kind` is "class", "function" or "value"; of a value the `signature` is its definition."""

    module: str
    name: str
    kind: str
    signature: str
    doc: str
    members: tuple[Member, ...] = ()

    @property
    def place(self) -> str:
        """The dotted name, which is also its anchor."""
        return f"{self.module}.{self.name}"

    @property
    def brief(self) -> str:
        """The first paragraph of what is said about it."""
        return " ".join(self.doc.split("\n\n")[0].split())


class Module:
    """One file: what it defines, imports and exports."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        tree = ast.parse(text)
        self.doc = ast.get_docstring(tree) or ""
        self.defined: dict[str, ast.stmt] = {}
        self.imported: dict[str, tuple[str, str]] = {}
        self.exported: list[str] = []
        self.values: dict[str, str] = {}
        for place, node in enumerate(tree.body):
            self._take(node, tree.body[place + 1] if place + 1 < len(tree.body) else None)

    def _take(self, node: ast.stmt, after: ast.stmt | None) -> None:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                self.defined[name] = node
            case ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List(elts=items)):
                self.exported = [str(item.value) for item in items if isinstance(item, ast.Constant)]
            case ast.Assign(targets=targets):
                for target in targets:
                    if isinstance(target, ast.Name):
                        self.defined[target.id] = node
                        self.values[target.id] = _said(after)
            case ast.AnnAssign(target=ast.Name(id=name)):
                self.defined[name] = node
                self.values[name] = _said(after)
            case ast.ImportFrom(module=str(module), names=aliases):
                self.imported |= {alias.asname or alias.name: (module, alias.name) for alias in aliases}
            case ast.If(body=body):  # names that only type checkers see
                for one in body:
                    self._take(one, None)


class Source:
    """A package on disk; `texts` instead of files for tests."""

    def __init__(
        self, folder: Path | None = None, texts: dict[str, str] | None = None, package: str = "discreet"
    ) -> None:
        self.package = package
        self.modules: dict[str, Module] = {}
        for path in sorted(folder.rglob("*.py")) if folder is not None else []:
            parts = [package, *path.relative_to(folder or Path()).with_suffix("").parts]
            name = ".".join(parts).removesuffix(".__init__")
            self.modules[name] = Module(name, path.read_text(encoding="utf-8"))
        for name, text in (texts or {}).items():
            self.modules[name] = Module(name, text)

    @cached_property
    def rooms(self) -> dict[str, list[Module]]:
        """Modules by room; those of the package itself come first, under its name."""
        found: dict[str, list[Module]] = {}
        for name, module in self.modules.items():
            parts = name.split(".")
            inside = len(parts) > 2 or any(other.startswith(f"{name}.") for other in self.modules)
            room = parts[1] if len(parts) > 1 and inside else self.package
            if not any(part.startswith("_") for part in parts):
                found.setdefault(room, []).append(module)
        return found

    def found(self, module: str, name: str, seen: tuple[str, ...] = ()) -> tuple[Module, ast.stmt] | None:
        """Where a name that a module has is defined."""
        here = self.modules.get(module)
        if here is None or module in seen:
            return None
        if name in here.defined:
            return here, here.defined[name]
        if name in here.imported:
            return self.found(*here.imported[name], (*seen, module))
        return None

    def names(self, module: Module) -> list[Name]:
        """What a module exports and defines itself."""
        return [self._name(module, name, module.defined[name]) for name in module.exported if name in module.defined]

    def passed_on(self, module: Module) -> dict[str, str]:
        """What a module exports that is defined elsewhere: by name, the module that defines it."""
        found = {}
        for name in module.exported:
            if name not in module.defined and (there := self.found(module.name, name)) is not None:
                found[name] = there[0].name
        return found

    def _name(self, module: Module, name: str, node: ast.stmt) -> Name:
        match node:
            case ast.ClassDef():
                doc = ast.get_docstring(node) or ""
                return Name(module.name, name, "class", _made(node), doc, tuple(self._members(module, node)))
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return Name(module.name, name, "function", _called(node), ast.get_docstring(node) or "")
            case ast.Assign(value=value) | ast.AnnAssign(value=value) if value is not None:
                return Name(module.name, name, "value", ast.unparse(value), module.values.get(name, ""))
        return Name(module.name, name, "value", "", "")

    def _members(self, module: Module, node: ast.ClassDef) -> list[Member]:
        found = []
        for one in node.body:
            if not isinstance(one, Function) or one.name.startswith("_"):
                continue
            marks = {ast.unparse(mark).split(".")[-1] for mark in one.decorator_list}
            if marks & {"overload", "setter"}:
                continue
            doc = ast.get_docstring(one) or self._inherited(module, node, one.name)
            is_value = bool(marks & {"property", "cached_property"})
            found.append(Member(one.name, "" if is_value else _called(one), doc))
        return found

    def _inherited(self, module: Module, node: ast.ClassDef, name: str) -> str:
        """What a class that this one is made from says about a method."""
        for base in node.bases:
            bare = base.value if isinstance(base, ast.Subscript) else base
            there = self.found(module.name, bare.id) if isinstance(bare, ast.Name) else None
            if there is None or not isinstance(there[1], ast.ClassDef):
                continue
            for one in there[1].body:
                if isinstance(one, Function) and one.name == name and ast.get_docstring(one):
                    return ast.get_docstring(one) or ""
            if found := self._inherited(there[0], there[1], name):
                return found
        return ""


def _said(node: ast.stmt | None) -> str:
    """The text right after an assignment, which documents it."""
    match node:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return text.strip()
    return ""


def _called(function: Function) -> str:
    given = function.args
    first, parts = [*given.posonlyargs, *given.args], []
    optional = [None] * (len(first) - len(given.defaults)) + list(given.defaults)
    for place, (one, value) in enumerate(zip(first, optional, strict=True)):
        if place == 0 and one.arg in ("self", "cls"):
            continue
        parts += [_given(one, value)] + ["/"] * (place + 1 == len(given.posonlyargs))
    if given.vararg is not None:
        parts.append("*" + _given(given.vararg, None))
    elif given.kwonlyargs:
        parts.append("*")
    parts += [_given(one, value) for one, value in zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    if given.kwarg is not None:
        parts.append("**" + _given(given.kwarg, None))
    back = "" if function.returns is None else f" -> {ast.unparse(function.returns)}"
    return f"{function.name}({', '.join(parts)}){back}"


def _given(one: ast.arg, value: ast.expr | None) -> str:
    kind = "" if one.annotation is None else f": {ast.unparse(one.annotation)}"
    return one.arg + kind + ("" if value is None else f" = {ast.unparse(value)}" if kind else f"={ast.unparse(value)}")


def _made(node: ast.ClassDef) -> str:
    """How an instance is made: as `__init__` says, or as the fields of a dataclass do."""
    for one in node.body:
        if isinstance(one, Function) and one.name == "__init__":
            return _called(one).replace("__init__", node.name, 1).removesuffix(" -> None")
    if not any("dataclass" in ast.unparse(mark) for mark in node.decorator_list):
        return node.name
    fields = []
    for one in node.body:
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
            kind = ast.unparse(one.annotation)
            value = "" if one.value is None else ast.unparse(one.value)
            if "ClassVar" not in kind and "init=False" not in value:
                fields.append(
                    f"{one.target.id}: {kind}" + (f" = {'...' if 'field(' in value else value}" if value else "")
                )
    return f"{node.name}({', '.join(fields)})"
