"""Jobs about regions: hierarchies, population groups in adaptive detail, and a census of persons and households."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.core.signature import typed
from discreet.curator.desk import Desk
from discreet.curator.draft import Draft
from discreet.data.expression import Expression
from discreet.query.key import Key
from discreet.query.predicate import Predicate

if TYPE_CHECKING:
    from discreet.trees.census import CensusRelease
    from discreet.trees.detail.release import DetailRelease
    from discreet.trees.release import TreeRelease
    from discreet.trees.rules import Rules

__all__ = ["RegionalJobs"]


class RegionalJobs:
    """The verbs of a curator for jobs about regions."""

    desk: Desk

    @typed
    def tree(
        self,
        levels: Sequence[str] | Mapping[str, int],
        *,
        by: Iterable[str | Key | Expression] | str | Key | Expression = (),
        column: str | Expression | None = None,
        geography: Any = None,
        where: str | Predicate | Expression | None = None,
        sizes: str | None = None,
        largest: int | None = None,
        cumulative: bool = True,
        rules: Rules | Mapping[str, Any] | str | Path | None = None,
        covariate: Any = None,
        expected: int | None = None,
        queries: Any = None,
        measure: str | Expression | None = None,
        weight: str | Expression | None = None,
        bounds: Any = None,
        targets: Any = None,
        spine: str = "given",
        geometry: Any = None,
        code_property: str | None = None,
    ) -> Draft[TreeRelease]:
        """Counts for a hierarchy of regions that add up, from the root to the leaves.

        `levels` names the levels, the widest first; with the length of their codes, {"state": 2, "county": 5}, where a
        code begins with that of its parent. Regions are public: declared in the schema, or listed in `geography`, a
        table or file with a row for each leaf. `by` splits every region into cells. `sizes` names a column of groups
        (households): then groups are counted by size up to `largest`, those of at least that size if `cumulative`.
        `rules` are public facts about the true counts: `Rules`, a dictionary of them by level, or a TOML or JSON file.
        `covariate` is a public table with a number for each leaf that may go with its count, such as housing units.
        `expected` is a public guess of how many there are in all: it settles shares of the price beforehand.
        `queries` are what every level asks, with shares of its price, {"sex": 1, "age x sex": 2, "all": 3}, where all
        are its cells and total their sum; or that for each level by name.
        `measure` names a column that is summed in every region and cell, `weight` one of sampling weights, whose sums
        are then the counts; their values are moved into `bounds`, the declared ones unless given, from zero up.
        `targets` is a public table of other regions, such as places: a column of leaf regions, and one of names. With
        `spine` = "optimised", regions are split along their borders where that makes errors smaller.
        `geometry` (with `code_property`) is what `release.map` will be given: GeoJSON or TopoJSON that has no region of
        the tree is refused here, before anything is spent.
        `plan` takes a `method` (auto, bayes, topdown, exact, relaxed), how to `split` the price among levels (auto,
        equal, leaves, accurate by a `goal`, or a weight for each level by name), and the `noise`.
        """
        from discreet.trees.ask import TreeAsk

        known = {"rules": rules, "covariate": covariate, "expected": expected, "queries": queries}
        known |= {"measure": measure, "weight": weight, "bounds": bounds, "targets": targets, "spine": spine}
        known |= {"sizes": sizes, "largest": largest, "cumulative": cumulative}
        shapes = {"geometry": geometry, "code_property": code_property}
        asked = TreeAsk.of(levels, by, column=column, geography=geography, where=where, **shapes, **known)
        return Draft.of(self.desk, asked)

    @typed
    def detail(
        self,
        levels: Sequence[str] | Mapping[str, int],
        *,
        groups: Mapping[str, str | Expression],
        details: Mapping[str, Any],
        overlap: int | None = None,
        column: str | Expression | None = None,
        geography: Any = None,
        where: str | Predicate | Expression | None = None,
        geometry: Any = None,
        code_property: str | None = None,
    ) -> Draft[DetailRelease]:
        """Population groups by condition, each in as much detail as its size allows: docs/guides/hierarchies.md."""
        from discreet.trees.detail.ask import DetailAsk

        known = {"column": column, "geography": geography, "where": where}
        shapes = {"geometry": geometry, "code_property": code_property}
        return Draft.of(self.desk, DetailAsk.of(levels, groups, details, overlap, **known, **shapes))

    @typed
    def census(
        self,
        levels: Sequence[str] | Mapping[str, int],
        tables: Mapping[str, Any],
        *,
        household: str | Expression,
        column: str | Expression | None = None,
        geography: Any = None,
        head: str | Predicate | Expression | None = None,
        most: int | None = None,
        where: str | Predicate | Expression | None = None,
        covariate: Any = None,
        geometry: Any = None,
        code_property: str | None = None,
    ) -> Draft[CensusRelease]:
        """Tables of persons and households over one geography, at one price: docs/guides/census.md.

        The rows are persons; `household` is the column that says which household a row belongs to. `tables` has, for
        each table by name, what it `counts` (persons, households, or sizes of households up to `largest`), `by` which
        columns (of the householder, in tables of households), by which columns of their `household`er persons are
        counted, the `share` of the price, and `zeros`, cells that cannot occur, which is public: {"types": {"counts":
        "households", "by": ["type"], "share": 2}}. `covariate` is a public number for each leaf region, as for `tree`.
        `head` is the condition that the householder's row meets. Of a household at most `most` persons count in tables
        by its columns. Regions are said as for `tree`; `plan` takes a `method`, how to `split` prices among levels, and
        the `noise`.
        """
        from discreet.trees.census import CensusAsk

        known = {"column": column, "geography": geography, "where": where, "head": head, "most": most}
        shapes = {"covariate": covariate, "geometry": geometry, "code_property": code_property}
        return Draft.of(self.desk, CensusAsk.of(levels, tables, household, **known, **shapes))
