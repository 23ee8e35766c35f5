"""Where the sum runs. One verb: reduce."""

from discrim.engines.threads import RowPasses, passes_over, reduce, reduce_blocks

__all__ = ["RowPasses", "passes_over", "reduce", "reduce_blocks"]
