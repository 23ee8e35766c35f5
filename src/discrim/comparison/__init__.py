"""Which model: all that fit the data on the same folds, the choice, and its report."""

from typing import TYPE_CHECKING

from discrim.later import read_later

if TYPE_CHECKING:
    from discrim.comparison.comparing import compare
    from discrim.comparison.result import Comparison

__all__ = ["Comparison", "compare"]

__getattr__ = read_later(
    __name__, {"Comparison": "discrim.comparison.result", "compare": "discrim.comparison.comparing"}
)
