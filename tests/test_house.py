"""The house keeps its promises: light to import, names curated, rooms in order, files small."""

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import discreet
from discreet import errors

SOURCE = Path(discreet.__file__).parent
REPOSITORY = SOURCE.parent.parent
HEAVY = ["jax", "pyspark", "pandas", "cvxpy", "fastapi", "scipy", "dp_accounting", "duckdb", "ibis", "typer", "numpy"]

EXTRAS = ["jax", "optax", "sklearn", "fastapi", "uvicorn", "pydantic", "anyio", "starlette", "jinja2"]

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
    assert len(discreet.__all__) <= 40
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        discreet.nonsense  # noqa: B018


def test_type_checkers_see_the_same_names():
    tree = ast.parse((SOURCE / "__init__.py").read_text())
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.asname or alias.name for node in guarded.body for alias in node.names}
    assert seen == set(discreet.__all__)


def test_the_exception_tree_is_the_docstring_of_errors():
    for name in errors.__all__:
        kind = getattr(errors, name)
        assert issubclass(kind, errors.DiscreetError)
        assert name in errors.__doc__


def test_a_missing_extra_names_the_exact_command():
    assert "pip install 'discreet[learn]'" in str(errors.MissingExtraError("learn", "jax"))


def modules():
    return sorted(path for path in SOURCE.rglob("*.py"))


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_files_are_small_documented_and_unasserting(path):
    text = path.read_text()
    tree = ast.parse(text)
    assert len(text.splitlines()) <= 420
    assert ast.get_docstring(tree), "a module says what it is for"
    assert not any(isinstance(node, ast.Assert) for node in ast.walk(tree)), "asserts vanish under python -O"
    assert not re.search(r"\bnp\.random|numpy\.random|^import random|^from random", text, re.MULTILINE)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_what_a_module_exports_exists(path):
    name = ".".join(["discreet", *path.relative_to(SOURCE).with_suffix("").parts]).removesuffix(".__init__")
    if name.endswith("__main__"):
        return
    try:
        module = importlib.import_module(name)
        missing_names = [exported for exported in getattr(module, "__all__", []) if not hasattr(module, exported)]
    except (errors.MissingExtraError, ModuleNotFoundError) as missing:
        wanted = getattr(missing, "name", None) or str(missing)
        if not any(extra in wanted for extra in EXTRAS):
            raise
        pytest.skip(f"needs {wanted}")
    assert missing_names == []


def test_only_one_module_asks_the_system_for_entropy():
    askers = [p for p in modules() if re.search(r"urandom|secrets\.|SystemRandom|getrandbits", p.read_text())]
    assert [str(p.relative_to(SOURCE)) for p in askers] == ["noise/bits.py"]


def test_every_proof_is_in_the_documentation_index():
    index = (REPOSITORY / "mkdocs.yml").read_text()
    for proof in (REPOSITORY / "docs").rglob("*.md"):
        assert str(proof.relative_to(REPOSITORY / "docs")) in index, proof
