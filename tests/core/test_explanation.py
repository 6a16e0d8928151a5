"""What a plan says of itself is values; text and JSON are renderings that leave nothing of them out."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from discreet.core.explanation import Accuracy, Explanation

ERRORS = {
    "value": (Accuracy("n", "noise", 30), "n: +-30 (95%); noise."),
    "multiples": (Accuracy("n", "noise", 2.5, unit="of the width"), "n: +-2.500 of the width (95%); noise."),
    "rows": (Accuracy("m", "noise", None, ((100, 4.0),)), "m: about +-4 at 100 rows in the group (95%); noise."),
    "choice": (
        Accuracy("city", "noise", 6.2, of="choice"),
        "city: each at most 7 behind the most common remaining value, all of them (95%); noise.",
    ),
    "rank": (
        Accuracy("q", "noise", 10, of="rank", ranks=(Fraction(1, 2),)),
        "q: a rank within 10 rows of the requested one (95%): 40%..60% at 100 rows, 49%..51% at 1,000 rows, "
        "49.9%..50.1% at 10,000 rows in the group; noise.",
    ),
    "share": (Accuracy("cells", "noise", 3, share=0.3), "cells: +-3 (95%); noise; 30.0% of the price."),
}


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_is_said_in_a_line_and_as_values(name):
    expected, text = ERRORS[name]
    assert expected.text(0.95) == text
    told = json.loads(json.dumps(expected.to_dict()))
    assert told["output"] == expected.output
    assert told["half_width"] == expected.half_width
    assert told.get("of", "value") == expected.of


def test_the_text_has_every_value_in_its_order():
    told = Explanation(
        title="Plan for 'x'",
        unit="one row",
        shape=("Releases 2 rows.",),
        errors=(ERRORS["value"][0],),
        steps=("First, a search.",),
        notes=("Values are clipped to the nearer bound.",),
        facts={"groups": 2},
    )
    assert told.lines(["Cost: epsilon = 1."]) == [
        "Plan for 'x'; protects one row.",
        "Cost: epsilon = 1.",
        "Releases 2 rows.",
        "  First, a search.",
        "  n: +-30 (95%); noise.",
        "  Note: Values are clipped to the nearer bound.",
    ]
    values = told.to_dict()
    assert values["groups"] == 2
    assert [values[name] for name in ("shape", "steps", "notes")] == [[*told.shape], [*told.steps], [*told.notes]]
    whole = Explanation(title="Batch of 1", unit="", shape=(), parts=(("a", told),))
    assert whole.lines()[:3] == ["Batch of 1.", "a:", "  Releases 2 rows."]
    assert whole.to_dict()["parts"]["a"] == values
