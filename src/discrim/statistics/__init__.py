"""What is remembered of the rows: small, raw, centred, mergeable."""

from discrim.statistics.bins import ClassBins, merge_bins
from discrim.statistics.by_class import Depth
from discrim.statistics.cells import CellMoments, merge_cells
from discrim.statistics.counts import ClassCounts, CountsOf, LevelsOf, count_levels, merge_counts
from discrim.statistics.factors import ClassFactors, FactorsOf, merge_factors
from discrim.statistics.mixed import MixedOf, MixedStatistic, merge_mixed
from discrim.statistics.moments import ClassMoments, MomentsOf, merge_moments

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
