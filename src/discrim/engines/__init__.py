"""Where the sum runs. One verb: reduce."""

from discrim.engines.passes import RowPasses
from discrim.engines.threads import reduce, reduce_blocks

__all__ = ["RowPasses", "reduce", "reduce_blocks"]
