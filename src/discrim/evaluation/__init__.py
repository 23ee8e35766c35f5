"""How well a model predicts rows that it has not seen."""

from discrim.evaluation.confusion_matrix import Confusion, confusion
from discrim.evaluation.cross_validation import CrossValidation, cross_validate
from discrim.evaluation.curves import (
    ROC,
    AucComparison,
    PrecisionRecall,
    compare_auc,
    multiclass_auc,
    precision_recall,
    roc,
)
from discrim.evaluation.learning import LearningCurve, Optimism, learning_curve, optimism
from discrim.evaluation.paired_tests import McNemar, ResampledT, mcnemar, resampled_t
from discrim.evaluation.permutation import PermutationTest, permutation_test
from discrim.evaluation.probability_scores import Brier, Calibration, brier, calibration, log_loss
from discrim.evaluation.proportions import proportion_interval

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
