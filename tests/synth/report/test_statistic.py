"""Statistics are read, answered and said again; what makes no sense is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from report_rows import CONDITIONS, DOMAIN, SCHEMA, condition, some_codes

from discreet.data.column import Timestamp
from discreet.data.instant import Instant
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.marginals.domain import Domain
from discreet.query.parse import parse_condition
from discreet.query.predicate import Compare, checked
from discreet.synth.parts import MadeColumn
from discreet.synth.report.statistic import answer, default_statistics, in_words, read_statistics
from discreet.synth.rows import draw_rows


def test_questions_are_read_answered_and_said_again():
    codes = some_codes(3000)
    drawn = draw_rows(DOMAIN, SCHEMA.columns, codes)
    asks = read_statistics(
        ["age >= 25 and sex = 'f'", " MEAN( age ) where works", "mean(works)"], DOMAIN, SCHEMA.columns
    )
    sexes, ages, works = codes[:, 0], codes[:, 2], codes[:, 1] == 1
    assert answer(asks[0], drawn, DOMAIN) == pytest.approx(((ages >= 25) & (sexes == 0)).mean())
    assert answer(asks[1], drawn, DOMAIN) == pytest.approx(ages[works].mean())
    assert answer(asks[2], drawn, DOMAIN) == pytest.approx(works.mean())
    for text in CONDITIONS:
        wanted = condition(text)
        assert checked(parse_condition(in_words(wanted)), SCHEMA) == wanted
        assert read_statistics(wanted, DOMAIN, SCHEMA.columns)[0].condition == wanted
    chosen = default_statistics(DOMAIN, SCHEMA.columns, codes)
    assert 3 <= len(chosen) <= 6
    assert read_statistics([one.text for one in chosen], DOMAIN, SCHEMA.columns)
    assert math.isnan(answer(read_statistics(["mean(age) where age < 0"], DOMAIN, SCHEMA.columns)[0], drawn, DOMAIN))


@pytest.mark.parametrize(
    "wrong",
    [
        "age >=",
        "nowhere = 1",
        "mean(sex)",
        "mean(day)",
        "mean(nowhere)",
        "mean(age) where",
        5,
        None,
        "sex = 'q'",
        "1; drop",
    ],
)
def test_wrong_questions_are_refused(wrong):
    with pytest.raises(InputError) as problem:
        read_statistics([wrong], DOMAIN, SCHEMA.columns)
    assert problem.value.field == "asks"


def test_instants_are_written_as_times():
    at = Instant(1_719_784_800, "Europe/Vienna")
    assert in_words(Compare("at", ">=", at)) == "at >= '2024-07-01T00:00:00+02:00'"


def test_a_question_may_be_about_a_column_made_of_parts_or_about_them():
    day, time = "CAST(at AS DATE)", "HOUR(at) * 60 + MINUTE(at)"
    schema = Schema("t", {"at": Timestamp("2024-01-01", "2024-12-31", "UTC")})
    domain = Domain.of(schema, [day, time])
    declared = {name: schema.column(name) for name in ("at", day, time)}
    for text in ("at >= '2024-06-01'", f"{day} >= '2024-06-01'", "at is null"):
        assert read_statistics([text], domain, declared)[0].columns == (text.split(" >= ")[0].split(" is ")[0],)
    with pytest.raises(InputError, match="a column of numbers, and at is none"):
        read_statistics(["mean(at)"], domain, declared)


def test_questions_that_nobody_chose_are_about_timestamps_and_not_about_their_parts():
    day, time = "CAST(at AS DATE)", "HOUR(at) * 60 + MINUTE(at)"
    schema = Schema("t", {"at": Timestamp("2024-01-01", "2024-12-31", "UTC", nullable=False)})
    domain = Domain.of(schema, [day, time])
    declared = {name: schema.column(name) for name in ("at", day, time)}
    codes = np.stack([np.arange(300) % size for size in domain.sizes], axis=1)
    chosen = default_statistics(domain, declared, codes, [MadeColumn("at", (day, time))])
    assert chosen[0].columns == ("at",)
    assert all(time not in one.text or one.column is not None for one in chosen)
    assert read_statistics([chosen[0].text], domain, declared)
