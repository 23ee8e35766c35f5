"""The wrappers and schemes pass scikit-learn's checks of an estimator, with models of ours and of its own inside."""

import pytest
from sklearn.linear_model import LogisticRegression as PeerLogistic
from sklearn.utils.estimator_checks import parametrize_with_checks

from discrim import LinearDiscriminantAnalysis, LogisticRegression
from discrim.decision import (
    CostSensitiveClassifier,
    PriorShiftClassifier,
    RejectingClassifier,
    ThresholdClassifier,
)
from discrim.decision.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier

LDA = LinearDiscriminantAnalysis()
ESTIMATORS = [
    CostSensitiveClassifier(LDA),
    RejectingClassifier(LogisticRegression(), reject_cost=1.0),
    PriorShiftClassifier(PeerLogistic()),
    ThresholdClassifier(LDA, cv=2),
    ThresholdClassifier(PeerLogistic(), cv="train"),
    OneVsRestClassifier(LDA),
    OneVsRestClassifier(PeerLogistic()),
    OneVsOneClassifier(LDA),
    OneVsOneClassifier(PeerLogistic()),
    OutputCodeClassifier(LDA, code="exhaustive"),
    OutputCodeClassifier(PeerLogistic(), random_state=0, code_size=3),
]


OTHER_THRESHOLD = {
    "check_classifiers_train": "demands the threshold 1/2, from which this classifier is there to depart"
}


def expected_failures(estimator):
    return OTHER_THRESHOLD if isinstance(estimator, ThresholdClassifier) and estimator.cv == "train" else {}


# The checks use constant columns, few rows, one class and classes that are far apart on purpose.
@pytest.mark.filterwarnings("ignore::discrim.errors.DiscrimWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_accepts(estimator, check):
    check(estimator)
