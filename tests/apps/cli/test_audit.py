"""Audits from the command line: of mechanisms of one's own, and of discreet itself."""

from __future__ import annotations

import json
import sys

import pytest

from audit_cases import check, noisy
from discreet.apps.cli import main
from discreet.core.loss import Pure
from discreet.mechanisms import Laplace

GOOD = """
from discreet.core.loss import Pure
from discreet.noise.laplace import laplace

name = "a count"
claim = Pure(1)
neighbours = [(11, 10), (1, 0)]

def mechanism(data, runs):
    return data + laplace(1, runs)
"""

BAD = GOOD.replace("laplace(1, runs)", "laplace('0.3', runs)")

SLOW = GOOD.replace("def mechanism(data, runs):", "def mechanism(data):").replace("laplace(1, runs)", "laplace(1)")


def run(capsys, *words):
    with pytest.raises(SystemExit) as left:
        main(list(words))
    return left.value.code or 0, capsys.readouterr()


def test_a_mechanism_of_ones_own(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "goodone.py").write_text(GOOD)
    (tmp_path / "badone.py").write_text(BAD)
    (tmp_path / "slowone.py").write_text(SLOW)
    monkeypatch.setattr(sys, "path", list(sys.path))
    code, said = run(capsys, "audit", "run", "--module", "goodone", "--runs", "8000", "--confidence", "0.999999999")
    assert code == 0
    assert "found no violation" in said.out
    assert "a count" in said.out
    words = ["audit", "run", "--module", "badone.py", "--runs", "8000", "--json", "--html", "found.html"]
    code, said = run(capsys, *words)
    assert code == 4
    assert json.loads(said.out)["violated"] is True
    check((tmp_path / "found.html").read_text())
    code, said = run(capsys, "audit", "run", "--module", "slowone.py", "--runs", "2000", "--confidence", "0.999999999")
    assert code == 0


def test_the_self_audit_from_the_command_line(tmp_path, capsys):
    html = tmp_path / "self.html"
    words = ["audit", "self", "--only", "response", "--workers", "1", "--json", "--html", str(html)]
    code, said = run(capsys, *words)
    found = json.loads(said.out)
    assert code == 0
    assert found["passed"] is True
    assert [one["name"] for one in found["findings"]] == ["RandomizedResponse"]
    check(html.read_text())
    code, said = run(capsys, "audit", "self", "--only", "not remembered", "--workers", "1")
    assert code == 0
    assert "caught" in said.out


def test_a_refuted_claim_is_exit_code_4(capsys, monkeypatch):
    from discreet.audit import gate as gates
    from discreet.audit.gate import Subject

    class Broken:
        @staticmethod
        def subjects():
            return [Subject("half", "mechanism", lambda: (Pure("0.5"), [noisy(Laplace(1), 1)]), 20_000)]

    monkeypatch.setattr("discreet.apps.audits.MODULES", ("broken",))
    monkeypatch.setattr(gates, "import_module", lambda name: Broken)
    code, said = run(capsys, "audit", "self", "--workers", "1")
    assert code == 4
    assert "VIOLATED" in said.out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["audit", "run", "--module", "no.such.module"], 2),
        (["audit", "run", "--module", "nothing.py"], 2),
        (["audit", "self", "--tier", "9"], 2),
        (["audit", "self", "--html", "no/such/folder/x.html"], 2),
    ],
)
def test_bad_words_are_refused(capsys, words, code):
    found, said = run(capsys, *words)
    assert found == code
    assert "Traceback" not in said.err


def test_a_schema_alone_is_enough_for_the_neighbour_fuzzer(tmp_path):
    from discreet.apps.audits.sensitivity import usual_questions
    from discreet.data import Category, Integer, Schema

    schema = Schema("people", {"sex": Category(["F", "M"]), 'odd "name"': Integer(0, 9)})
    asked = usual_questions(schema)
    assert asked[0] == 'SELECT count(*) AS n FROM "people"'
    assert 'SELECT sum("odd ""name""") AS v FROM "people"' in asked
    assert len(asked) == 4
