"""Private numbers, each hidden up to a distance, released as numbers that still meet constraints and an objective."""

from discreet.constraints.hidden.ask import HideAsk
from discreet.constraints.hidden.plan import HidePlan
from discreet.constraints.hidden.release import HiddenValues
from discreet.constraints.hidden.values import PrivateValues, ValuesSchema

__all__ = ["HiddenValues", "HideAsk", "HidePlan", "PrivateValues", "ValuesSchema"]
