"""What people see of an audit: tables, pages, words."""

from __future__ import annotations

import dataclasses
import math
import re

from audit_cases import check, noisy
from discreet.audit import audit
from discreet.audit.gate import Gate
from discreet.audit.report import page, rows
from discreet.core.loss import Pure, RealGaussianNoise
from discreet.mechanisms import Gaussian, Laplace


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
    assert table[0][4].endswith(" times)")
    assert rows([dataclasses.replace(fine, catchable=None, finest=math.inf)])[0][4] == "nothing"
    assert rows([dataclasses.replace(fine, catchable=None, finest=1.5)])[0][4] == "at best 1.5 (1.5 times)"
    assert [line[-1] for line in table] == ["no violation", "VIOLATED", "NOT CAUGHT"]
    assert rows([dataclasses.replace(fine, found=math.inf)])[0][3] == "infinite"
