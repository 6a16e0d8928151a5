"""The house keeps its promises: light to import, names curated, rooms in order, files small."""

import ast
import importlib
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import discreet
from discreet import errors

SOURCE = Path(discreet.__file__).parent
REPOSITORY = SOURCE.parent.parent
HEAVY = ["jax", "pyspark", "pandas", "cvxpy", "fastapi", "scipy", "dp_accounting", "duckdb", "ibis", "typer", "numpy"]

EXTRAS = ["jax", "optax", "sklearn", "fastapi", "uvicorn", "pydantic", "anyio", "starlette", "jinja2", "jwt"]

IMPORT = """
import sys
before = len(sys.modules)
import discreet
heavy = [name for name in sys.argv[1:] if name in sys.modules]
print(len(sys.modules) - before, *heavy)
"""


def test_importing_costs_next_to_nothing_and_loads_nothing_heavy():
    ran = subprocess.run([sys.executable, "-c", IMPORT, *HEAVY], capture_output=True, text=True, check=True)
    loaded, *heavy = ran.stdout.split()
    assert not heavy, f"loaded: {heavy}"
    assert int(loaded) < 60  # modules, of which 30 today: a hundredth of a second, and the same on a busy machine


def test_every_public_name_loads_and_is_listed():
    assert set(discreet.__all__) <= set(dir(discreet))
    for name in discreet.__all__:
        assert getattr(discreet, name) is not None
    assert len(discreet.__all__) <= 50
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        discreet.nonsense  # noqa: B018


def test_type_checkers_see_the_same_names():
    tree = ast.parse((SOURCE / "__init__.py").read_text())
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.asname or alias.name for node in guarded.body for alias in node.names}
    assert seen == {*discreet.__all__, "open"}


def test_a_star_import_does_not_hide_the_builtin_open():
    names: dict = {}
    exec("from discreet import *", names)
    assert {"Budget", "count"} <= set(names)
    assert "open" not in names
    assert "open" in dir(discreet)
    assert discreet.open is not open


def test_the_exception_tree_is_the_docstring_of_errors():
    for name in errors.__all__:
        kind = getattr(errors, name)
        assert issubclass(kind, errors.DiscreetError)
        assert name in errors.__doc__


def test_a_missing_extra_names_the_exact_command():
    assert "pip install 'discreet[learn]'" in str(errors.MissingExtraError("learn", "jax"))


def modules():
    return sorted(path for path in SOURCE.rglob("*.py"))


def faults(path):
    """What a file does that none may."""
    text = path.read_text()
    tree = ast.parse(text)
    if len(text.splitlines()) > 420:
        yield "is longer than 420 lines"
    if not ast.get_docstring(tree):
        yield "does not say what it is for"
    if "assert" in text and any(isinstance(node, ast.Assert) for node in ast.walk(tree)):
        yield "asserts, which vanishes under python -O"
    if re.search(r"\bnp\.random|numpy\.random|^import random|^from random", text, re.MULTILINE):
        yield "draws random numbers that are not secure"


def test_files_are_small_documented_and_unasserting():
    assert [f"{path.relative_to(SOURCE)} {fault}" for path in modules() for fault in faults(path)] == []


def test_a_fault_of_a_file_is_found(tmp_path):
    (tmp_path / "one.py").write_text("import random\n" + "\n" * 420 + "assert random\n")
    assert len(list(faults(tmp_path / "one.py"))) == 4


def missing_exports(path):
    """What a module says that it exports and does not have."""
    name = ".".join(["discreet", *path.relative_to(SOURCE).with_suffix("").parts]).removesuffix(".__init__")
    if name.endswith("__main__"):
        return []
    try:
        module = importlib.import_module(name)
        return [f"{name}.{one}" for one in getattr(module, "__all__", []) if not hasattr(module, one)]
    except (errors.MissingExtraError, ModuleNotFoundError) as missing:
        wanted = getattr(missing, "name", None) or str(missing)
        if not any(extra in wanted for extra in EXTRAS):
            raise
        return []  # an extra that is not installed


def test_what_a_module_exports_exists():
    assert [one for path in modules() for one in missing_exports(path)] == []


def test_only_one_module_asks_the_system_for_entropy():
    askers = [p for p in modules() if re.search(r"urandom|secrets\.|SystemRandom|getrandbits", p.read_text())]
    assert [str(p.relative_to(SOURCE)) for p in askers] == ["noise/bits.py"]


def test_every_proof_is_in_the_documentation_index():
    index = (REPOSITORY / "mkdocs.yml").read_text()
    for proof in (REPOSITORY / "docs").rglob("*.md"):
        assert str(proof.relative_to(REPOSITORY / "docs")) in index, proof


NO_COMPLEMENT = re.compile(
    r"(?!True|Pure)[A-Z][a-z]+ [a-z]|(must|is|are|not|only|for|with|absent|present|needed)\b|.*[^.][.;]$", re.DOTALL
)
SENTENCE = re.compile(r"""(([A-Z0-9…\["\'`]|discreet |print\().*([.?…]|: ))?|…""", re.DOTALL)


def text_of(node):
    """A text as far as it is constant; what is computed stands as a mark."""
    match node:
        case ast.Constant(value=str() as value):
            return value
        case ast.JoinedStr(values=parts):
            return "".join(part.value if isinstance(part, ast.Constant) else "…" for part in parts)
        case ast.BinOp(left=left, op=ast.Add()):
            return text_of(left) + "…"
        case ast.IfExp(body=text) | ast.BoolOp(values=[text, *_]):
            return text_of(text)
    return "…"


@cache
def said():
    """Every text of an error: where it is made, and whether it is what is allowed, a hint or a message of its own."""
    found = []
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Call(func=ast.Name(id="InputError" | "MissingError"), args=args, keywords=keywords):
                    named = {one.arg: one.value for one in keywords}
                    named |= dict(zip(("field", "got", "allowed", "hint"), args, strict=False))
                    texts = {kind: named[kind] for kind in ("allowed", "hint") if kind in named}
                case ast.Call(func=ast.Name(id=name), args=args) if name in errors.__all__:
                    texts = dict(enumerate(args))
                case ast.Assign(targets=[ast.Name(id="allowed" | "hint" as name)], value=value):
                    texts = {name: value}
                case _:
                    continue
            for kind, text in texts.items():
                found.append((f"{path.relative_to(SOURCE)}:{node.lineno}", kind, text_of(text)))
    return found


def test_what_is_allowed_completes_must_be():
    assert [
        f"{at}: must be {text}" for at, kind, text in said() if kind == "allowed" and NO_COMPLEMENT.match(text)
    ] == []


def test_a_hint_is_a_sentence():
    assert [f"{at}: {text}" for at, kind, text in said() if kind == "hint" and not SENTENCE.fullmatch(text)] == []
