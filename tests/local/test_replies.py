"""Replies in files and tables: added up in an engine, and refused where they would bend an estimate."""

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.local import GRR, OLH, OUE, Subset, aggregate, write
from discreet.local.replies import words_of
from local_cases import MECHANISMS, answers, survey_of
from servers import spark

both = pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda one: one.kind)


@both
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_files_are_added_up_in_the_engine(mechanism, ending, tmp_path):
    survey = survey_of(mechanism)
    parts = [survey.collect(answers(mechanism, n)) for n in (700, 300)]
    for number, part in enumerate(parts):
        write(survey, part, tmp_path / f"{number}.{ending}", {"region": ["n", "s"] * (len(part) // 2)})
    whole = survey.tally(parts[0]) + survey.tally(parts[1])
    assert aggregate(tmp_path, survey) == whole
    assert aggregate(tmp_path / f"*.{ending}", survey, expect=1000) == whole
    split = aggregate(tmp_path, survey, by="region")
    assert list(split) == ["n", "s"]
    assert split["n"] + split["s"] == whole
    assert split["n"].n == 500
    assert survey.estimate(split["n"]).n == 500
    for wrong in ("token", "nothing", "survey"):
        with pytest.raises(InputError):
            aggregate(tmp_path, survey, by=wrong)


@both
def test_what_would_bend_an_estimate_is_refused(mechanism, tmp_path):
    survey = survey_of(mechanism)
    batch = survey.collect(answers(mechanism, 100))
    place = write(survey, batch, tmp_path / "a.parquet")
    with pytest.raises(InputError, match="100 of 100 to another"):
        aggregate(place, survey_of(type(mechanism)(mechanism.categories, "1/2")))
    with pytest.raises(InputError, match="as expected"):
        aggregate(place, survey, expect=101)
    (tmp_path / "b.parquet").write_bytes(place.read_bytes())
    with pytest.raises(InputError, match=r"a\.parquet and b\.parquet"):
        aggregate(tmp_path, survey)
    write(survey, type(batch)(batch.survey, batch.reports[:50], batch.tokens[:50]), tmp_path / "b.parquet")
    with pytest.raises(InputError, match="50 of them twice"):
        aggregate(tmp_path, survey)
    assert aggregate(tmp_path, survey, duplicates="first") == survey.tally(batch)
    assert aggregate(tmp_path, survey, duplicates="ignore").n == 150
    other = type(mechanism)(mechanism.categories, 3)
    mixed = survey_of(other)
    write(mixed, mixed.collect(answers(mechanism, 10)), tmp_path / "b.parquet")
    with pytest.raises(InputError, match="10 of 110 to another"):
        aggregate(tmp_path, survey)
    place.write_bytes(place.read_bytes()[:-200])
    with pytest.raises(InputError, match="cut off"):
        aggregate(place, survey)
    with pytest.raises(InputError):
        aggregate(place, survey, duplicates="perhaps")
    with pytest.raises(InputError, match="replies to the survey"):
        write(mixed, batch, tmp_path / "c.parquet")


def test_one_token_with_two_reports_is_refused(tmp_path):
    survey = survey_of(GRR(5, 1))
    batch = survey.collect([0] * 10)
    tokens = batch.tokens.copy()
    tokens[1] = tokens[0]
    reports = np.array([0, 1, *[2] * 8])
    write(survey, type(batch)(batch.survey, reports, tokens), tmp_path / "a.parquet")
    with pytest.raises(InputError, match="different replies"):
        aggregate(tmp_path / "a.parquet", survey, duplicates="first")


@pytest.mark.parametrize("cut", [1, 5, 40])
def test_a_csv_file_cut_off_anywhere_is_refused(cut, tmp_path):
    survey = survey_of(GRR(5, 1))
    place = write(survey, survey.collect(np.arange(50) % 5), tmp_path / "a.csv")
    place.write_bytes(place.read_bytes()[:-cut])
    with pytest.raises(InputError, match="whole"):
        aggregate(place, survey)


def test_broken_lines_are_refused(tmp_path):
    survey = survey_of(GRR(5, 1))
    place = write(survey, survey.collect(np.arange(50) % 5), tmp_path / "a.csv")
    text = place.read_text()
    for more in (f"{survey.id},{'0' * 32},x\n", f"{survey.id},{'0' * 32},\n", f"{survey.id}\n", "\n"):
        place.write_text(text + more)
        with pytest.raises(InputError):
            aggregate(place, survey)
    place.write_text(text + f"{survey.id},{'0' * 32},5\n")
    with pytest.raises(InputError, match="out of range"):
        aggregate(place, survey)
    place.write_text(text + f"{survey.id},,1\n")
    with pytest.raises(InputError):
        aggregate(place, survey)
    place.write_text("survey,token\n")
    with pytest.raises(InputError, match="report"):
        aggregate(place, survey)
    place.write_text("survey,token,report\n")
    with pytest.raises(InputError, match="at least one reply"):
        aggregate(place, survey)
    with pytest.raises(InputError):
        write(survey, survey.collect([1, 2]), place, {"region": ["n"]})
    with pytest.raises(InputError):
        write(survey, survey.collect([1, 2]), place, {"token": ["n", "s"]})


def test_tables_in_memory_and_bits_beyond(tmp_path):
    import pyarrow

    survey = survey_of(OUE(40, 1))
    batch = survey.collect(np.arange(64) % 40)
    words = words_of(batch.reports)
    columns = {"survey": [survey.id] * 64, "report_0": words[:, 0], "report_1": words[:, 1]}
    assert aggregate(pyarrow.table(columns), survey, duplicates="ignore") == survey.tally(batch)
    with pytest.raises(InputError, match="token"):
        aggregate(pyarrow.table(columns), survey)
    columns["report_1"] = words[:, 1] | 1
    with pytest.raises(InputError, match="beyond"):
        aggregate(pyarrow.table(columns), survey, duplicates="ignore")
    columns["report_1"] = words[:, 1].astype(np.int64) + (1 << 40)
    with pytest.raises(InputError, match="packed bits"):
        aggregate(pyarrow.table(columns), survey, duplicates="ignore")
    small = survey_of(Subset(10, 1, size=3))
    columns = {"survey": [small.id], "report_0": [(1 << 31) | (1 << 30)]}
    with pytest.raises(InputError, match="sets of 3"):
        aggregate(pyarrow.table(columns), small, duplicates="ignore")


@pytest.mark.spark
def test_spark_adds_up_the_same(tmp_path):
    for mechanism in (OLH(50, 1), OUE(40, 1)):
        survey = survey_of(mechanism)
        batch = survey.collect(answers(mechanism, 500))
        place = write(survey, batch, tmp_path / f"{mechanism.kind}.parquet", {"region": ["n", "s"] * 250})
        frame = spark().read.parquet(str(place))
        assert aggregate(frame, survey) == survey.tally(batch)
        split = aggregate(frame, survey, by="region")
        assert split["n"] + split["s"] == survey.tally(batch)
