"""From scores to decisions: costs, rejection, other class shares, thresholds, and many classes from two."""

from discrim.decision.bayes import BayesClassifier, Interval, Risk
from discrim.decision.costs import CostSensitiveClassifier
from discrim.decision.prior_shift import PriorShift, PriorShiftClassifier, estimate_shift
from discrim.decision.rejecting import (
    AccuracyRejection,
    RejectingClassifier,
    RejectionPerformance,
    accuracy_rejection,
)
from discrim.decision.threshold import ThresholdClassifier, ThresholdPerformance

__all__ = [
    "AccuracyRejection",
    "BayesClassifier",
    "CostSensitiveClassifier",
    "Interval",
    "PriorShift",
    "PriorShiftClassifier",
    "RejectingClassifier",
    "RejectionPerformance",
    "Risk",
    "ThresholdClassifier",
    "ThresholdPerformance",
    "accuracy_rejection",
    "estimate_shift",
]
