"""Gradient descent and the lasso pass scikit-learn's checks of an estimator."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from discrim import LassoClassifier
from discrim.models.online.gradient_descent import GradientDescentClassifier

ESTIMATORS = [
    GradientDescentClassifier(),
    GradientDescentClassifier("squared", l2=0.1, momentum=0.5),
    GradientDescentClassifier("hinge", max_iter=200),
    GradientDescentClassifier("log", l2=0.1, multi_class="ovr", tol=1e-12),
    GradientDescentClassifier(l1=0.05, tol=1e-12),
    GradientDescentClassifier("modified_huber", l2=0.1, tol=1e-12, fit_intercept=False),
    GradientDescentClassifier(batch_size=8, max_iter=20, random_state=0),
    GradientDescentClassifier("perceptron", normalize_weights=True, normalize_rows=True, max_iter=200),
    LassoClassifier(),
    LassoClassifier(alpha=0.1, fit_intercept=False),
    LassoClassifier(alpha="cv", cv=3),
]


STEPS = "a row of weight two makes one longer step, a row that is there twice makes two"
BATCHES = {
    "check_sample_weight_equivalence_on_dense_data": STEPS,
    "check_sample_weight_equivalence_on_sparse_data": STEPS,
}


def expected_failures(estimator):
    return BATCHES if getattr(estimator, "batch_size", None) else {}


# The checks use constant columns, few rows and classes that are far apart on purpose.
@pytest.mark.filterwarnings("ignore::discrim.errors.CollinearWarning")
@pytest.mark.filterwarnings("ignore::discrim.errors.UnfinishedWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_accepts(estimator, check):
    check(estimator)
