"""What the demonstration tells: two tables, questions with a price, a refusal, what was published, a survey, a ledger.

Everything is charged to the ledger of the demonstration, under ids of its own: told once more in the same folder, the
story reads its releases again and spends nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from discreet.apps.cli.ledger import show_ledger
from discreet.apps.cli.output import say, say_plan, show_bars, show_release, show_table
from discreet.apps.demo.folder import lay_out
from discreet.core.release import Release
from discreet.curator import Curator, open_curator
from discreet.curator.offer import Offer
from discreet.errors import BudgetError
from discreet.ledger.ledger import Ledger
from discreet.query.aggregate import count, mean, total
from discreet.query.key import bins

__all__ = ["REPORTS", "SURVEY", "TOUR", "say_tour", "tell"]

SURVEY, REPORTS = "survey.toml", "survey-reports.db"
ANSWERED = 600  # people who answered the survey

TOUR: Mapping[str, str] = {
    "What is left of the budgets": "discreet ledger show",
    "What a question would cost": "discreet plan people.csv count --by sector --within 60",
    "Ask it": "discreet ask people.csv count --by sector --within 60 --id sectors",
    "Ask in SQL, at a prompt": "discreet shell people.csv visits.csv --epsilon 0.05",
    "Read a release again, for free": "discreet releases show wards",
    "The counties on a map": "discreet tree show counties --map counties.html --geometry counties.geojson",
    "Synthetic visits in a file": "discreet synth show rows --out rows.csv",
    "Their quality": "discreet synth report rows --out report.html",
    "The price of a model, of an allotment for models": "discreet train plan visits.csv --target overnight "
    "--examples 4000 --epsilon 1",
    "The survey's results": f"discreet survey estimate {SURVEY} {REPORTS}",
    "Everything in a browser": "discreet serve people.csv visits.csv --geometry counties.geojson "
    f"--survey {SURVEY}={REPORTS}",
}
"""Where to go on, in the folder that the demonstration keeps."""


def tell(folder: Path, ledger: Ledger) -> dict[str, Curator]:
    """Lay out the folder, tell the story, and give the curators of its two tables."""
    lay_out(folder)
    people = open_curator(folder / "people.csv", folder / "discreet.toml", ledger=ledger, who="demo", create=True)
    _ask_people(people)
    visits = open_curator(folder / "visits.csv", folder / "visits.toml", ledger=ledger, who="demo", create=True)
    _publish_visits(visits, folder)
    _survey_staff(folder)
    say("\n7. The ledger: every charge was on it before the data was read. It verifies:")
    result = ledger.verify()
    say(f"   {result.records} records, {len(result.problems)} problems, head {result.head.hash[:16]}...\n")
    show_ledger(ledger)
    return {"people": people, "visits": visits}


def say_tour(folder: Path) -> None:
    """Where to go on, in a folder that was kept."""
    say(f"\nGo on, in this folder: cd {folder}")
    for words, command in TOUR.items():
        say(f"  {words}:\n    {command}")


def _ask_people(curator: Curator) -> None:
    say("people.csv: 5,000 invented people. discreet.toml: columns, bounds, who is protected, the budget.")
    say(repr(curator))

    say("\n1. How old are they? The price is given; the error is known before anything is spent.\n")
    offer = curator.table().group_by(bins("age", width=10)).agg(people=count()).plan(epsilon=0.2)
    show_bars(_released(offer, "ages"), "people")

    say("\n2. What do women and men earn, who work? Mean and total of a column, one price for all.\n")
    work = curator.table().where("hours > 0").group_by("sex")
    show_release(_released(work.agg(workers=count(), pay=mean("pay"), hours=total("hours")).plan(epsilon=0.5), "pay"))

    say("\n3. Schooling, to within 40 people with 95% confidence. The accuracy is given; the price follows.\n")
    offer = curator.table().group_by("schooling").agg(people=count()).plan(within=40)
    show_bars(_released(offer, "schooling"), "people")

    say("\n4. One question too many.\n")
    standing = curator.standing()[0]
    dear = 0.5 if standing.left.amount < 0.5 else standing.allotment.cap.amount  # once it was raised for the pages
    try:
        curator.table().group_by("county").agg(people=count()).plan(epsilon=dear).release(why="too much")
    except BudgetError as refusal:
        say(f"Refused: {refusal}")


def _publish_visits(curator: Curator, folder: Path) -> None:
    """A table of patients with several rows each, and what is published of it from an allotment of its own."""
    say("\n5. visits.csv: 4,369 visits of 3,000 invented patients to a hospital. Its budget has three parts.")
    say(repr(curator))
    offer = curator.table().group_by("ward").agg(visits=count()).plan(epsilon=0.2)
    say("\nQuestions have a part: how many visits to each ward?\n")
    show_bars(_released(offer, "wards"), "visits")
    say("\nPublications have another. Counts of patients that add up, by county:\n")
    tree = _released(curator.tree(["county"]).plan(epsilon=0.3, allotment="publications"), "counties")
    tree.map(geometry=str(folder / "counties.geojson")).save(folder / "counties.html")
    say(f"Release {tree.id}; {folder / 'counties.html'} is its map.")
    say("\nAnd synthetic rows, made from noisy counts alone:\n")
    columns = ["age", "sex", "county", "ward", "overnight", "cost"]
    rows = _released(curator.synthesize(columns=columns, bins=16).plan(epsilon=0.7, allotment="publications"), "rows")
    rows.save(folder / "rows.csv")
    say("\n".join(line for line in repr(rows).splitlines() if not line.startswith("Note: ")))  # the plan has them
    say("\nThe third part is for models. Nothing was spent of it yet.")


def _survey_staff(folder: Path) -> None:
    """A survey of the hospital's staff, who are invented too: each answer was randomised before it was stored."""
    from discreet.apps.survey.files import read_results
    from discreet.apps.survey.store import open_reports
    from discreet.local.questionnaire.questionnaire import Questionnaire

    path, reports = folder / SURVEY, folder / REPORTS
    if not path.exists():
        path.write_text((files("discreet.apps.survey") / "survey.toml").read_text("utf-8"), encoding="utf-8")
    survey = Questionnaire.load(path)
    if not reports.exists():
        kept = open_reports(str(reports), survey.digest)
        try:
            randomised = (survey.written(survey.privatize(answers)) for answers in _answers())
            kept.keep_all(survey.digest, {f"{number:032x}": answers for number, answers in enumerate(randomised)})
        finally:
            kept.close()
    say(f"\n6. A survey of {ANSWERED} people. Chance changed each answer before it was stored: no budget is needed.\n")
    found = read_results(survey, str(reports))
    for one in found.estimates[:2]:
        show_table(one.question.text, [one.caption(), "estimate", "from", "to"], one.rows(), numbers=3)


def _answers() -> list[dict[str, Any]]:
    """What the invented staff would have said: three in ten yes, and so on, in turn."""
    reasons = ["Workload"] * 6 + ["Pay"] * 3 + ["Colleagues", "Supervisor", "Nothing much", "Prefer not to say"]
    return [
        {
            "medication": "Yes" if number % 10 < 3 else "No",
            "reason": reasons[number % len(reasons)],
            "hours": (9 + number % 9) / 2,
        }
        for number in range(ANSWERED)
    ]


def _released(offer: Offer[Any], name: str) -> Any:
    """What a plan says, and the release under the id `name`."""
    say_plan(offer)
    say()
    answer: Release = offer.release(release=name, why=name)
    return answer
