"""Methods by name: each can be run again on stored counts, may fail without loss, and never reaches the data."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from tree_desk import add_up

from discreet import Rules
from discreet.errors import InputError
from discreet.trees import methods


def test_another_method_on_the_same_noisy_counts_is_free(curator):
    first = curator.tree(["state", "county"], by=["sex"]).plan(epsilon=1, method="topdown").release()
    left = curator.standing()[0].left
    second = first.again("exact", rules=Rules(totals={"all": [4000]}))
    add_up(second)
    assert second["all"]["count"][0] + second["all"]["count"][1] == 4000
    assert second.method == "exact"
    assert curator.standing()[0].left == left
    with pytest.raises(InputError, match="method"):
        first.again("guess")


def test_a_method_that_fails_loses_nothing(curator, monkeypatch):
    def broken(measured, rules):
        raise ZeroDivisionError

    monkeypatch.setattr(methods, "method_named", lambda name, chain: broken)
    release = curator.tree(["state", "county"]).plan(epsilon=1, method="exact").release(release="x")
    with pytest.raises(InputError, match=r"noisy counts, which are stored.*tree show x --method topdown"):
        release["county"]
    monkeypatch.undo()
    add_up(release.again("topdown"))
    add_up(curator.release("x").again("exact"))


def test_methods_cannot_reach_the_data():
    folder = Path(methods.__file__).parent
    seen, queue = set(), ["methods", *methods.METHODS, "chain", "intervals", "record"]
    # `released` and `picture` are read from what these return, and from the books.
    forbidden = ("discreet.query", "discreet.ledger", "discreet.trees.count", "discreet.trees.plan")
    while queue:
        name = queue.pop()
        if name in seen:
            continue
        seen.add(name)
        path = folder / f"{name.replace('.', '/')}.py"
        path = path if path.exists() else path.with_suffix("") / "__init__.py"
        for node in ast.walk(ast.parse(path.read_text())):
            modules = [node.module] if isinstance(node, ast.ImportFrom) else []
            modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for module in modules:
                assert not str(module).startswith(forbidden), (name, module)
                assert str(module) != "discreet.trees", (name, "by its module, so that it can be followed")
                if str(module).startswith("discreet.trees."):
                    queue.append(str(module).removeprefix("discreet.trees."))
    assert {"gls", "topdown.rounding", "measurement", "bayes.prior", "exact.window", "chain.search"} <= seen


@pytest.mark.parametrize(
    "rules",
    [
        Rules(weights={"county": 0.5}),
        Rules(weights={"nowhere": 1}),
        Rules(weights={"county": -1}),
        Rules(weights=dict.fromkeys(("all", "state", "county"), 0)),
        Rules(lower={"nowhere": 1}),
    ],
    ids=repr,
)
def test_rules_that_no_method_can_use_are_refused_before_spending_and_again(curator, rules):
    with pytest.raises(InputError, match=r"rules|level"):
        curator.tree(["state", "county"], rules=rules).plan(epsilon=1, method="exact")
    assert curator.standing()[0].spent.amount == 0
    release = curator.tree(["state", "county"]).plan(epsilon=1, method="topdown").release()
    with pytest.raises(InputError, match=r"rules|level"):
        release.again("exact", rules=rules)
    with pytest.raises(InputError, match="confidence"):
        release.again("exact", confidence=2)
