"""`discreet survey` as a person uses it: write, plan, serve, estimate, export."""

import contextlib
import csv
import io
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import pyarrow
import pyarrow.parquet
import pytest

from discreet.apps.cli import main
from discreet.apps.survey.store import open_reports
from discreet.local.questionnaire import Questionnaire
from servers import free_port


def run(*words, cwd, code=0):
    """The command in this process, which is quicker than a new one for each."""
    out, err, before = io.StringIO(), io.StringIO(), Path.cwd()
    try:
        os.chdir(cwd)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as done:
            main(words)
    finally:
        os.chdir(before)
    assert done.value.code == code, out.getvalue() + err.getvalue()
    return SimpleNamespace(stdout=out.getvalue(), stderr=err.getvalue())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A survey, and the reports of 600 people of whom a third say yes."""
    place = tmp_path_factory.mktemp("survey")
    run("survey", "new", "survey.toml", cwd=place)
    asked = Questionnaire.load(place / "survey.toml")
    reports = open_reports(str(place / "reports.db"), asked.digest)
    for number in range(600):
        answers = {question.name: question.example(number) for question in asked.questions}
        answers["medication"] = "Yes" if number % 3 == 0 else "No"
        reports.keep(f"{number:032x}", asked.digest, asked.written(asked.privatize(answers)))
    reports.close()
    for name in ("reports.parquet", "reports.csv"):
        assert "Wrote 600 reports" in run("survey", "export", "survey.toml", "reports.db", name, cwd=place).stdout
    return place


def test_a_new_survey_is_complete_and_nothing_is_overwritten(folder):
    text = (folder / "survey.toml").read_text()
    told = run("survey", "new", "survey.toml", cwd=folder, code=2).stderr
    assert "Nothing was overwritten" in told
    assert (folder / "survey.toml").read_text() == text
    run("survey", "new", "no/such/folder.toml", cwd=folder, code=2)


def test_a_plan_says_what_is_revealed_and_how_close_it_comes(folder):
    shown = run("survey", "plan", "survey.toml", "--people", "5000", "--within", "0.03", cwd=folder).stdout
    for word in ("medication", "grr", "5.8%", "± with 5,000", "people for ±0.03", "together epsilon = "):
        assert word in shown
    assert "someone who thought 2% before your reply will think at most" in shown
    plan = json.loads(run("survey", "plan", "survey.toml", "--within", "0.03", "--json", cwd=folder).stdout)
    assert plan["people"] == 1000
    assert plan["epsilon"] == pytest.approx(sum(one["epsilon"] for one in plan["questions"]))
    first = plan["questions"][0]
    assert first["epsilon"] <= first["asked_epsilon"]
    needed = str(first["people_needed"])
    again = json.loads(run("survey", "plan", "survey.toml", "--people", needed, "--json", cwd=folder).stdout)
    assert 0.029 < again["questions"][0]["half_width"] <= 0.03
    for wrong in (["--people", "0"], ["--within", "0"], ["--prior", "1.5"], ["--confidence", "1"]):
        run("survey", "plan", "survey.toml", *wrong, cwd=folder, code=2)


def test_estimates_are_the_same_from_a_store_and_from_files(folder):
    shown = run("survey", "estimate", "survey.toml", "reports.db", cwd=folder).stdout
    for word in ("600 reports", "95% confidence intervals", "Workload", "share of those who answered"):
        assert word in shown
    found = [
        json.loads(run("survey", "estimate", "survey.toml", name, "--json", cwd=folder).stdout)
        for name in ("reports.db", "reports.parquet", "reports.csv")
    ]
    assert found[0] == found[1] == found[2]
    yes = found[0]["questions"][0]["estimates"][0]
    assert yes["lower"] - 0.2 < 1 / 3 < yes["upper"] + 0.2  # seven standard errors from the truth at most
    for suffix, start in ((".svg", b"<svg"), (".png", b"\x89PNG"), (".html", b"<!doctype html>")):
        run("survey", "estimate", "survey.toml", "reports.db", "--plot", f"plot{suffix}", cwd=folder)
        assert (folder / f"plot{suffix}").read_bytes().startswith(start)
    run("survey", "estimate", "survey.toml", "reports.db", "--plot", "plot.gif", cwd=folder, code=2)


def test_before_anyone_has_answered_there_is_no_estimate(folder):
    open_reports(str(folder / "fresh.db"), Questionnaire.load(folder / "survey.toml").digest).close()
    words = ("survey", "estimate", "survey.toml", "fresh.db")
    found = json.loads(run(*words, "--below-minimum", "--json", cwd=folder).stdout)
    assert found["reports"] == 0
    assert {one["value"] for question in found["questions"] for one in question["estimates"]} == {None}
    assert "0 reports" in run(*words, "--below-minimum", cwd=folder).stdout
    told = run("survey", "estimate", "survey.toml", "fresh.db", "--plot", "x.svg", cwd=folder, code=2).stderr
    assert "there is no report yet" in told


def test_below_the_minimum_the_command_shows_nothing_unless_its_owner_asks(folder):
    text = (folder / "survey.toml").read_text()
    (folder / "more.toml").write_text(text.replace("# minimum = 100", "minimum = 601"))
    words = ("survey", "estimate", "more.toml", "reports.db")
    shown = run(*words, cwd=folder).stdout
    assert "Fewer than 601 reports" in shown
    assert "--below-minimum" in shown
    assert "Workload" not in shown
    told = json.loads(run(*words, "--json", cwd=folder).stdout)
    assert (told["reports"], told["questions"]) == (None, [])
    refusal = run(*words, "--plot", "early.svg", cwd=folder, code=2).stderr
    assert "left out below 601 reports" in refusal
    assert not (folder / "early.svg").exists()
    owner = run(*words, "--below-minimum", "--plot", "early.svg", cwd=folder).stdout
    assert "Not public: this survey shows nothing below 601 reports." in owner
    assert "Workload" in owner
    assert "(not public)" in (folder / "early.svg").read_text()
    (folder / "more.toml").write_text(text.replace("# minimum = 100", "minimum = 0"))
    assert "1 or more" in run(*words, cwd=folder, code=2).stderr


def edited(folder, name, change):
    """A copy of the exported reports with something wrong."""
    with (folder / "reports.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    change(rows)
    with (folder / name).open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    return name


def test_mixed_doubled_and_broken_reports_are_refused(folder):
    def refused(name, words):
        told = run("survey", "estimate", "survey.toml", name, cwd=folder, code=2).stderr
        assert words in told
        return told

    def foreign(rows):
        rows[5][0] = "0" * 64

    def doubled(rows):
        rows.append(rows[3])

    def beyond(rows):
        rows[4][2] = "7"

    def empty(rows):
        rows[4][2] = ""

    refused(edited(folder, "mixed.csv", foreign), "another epsilon, are mixed in")
    refused(edited(folder, "doubled.csv", doubled), "one report for each token")
    refused(edited(folder, "beyond.csv", beyond), "a whole number from 0 to 1")
    refused(edited(folder, "empty.csv", empty), "a whole number from 0 to 1")
    refused(edited(folder, "short.csv", lambda rows: [row.pop() for row in rows]), "the columns survey, token")
    (folder / "cut.csv").write_bytes((folder / "reports.csv").read_bytes()[:-40])
    refused("cut.csv", "its last line does not end")
    (folder / "cut.parquet").write_bytes((folder / "reports.parquet").read_bytes()[:-200])
    refused("cut.parquet", "cut off while it was copied")
    table = pyarrow.parquet.read_table(folder / "reports.parquet")
    pyarrow.parquet.write_table(pyarrow.concat_tables([table, table.slice(0, 10)]), folder / "twice.parquet")
    refused("twice.parquet", "10 tokens repeated")
    refused("none.parquet", "none.parquet")
    refused("none.db", "discreet survey serve makes one")


def test_another_epsilon_is_another_survey(folder):
    text = (folder / "survey.toml").read_text()
    (folder / "other.toml").write_text(text.replace("epsilon = 1.0986", "epsilon = 2"))
    for name in ("reports.db", "reports.parquet"):
        told = run("survey", "estimate", "other.toml", name, cwd=folder, code=2).stderr
        assert "another epsilon" in told
    told = run("survey", "serve", "other.toml", "--db", "reports.db", cwd=folder, code=2).stderr
    assert "Give each a store of its own" in told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--host", "0.0.0.0"], "proxy with TLS"),
        (["--host", "survey.example.org"], "proxy with TLS"),
        (["--origin", "survey.example.org"], "https://survey.example.org"),
    ],
)
def test_it_does_not_listen_to_the_world_by_accident(folder, words, told):
    assert told in run("survey", "serve", "survey.toml", "--db", "x.db", *words, cwd=folder, code=2).stderr
    assert not (folder / "x.db").exists()


def test_served_it_takes_reports_and_writes_down_no_address(folder):
    pytest.importorskip("uvicorn", reason="needs discreet[server]")
    asked = Questionnaire.load(folder / "survey.toml")
    port = free_port()
    words = ["survey", "serve", "survey.toml", "--db", "served.db", "--port", str(port)]
    server = subprocess.Popen(
        [sys.executable, "-m", "discreet", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        home = f"http://127.0.0.1:{port}"
        page = ""
        while not page and server.poll() is None:  # however long it takes: the machine may be busy
            try:
                page = urllib.request.urlopen(home, timeout=60).read().decode()
            except OSError:
                time.sleep(0.1)
        assert asked.digest in page
        answers = asked.privatize({question.name: question.example(1) for question in asked.questions})
        body = json.dumps({"survey": asked.digest, "token": "5" * 32, "answers": answers}).encode()
        headers = {"Content-Type": "application/json", "Origin": home, "X-Forwarded-For": "203.0.113.9"}
        sent = urllib.request.Request(f"{home}/report", body, headers)
        assert json.load(urllib.request.urlopen(sent, timeout=60)) == {"kept": True}
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(urllib.request.Request(f"{home}/report", b"{}", headers), timeout=60)
        assert json.load(urllib.request.urlopen(f"{home}/results.json", timeout=60))["reports"] is None
    finally:
        server.terminate()
        said = server.communicate(timeout=60)[0]
    assert f"Survey {asked.id} at {home}/" in said
    assert "203.0.113.9" not in said
    assert said.count("127.0.0.1") == 2  # where it listens, and nobody who came
    kept = run("survey", "estimate", "survey.toml", "served.db", "--below-minimum", "--json", cwd=folder)
    kept = json.loads(kept.stdout)
    assert kept["reports"] == 1


def test_a_small_survey_says_what_is_wrong_with_it(folder):
    (folder / "bad.toml").write_text('id = "x"\ntitle = "X"\n[[questions]]\nname = "a"\ntext = "A?"\nkind = "rating"\n')
    told = run("survey", "plan", "bad.toml", cwd=folder, code=2).stderr
    assert (
        "`questions[0].kind` must be one of binary, choice, number, several, ranking, distribution, word; got 'rating'"
        in told
    )
    (folder / "bad.toml").write_text("id = ")
    assert "valid TOML" in run("survey", "plan", "bad.toml", cwd=folder, code=2).stderr
    assert "discreet survey new" in run("survey", "plan", "none.toml", cwd=folder, code=2).stderr


def test_people_are_invited_by_codes_that_are_written_once(folder):
    words = ("survey", "invite", "survey.toml", "codes.txt", "--count", "3")
    shown = run(*words, cwd=folder).stdout
    assert "Wrote 3 codes to codes.txt; 3 in all" in shown
    codes = (folder / "codes.txt").read_text().split()
    assert len(set(codes)) == 3
    assert (folder / "codes.txt").stat().st_mode & 0o077 == 0
    assert (folder / "invitations.db").stat().st_mode & 0o077 == 0
    assert not any(code.encode() in (folder / "invitations.db").read_bytes() for code in codes)
    assert "does not exist yet" in run(*words, cwd=folder, code=2).stderr
    assert "6 in all" in run("survey", "invite", "survey.toml", "more.txt", "--count", "3", cwd=folder).stdout
    told = run("survey", "serve", "survey.toml", "--invitations", "none.db", cwd=folder, code=2).stderr
    assert "discreet survey invite makes one" in told


def test_estimates_by_groups_and_crossed_are_shown(folder):
    words = ("survey", "estimate", "survey.toml", "reports.db")
    shown = run(*words, "--by", "medication", "--together", cwd=folder).stdout
    assert "medication = Yes" in shown
    assert "(simultaneous)" in shown
    shown = run(*words, "--cross", "medication,reason", "--consistent", "simplex", "--likeliest", cwd=folder).stdout
    for word in ("consistent", "likeliest", "/ What weighs on you most?"):
        assert word in shown
    told = run(*words, "--cross", "medication", cwd=folder, code=2).stderr
    assert "two different questions" in told
    told = run(*words, "--strata", "none.csv", cwd=folder, code=2).stderr
    assert "group and share" in told


def test_a_survey_of_several_rounds_is_planned_and_estimated_round_by_round(tmp_path):
    text = 'id = "diary"\ntitle = "Diary"\nminimum = 5\n[repeat]\nrounds = 3\n[[questions]]\nname = "pills"\n'
    (tmp_path / "d.toml").write_text(text + 'text = "Pills?"\nkind = "binary"\nepsilon = 2\ninstant = 1\n')
    survey = Questionnaire.load(tmp_path / "d.toml")
    planned = " ".join(run("survey", "plan", "d.toml", cwd=tmp_path).stdout.split())
    assert survey.series_loss().words() in planned
    reports = open_reports(str(tmp_path / "r.db"), survey.series)
    for number in range(20):
        asked = survey.at(1 + number % 2)
        reports.keep(f"{number:032x}", asked.digest, asked.written(asked.privatize({"pills": "Yes"})))
    reports.close()
    every = run("survey", "estimate", "d.toml", "r.db", cwd=tmp_path).stdout
    assert "change" in every
    assert "the same memory" in every
    plain = json.loads(run("survey", "estimate", "d.toml", "r.db", "--json", cwd=tmp_path).stdout)
    assert [one["round"] for one in plain["rounds"]] == [1, 2]
    assert len(plain["changes"]) == 1
    one = json.loads(run("survey", "estimate", "d.toml", "r.db", "--round", "2", "--json", cwd=tmp_path).stdout)
    assert one == {**plain["rounds"][1], "plot": None}
    refused = [
        ("estimate", "d.toml", "r.db", "--round", "4"),
        ("estimate", "d.toml", "r.db", "--together"),
        ("estimate", "d.toml", "r.db", "--plot", "x.svg"),
        ("serve", "d.toml"),
        ("invite", "d.toml", "codes.txt", "--count", "3"),
    ]
    for words in refused:
        assert "round" in run("survey", *words, cwd=tmp_path, code=2).stderr
    assert not (tmp_path / "codes.txt").exists()
