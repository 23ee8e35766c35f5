"""Where the sum runs. One verb: reduce."""

from discrim.engines.threads import reduce

__all__ = ["reduce"]
