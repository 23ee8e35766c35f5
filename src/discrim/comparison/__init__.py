"""Which model: all that fit the data on the same folds, the choice, and its report."""

from discrim.comparison.comparing import compare
from discrim.comparison.result import Comparison

__all__ = ["Comparison", "compare"]
