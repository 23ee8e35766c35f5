"""Where rows are read: reduced to a sum, or learned in order."""

from discrim.engines.checkpoint import KeptPasses
from discrim.engines.threads import RowPasses, passes_over, reduce, reduce_blocks

__all__ = ["KeptPasses", "RowPasses", "passes_over", "reduce", "reduce_blocks"]
