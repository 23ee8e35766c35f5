"""How well a model predicts rows that it has not seen."""

from discrim.evaluation.confusion import Confusion, confusion
from discrim.evaluation.cross_validation import CrossValidation, cross_validate
from discrim.evaluation.delong import AucComparison, compare_auc
from discrim.evaluation.multiclass_auc import multiclass_auc
from discrim.evaluation.paired_tests import McNemar, ResampledT, mcnemar, resampled_t
from discrim.evaluation.precision_recall import PrecisionRecall, precision_recall
from discrim.evaluation.probability_scores import Brier, Calibration, brier, calibration, log_loss
from discrim.evaluation.proportions import proportion_interval
from discrim.evaluation.roc import ROC, roc

__all__ = [
    "ROC",
    "AucComparison",
    "Brier",
    "Calibration",
    "Confusion",
    "CrossValidation",
    "McNemar",
    "PrecisionRecall",
    "ResampledT",
    "brier",
    "calibration",
    "compare_auc",
    "confusion",
    "cross_validate",
    "log_loss",
    "mcnemar",
    "multiclass_auc",
    "precision_recall",
    "proportion_interval",
    "resampled_t",
    "roc",
]
