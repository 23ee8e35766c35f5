"""How well a model predicts rows that it has not seen."""

from discrim.evaluation.confusion import Confusion, confusion
from discrim.evaluation.cross_validation import CrossValidation, cross_validate
from discrim.evaluation.delong import AucComparison, compare_auc
from discrim.evaluation.learning import LearningCurve, Optimism, learning_curve, optimism
from discrim.evaluation.multiclass_auc import multiclass_auc
from discrim.evaluation.paired_tests import McNemar, ResampledT, mcnemar, resampled_t
from discrim.evaluation.permutation import PermutationTest, permutation_test
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
    "LearningCurve",
    "McNemar",
    "Optimism",
    "PermutationTest",
    "PrecisionRecall",
    "ResampledT",
    "brier",
    "calibration",
    "compare_auc",
    "confusion",
    "cross_validate",
    "learning_curve",
    "log_loss",
    "mcnemar",
    "multiclass_auc",
    "optimism",
    "permutation_test",
    "precision_recall",
    "proportion_interval",
    "resampled_t",
    "roc",
]
