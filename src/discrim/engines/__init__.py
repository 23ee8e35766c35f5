"""Where the sum runs. One verb: reduce."""

from discrim.engines.blas import blas_threads, one_blas_thread
from discrim.engines.threads import reduce, run, split, thread_count

__all__ = ["blas_threads", "one_blas_thread", "reduce", "run", "split", "thread_count"]
