"""Every `discreet` command of the runbook (docs/guides/deploy.md), as it stands there, on an installation of its own.

What the page writes as paths of a machine is put into a folder; `...` is what a page leaves out: a place or a reason.
"""

import json
import re
import shlex
import sys
from pathlib import Path

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
if sys.platform == "win32":
    pytest.skip("permissions and addresses of the runbook are those of Linux", allow_module_level=True)
from apps.shell import run
from discreet.apps.server.tokens import Tokens
from discreet.ledger.ledger import Ledger

PAGE = Path(__file__).parents[1] / "docs/guides/deploy.md"
SCHEMA = """
[dataset]
name = "people"
[columns]
age = { type = "integer", lower = 0, upper = 120 }
[budget]
epsilon = 2
[budget.allotments.team]
kind = "pure"
epsilon = 2
"""
SERVER = """
[server]
state = "{folder}/var"
ledger = "{folder}/ledger.db"
[[dataset]]
data = "{folder}/people.csv"
schema = "{folder}/people.toml"
"""
NAMED = {"discreet ledger restore", "discreet jobs list", "discreet check", "discreet ledger acknowledge"}
"""What the page mentions without saying all of it; their own pages are executed by their own tests."""


def commands(text: str) -> list[str]:
    """Every command of the page, each once: whole lines of its blocks, and what stands between two backquotes."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.splitlines()]
    found = [line for line in lines if line.startswith("discreet ")]
    within = [one for line in lines for one in re.findall(r"(?:-- |entrypoint )(discreet .*)", line)]
    found += [one.replace("discreet curator ", "discreet ") for one in within]
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    return list(dict.fromkeys(found + re.findall(r"`(discreet [^`]+)`", prose)))


class Installation:
    """A folder that stands for the machine of the runbook."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.executed = folder, []
        (folder / "people.csv").write_text("age\n" + "30\n40\n" * 50)
        (folder / "people.toml").write_text(SCHEMA)
        (folder / "server.toml").write_text(SERVER.format(folder=folder))
        self.places = {
            "postgresql://discreet@ledger/books": folder / "ledger.db",
            "/var/lib/discreet": folder / "var",
            "/etc/discreet": folder,
            "--tokens ...": f"--tokens {folder / 'var/tokens.db'}",
            "--schema ...": f"--schema {folder / 'people.toml'}",
            "--ledger ...": f"--ledger {folder / 'ledger.db'}",
        }

    def type(self, command: str, *more: str, code: int = 0):
        """A command of the page; `more` is what keeps it from asking or waiting."""
        self.executed.append(command)
        for said, place in self.places.items():
            command = command.replace(said, str(place))
        environment = {"DISCREET_LEDGER": str(self.folder / "ledger.db"), "DISCREET_STATE": str(self.folder / "guards")}
        return run(*shlex.split(command)[1:], *more, cwd=self.folder, code=code, **environment)

    def ledger(self) -> Ledger:
        return Ledger.open(self.folder / "ledger.db")


def test_every_command_of_the_runbook_does_what_the_page_says(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "guards"))
    here = Installation(tmp_path)
    type_ = here.type

    # Install.
    type_("discreet ledger create --ledger postgresql://discreet@ledger/books")
    type_("discreet ledger open --schema /etc/discreet/people.toml --ledger postgresql://discreet@ledger/books --yes")
    ann = type_("discreet token create ann --role custodian --tokens /var/lib/discreet/tokens.db").stdout.strip()
    type_("discreet token create prometheus --role monitor --tokens /var/lib/discreet/tokens.db")
    assert "0 problems" in type_("discreet doctor --config /etc/discreet/server.toml").stdout
    tokens = Tokens(tmp_path / "var/tokens.db")
    assert tokens.caller(ann).role == "custodian"

    # Day by day.
    type_("discreet ledger open --schema ... --ledger ... --yes")
    bob = type_("discreet token create bob --role analyst --allotment team --expires 90d --tokens ...").stdout.strip()
    assert (tokens.caller(bob).role, tokens.caller(bob).allotment) == ("analyst", "team")
    (listed,) = [one for one in tokens.listed() if one["name"] == "bob"]
    assert listed["expires"]
    fresh = type_("discreet token rotate bob --grace 24h --tokens ...").stdout.strip()
    assert tokens.caller(bob).name == tokens.caller(fresh).name == "bob"
    last = type_("discreet token rotate bob --grace 0 --tokens ...").stdout.strip()
    assert [tokens.caller(one) is None for one in (bob, fresh, last)] == [True, True, False]
    type_("discreet token cap bob --epsilon 0.5/day --dataset people --ledger ...")
    ask = ("ask", "people.csv", "count", "--epsilon", "0.4", "--yes", "--schema", "people.toml")
    known = {"DISCREET_LEDGER": str(tmp_path / "ledger.db"), "DISCREET_STATE": str(tmp_path / "guards")}
    run(*ask, "--id", "one", cwd=tmp_path, DISCREET_WHO="bob", **known)
    refused = run(*ask, cwd=tmp_path, code=3, DISCREET_WHO="bob", **known)
    assert "The cap of 'bob'" in refused.stderr
    records = type_("discreet ledger follow --json --position /var/lib/discreet/siem.position", "--once").stdout
    kinds = [json.loads(line)["kind"] for line in records.splitlines()]
    assert {"open", "cap", "charge", "answer"} <= set(kinds)
    again = type_("discreet ledger follow --json --position /var/lib/discreet/siem.position", "--once").stdout
    assert again.splitlines()[:-1] == []  # the last one perhaps twice
    assert json.loads(type_("discreet ledger verify --json").stdout)["ok"]
    type_("discreet doctor", "people.csv", "--schema", "people.toml")
    assert "Nothing to do" in type_("discreet ledger upgrade").stdout
    type_("discreet token revoke bob --tokens ...")
    assert tokens.caller(last) is None

    # When something is wrong.
    type_("discreet jobs list people --ledger ...")
    assert "bob" in type_("discreet ledger show").stdout
    run("ledger", "backup", "monday", cwd=tmp_path, **known)
    run(*ask, "--id", "two", cwd=tmp_path, **known)
    run("ledger", "restore", "monday", "--replace", "--yes", cwd=tmp_path, **known)
    run(*ask, cwd=tmp_path, code=1, **known)  # the guard noticed
    type_('discreet ledger acknowledge --why "..."', "--yes")
    with_all = here.ledger()
    assert [float(one.spent.amount) for one in with_all.standing("people")] == [0.8]
    with_all.close()
    for guard in sorted((tmp_path / "guards/guards").rglob("*"), reverse=True):
        guard.unlink() if guard.is_file() else guard.rmdir()
    run(*ask, cwd=tmp_path, code=1, **known)
    type_('discreet ledger acknowledge --write-off everything --why "..."', "--yes")
    with_all = here.ledger()
    assert [float(one.left.amount) for one in with_all.standing("people")] == [0]
    with_all.close()

    assert set(commands(PAGE.read_text())) - NAMED == set(here.executed)


def test_a_command_that_nobody_executed_would_be_noticed():
    page = "Type `discreet token revoke bob`.\n\n```\ndiscreet doctor\nkubectl exec x -- discreet serve\n```\n"
    assert commands(page) == ["discreet doctor", "discreet serve", "discreet token revoke bob"]
