"""Methods by name: each makes rows within its price, and none reaches the data."""

from __future__ import annotations

import ast
import itertools
from pathlib import Path

import pytest

from discreet.marginals.domain import Attribute, Domain
from discreet.synth import methods, synthetic


def test_auto_chooses_and_says_why(curator):
    assert curator.synthesize(columns=["age"]).plan(epsilon=1).plan.method == "independent"
    apart = curator.synthesize(workload=["age", "sex"]).plan(epsilon=1)
    assert apart.plan.method == "independent"
    assert "no marginal has two columns" in str(apart)
    usual = curator.synthesize().plan(epsilon=1)
    assert usual.plan.method == "mosaic"
    assert f"Method: {usual.plan.method}: {usual.plan.why}." in str(usual)
    assert "independent: asked for." in str(curator.synthesize("independent").plan(epsilon=1))


@pytest.mark.parametrize(
    ("columns", "currency", "method"),
    [(20, "rho", "mosaic"), (21, "rho", "aim"), (63, "rho", "aim"), (64, "rho", "mosaic"), (30, "epsilon", "mosaic")],
)
def test_of_very_many_pairs_aim_is_taken_unless_there_are_too_many(columns, currency, method):
    domain = Domain(tuple(Attribute(f"c{index}", f"c{index}", (0, 1), False, False) for index in range(columns)))
    workload = dict.fromkeys(itertools.combinations(range(columns), 2), 1.0)
    assert methods.chosen_method(domain, workload, currency)[0] == method


def test_what_was_chosen_before_is_found_again(curator):
    plan = curator.synthesize("mosaic").plan(epsilon=1).plan
    chosen = plan.by("aim", "measured")
    assert plan.digest in [former.digest for former in chosen.former]
    assert plan.digest not in [former.digest for former in plan.by("aim", "asked for").former]


@pytest.mark.parametrize("method", [name for name in methods.METHODS if name != "rap"])
def test_every_method_makes_rows_within_its_price(curator, method):
    release = curator.synthesize(method, columns=["age", "sex", "works"], rows=800).plan(epsilon=3).release()
    assert len(release) == 800
    assert release.method == method
    assert release.measured
    release.domain.check(release.codes)
    assert curator.standing()[0].spent.amount == 3


ROOMS = ("synth", "marginals")


def test_methods_cannot_reach_the_data():
    folder = Path(methods.__file__).parent
    seen, queue = set(), [*methods.METHODS, "released", "rows", "impossible"]
    forbidden = ("discreet.data.source", "discreet.data.frame", "discreet.ledger.ledger", "discreet.marginals.engine")
    while queue:
        name = queue.pop()
        path = next((path for room in ROOMS if (path := folder.parent / room / f"{name}.py").exists()), folder / name)
        if name in seen or not path.is_file():
            continue
        seen.add(name)
        for node in ast.walk(ast.parse(path.read_text())):
            modules = [node.module] if isinstance(node, ast.ImportFrom) else []
            modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for module in modules:
                assert not str(module).startswith(forbidden), (name, module)
                _, _, inside = str(module).partition("discreet.")
                if inside.startswith(tuple(f"{room}." for room in ROOMS)):
                    queue.append(inside.partition(".")[2])
    assert {"independent", "model", "meter"} <= seen


@pytest.mark.parametrize("method", methods.METHODS)
def test_noise_does_not_decide_how_many_rows_a_method_makes(curator, method, monkeypatch):
    """At a price that buys nothing but noise a table of 3,000 rows seems to have millions, or none."""
    monkeypatch.setattr(synthetic, "MOST_ROWS", 2_000)
    for turn in range(60):  # each as likely as not to be of too many rows
        made = curator.synthesize(method, columns=["sex", "works"]).plan(epsilon="1/100000").release(release=f"r{turn}")
        assert len(made) == min(max(round(made.total), 0), 2_000)
        if made.total > 2_000:
            break
    assert "at most 2,000 rows are made" in made.notes
    again = made.sample()
    assert len(again) == 2_000
    assert "at most 2,000 rows are made" in again.notes
    assert "at most 2,000 rows are made" not in made.sample(rows=10).notes
