"""What is remembered of the rows: small, raw, centred, mergeable."""

from discrim.statistics.counts import ClassCounts, merge_counts
from discrim.statistics.depth import Depth
from discrim.statistics.factors import ClassFactors, merge_factors
from discrim.statistics.moments import ClassMoments, merge_moments

__all__ = ["ClassCounts", "ClassFactors", "ClassMoments", "Depth", "merge_counts", "merge_factors", "merge_moments"]
