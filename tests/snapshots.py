"""What people and programs see, as plain files under tests/golden/snapshots: a change of any of it shows in a diff.

    PYTHONPATH=src python tests/snapshots.py

writes them anew. They hold every command and its options, the description of the API, what commands print with --json,
and what a plan of every kind says. Nothing in them depends on the machine: no path, time, id, hash, width or colour,
and numbers only as far as every machine computes them alike.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from asks import ASKS, Town, lay_out, town
from seam import Tape
from surfaces import command

FOLDER = Path(__file__).parent / "golden" / "snapshots"
sys.path.append(str(Path(__file__).parent.parent / "docs" / "hooks"))


def help_text() -> str:
    """Every command: what it is for, its arguments and options, its examples."""
    from handbook.commands import commands

    lines = []
    for one in commands():
        lines += [f"## {one.words}", one.help, *(f"  $ {example}" for example in one.examples)]
        for parameter in one.parameters:
            told = [", ".join(parameter.names), f"({parameter.kind})", parameter.help]
            told += ["Required."] if parameter.required else []
            told += [f"[{parameter.default}]"] if parameter.default else []
            told += [f"${name}" for name in parameter.variables]
            lines.append("  " + " ".join(told).strip())
        lines.append("")
    return "\n".join(lines)


def api_text(here: Town) -> str:
    """The paths of the API, what each takes and answers with, and the fields of what is sent."""
    from discreet.apps.server.service import Service
    from discreet.apps.web.site import application

    described = application(Service({"town": here.curator}, None)).openapi()
    paths = {}
    for path, ways in sorted(described["paths"].items()):
        for way, one in sorted(ways.items()):
            taken = {
                p["name"]: p["in"] + (", required" if p.get("required") else "") for p in one.get("parameters", ())
            }
            sent = one.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            paths[f"{way.upper()} {path}"] = {
                "summary": one.get("summary", ""),
                "takes": taken,
                "body": _type(sent) if sent else "",
                "answers": {code: _answer(answer) for code, answer in one["responses"].items() if code[0] == "2"},
                "refuses": sorted(code for code in one["responses"] if code[0] != "2"),
            }
    fields = {
        name: {field: _type(one) for field, one in schema.get("properties", {}).items()}
        | {"required": sorted(schema.get("required", ()))}
        for name, schema in sorted(described["components"]["schemas"].items())
    }
    return json.dumps({"paths": paths, "schemas": fields}, indent=1) + "\n"


def _answer(answer: dict[str, Any]) -> str:
    return ", ".join(
        f"{kind}: {_type(one.get('schema', {}))}" for kind, one in sorted(answer.get("content", {}).items())
    )


def _type(schema: dict[str, Any]) -> str:
    """A type in a word or two: versions of the libraries write the rest in ways of their own."""
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2]
    for way in ("anyOf", "oneOf", "allOf"):
        if way in schema:
            return " | ".join(dict.fromkeys(_type(one) for one in schema[way]))
    if "enum" in schema:
        return " | ".join(map(json.dumps, schema["enum"]))
    if schema.get("type") == "array":
        return f"[{_type(schema.get('items', {}))}]"
    if isinstance(inner := schema.get("additionalProperties"), dict):
        return "{" + _type(inner) + "}"
    return str(schema.get("type", "any"))


def explain_text(here: Town) -> str:
    """What the offer of every ask says."""
    return "\n".join(f"## {name}\n{ask.offer(here).explain()}\n" for name, ask in ASKS.items())


# Commands that print one JSON value, in a folder with the table and its schema. Those whose values differ from run to
# run, or from machine to machine, are shown by their shape.
PRICE = "--rho 2 --allotment questions"
YES = "--yes --why test"
TRAINED = (
    "--target sex --features age,works --examples 60 --lot 20 --steps 2 --multiplier 2 --noise exact --delta 0.001"
)
VALUES = (
    "ledger create",
    f"plan town.csv count sum(pay) --by sex {PRICE}",
    f"ask town.csv count --by sex {PRICE} --id asked {YES}",
    f"sql town.csv 'SELECT county, COUNT(*) AS n FROM town GROUP BY county' {PRICE} --id selected {YES}",
    f"tree plan town.csv --levels state=1,county=2 --by sex {PRICE}",
    f"tree release town.csv --levels state=1,county=2 {PRICE} --id tree {YES}",
    "tree show tree",
    f"synth plan town.csv --method mst --columns sex,county --rows 10 {PRICE}",
    f"synth run town.csv --method mst --columns sex,county --rows 10 {PRICE} --id rows {YES}",
    "synth show rows",
    "releases show asked",
    "releases list",
    "ledger show",
    "ledger open --schema discreet.toml",
    "calibrate noise --epsilon 1",
    "calibrate budget --within 10",
    "calibrate odds --epsilon 1",
    "calibrate convert --epsilon 1 --delta 1e-6",
    "risk measure town.csv --quasi sex,county",
    "attack link town.csv town.csv --on sex,county,age --person person",
)
SHAPES = (
    f"train plan town.csv {TRAINED} --allotment models",
    f"train run town.csv {TRAINED} --allotment models --id model {YES}",
    "train show model",
    "train card model",
    "train predict model town.csv",
    "ledger verify",
    "attack difference --people 20",
    "attack reconstruct --people 20",
    "survey plan survey.toml",
    "token create ann --role analyst",
    "token list",
    "ledger close town --why over --yes",
)


def outputs_text() -> str:
    """What commands print with --json."""
    import shlex

    with _folder():
        lay_out(Path())
        command("survey", "new", "survey.toml")
        found = {}
        for line in (*VALUES, *SHAPES):
            said, code = command(*shlex.split(line), "--json")
            if code:
                found[line] = f"exit code {code}"
                continue
            value = json.loads(said)
            found[line] = _plain(value) if line in VALUES else shape(value)
    return json.dumps(found, indent=1) + "\n"


@contextlib.contextmanager
def _folder() -> Iterator[None]:
    """A folder of its own to work in, with noise that is always the same."""
    quiet = {name: value for name, value in os.environ.items() if not name.startswith("DISCREET_")}
    before = Path.cwd()
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.dict(os.environ, {**quiet, "DISCREET_WHO": "ann"}, clear=True),
        mock.patch("discreet.ledger.door.SystemBits", side_effect=lambda: Tape("snapshots")),
    ):
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


_MASKS = (
    (re.compile(r"\b[0-9a-f]{64}\b"), "<hash>"),
    (re.compile(r"\b\d{12,}/\d+\b"), "<exact>"),
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:\+00:00|Z)?"), "<time>"),
)


def _plain(value: Any) -> Any:
    """Values without what no two runs have in common; floats to four digits."""
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, str):
        for pattern, mask in _MASKS:
            value = pattern.sub(mask, value)
    return value


def shape(value: Any) -> Any:
    """Names and types."""
    if isinstance(value, dict):
        return {name: shape(one) for name, one in value.items()}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return type(value).__name__


def snapshots(folder: Path) -> dict[str, str]:
    """Every file and what is in it."""
    here = town(folder)
    return {
        "help.txt": help_text(),
        "api.json": api_text(here),
        "explain.txt": explain_text(here),
        "outputs.json": outputs_text(),
    }


def main() -> None:
    """Write the files anew."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = folder
        for name, text in snapshots(Path(folder)).items():
            (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
