"""Where reports are kept, in SQLite and in PostgreSQL: once for each token, for one survey, and nothing else."""

import os
import sqlite3
import stat
import threading

import pytest

from discreet.apps.survey.store import open_reports
from discreet.errors import DiscreetError, InputError

DIGEST = "ab" * 32


@pytest.fixture
def reports(place):
    opened = open_reports(place, DIGEST)
    yield opened
    opened.close()


def test_a_token_has_one_report_however_often_it_comes(reports):
    assert reports.keep("a" * 32, DIGEST, "[0]") == "new"
    assert reports.keep("a" * 32, DIGEST, "[0]") == "same"
    assert reports.keep("a" * 32, DIGEST, "[1]") == "other"
    assert reports.keep("b" * 32, DIGEST, "[0]") == "new"
    assert reports.tally() == [(DIGEST, "[0]", 2)]
    assert list(reports.rows()) == [("a" * 32, DIGEST, "[0]"), ("b" * 32, DIGEST, "[0]")]


def test_reports_at_hand_are_written_together_and_no_token_gets_a_second(reports):
    assert reports.keep_all(DIGEST, {}) == 0
    assert reports.keep("0" * 31 + "7", DIGEST, "[0]") == "new"
    many = {f"{number:032d}": "[1]" for number in range(650)}  # more than one statement takes
    assert reports.keep_all(DIGEST, many) == 649
    assert reports.keep_all(DIGEST, many) == 0
    assert reports.tally() == [(DIGEST, "[0]", 1), (DIGEST, "[1]", 649)]
    assert [token for token, *_ in reports.rows()] == sorted(many)


def test_many_threads_at_once_lose_nothing_and_double_nothing(reports):
    said = []

    def send(start):
        said.extend(reports.keep(f"{number:032x}", DIGEST, "[1]") for number in range(start, start + 30))

    threads = [threading.Thread(target=send, args=(start,)) for start in (0, 0, 15, 30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said.count("new") == 60
    assert said.count("same") == 60
    assert reports.tally() == [(DIGEST, "[1]", 60)]


def test_a_store_belongs_to_one_survey_and_can_be_opened_again(place, reports):
    reports.keep("c" * 32, DIGEST, "[2]")
    again = open_reports(place, DIGEST, create=False)
    assert again.tally() == [(DIGEST, "[2]", 1)]
    again.close()
    for create in (True, False):
        with pytest.raises(InputError, match="Another survey, or this one with another wording or another epsilon"):
            open_reports(place, "cd" * 32, create=create)


def test_nothing_is_made_by_looking(tmp_path):
    with pytest.raises(InputError, match="survey serve makes one"):
        open_reports(str(tmp_path / "none.db"), DIGEST, create=False)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "other.db").write_bytes(b"")
    with pytest.raises(InputError, match="a file of reports"):
        open_reports(str(tmp_path / "other.db"), DIGEST, create=False)
    (tmp_path / "junk.db").write_bytes(b"not a database, by any means" * 100)
    with pytest.raises(DiscreetError, match="no store of reports"):
        open_reports(str(tmp_path / "junk.db"), DIGEST, create=False)
    with pytest.raises(InputError, match="folder that exists"):
        open_reports(str(tmp_path / "no" / "such" / "x.db"), DIGEST)


def modes(folder):
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


def test_others_on_the_machine_can_read_neither_the_reports_nor_the_log_beside_them(tmp_path):
    before = os.umask(0)
    try:
        reports = open_reports(str(tmp_path / "kept" / "r.db"), DIGEST)
        reports.keep("a" * 32, DIGEST, "[0]")
        assert stat.S_IMODE((tmp_path / "kept").stat().st_mode) == 0o700
        assert modes(tmp_path / "kept") == {"r.db": 0o600, "r.db-wal": 0o600, "r.db-shm": 0o600}
        reports.close()
    finally:
        os.umask(before)


def test_a_file_that_version_0_1_left_open_to_others_is_closed_to_them(tmp_path):
    path = tmp_path / "r.db"
    open_reports(str(path), DIGEST).close()
    path.chmod(0o644)
    left = sqlite3.connect(path)  # a log that is still there
    left.execute("SELECT * FROM discreet_report").fetchall()
    for beside in tmp_path.iterdir():
        beside.chmod(0o644)
    reports = open_reports(str(path), DIGEST)
    assert set(modes(tmp_path).values()) == {0o600}
    reports.close()
    left.close()


def test_the_file_does_not_tell_who_came_first(tmp_path):
    reports = open_reports(str(tmp_path / "r.db"), DIGEST)
    for token in ("f" * 32, "0" * 32, "7" * 32):
        reports.keep(token, DIGEST, "[0]")
    with sqlite3.connect(tmp_path / "r.db") as file:
        assert [token[0] for (token,) in file.execute("SELECT token FROM discreet_report")] == ["0", "7", "f"]
        with pytest.raises(sqlite3.OperationalError, match="no such column"):
            file.execute("SELECT rowid FROM discreet_report")
        columns = [name for _, name, *_ in file.execute("PRAGMA table_info(discreet_report)")]
        assert columns == ["token", "survey", "answers"]
    file.close()
    reports.close()
