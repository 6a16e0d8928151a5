"""What people see of an audit: tables, pages, words; and modules of their own."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import sys
from html.parser import HTMLParser
from types import ModuleType

import pytest

from discreet.apps.cli import main
from discreet.audit import Pair, audit, worst
from discreet.audit.gate import Gate
from discreet.audit.module import own_mechanism
from discreet.audit.report import page, rows
from discreet.core.loss import Pure, RealGaussianNoise
from discreet.errors import InputError
from discreet.mechanisms import Gaussian, Laplace

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


class Tags(HTMLParser):
    """Counts tags and whatever could leave the page."""

    def __init__(self):
        super().__init__()
        self.open, self.outside = [], []

    def handle_starttag(self, tag, attrs):
        if tag != "meta":
            self.open.append(tag)
        self.outside += [value for name, value in attrs if name in ("src", "href", "onload", "xlink:href")]

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def check(text):
    tags = Tags()
    tags.feed(text)
    assert tags.open == []
    assert tags.outside == []
    assert "<script" not in text
    assert "http" not in text.replace("http-equiv", "")
    assert re.search(r"default-src 'none'; style-src 'sha256-", text)


def noisy(noise, moved):
    return Pair(lambda runs: noise.release([moved] * runs), lambda runs: noise.release([0] * runs), "<one> & none")


def findings():
    fine = audit(noisy(Laplace(1), 1), Pure(1), runs=4_000, confidence=1 - 1e-9, name="<b>Laplace</b>")
    wrong = audit(noisy(Gaussian(1), 3), RealGaussianNoise(1), runs=4_000, confidence=1 - 1e-9, name="Gaussian")
    return fine, wrong


def test_a_page_stands_alone_and_says_what_was_found():
    fine, wrong = findings()
    planted = dataclasses.replace(wrong, planted="half noise")
    gate = Gate((fine, wrong), (planted,), ("learn: not installed",), 1, 1e-9, 1.0)
    text = page(gate, "An <audit>")
    check(text)
    assert "&lt;b&gt;Laplace" in text
    assert "An &lt;audit&gt;" in text
    assert "&lt;one&gt; &amp; none" in text
    assert "Not attacked: learn" in text
    assert "proved private" not in text
    assert text.count("<figure") == 2
    check(page(fine))


def test_a_picture_holds_the_region_the_curve_and_the_point():
    fine, wrong = findings()
    for found in (fine, wrong):
        picture = page(found).split("<svg")[-1].partition("</svg>")[0]
        assert picture.count('class="region"') == 1
        assert picture.count("<circle") == 1
        assert ("point bad" in picture) is found.violated
        assert not re.search(r"nan|inf[ ,\"]", picture)


def test_rows_never_round_a_bound_up():
    fine, wrong = findings()
    table = rows([fine, wrong, dataclasses.replace(fine, planted="half noise")])
    assert float(table[0][3]) <= fine.found
    assert [line[-1] for line in table] == ["no violation", "VIOLATED", "NOT CAUGHT"]
    assert rows([dataclasses.replace(fine, found=math.inf)])[0][3] == "infinite"


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
    code, said = run(capsys, "audit", "self", "--only", "half noise", "--workers", "1")
    assert code == 0
    assert "caught" in said.out


def test_a_refuted_claim_of_the_house_is_exit_code_4(capsys, monkeypatch):
    from discreet.audit import gate as gates
    from discreet.audit.subject import Subject

    class Broken:
        @staticmethod
        def subjects():
            return [Subject("half", "mechanism", lambda: (Pure("0.5"), [noisy(Laplace(1), 1)]), 20_000)]

    monkeypatch.setattr("discreet.apps.audits.MODULES", ("broken",))
    monkeypatch.setattr(gates, "import_module", lambda name: Broken)
    code, said = run(capsys, "audit", "self", "--workers", "1")
    assert code == 4
    assert "VIOLATED" in said.out


def module(**names):
    made = ModuleType("made")
    for name, value in names.items():
        setattr(made, name, value)
    return made


FULL = {"claim": (1, 0), "neighbours": [(1, 0)], "mechanism": lambda data: data}


@pytest.mark.parametrize(
    ("field", "changed"),
    [
        ("module.claim", {"claim": None}),
        ("module.neighbours", {"neighbours": None}),
        ("module.neighbours", {"neighbours": []}),
        ("module.neighbours", {"neighbours": [1, 2]}),
        ("module.mechanism", {"mechanism": 3}),
        ("module.mechanism", {"mechanism": lambda: 1}),
        ("claim", {"claim": "private"}),
    ],
)
def test_a_module_that_lacks_something_is_told_what(field, changed):
    with pytest.raises(InputError) as caught:
        own_mechanism(module(**{**FULL, **changed}))
    assert caught.value.field == field


def test_neighbours_may_be_a_function():
    own = own_mechanism(module(**{**FULL, "neighbours": lambda: iter([(1, 0)])}))
    assert own.name == "made"
    assert worst(own.pairs, own.claim, runs=100).violated


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
