"""Where a person starts: one curator over a desk, with a verb for every kind of job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from discreet.core.exact import Number
from discreet.core.signature import typed
from discreet.curator.choices import ChoosingJobs
from discreet.curator.desk import Desk, LedgerDesk, LocalDesk
from discreet.curator.draft import Draft, TrainDraft
from discreet.curator.question import Question, batch_of
from discreet.curator.regions import RegionalJobs
from discreet.curator.setup import budget_of, find_ledger, numbers_desk, read_setup
from discreet.curator.values import ValuesJobs
from discreet.data.expression import Expression
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.errors import InputError, Phrase
from discreet.ledger.account import Standing
from discreet.ledger.budget import Allotment, Budget
from discreet.ledger.ledger import Ledger
from discreet.ledger.quote import price_text
from discreet.query.ask import Ask, Described
from discreet.query.key import Key
from discreet.query.predicate import Predicate
from discreet.query.question import Query
from discreet.query.question_ask import AnyQuery, read_query
from discreet.query.release import Tables

if TYPE_CHECKING:
    from discreet.curator.saved_questions import SavedQuestions
    from discreet.flows.commuting.release import CommuteRelease
    from discreet.learn.model import Model
    from discreet.power.release import HiddenLoads
    from discreet.synth.relations.release import RelationsRelease
    from discreet.synth.release import SyntheticRelease

__all__ = ["Curator", "open_curator"]


class Curator(RegionalJobs, ChoosingJobs, ValuesJobs):
    """Stands before one private table and lets out what its budget allows: answers, hierarchies, rows, models."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    @classmethod
    @typed
    def open(
        cls,
        source: Any,
        schema: Schema | Mapping[str, Any] | str | Path | None = None,
        *,
        ledger: Ledger | str | Path | None = None,
        budget: Budget | None = None,
        table: str | None = None,
        joins: Mapping[str, Any] | None = None,
        who: str | None = None,
        version: str | None = None,
        names: Sequence[str] = (),
        create: bool = False,
        name: str | None = None,
        unit: Any = None,
        groups: int | None = None,
        rows: int | None = None,
        columns: Mapping[Any, Any] | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
    ) -> Self:
        """Put a curator in front of private data.

        `source` is a CSV or Parquet file, glob or folder, a DuckDB file or the address of a database or Spark cluster
        (with `table`), or an Arrow, pandas, Polars or Spark table; or a grid file, a MATPOWER case (.m) or a saved
        pandapower net (.json), whose schema has a [grid] instead of columns; or a CSV file of private numbers, whose
        schema has [values]. The ledger is `.discreet/ledger.db`
        beside the schema unless `ledger`, DISCREET_LEDGER or the schema's [ledger] names another; with `create` it is
        made if there is none. The budget, `budget` or the schema's [budget], is opened with the first charge; later
        it is only compared. A dataset that is new to a ledger with other budgets needs `create` as well. `joins` says
        where the private tables named in the schema's [joins] are. `version` is your name for this state of the data,
        such as "2024-02", and stands on every charge and release (docs/guides/new-data.md); `names` are those of the
        columns of a CSV file without a header line. Both may stand under [dataset] in the schema.

        Without a schema file (`discreet.toml` here, unless `schema` names another) the call declares the table:
        `unit`, the column that identifies a person, or "row" if every row is another person; `groups` and `rows`, how
        much of one person counts; `columns`, what is public about each, such as {"age": (0, 120), "sex": ["f", "m"]};
        `name`, what the ledger calls it ("data" unless given). `epsilon` and `delta` are the budget. What is missing is
        asked for in one error, which shows the code to write (docs/guides/schema.md).
        """
        if not isinstance(source, (str, Path)):
            source = source_of(source, table)  # an error raised further down must not show the table
        budget = budget_of(epsilon, delta, budget)
        parts = (name, unit, groups, rows, columns)
        if any(part is not None for part in parts) or (schema is None and not isinstance(source, (str, Path))):
            from discreet.curator.declaration import Declaration  # a way to open data that few take

            declaration = Declaration(*parts)
            if declaration.stands_for(schema, source):
                said = {"table": table, "names": list(names), "who": who, "version": version, "create": create}
                schema = declaration.schema(source_of(source, table), source, ledger, budget, said)
        schema = "discreet.toml" if schema is None else schema
        place = ledger if isinstance(ledger, Ledger) else find_ledger(source, schema, ledger)
        account: dict[str, Any] = {"ledger": place, "budget": budget, "who": who, "version": version, "create": create}
        if (numbers := numbers_desk(source, schema)) is not None:
            return cls(numbers.open(source, read_setup(schema), **account))
        # From here on nothing that could be printed holds the data.
        source = source_of(source, table)
        joins = {name: source_of(other, name) for name, other in (joins or {}).items()}
        return cls(LocalDesk.open(source, schema, joins=joins, names=names, **account))

    def _repr_html_(self) -> str:
        from discreet.curator.notebook import curator_cell

        return curator_cell(self)

    def __repr__(self) -> str:
        left = ", ".join(f"{s.allotment.name}: {price_text(s.allotment, s.left, 'down')} left" for s in self.standing())
        return f"<Curator of {self.declared.name!r}; protects {self.declared.unit}; {left}>"

    @property
    def schema(self) -> Schema:
        """What is declared about the table; refused where the data is no table."""
        return self.desk.schema

    @property
    def declared(self) -> Described:
        """What is declared about the data, whatever it is: its name, what is protected, what is public."""
        return self.desk.declared

    @property
    def local(self) -> LedgerDesk:
        """The desk, where data and ledger are here."""
        if not isinstance(self.desk, LedgerDesk):
            raise InputError(
                "curator", Phrase("one on a server"), "one that was opened here: the ledger is on the server"
            )
        return self.desk

    @property
    def ledger(self) -> Ledger:
        """The ledger that is charged."""
        return self.local.ledger

    @property
    def who(self) -> str:
        """Under whose name it is charged."""
        return self.local.who

    @typed
    def acting_for(self, who: str) -> Curator:
        """The same under another name. What it has to say stands in the notes of its answers, and in no warning."""
        desk: Any = replace(self.local, who=who, warns=False)
        return Curator(desk)

    def standing(self) -> tuple[Standing, ...]:
        """What every allotment has spent and has left."""
        return self.desk.standing()

    @typed
    def allotment(self, allotment: str | None = None) -> Allotment:
        """The allotment of that name; the only one, if there is one and no name is given."""
        return self.local.allotment(allotment)

    @typed
    def ask(self, ask: Ask) -> Draft[Any]:
        """A job of any kind, from its ask."""
        return Draft.of(self.desk, ask)

    @typed
    def table(self, name: str | None = None) -> Question:
        """Begin a question about the table."""
        if name not in (None, self.schema.name):
            raise InputError("table", name, f"{self.schema.name!r}, the table of this curator")
        return Question(self.desk, Query())

    @typed
    def question(self, query: AnyQuery | Mapping[str, Any] | str) -> Question:
        """A question from a `Query` or its JSON form."""
        return Question(self.desk, read_query(query, self.schema))

    @typed
    def sql(self, text: str, *, dialect: str = "duckdb") -> Question:
        """A question in SQL: read through an allow-list, never handed to an engine.

        `dialect` is whose spelling it is: duckdb, postgres, spark, bigquery, tsql, mysql, snowflake, sqlite or trino.
        """
        from discreet.query.sql import parse_sql  # most questions are no SQL

        statement = parse_sql(text, self.schema, dialect)
        return Question(self.desk, statement.query, statement.presentation, statement.price)

    @property
    def saved(self) -> SavedQuestions:
        """Questions that were saved under a name: `curator.saved.find("by county").offer(curator)` plans one again."""
        from discreet.curator.saved_questions import SavedQuestions  # few look at them

        return SavedQuestions.beside(self.ledger, self.declared.name)

    def batch(self, **questions: Question) -> Draft[Tables]:
        """Several questions as one job with one price."""
        return batch_of(self.desk, questions)

    def releases(self) -> list[str]:
        """The ids of the releases of this table that have an answer."""
        return self.desk.releases()

    @typed
    def release(self, release: str, part: str = "") -> Any:
        """A release of any kind made before, read again for free; with `part`, its table of that name.

        A question's is a table; a batch and flows are tables by name; others are what their kind is: a hierarchy,
        synthetic rows, a model.
        """
        return self.desk.release(release, part)

    @typed
    def publish(self, release: str, **how: Any) -> Any:
        """What was measured for a release, published again from its record: free, without data and without fresh noise.

        `how` asks for another way, as the kind allows: `confidence` of intervals, `method` and `rules` of a hierarchy,
        `rows` and `method` of a synthetic table, `beta` of loads. The answer on record stays as it is; where there is
        none, because publishing failed, that of the plan is recorded, whatever `how` asks for.
        """
        return self.desk.publish(release, how)

    @typed
    def mobility(
        self,
        *,
        origin: str | Key | Expression,
        destination: str | Key | Expression,
        window: str | Key | Expression | None = None,
        zones: Mapping[Any, str] | None = None,
        where: str | Predicate | Expression | None = None,
        every: str | None = None,
    ) -> Draft[Tables]:
        """Who goes where, and when: counts of origin, destination and time window that agree with their sums.

        Places and windows are public: declared categories, whole numbers or `bins(...)`. Of a column of timestamps,
        `every="30 minutes"` makes windows of the day, by the clocks of its zone. `zones` puts every place in a zone;
        then pairs of zones are measured too. `plan` takes `shares` of the price for cells, origins and so on.
        """
        from discreet.flows.mobility.ask import FlowsAsk

        return Draft.of(self.desk, FlowsAsk.of(origin, destination, window, zones, where, every))

    @typed
    def commute(
        self,
        *,
        origin: str | Key | Expression,
        destination: str | Key | Expression,
        coordinates: Mapping[Any, tuple[float, float]],
        degrees: bool = False,
        sizes: Mapping[Any, int] | None = None,
        clusters: int | Mapping[Any, Any] | None = None,
        near: float | None = None,
        farthest: float | None = None,
        where: str | Predicate | Expression | None = None,
        profile: Iterable[str | Key | Expression] = (),
    ) -> Draft[CommuteRelease]:
        """Made-up rows of origin and destination, of places that are public: docs/guides/commuting.md.

        `coordinates` has a pair of numbers for every place: x and y in one unit, or latitude and longitude in `degrees`
        (then distances are kilometres). `sizes` are public numbers of rows for every destination; without them they are
        measured. For the classic method origins may share a cell: `clusters` of them, by where they are or as given,
        except `near` a destination. Beyond `farthest` from a destination nobody is said to come from. `profile` lists
        columns that the workers of each destination are counted by, for a quarter of the price. `plan` takes the
        `method`, modern or classic (draws from urns), for the latter with a `prior`, a `delta` or a `refusal`.
        """
        from discreet.flows.commuting.ask import CommuteAsk

        ask = CommuteAsk.of(origin, destination, coordinates, degrees, sizes, clusters, near, farthest, where, profile)
        return Draft.of(self.desk, ask)

    def loads(self) -> Draft[HiddenLoads]:
        """The loads of a power grid, each hidden, and still loads that the grid can feed: docs/guides/power.md.

        For a curator that was opened on a grid file. `plan` takes the `cost` of the true loads, a public number or
        "measured" for a `cost_share`; `beta`, how near to it released loads cost; the `step` (MW) of rounding, the
        `highest` load (MW), and the `highest_price` up to which a measured cost follows congestion.
        """
        from discreet.power.ask import LoadsAsk

        return Draft.of(self.desk, LoadsAsk())

    @typed
    def for_ac(self, release: str, *, power_factor: Number = 0.95, beta: Number = 0.01) -> HiddenLoads:
        """Released loads of this grid moved until AC optimal power flow converges for them, at no cost.

        `power_factor` is public, and gives reactive power; see `HiddenLoads.for_ac`.
        """
        moved = getattr(self.desk, "for_ac", None)
        if moved is None:
            raise InputError("dataset", self.declared.name, "the loads of a grid")
        found: HiddenLoads = moved(release, power_factor, beta)
        return found

    @typed
    def synthesize(
        self,
        method: str = "auto",
        *,
        workload: str | Iterable[Any] | Mapping[Any, float] | None = None,
        columns: Iterable[str | Expression] | None = None,
        bins: int | dict[str, int] | None = None,
        rows: int | None = None,
        where: str | Predicate | Expression | None = None,
        impossible: Iterable[str | Predicate | Expression] = (),
        differences: Mapping[str, str] | None = None,
        keys: Mapping[str, str | int] | None = None,
        discover: Iterable[str | Expression] = (),
        prior: Any = None,
        options: Mapping[str, int | str] | None = None,
    ) -> Draft[SyntheticRelease]:
        """Rows that look like the private ones and are nobody's: for every use, at one price.

        `workload` is what the rows should preserve: "pairs" of columns, "triples", or marginals by name, such as
        [("age", "pay"), ("county", "sex")], with weights if it is a mapping. Numbers and days are told apart
        value by value as far as the price allows; `bins` has them in so many even bins instead. `impossible` lists
        conditions that no row meets, such as "age < 16 and employed". `differences` names columns that are made from
        another and their difference, such as {"dropoff": "pickup"}; of days and times that are alike all are, unless it
        is {}. `keys` are columns made anew, such as {"person": "P{:06d}"}. `discover` names columns of text whose
        values are found in the data, as far as enough units share them; `plan` then takes a `delta`. `prior` is a
        public table with some of the columns, or its file: its dependence stands in where noise hides that of the data.
        `options` say how the method works: {"rounds": 5} of "rap", say; docs/guides/synthetic.md lists them.
        """
        from discreet.synth.ask import SynthAsk

        more = {"discover": discover, "prior": prior, "options": options}
        ask = SynthAsk.of(method, workload, columns, bins, rows, where, impossible, differences, keys, **more)
        return Draft.of(self.desk, ask)

    @typed
    def relate(
        self,
        parent: Iterable[str | Expression],
        child: Iterable[str | Expression] | None = None,
        *,
        order: str | Expression | None = None,
        limit: int | None = None,
        rows: int | None = None,
        where: str | Predicate | Expression | None = None,
        differences: Mapping[str, str] | None = None,
        impossible: Iterable[str | Predicate | Expression] = (),
        key: str | int | None = None,
        parent_share: Number | None = None,
    ) -> Draft[RelationsRelease]:
        """Parents and child rows that are nobody's, in two tables with a key: docs/guides/relations.md.

        A parent is a person of the schema, who may have several rows. `parent` names columns that are the person's own,
        `child` those of the rows; by default all others. `order` is the column by which rows follow each other, a day,
        a time or a whole number: then each is told by the one before it too. At most `limit` rows of a person count.
        Conditions that are `impossible` are met by no parent, no child row, and no child row with its parent. `rows` is
        a number of parents, `key` how they are named, such as "P{:06d}". `parent_share` is the part of the price that
        parents get, 1/3 unless said otherwise.
        """
        from discreet.synth.relations.ask import RelationsAsk

        ask = RelationsAsk.of(parent, child, order, limit, rows, where, differences, impossible, key, parent_share)
        return Draft.of(self.desk, ask)

    @typed
    def train(
        self,
        model: str | Model = "logistic",
        *,
        target: str | Expression,
        features: Sequence[str | Expression] | None = None,
        where: str | Predicate | Expression | None = None,
        examples: int | None = None,
        lot: Number | None = None,
        probability: Number | None = None,
        steps: int | None = None,
        epochs: Number | None = None,
        hidden: Sequence[int] = (),
        bound: float = 1.0,
        **settings: Any,
    ) -> TrainDraft:
        """A model of `target`, trained so that its weights may be published: docs/guides/training.md.

        `model` is "logistic", "mlp" (with `hidden` layers) or a `discreet.learn.model.Model`. `examples` says how many
        rows there are as far as the public knows, with a `lot` (the expected number of examples in a step) or a
        `probability`; without it, a noisy count is bought. The run lasts so many `steps` or `epochs`; gradients are
        clipped to `bound`. `settings` are those of a `discreet.learn.recipe.Recipe`: rate, momentum, ema, noise...;
        `optimizer` may be any of optax, and `augment(key, batch)` makes `copies` of an example. Where the unit is a
        person, `rows` of each count: their gradients are averaged before clipping (one row, unless said otherwise).
        `plan` takes a `delta`, and a `checkpoint`: a file to keep the run in, so that it survives a crash. If steps and
        multiplier are both given, the price follows from them and none is named.
        """
        from discreet.learn.ask import SETTINGS, TrainAsk

        if unknown := [name for name in settings if name not in SETTINGS]:
            raise InputError.unknown(f"train.{unknown[0]}", SETTINGS)
        ask = TrainAsk.of(
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
        return TrainDraft.of(self.desk, ask)


open_curator = Curator.open
