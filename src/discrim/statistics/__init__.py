"""What is remembered of the rows: small, raw, centred, mergeable."""

from discrim.statistics.bins import ClassBins
from discrim.statistics.by_class import Depth
from discrim.statistics.cells import CellMoments
from discrim.statistics.counts import ClassCounts, CountsOf, LevelsOf, count_levels
from discrim.statistics.factors import ClassFactors, FactorsOf
from discrim.statistics.mixed import MixedOf, MixedStatistic
from discrim.statistics.moments import ClassMoments, MomentsOf

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
]
