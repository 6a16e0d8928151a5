"""Trees with a given number of children for each region."""

from discreet.trees.tree import Hierarchy


def tree_with(children):
    """One root, as many regions as there are numbers, each with so many children."""
    columns = {
        "region": [f"{place:06}" for place, many in enumerate(children) for _ in range(many)],
        "part": [f"{place:06}-{one:06}" for place, many in enumerate(children) for one in range(many)],
    }
    return Hierarchy.from_columns(columns)
