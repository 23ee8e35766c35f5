"""What is remembered of the rows: small, raw, centred, mergeable."""

from typing import TYPE_CHECKING

from discrim.later import read_later
from discrim.statistics.depth import Depth
from discrim.statistics.factors import ClassFactors, FactorsOf, merge_factors
from discrim.statistics.moments import ClassMoments, MomentsOf, merge_moments

if TYPE_CHECKING:
    from discrim.statistics.bins import ClassBins, merge_bins
    from discrim.statistics.cells import CellMoments, merge_cells
    from discrim.statistics.counts import ClassCounts, CountsOf, merge_counts
    from discrim.statistics.levels import LevelsOf, count_levels
    from discrim.statistics.mixed import MixedOf, MixedStatistic, merge_mixed

__all__ = [
    "CellMoments",
    "ClassBins",
    "ClassCounts",
    "ClassFactors",
    "ClassMoments",
    "CountsOf",
    "Depth",
    "FactorsOf",
    "LevelsOf",
    "MixedOf",
    "MixedStatistic",
    "MomentsOf",
    "count_levels",
    "merge_bins",
    "merge_cells",
    "merge_counts",
    "merge_factors",
    "merge_mixed",
    "merge_moments",
]

__getattr__ = read_later(
    __name__,
    {
        "CellMoments": "discrim.statistics.cells",
        "ClassBins": "discrim.statistics.bins",
        "ClassCounts": "discrim.statistics.counts",
        "CountsOf": "discrim.statistics.counts",
        "LevelsOf": "discrim.statistics.levels",
        "MixedOf": "discrim.statistics.mixed",
        "MixedStatistic": "discrim.statistics.mixed",
        "count_levels": "discrim.statistics.levels",
        "merge_bins": "discrim.statistics.bins",
        "merge_cells": "discrim.statistics.cells",
        "merge_counts": "discrim.statistics.counts",
        "merge_mixed": "discrim.statistics.mixed",
    },
)
