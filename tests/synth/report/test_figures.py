"""Figures have answers, spread and intervals, for small releases too."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from report_desk import JOB, table

from discreet.errors import InputError


def test_questions_have_answers_spread_and_intervals(release, public):
    rows = release.to_arrow().to_pylist()
    first, second, third, fourth = public.figures.asks
    old = [row for row in rows if row["age"] >= 25 and row["sex"] == "f"]
    assert first.answer == pytest.approx(len(old) / len(rows))
    chiefs = [row for row in old if row[JOB] == "VP"]
    assert second.answer == pytest.approx(len(chiefs) / len(rows))
    assert third.answer == pytest.approx(np.mean([row["pay"] for row in chiefs if row["pay"] is not None]))
    assert fourth.answer == pytest.approx(np.mean([row["age"] for row in rows if row["works"]]))
    assert all(len(one.draws) == 3 for one in public.figures.asks)
    for one in public.figures.asks:
        assert one.about[0] <= one.answer <= one.about[1]
    assert second.known.upper < 1  # from its parts
    assert third.known is None  # four columns that were never measured together
    assert "no interval is known" in public.to_html()
    assert "no interval known" in repr(public)
    total = public.figures.total
    assert total.lower < 3000 * 1.2
    assert total.upper > 3000 * 0.8


def test_small_releases_have_reports_too(curator):
    one = curator.synthesize(columns=["works"], rows=40).plan(epsilon=1).release()
    assert "Synthetic rows of people" in one.report(copies=2).to_html()
    assert one.report(copies=0).figures.asks[0].about is None
    owner = one.compare(table(200), not_private=True, copies=0)
    assert owner.figures.real.prediction is None
    none = replace(one, made=replace(one.made, codes=one.made.codes[:0]))
    with pytest.raises(InputError, match="has none"):
        none.report()
