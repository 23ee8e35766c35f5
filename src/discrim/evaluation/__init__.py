"""How well a model predicts rows that it has not seen."""

from typing import TYPE_CHECKING

from discrim.evaluation.cross_validation import CrossValidation, cross_validate
from discrim.later import read_later

if TYPE_CHECKING:
    from discrim.evaluation.confusion_matrix import Confusion, confusion
    from discrim.evaluation.delong import AucComparison, compare_auc
    from discrim.evaluation.hand_till import multiclass_auc
    from discrim.evaluation.learning import LearningCurve, Optimism, learning_curve, optimism
    from discrim.evaluation.paired_tests import McNemar, ResampledT, mcnemar, resampled_t
    from discrim.evaluation.permutation import PermutationTest, permutation_test
    from discrim.evaluation.precision_recall_curve import PrecisionRecall, precision_recall
    from discrim.evaluation.probability_scores import Brier, Calibration, brier, calibration, log_loss
    from discrim.evaluation.proportions import proportion_interval
    from discrim.evaluation.roc_curve import ROC, roc

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

__getattr__ = read_later(
    __name__,
    {
        "ROC": "discrim.evaluation.roc_curve",
        "AucComparison": "discrim.evaluation.delong",
        "Brier": "discrim.evaluation.probability_scores",
        "Calibration": "discrim.evaluation.probability_scores",
        "Confusion": "discrim.evaluation.confusion_matrix",
        "LearningCurve": "discrim.evaluation.learning",
        "McNemar": "discrim.evaluation.paired_tests",
        "Optimism": "discrim.evaluation.learning",
        "PermutationTest": "discrim.evaluation.permutation",
        "PrecisionRecall": "discrim.evaluation.precision_recall_curve",
        "ResampledT": "discrim.evaluation.paired_tests",
        "brier": "discrim.evaluation.probability_scores",
        "calibration": "discrim.evaluation.probability_scores",
        "compare_auc": "discrim.evaluation.delong",
        "confusion": "discrim.evaluation.confusion_matrix",
        "learning_curve": "discrim.evaluation.learning",
        "log_loss": "discrim.evaluation.probability_scores",
        "mcnemar": "discrim.evaluation.paired_tests",
        "multiclass_auc": "discrim.evaluation.hand_till",
        "optimism": "discrim.evaluation.learning",
        "permutation_test": "discrim.evaluation.permutation",
        "precision_recall": "discrim.evaluation.precision_recall_curve",
        "proportion_interval": "discrim.evaluation.proportions",
        "resampled_t": "discrim.evaluation.paired_tests",
        "roc": "discrim.evaluation.roc_curve",
    },
)
