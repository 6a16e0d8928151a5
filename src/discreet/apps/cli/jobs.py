"""The commands of every kind of job but questions, which have `ask`, `sql` and `plan`."""

from __future__ import annotations

import typer

from discreet.apps.cli.delivery import MODEL, ROWS, TABLES, TREE
from discreet.apps.cli.job import Commands
from discreet.curator import KINDS

__all__ = ["job_app"]


def job_app(kind: str) -> typer.Typer:
    """The application of a kind: plan, release, show, and what else its releases can do."""
    app = _commands(kind).app()
    if kind == "tree":
        from discreet.apps.cli.measurements import read

        app.command("read")(read())
        from discreet.apps.cli.tree_explain import explain

        app.command("explain")(explain)
    if kind == "detail":
        from discreet.apps.cli.measurements import read_detail

        app.command("read")(read_detail())
    if kind == "commute":
        from discreet.apps.cli.commute import lodes, prior

        app.command("lodes")(lodes)
        app.command("prior")(prior)
    if kind == "synth":
        from discreet.apps.cli.synth_fit import fit
        from discreet.apps.cli.synth_report import report

        app.command("report")(report)
        app.command("fit")(fit)
    if kind == "train":
        from discreet.apps.cli.train import card, predict

        app.command("card")(card)
        app.command("predict")(predict)
        from discreet.apps.cli.train_images import baseline, images

        app.command("images")(images)
        app.command("baseline")(baseline)
    return app


def _commands(kind: str) -> Commands:
    ask = KINDS[kind].ask()
    match kind:
        case "batch":
            return Commands(ask, "a batch of questions", "Several questions with one price", TABLES)
        case "stream":
            return Commands(ask, "the next period of a stream", "The same question every period", TABLES)
        case "tree":
            about = "Hierarchies that add up, nation to block"
            return Commands(ask, "a hierarchy", about, TREE, more=("read", "explain"), decided=True)
        case "detail":
            from discreet.apps.cli.detail import GROUPS

            about = "Population groups, in as much detail as their size allows"
            return Commands(ask, "groups", about, GROUPS, more=("read",))
        case "census":
            from discreet.apps.cli.census import CENSUS

            return Commands(ask, "a census", "Persons and households in tables that agree", CENSUS)
        case "flows":
            from discreet.apps.cli.flows import FLOWS

            return Commands(ask, "flows", "Flows by origin, destination and time that add up", FLOWS)
        case "commute":
            from discreet.apps.cli.commute import COMMUTE

            about = "Synthetic rows of origin and destination"
            return Commands(ask, "synthetic commuters", about, COMMUTE, more=("lodes", "prior"))
        case "synth":
            return Commands(ask, "synthetic rows", "Synthetic tables", ROWS, more=("report", "fit"), aliases=("run",))
        case "relations":
            return Commands(
                ask, "synthetic parents and child rows", "Synthetic parents and child rows, with a key", TABLES
            )
        case "train":
            from discreet.apps.cli.train import show_training
            from discreet.apps.cli.train_curve import CURVE, release_curved

            return Commands(
                ask,
                "a model",
                "Models trained with differential privacy",
                MODEL,
                show_training,
                more=("card", "predict", "images", "baseline"),
                aliases=("run",),
                run=release_curved,
                asked=CURVE,
            )
        case "search":
            return Commands(ask, "the best of several models", "Models tuned privately", MODEL)
        case "loads":
            from discreet.apps.cli.loads import LOADS

            return Commands(ask, "loads of a grid", "Loads of a power grid, protected", LOADS)
        case _:  # a kind that needs nothing of its own: its releases are tables
            about = (ask.__doc__ or "").partition("\n")[0].rstrip(".")
            return Commands(ask, f"a {KINDS[kind].noun}", about, TABLES)
