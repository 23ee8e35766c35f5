"""The wrappers and schemes pass scikit-learn's checks of an estimator, with models of ours and of its own inside."""

import pytest
from sklearn.linear_model import LogisticRegression as PeerLogistic
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

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
    OneVsRestClassifier(LDA),
    OneVsOneClassifier(LDA),
    OutputCodeClassifier(LDA, code="exhaustive"),
]
# With a model whose problems share no pass, or another way to choose.
SETTINGS = [
    ThresholdClassifier(PeerLogistic(), cv="train"),
    OneVsRestClassifier(PeerLogistic()),
    OneVsOneClassifier(PeerLogistic()),
    OutputCodeClassifier(PeerLogistic(), random_state=0, code_size=3),
]

OTHER_THRESHOLD = {
    "check_classifiers_train": "demands the threshold 1/2, from which this classifier is there to depart"
}


def expected_failures(estimator):
    return OTHER_THRESHOLD if isinstance(estimator, ThresholdClassifier) and estimator.cv == "train" else {}


# The checks that see which model is inside. The others look at the class, its tags, or messages for bad input.
SEE_THE_MODEL = {
    "check_classifiers_classes",
    "check_classifiers_one_label",
    "check_classifiers_train",
    "check_decision_proba_consistency",
    "check_dict_unchanged",
    "check_dont_overwrite_parameters",
    "check_estimator_sparse_array",
    "check_estimators_dtypes",
    "check_estimators_overwrite_params",
    "check_estimators_pickle",
    "check_fit2d_1feature",
    "check_fit2d_1sample",
    "check_fit_idempotent",
    "check_methods_subset_invariance",
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
    "check_sample_weights_not_overwritten",
}


def checks_of_settings():
    for setting in SETTINGS:
        checks = estimator_checks_generator(setting, expected_failed_checks=expected_failures(setting), mark="xfail")
        for each in checks:
            estimator, check = getattr(each, "values", each)
            name = check.func.__name__
            # Arguments ask for another container or precision, of which the same is true.
            if name in SEE_THE_MODEL and not check.keywords:
                yield pytest.param(estimator, check, id=f"{estimator}-{name}", marks=getattr(each, "marks", ()))


# The checks use constant columns, few rows, one class and classes that are far apart on purpose.
on_purpose = pytest.mark.filterwarnings("ignore::discrim.errors.DiscrimWarning")


@on_purpose
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_accepts(estimator, check):
    check(estimator)


@on_purpose
@pytest.mark.parametrize(("estimator", "check"), list(checks_of_settings()))
def test_scikit_learn_accepts_the_setting(estimator, check):
    check(estimator)
