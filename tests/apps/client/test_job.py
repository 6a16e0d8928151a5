"""Jobs of a server: what they made is here what it is there."""

from fractions import Fraction

import pytest

from discreet import Rules, bins, col
from discreet.errors import BudgetError, InputError
from discreet.trees import read_measurements

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
from remote import wide_fixture  # noqa: F401


def test_a_hierarchy_there_is_one_here(wide, tmp_path):
    there, here = wide
    regions = tmp_path / "regions.csv"
    regions.write_text("state,county\nA,A1\nA,A2\nB,B1\n")
    ask = lambda desk: desk.tree(  # noqa: E731
        ["state", "county"],
        by=["works", bins("age", [0, 5, 10])],
        geography=regions,
        where=col("age") >= 1,
        rules=Rules(upper={"county": 10_000}),
    )
    price = {"epsilon": "0.5", "allotment": "team", "split": {"all": 1, "state": 1, "county": 2}}
    offer = ask(there).plan(**price)
    assert str(offer) == str(ask(here).plan(**price))
    made = offer.release(release="census", why="a test")
    same = here.release("census")
    assert made["county"].columns == same["county"].columns
    assert there.release("census").totals("state").to_csv() == same.totals("state").to_csv()
    assert made.again("topdown").method == "topdown"
    assert made.rules.upper["county"] == 10_000
    assert made.sum({"state": "A"}).to_dict() == same.sum({"state": "A"}).to_dict()
    made.save_measurements(tmp_path / "noisy")
    assert read_measurements(tmp_path / "noisy")["county"].columns == same["county"].columns
    assert repr(made) == repr(same)
    assert here.ledger.find("census").charged.why == "a test"
    with pytest.raises(InputError) as told:
        there.tree(["county"], by="shoe").plan(epsilon=1, allotment="team")
    assert told.value.field == "by"
    with pytest.raises(BudgetError, match="Nothing was spent") as refused:
        there.tree(["county"]).plan(epsilon=5, allotment="team").release()
    assert (refused.value.asked.amount, refused.value.left.amount) == (5, Fraction(7, 2))
    with pytest.raises(InputError, match="levels"):
        there.tree("county")


def test_rows_there_are_rows_here(wide):
    there, here = wide
    ask = lambda desk: desk.synthesize(  # noqa: E731
        "mst", workload={("age", "works"): 2.0}, columns=["age", "works"], rows=40, impossible=[col("age") > 8]
    )
    offer = ask(there).plan(epsilon=1, allotment="team")
    assert str(offer) == str(ask(here).plan(epsilon=1, allotment="team"))
    job = offer.begin(release="rows")
    rows = job.wait(120)
    assert len(rows) == 40
    assert rows.to_arrow().equals(here.release("rows").to_arrow())
    assert there.job("rows").wait(10).to_csv() == rows.to_csv()
    assert (job.state, job.stage, job.progress) == ("done", "done", 1.0)
    assert [one["kind"] for one in there.jobs()] == ["synth"]
    assert there.release("rows", "rows").columns == here.release("rows", "rows").columns
    with pytest.raises(InputError, match="must be rows"):
        there.release("rows", "county")


def test_a_model_there_predicts_here(wide):
    pytest.importorskip("jax")
    from discreet.learn.model import Model

    there, here = wide
    asked = {"target": "works", "features": ["age"], "examples": 300, "lot": 100, "steps": 5, "rate": 2}
    model = there.train(**asked).plan(epsilon=1).release(release="m")
    rows = {"age": [1, 9]}
    assert model.predict(rows) == here.release("m").predict(rows)
    assert model.card().to_dict() == there.release("m").card().to_dict()
    with pytest.raises(InputError, match="no code"):
        there.train(Model(lambda params, x: x, ()), target="works").plan(epsilon=1)
