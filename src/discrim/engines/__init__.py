"""Where rows are read: reduced to a sum, or learned in order."""

from discrim.engines.checkpoint import passes_of
from discrim.engines.threads import RowPasses, passes_over, reduce, reduce_blocks

__all__ = ["RowPasses", "passes_of", "passes_over", "reduce", "reduce_blocks"]
