"""The curator as people meet it: questions, and every other job that spends from the same ledger."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from discreet.core.exact import Number
from discreet.core.typed import typed
from discreet.curator.kinds import read_release
from discreet.errors import MissingExtraError
from discreet.query.curator import Curator as Desk
from discreet.query.key import Key
from discreet.query.predicate import Predicate

if TYPE_CHECKING:
    from discreet.flows.commuting.question import CommuteQuestion
    from discreet.flows.mobility import MobilityQuestion
    from discreet.learn.model import Model
    from discreet.learn.question import TrainQuestion
    from discreet.synth.question import SynthQuestion
    from discreet.trees.question import TreeQuestion
    from discreet.trees.rules import Rules

__all__ = ["Curator", "open_curator"]


class Curator(Desk):
    """Stands before one private table and lets out what its budget allows: answers, hierarchies, rows."""

    @typed
    def tree(
        self,
        levels: Sequence[str] | Mapping[str, int],
        *,
        by: Iterable[str | Key] | str = (),
        column: str | None = None,
        geography: Any = None,
        where: str | Predicate | None = None,
        sizes: str | None = None,
        largest: int | None = None,
        cumulative: bool = True,
        rules: Rules | None = None,
    ) -> TreeQuestion:
        """Counts for a hierarchy of regions that add up, from the root to the leaves.

        `levels` names the levels, the widest first; with the length of their codes, {"state": 2, "county": 5}, where a
        code begins with that of its parent. Regions are public: declared in the schema, or listed in `geography`, a
        table or file with a row for each leaf. `by` splits every region into cells. `sizes` names a column of groups
        (households): then groups are counted by size up to `largest`, those of at least that size if `cumulative`.
        """
        from discreet.trees.question import tree_question

        return tree_question(
            self,
            levels,
            by=by,
            column=column,
            geography=geography,
            where=where,
            sizes=sizes,
            largest=largest,
            cumulative=cumulative,
            rules=rules,
        )

    @typed
    def mobility(
        self,
        *,
        origin: str | Key,
        destination: str | Key,
        window: str | Key | None = None,
        zones: Mapping[Any, str] | None = None,
        where: str | Predicate | None = None,
    ) -> MobilityQuestion:
        """Who goes where, and when: counts of origin, destination and time window that agree with their sums.

        Places and windows are public: declared categories, whole numbers or `bins(...)`. `zones` puts every place in a
        zone; then pairs of zones are measured too.
        """
        from discreet.flows.mobility import mobility

        return mobility(self, origin=origin, destination=destination, window=window, zones=zones, where=where)

    @typed
    def release(self, release: str, part: str = "") -> Any:
        """A release of any kind made before, read again for free; with `part`, its table of that name.

        A question's is a table; a batch and flows are tables by name; others are what their kind is: a hierarchy,
        synthetic rows, a model.
        """
        return read_release(self.ledger, release, dataset=self.schema.name, part=part)

    @typed
    def commute(
        self,
        *,
        origin: str | Key,
        destination: str | Key,
        coordinates: Mapping[Any, tuple[float, float]],
        degrees: bool = False,
        sizes: Mapping[Any, int] | None = None,
        clusters: int | Mapping[Any, Any] | None = None,
        near: float | None = None,
        farthest: float | None = None,
        where: str | Predicate | None = None,
    ) -> CommuteQuestion:
        """Made-up rows of origin and destination, of places that are public: docs/guides/commuting.md."""
        from discreet.flows.commuting.question import commute

        return commute(
            self,
            origin=origin,
            destination=destination,
            coordinates=coordinates,
            degrees=degrees,
            sizes=sizes,
            clusters=clusters,
            near=near,
            farthest=farthest,
            where=where,
        )

    @typed
    def synthesize(
        self,
        method: str = "auto",
        *,
        workload: str | Iterable[Any] | Mapping[Any, float] | None = None,
        columns: Iterable[str] | None = None,
        bins: int | dict[str, int] = 64,
        rows: int | None = None,
        where: str | Predicate | None = None,
        impossible: Iterable[str | Predicate] = (),
        keys: Mapping[str, str | int] | None = None,
    ) -> SynthQuestion:
        """Rows that look like the private ones and are nobody's: for every use, at one price.

        `workload` is what the rows should preserve: "pairs" of columns, "triples", or marginals by name, such as
        [("age", "pay"), ("county", "sex")], with weights if it is a mapping. `bins` says in how many bins numbers and
        days are told apart. `impossible` lists conditions that no row meets, such as "age < 16 and employed". `keys`
        are columns made anew, such as {"person": "P{:06d}"}.
        """
        from discreet.synth.question import synth_question

        return synth_question(
            self,
            method=method,
            workload=workload,
            columns=columns,
            bins=bins,
            rows=rows,
            where=where,
            impossible=impossible,
            keys=keys,
        )

    @typed
    def train(
        self,
        model: str | Model = "logistic",
        *,
        target: str,
        features: Sequence[str] | None = None,
        where: str | Predicate | None = None,
        examples: int | None = None,
        lot: Number | None = None,
        probability: Number | None = None,
        steps: int | None = None,
        epochs: Number | None = None,
        hidden: Sequence[int] = (),
        bound: float = 1.0,
        **settings: Any,
    ) -> TrainQuestion:
        """A model of `target`, trained so that its weights may be published: docs/guides/training.md.

        `model` is "logistic", "mlp" (with `hidden` layers) or a `discreet.learn.model.Model`. `examples` says how many
        rows there are as far as the public knows, with a `lot` (the expected number of examples in a step) or a
        `probability`; without it, a noisy count is bought. The run lasts so many `steps` or `epochs`; gradients are
        clipped to `bound`. `settings` are those of a `discreet.learn.recipe.Recipe`: rate, momentum, ema, noise...
        """
        _needs_jax()
        from discreet.learn.question import train_question

        return train_question(
            self,
            model,
            target=target,
            features=features,
            where=where,
            examples=examples,
            lot=lot,
            probability=probability,
            steps=steps,
            epochs=epochs,
            hidden=hidden,
            bound=bound,
            **settings,
        )


def _needs_jax() -> None:
    from importlib.util import find_spec

    if find_spec("jax") is None:
        raise MissingExtraError("learn", "jax")


open_curator = Curator.open
