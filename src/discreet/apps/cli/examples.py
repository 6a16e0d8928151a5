"""An example or more for every command: shown by --help and printed in the reference.

Tests parse every one and run those that end and are cheap, as one story, in a folder that holds the tables and the
schemas of the demonstration and no ledger yet.
"""

from __future__ import annotations

from collections.abc import Mapping

import typer

from discreet.apps.cli.panels import PanelCommand, PanelGroup

__all__ = ["CODES", "EXAMPLES", "adorn", "epilog"]

CODES: Mapping[int, str] = {
    0: "done",
    1: "an error, or stopped",
    2: "a mistake in the request; nothing was spent",
    3: "the budget refuses; nothing was spent",
    4: "an audit refuted a claim",
}

EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "": (
        "discreet demo --serve",
        "discreet demo --folder demo",
        "discreet ask --help",
        "discreet --install-completion",
    ),
    "init": (
        "discreet init people.csv --header --unit person --groups 1 --rows 1 --out new.toml",
        "discreet init people.csv --header --types --unit row --out typed.toml",
    ),
    "check": ("discreet check people.csv discreet.toml", "discreet check people.csv --json"),
    "help": ("discreet help epsilon", "discreet help privacy budget --json"),
    "ledger create": ("discreet ledger create",),
    "doctor": ("discreet doctor people.csv --json",),
    "ledger open": (
        "discreet ledger open --schema discreet.toml --yes",
        "discreet ledger open --schema visits.toml --yes",
    ),
    "plan": (
        "discreet plan people.csv count 'mean(pay)' --by sex --epsilon 0.1",
        "discreet plan people.csv 'median(pay)' --where 'hours > 0' --by age/20 --epsilon 0.2",
        "discreet plan people.csv count --by county --within 40 --json",
        "discreet plan people.csv 'mean(pay)' --by sector --share 0.1 --save 'pay by sector'",
        "discreet plan people.csv --saved 'pay by sector'",
        "discreet plan people.csv count --by county --epsilon 0.1 --assume counties.csv --fund 1000000",
    ),
    "ask": (
        "discreet ask people.csv count --by county --within 60 --id counties --why 'first look' --yes",
        "discreet ask people.csv --top sector --k 3 --epsilon 0.05 --yes",
        "discreet ask people.csv 'total=sum(hours)' --by sex --epsilon 0.05 --csv hours.csv --yes",
        "discreet ask visits.csv count --by ward --by day/month --epsilon 0.1 --allotment publications --yes",
    ),
    "limits": (
        "discreet limits people.csv --epsilon 0.05 --plan",
        "discreet limits people.csv --by county --most 16 --epsilon 0.05 --yes",
    ),
    "sql": (
        "discreet sql people.csv 'SELECT sex, AVG(pay) AS pay FROM people GROUP BY sex' --epsilon 0.1 --plan",
        "discreet sql people.csv 'SELECT county, COUNT(*) AS n FROM people GROUP BY county' --epsilon 0.05 --yes",
    ),
    "shell": ("discreet shell people.csv --epsilon 0.05", "discreet shell people.csv visits.csv --within 40"),
    "tree plan": ("discreet tree plan people.csv --levels county --by sex --epsilon 0.1",),
    "tree release": (
        "discreet tree release people.csv --levels county --epsilon 0.1 --id regions --out tables --format csv --yes",
    ),
    "tree show": (
        "discreet tree show regions --method exact --json",
        "discreet tree show regions --sum 'county=Ash,Elm'",
        "discreet tree show regions --out tables --measurements noisy",
    ),
    "tree explain": ("discreet tree explain regions Ash",),
    "tree read": ("discreet tree read noisy --method topdown --out again --format csv",),
    "synth plan": ("discreet synth plan visits.csv --columns age,sex,ward --epsilon 0.2",),
    "synth release": (
        "discreet synth release visits.csv --columns age,sex,ward,overnight --bins 16 --epsilon 0.2 --id rows "
        "--out rows.csv -y",
    ),
    "synth show": (
        "discreet synth show rows --out again.parquet",
        "discreet synth show rows --conditions --marginals noisy.json",
    ),
    "synth fit": ("discreet synth fit noisy.json --schema visits.toml --rows 500 --out made.csv",),
    "synth report": ("discreet synth report rows --ask 'age >= 25' --copies 2 --out report.html",),
    "train plan": ("discreet train plan visits.csv --target overnight --examples 4000 --epsilon 1",),
    "train release": (
        "discreet train release visits.csv --target overnight --features age,sex,ward --examples 4000 --steps 20 "
        "--epsilon 0.5 --id model --out model.npz --yes",
    ),
    "train show": ("discreet train show model --out model-again.npz",),
    "train card": (
        "discreet train card model",
        "discreet train card model --public rows.csv --group sex",
        "discreet train card model --private held.csv --group sex --groups f,m --epsilon 0.5 --dataset held",
    ),
    "train predict": ("discreet train predict model rows.csv --out told.csv",),
    "train images": (
        "discreet train images digits --target label --examples 60000 --epsilon 8 --delta 1e-5 --id digits -y",
    ),
    "train baseline": (
        "discreet train baseline pets --classes cat,dog --public 'our own pets' --test more --plot plain.svg",
    ),
    "search plan": (
        "discreet search plan visits.csv --target overnight --examples 4000 --steps 9 --try rate=1 --try rate=2 "
        "--epsilon 0.4",
    ),
    "search release": (
        "discreet search release visits.csv --target overnight --examples 4000 --steps 9 --try rate=1 --try rate=2 "
        "--epsilon 0.4 --id b -y",
    ),
    "search show": ("discreet search show b --out best.npz",),
    "choose plan": ("discreet choose plan people.csv --score sector --epsilon 0.05",),
    "choose release": ("discreet choose release people.csv --score sector --epsilon 0.01 --id sector -y",),
    "choose show": ("discreet choose show sector",),
    "batch plan": (
        "discreet batch plan people.csv --question 'n=SELECT COUNT(*) AS n FROM people' "
        "--question 'pay=SELECT sex, AVG(pay) AS pay FROM people GROUP BY sex' --weights n=2 --epsilon 0.1",
    ),
    "batch release": (
        "discreet batch release people.csv --question 'n=SELECT COUNT(*) AS n FROM people' --epsilon 0.01 --id both -y",
    ),
    "batch show": ("discreet batch show both --part n",),
    "stream plan": (
        "discreet stream plan people.csv --sql 'SELECT COUNT(*) AS n FROM people' --period age/20 --epsilon 0.01",
    ),
    "stream release": (
        "discreet stream release people.csv --sql 'SELECT COUNT(*) AS n FROM people' --period age/20 --epsilon 0.01 "
        "--id ages -y",
    ),
    "stream show": ("discreet stream show ages/1",),
    "detail plan": (
        "discreet detail plan people.csv --levels county --groups 'adults: age >= 18' --details 'age: age/20' "
        "--epsilon 0.1",
    ),
    "detail release": (
        "discreet detail release people.csv --levels county --groups 'adults: age >= 18' --details 'age: age/20' "
        "--epsilon 0.01 --id groups --out g -y",
    ),
    "detail show": ("discreet detail show groups --measurements counted",),
    "detail read": ("discreet detail read counted --sum '' --out again-groups",),
    "census plan": (
        "discreet census plan people.csv --levels county --tables tables.toml --household household "
        "--head \"relation = 'head'\" --most 6 --epsilon 0.5",
    ),
    "census release": (
        "discreet census release people.csv --levels county --tables tables.toml --household household "
        "--epsilon 0.5 --id census --out tables -y",
    ),
    "census show": ("discreet census show census --part types.county",),
    "mobility": (
        "discreet mobility trips.csv --time pickup --origin from --destination to --places zones.csv --person rider "
        "--trips 4 --first 2024-03-01 --last 2024-03-31 --timezone Europe/Vienna --budget 4 --epsilon 1 --out tables",
        "discreet mobility trips.csv --time pickup --origin from --destination to --epsilon 1 --plot day.svg --yes",
    ),
    "flows plan": ("discreet flows plan people.csv --origin county --destination sector --epsilon 0.1",),
    "flows release": (
        "discreet flows release people.csv --origin county --destination sector --epsilon 0.01 --id moves --out m -y",
    ),
    "flows show": ("discreet flows show moves --part origins",),
    "commute plan": (
        "discreet commute plan people.csv --origin county --destination sector --coordinates places.csv --epsilon 0.1",
    ),
    "commute release": (
        "discreet commute release people.csv --origin county --destination sector --coordinates places.csv "
        "--epsilon 0.01 --id commuters -y",
    ),
    "commute show": (
        "discreet commute show commuters",
        "discreet commute show commuters --work trade --page trade.html",
    ),
    "commute lodes": (
        "discreet commute lodes ny_od_main_JT00_2021.csv.gz --level county --work 36061 --page manhattan.html",
        "discreet commute lodes ny_od_main_JT00_2021.csv.gz --out counties.csv --workers workers.parquet",
    ),
    "commute prior": ("discreet commute prior --workers 1000000 --epsilon 7 --origins 1000",),
    "relations plan": (
        "discreet relations plan visits.csv --parent age,sex --child ward,day --order day --limit 3 --epsilon 0.3",
    ),
    "relations release": (
        "discreet relations release visits.csv --parent age,sex --child ward,day --order day --limit 3 --epsilon 0.3 "
        "--id clinic --out clinic -y",
    ),
    "relations show": ("discreet relations show clinic --part children",),
    "survey new": ("discreet survey new survey.toml",),
    "survey plan": ("discreet survey plan survey.toml --people 5000 --within 0.03",),
    "survey serve": (
        "discreet survey serve survey.toml --db reports.db",
        "discreet survey serve survey.toml --db postgresql:///surveys --origin https://survey.example.org --no-results",
    ),
    "survey invite": ("discreet survey invite survey.toml codes.txt --count 500",),
    "survey estimate": (
        "discreet survey estimate survey.toml reports.db --confidence 0.99",
        "discreet survey estimate survey.toml reports.db --cross medication,reason --together",
    ),
    "survey export": ("discreet survey export survey.toml reports.db reports.csv",),
    "loads plan": ("discreet loads plan grid/case14.m --schema grid/discreet.toml --cost measured --epsilon 1",),
    "loads release": (
        "discreet loads release grid/case14.m --schema grid/discreet.toml --cost 7643 --within 3 --id june -y",
    ),
    "loads show": (
        "discreet loads show june --out hidden",
        "discreet loads show june --ac --grid grid/case14.m --schema grid/discreet.toml",
    ),
    "hide plan": ("discreet hide plan prices.csv --highest 100 --step 0.25 --optimum measured --epsilon 1",),
    "hide release": (
        "discreet hide release prices.csv --highest 100 --step 0.25 --optimum 30.3 --beta 0.05 --epsilon 1 --id may -y",
    ),
    "hide show": ("discreet hide show may --out hidden",),
    "releases list": ("discreet releases list --dataset people",),
    "releases show": ("discreet releases show counties --format csv",),
    "releases decide": (
        "discreet releases decide counties --fund 1000000 --by county",
        "discreet releases decide counties --threshold 10000 --by size",
    ),
    "releases publish": (
        "discreet releases publish counties --method topdown --confidence 0.9",
        "discreet releases publish june --beta 0.05 --schema grid/discreet.toml --grid grid/case14.m",
    ),
    "ledger show": ("discreet ledger show --ledger .discreet/ledger.db",),
    "ledger total": ("discreet ledger total .discreet/ledger.db --delta 1e-6",),
    "ledger follow": ("discreet ledger follow --json --position siem.position --once",),
    "ledger verify": ("discreet ledger verify", "discreet ledger verify --incremental"),
    "ledger export": ("discreet ledger export --format registry",),
    "ledger raise": ("discreet ledger raise people --epsilon 2 --why 'board decision of 3 May' --yes",),
    "ledger lower": ("discreet ledger lower people --epsilon 1.5 --why 'less will do' --yes",),
    "ledger divide": ("discreet ledger divide people --why 'a part for models' --yes",),
    "ledger close": ("discreet ledger close people --why 'the study is over' --yes",),
    "ledger acknowledge": (
        "discreet ledger acknowledge --why 'damaged, restored from the night before'",
        "discreet ledger acknowledge --write-off everything --why 'the guard is lost too'",
    ),
    "ledger move": ("discreet ledger move books.db --why 'to the disk that has backups' --yes",),
    "ledger backup": ("discreet ledger backup monday",),
    "ledger restore": ("discreet ledger restore monday --replace --yes",),
    "ledger upgrade": ("discreet ledger upgrade --backup before-the-upgrade",),
    "ledger merge": ("discreet ledger merge other.db --why 'one office now' --yes",),
    "calibrate noise": (
        "discreet calibrate noise --epsilon 1 --delta 1e-6",
        "discreet calibrate noise --rho 0.01 --outputs 50",
    ),
    "calibrate budget": ("discreet calibrate budget --within 25 --outputs 50",),
    "calibrate choose": ("discreet calibrate choose --epsilon 1 --scores 2.1,3.9,0 --sensitivity 4.1",),
    "calibrate odds": ("discreet calibrate odds --epsilon 1 --prior 0.02",),
    "calibrate convert": ("discreet calibrate convert --rho 0.1 --delta 1e-6",),
    "calibrate compose": (
        "discreet calibrate compose --epsilon 0.1 --times 200 --delta 1e-6",
        "discreet calibrate compose --epsilon 0.1 --epsilon 0.2 --epsilon 0.1",
    ),
    "calibrate group": ("discreet calibrate group --epsilon 1 --delta 1e-6 --people 3",),
    "calibrate training": ("discreet calibrate training --epsilon 2 --delta 1e-5 --rate 0.01 --steps 600",),
    "risk report": (
        "discreet risk report people.csv --seconds 2",
        "discreet risk report people.csv --population 100000 --k 10 --seconds 2 --html risk.html --out coarser.csv",
    ),
    "risk measure": (
        "discreet risk measure people.csv --quasi age,sex,county --sensitive pay",
        "discreet risk measure people.csv --quasi age,sex,county --sensitive sector --k 5 --drop person "
        "--out coarse.csv",
    ),
    "attack link": ("discreet attack link people.csv people.csv --on age,sex,county,sector --person person",),
    "attack reconstruct": ("discreet attack reconstruct --people 200 --epsilon 1",),
    "attack census": (
        "discreet attack census --blocks 2 --people 5",
        "discreet attack census --tables printed.csv --register voters.csv",
    ),
    "attack difference": (
        "discreet attack difference --people 1000 --epsilon 0.5",
        "discreet attack difference --of means --people 1000 --picture salary.svg",
    ),
    "attack extract": ("discreet attack extract --epsilon 8 --also 2 --also 1 --picture codes.svg",),
    "attack intersect": (
        "discreet attack intersect people.csv people.csv --on sex,county,schooling --sensitive sector --json",
    ),
    "attack averages": (
        "discreet attack averages",
        "discreet attack averages --average Ann,Bob,Cid=34.0 --average Bob,Cid=30.0 --least 18",
    ),
    "attack ratings": ("discreet attack ratings --people 500 --picture found.svg",),
    "attack heatmap": ("discreet attack heatmap --people 2000 --picture runs.svg",),
    "attack membership": (
        "discreet attack membership --of model --epsilon 1 --picture roc.svg",
        "discreet attack membership --scores losses.csv --epsilon 8 --delta 1e-5",
    ),
    "attack inversion": ("discreet attack inversion --people 20 --epsilon 1 --picture faces.png",),
    "audit self": ("discreet audit self --tier 1 --html audit.html",),
    "audit run": ("discreet audit run --module mine.py --runs 20000",),
    "audit question": (
        'discreet audit question discreet.toml "SELECT sex, count(*) AS n FROM people GROUP BY sex" --pairs 12',
    ),
    "audit sensitivity": ("discreet audit sensitivity discreet.toml --pairs 12",),
    "audit train": (
        "discreet audit train --canaries 300 --steps 4",
        "discreet audit train --scores scores.csv --epsilon 8 --delta 1e-5",
    ),
    "serve": (
        "discreet serve people.csv visits.csv --geometry counties.geojson --port 8000",
        "discreet serve people.csv --host 0.0.0.0 --certificate server.pem --key server.key",
    ),
    "jobs list": ("discreet jobs list people --ledger books.db",),
    "jobs cancel": ("discreet jobs cancel people census-2026 --ledger books.db",),
    "token create": (
        "discreet token create ann --role analyst --expires 90d",
        "discreet token create bob --role viewer --dataset visits",
    ),
    "token list": ("discreet token list --json",),
    "token rotate": ("discreet token rotate ann --grace 24h",),
    "token cap": ("discreet token cap ann --epsilon 0.5/day --why 'a fair share'",),
    "token revoke": ("discreet token revoke ann",),
    "demo": (
        "discreet demo --folder demo",
        "discreet demo --serve",
        "discreet demo --lecture survey --folder pictures",
    ),
}


def epilog(command: str) -> str | None:
    """What --help of a command ends with; None for one without examples."""
    lines = EXAMPLES.get(command)
    if lines is None:
        return None
    # The mark keeps the lines as they are: an example broken over two lines cannot be copied.
    text = "\n".join(["\b", "Examples:" if len(lines) > 1 else "Example:", *(f"  {line}" for line in lines)])
    if command:
        return text
    return "\n".join([text, "", "\b", "Exit codes:", *(f"  {code}  {meaning}" for code, meaning in CODES.items())])


def adorn(app: typer.Typer, place: str = "") -> None:
    """Give every command of an application its examples, and help in panels."""
    for command in app.registered_commands:
        command.cls = PanelCommand
        function = command.callback.__name__ if command.callback is not None else ""
        found = epilog(f"{place} {command.name or function}".strip())
        command.epilog = command.epilog if found is None else found
    for group in app.registered_groups:
        group.cls = PanelGroup
        if group.typer_instance is not None:
            adorn(group.typer_instance, f"{place} {group.name}".strip())
