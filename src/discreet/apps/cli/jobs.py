"""The commands of every kind of job but questions, which have `ask`, `sql` and `plan`."""

from __future__ import annotations

from collections.abc import Mapping

import typer

from discreet.apps.cli import synth_report, train
from discreet.apps.cli.delivery import MODEL, ROWS, TABLES, TREE
from discreet.apps.cli.job import Commands
from discreet.curator import KINDS, Kind
from discreet.flows.commuting.ask import CommuteAsk
from discreet.flows.mobility.ask import FlowsAsk
from discreet.learn.ask import SearchAsk, TrainAsk
from discreet.query.batch import BatchAsk
from discreet.query.stream import StreamAsk
from discreet.synth.ask import SynthAsk
from discreet.trees.ask import TreeAsk

__all__ = ["APPS"]

_COMMANDS = (
    Commands(BatchAsk, "a batch of questions", "Several questions with one price: plan, release, show.", TABLES),
    Commands(StreamAsk, "the next period of a stream", "The same question every period: plan, release, show.", TABLES),
    Commands(TreeAsk, "a hierarchy", "Hierarchies that add up, nation to block: plan, release, show.", TREE),
    Commands(FlowsAsk, "flows", "Who goes where, and when: flows that add up: plan, release, show.", TABLES),
    Commands(CommuteAsk, "synthetic commuters", "Made-up rows of origin and destination: plan, release, show.", TABLES),
    Commands(
        SynthAsk,
        "synthetic rows",
        "Synthetic tables: plan, release, show, report.",
        ROWS,
        aliases=("run",),
    ),
    Commands(
        TrainAsk,
        "a model",
        "Models with an epsilon: plan, release, show, card, predict.",
        MODEL,
        watch=train.show_training,
        aliases=("run",),
    ),
    Commands(SearchAsk, "the best of several models", "Models tuned privately: plan, release, show.", MODEL),
)


def _plain(kind: Kind) -> Commands:
    """The commands of a kind that needs nothing of its own: its releases are tables."""
    ask = kind.ask()
    about = (ask.__doc__ or "").partition("\n")[0].rstrip(".")
    return Commands(ask, f"a {kind.noun}", f"{about}: plan, release, show.", TABLES)


_LISTED = {one.ask.kind for one in _COMMANDS}
_OTHERS = [_plain(kind) for name, kind in KINDS.items() if kind.sent and name not in _LISTED]
APPS: Mapping[str, typer.Typer] = {one.ask.kind: one.app() for one in (*_COMMANDS, *_OTHERS)}
"""An application for each kind."""
APPS["synth"].command("report")(synth_report.report)
APPS["train"].command("card")(train.card)
APPS["train"].command("predict")(train.predict)
