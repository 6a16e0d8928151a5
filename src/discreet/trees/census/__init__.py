"""Persons and households in one release: several tables of one geography, one price, numbers that agree."""

from discreet.trees.census.ask import CensusAsk
from discreet.trees.census.folder import read_census
from discreet.trees.census.release import CensusRelease
from discreet.trees.census.table import CensusTable

__all__ = ["CensusAsk", "CensusRelease", "CensusTable", "read_census"]
