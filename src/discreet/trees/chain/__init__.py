"""Groups by size, counted cumulatively: whole numbers that add up over regions and never rise with size."""

from discreet.trees.chain.solve import at_least, exact_chain, exactly, relaxed_chain, sizes, topdown_chain

__all__ = ["at_least", "exact_chain", "exactly", "relaxed_chain", "sizes", "topdown_chain"]
