"""`discreet KIND plan`, `release` and `show`: the same commands for every kind of job, from the fields of its ask."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Annotated, Any

import attrs
import typer

from discreet.apps.cli import options as shared
from discreet.apps.cli.ask import ReleaseId, Why, Yes
from discreet.apps.cli.assume import DECISION, show_offer
from discreet.apps.cli.completion import choice, columns, releases
from discreet.apps.cli.delivery import Delivery, in_shell
from discreet.apps.cli.output import AsJson, confirm_spending, progress, say_plan, show_json
from discreet.curator import Curator, Draft, read_release
from discreet.curator.kinds import KINDS
from discreet.errors import InputError
from discreet.query.ask import Ask, Option, options
from discreet.query.forms import TEXT

__all__ = ["Commands"]


@dataclass(frozen=True)
class Commands:
    """The commands of a kind of job."""

    ask: type[Ask]
    noun: str
    about: str
    delivery: Delivery
    watch: Callable[[Any], AbstractContextManager[None]] = lambda plan: progress()
    """What shows how far the run of a plan is."""
    more: tuple[str, ...] = ()
    """Names of further commands, for the help."""
    aliases: tuple[str, ...] = ()
    """Other words for `release`, which are not listed."""
    decided: bool = False
    """Whether plans can be tried out on a decision."""
    run: Callable[[Any, dict[str, Any]], Any] = lambda offer, given: offer.release(
        release=given["identity"], why=given["why"]
    )
    """Runs an offer, as it was asked to."""
    asked: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    """Options of `release` alone."""

    def app(self) -> typer.Typer:
        """The application with all of them."""
        words = ", ".join(("plan", "release", "show", *self.more))
        app = typer.Typer(no_args_is_help=True, help=f"{self.about}: {words}.")
        app.command("plan")(self._plan())
        for name in ("release", *self.aliases):
            app.command(name, hidden=name != "release")(self._release())
        app.command("show")(self._show())
        return app

    def _plan(self) -> Callable[..., None]:
        def plan(**given: Any) -> None:
            offer = self._offer(given)
            if self.decided:
                show_offer(offer, given, self._spelled(str(offer)))
            elif given["as_json"]:
                show_json(offer.to_dict())
            else:
                say_plan(self._spelled(str(offer)))

        plan.__doc__ = f"The price and the expected error of {self.noun}. Spends nothing, reads nothing."
        more = DECISION if self.decided else {}
        return shared.with_signature(plan, {**self._asked(), **more, "as_json": (AsJson, False)})

    def _release(self) -> Callable[..., None]:
        def release(**given: Any) -> None:
            self.delivery.check(given)
            offer = self._offer(given)
            if not given["yes"]:
                confirm_spending(self._spelled(str(offer)))
            KINDS[self.ask.kind].prepare()
            with self.watch(offer.plan):
                answer = self.run(offer, given)
            self.delivery.deliver(answer, given)

        release.__doc__ = (
            f"Release {self.noun}, after showing the price. Stopped half-way, the same --id goes on, charged once."
        )
        more = {"why": (Why, ""), "identity": (ReleaseId, None), "yes": (Yes, False), "as_json": (AsJson, False)}
        return shared.with_signature(release, {**self._asked(), **self.delivery.parameters, **self.asked, **more})

    def _show(self) -> Callable[..., None]:
        def show(**given: Any) -> None:
            self.delivery.check(given)
            answer = read_release(shared.open_ledger(given["ledger"]), given["identity"], kind=self.ask.kind)
            with progress():
                answer = self.delivery.again(answer, given)
            self.delivery.deliver(answer, given)

        show.__doc__ = f"{self.noun[:1].upper()}{self.noun[1:]} released before, read again for free."
        identity = Annotated[str, typer.Argument(help="Id of the release.", autocompletion=releases)]
        head = {"identity": (identity, shared.REQUIRED), "ledger": (shared.LedgerAddress, None)}
        more = {**self.delivery.parameters, **self.delivery.shown, "as_json": (AsJson, False)}
        return shared.with_signature(show, {**head, **more})

    def _asked(self) -> dict[str, Any]:
        """The parameters of an ask and its price; what is required stands first."""
        fields = {name: _parameter(one) for name, one in options(self.ask).items() if one.shell}
        needed = {name: one for name, one in fields.items() if one[1] is shared.REQUIRED}
        prices = {name: one for name, one in shared.PRICES.items() if name in self.ask.prices}
        subject = self.ask.subject
        sources = {name: one for name, one in shared.SOURCES.items() if subject == "table" or name != "table"}
        kinds = {"table": shared.Data, "grid": shared.GridData, "values": shared.ValuesData}
        data = (kinds[subject], shared.REQUIRED)
        return {"data": data, **needed, **fields, **prices, **sources}

    def _offer(self, given: dict[str, Any]) -> Any:
        curator = shared.curator_at(given["data"], given["schema"], given["ledger"], given.get("table"))
        price = {name: given[name] for name in self.ask.prices}
        flags = {name: (one.flags or (name,))[0] for name, one in options(self.ask).items()}
        try:
            return draft_of(curator, self.ask, given).plan(**price, allotment=given["allotment"])
        except InputError as problem:  # in the words of a command line
            flag = flags.get(problem.field, problem.field if problem.field in flags.values() else None)
            if flag is None or type(problem) is not InputError:
                raise
            found = in_shell(problem, _flag(flag))
            found.args = (self._spelled(str(found)),)
            raise found from None

    def _spelled(self, text: str) -> str:
        """Settings as they are typed: `--report-loss ...` for `report_loss=...`."""
        known = {name: (one.flags or (name,))[0] for name, one in options(self.ask).items() if one.shell}
        names = "|".join(map(re.escape, known))
        return re.sub(
            rf"\b({names})=('?)(\.\.\.|[\w./-]*\w)\2", lambda found: f"{_flag(known[found[1]])} {found[3]}", text
        )


def draft_of(curator: Curator, ask: type[Ask], given: dict[str, Any]) -> Draft[Any]:
    """What was typed, as a draft at a curator."""
    sent: dict[str, Any] = {}
    here: dict[str, Any] = {}
    for name, one in options(ask).items():
        value = given.get(name)
        if not one.shell or value is None or value == [] or (one.form.text is bool and value == one.default):
            continue
        if one.form.code is not None and ":" in value:
            here[name] = one.form.code(value)  # code of the person who types; it is never sent
            continue
        (here if one.here_only else sent)[name] = (one.form.load or one.form.parse)(value)
    return curator.ask(attrs.evolve(ask.from_dict(sent, curator.declared), **here))


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _parameter(one: Option) -> tuple[Any, Any]:
    """The type and default of an option, as typer reads them."""
    flags = [_flag(flag) for flag in one.flags or (one.name,)]
    if one.form.text is bool and one.default is True:
        flags = [f"{flag}/--no-{flag[2:]}" for flag in flags]
    if one.choices:
        other = "MODULE:OBJECT" if one.form.code is not None else "" if one.form is TEXT else "..."
        said = choice(*one.choices, flags=tuple(flags), help=f"{one.help}.", other=other)
    else:
        said = typer.Option(*flags, help=f"{one.help}.", autocompletion=columns if one.names_columns else None)
    if one.form.repeated:
        return Annotated[list[str] | None, said], shared.REQUIRED if one.required else None
    if one.form.text is bool:
        return Annotated[bool, said], bool(one.default)
    kind: Any = one.form.text
    if one.required:
        return Annotated[kind, said], shared.REQUIRED
    shown = one.default if isinstance(one.default, (str, int, float)) else None
    return (Annotated[kind, said], kind(shown)) if shown is not None else (Annotated[kind | None, said], None)
