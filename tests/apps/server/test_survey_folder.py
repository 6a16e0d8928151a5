"""Surveys that are opened and closed while a server runs, seen by all its processes."""

from importlib.resources import files

import pytest

from discreet.apps.server.survey_folder import SurveyFolder
from discreet.apps.server.surveys import survey_at
from discreet.apps.server.trail import Trail
from discreet.errors import InputError, MissingError

TEXT = (files("discreet.apps.survey") / "survey.toml").read_text("utf-8")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "day.toml").write_text(TEXT)
    fixed = survey_at(str(tmp_path / "day.toml"))
    yield SurveyFolder(tmp_path / "surveys", {"day": fixed}, Trail(tmp_path / "trail.db"))
    fixed.reports.close()


def test_one_that_is_opened_is_open_in_every_process(folder):
    other = SurveyFolder(folder.folder, folder.fixed, folder.trail)
    assert list(folder) == ["day"]
    survey = folder.open("night", TEXT, who="carla")
    assert (survey.open, survey.path) == (True, "/surveys/night/")
    assert folder["night"] is survey
    assert list(other) == ["day", "night"]
    assert (folder.folder / "night.toml").stat().st_mode & 0o077 == 0
    other.close("night", who="ben")
    assert not folder["night"].open
    assert folder["night"].questionnaire is survey.questionnaire
    folder.reopen("night", who="carla")
    assert other["night"].open
    assert [(one.who, one.what.partition(",")[0]) for one in folder.trail.listed("survey")] == [
        ("carla", "opened again"),
        ("ben", "closed"),
        ("carla", "opened"),
    ]


@pytest.mark.parametrize("name", ["../evil", "", "a/b", ".hidden", "day"])
def test_names_lead_nowhere_else_and_to_no_other_survey(folder, name):
    with pytest.raises(InputError):
        folder.open(name, TEXT, who="carla")
    assert list(folder) == ["day"]
    assert name == "day" or name not in folder


def test_what_is_not_of_the_folder_is_not_closed(folder):
    with pytest.raises(InputError, match="--survey"):
        folder.close("day", who="carla")
    with pytest.raises(MissingError):
        folder.close("night", who="carla")
    with pytest.raises(InputError, match="TOML"):
        folder.open("night", "[", who="carla")
    assert "night" not in folder


def test_a_file_that_is_broken_closes_no_other_survey_and_is_named(folder):
    folder.open("night", TEXT, who="carla")
    (folder.folder / "half.toml").write_text(TEXT[:40])
    (folder.folder / "none.toml").write_text("")
    assert list(folder) == ["day", "night"]
    assert "half" not in folder
    assert folder.unreadable() == ["half.toml", "none.toml"]
    with pytest.raises(InputError, match="no survey has yet"):
        folder.open("half", TEXT, who="carla")


def test_a_survey_of_several_rounds_is_not_opened_here(folder, tmp_path):
    text = 'id = "diary"\ntitle = "Diary"\n[repeat]\nrounds = 3\n[[questions]]\nname = "pills"\n'
    text += 'text = "Pills?"\nkind = "binary"\nepsilon = 2\ninstant = 1\n'
    with pytest.raises(InputError, match="survey serve --round"):
        folder.open("diary", text, who="carla")
    (folder.folder / "diary.toml").parent.mkdir(exist_ok=True)
    (folder.folder / "diary.toml").write_text(text)
    assert list(folder) == ["day"]  # nor one that was put there by hand
    assert folder.unreadable() == ["diary.toml"]
    with pytest.raises(InputError, match="survey serve --round"):
        survey_at(str(folder.folder / "diary.toml"))
    assert not list(tmp_path.rglob("diary-reports.db"))
