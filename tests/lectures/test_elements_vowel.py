"""The Elements of Statistical Learning, chapter 4: errors on the vowel data, and R's digits of them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from discrim import (
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    cross_validate,
)

pytestmark = pytest.mark.shared

LINEAR = LinearDiscriminantAnalysis(normalization="unbiased")
QUADRATIC = QuadraticDiscriminantAnalysis(normalization="unbiased")


def errors(model, vowel):
    X, y, X_test, y_test = vowel
    model.fit(X, y)
    return np.mean(model.predict(X) != y), np.mean(model.predict(X_test) != y_test)


@pytest.mark.parametrize(
    ("model", "in_r", "printed"),
    [
        (LeastSquaresClassifier(), "indicator_error", (0.48, 0.67)),
        (LINEAR, "lda_error", (0.32, 0.56)),
        (QUADRATIC, "qda_error", (0.01, 0.53)),
    ],
)
def test_training_and_test_errors_are_as_printed(vowel, vowel_in_r, model, in_r, printed):
    found = errors(model, vowel)
    assert np.round(found, 2).tolist() == list(printed)
    assert_allclose(found, vowel_in_r[in_r], rtol=1e-12)


def test_reduced_rank_lda_tests_best_in_two_dimensions(vowel, vowel_in_r):
    found = [errors(LinearDiscriminantAnalysis(rank=rank, normalization="unbiased"), vowel) for rank in range(1, 11)]
    assert_allclose(found, vowel_in_r["reduced_rank_error"], rtol=1e-12)
    test = [pair[1] for pair in found]
    assert np.argmin(test) + 1 == 2
    assert round(min(test), 2) == 0.49


def test_proportion_of_trace_is_that_of_r(vowel, vowel_in_r):
    model = LinearDiscriminantAnalysis(normalization="unbiased").fit(*vowel[:2])
    assert_allclose(model.explained_variance_ratio_, vowel_in_r["trace"], rtol=1e-8)


@pytest.mark.parametrize(("model", "in_r"), [(LINEAR, "lda_loglik_test"), (QUADRATIC, "qda_loglik_test")])
def test_log_likelihood_of_the_test_labels_is_that_of_r(vowel, vowel_in_r, model, in_r):
    X, y, X_test, y_test = vowel
    log_posterior = model.fit(X, y).predict_log_proba(X_test)
    own = log_posterior[np.arange(len(y_test)), np.searchsorted(model.classes_, y_test)]
    assert own.sum() == pytest.approx(vowel_in_r[in_r], rel=1e-8)


@pytest.mark.parametrize(
    ("kind", "in_r"),
    [(LinearDiscriminantAnalysis, "lda_cv_error"), (QuadraticDiscriminantAnalysis, "qda_cv_error")],
)
def test_leave_one_out_error_with_equal_priors_is_that_of_r(vowel, vowel_in_r, kind, in_r):
    X, y = vowel[:2]
    model = kind(priors=np.full(11, 1 / 11), normalization="unbiased")
    assert cross_validate(model, X, y, cv="loo").error == pytest.approx(vowel_in_r[in_r], rel=1e-12)
