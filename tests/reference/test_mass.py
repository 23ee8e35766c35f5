"""R's MASS says the same: lda and qda with normalization="unbiased" (method "moment") or "mle".

The numbers are in mass.json, the calls that made them in make_reference.R. Signs of canonical
directions are arbitrary in both, so they are aligned first.

Leave-one-out: ``lda(CV = TRUE)`` and ``qda(CV = TRUE)`` leave a row out of the means and covariances
but keep the *priors of all n rows*. A real refit on n - 1 rows estimates the priors again, and differs
from CV = TRUE by up to 0.005 in a posterior on these data. Both are in mass.json: R's refits with the
priors held fixed agree with CV = TRUE to 1e-13, for "moment" and "mle" alike. ``cross_validate`` refits,
so with priors left to be estimated it is compared with the refits, and with priors given with CV = TRUE.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from discrim import (
    GaussianNB,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    cross_validate,
)
from discrim.datasets import load_iris

METHODS = {"lda": LinearDiscriminantAnalysis, "qda": QuadraticDiscriminantAnalysis}
each_method = pytest.mark.parametrize("method", ["lda", "qda"])


def same(found, expected):
    assert_allclose(found, expected, rtol=1e-8, atol=1e-12)


def same_up_to_sign(found, expected):
    expected = np.asarray(expected)
    signs = np.sign(np.sum(found[:, : expected.shape[1]] * expected, axis=0))
    assert_allclose(found[:, : expected.shape[1]] * signs, expected, rtol=1e-8, atol=1e-10)


def same_answers(model, X, expected):
    same(model.predict_proba(X), expected["posterior"])
    assert_array_equal(model.predict(X), model.classes_[expected["class"]])


@each_method
def test_posteriors_and_classes_are_those_of_r(case, method):
    X, y, numbers = case
    model = METHODS[method](normalization="unbiased").fit(X, y)
    assert model.classes_.tolist() == numbers["classes"]
    same_answers(model, X, numbers[method])


@each_method
def test_given_priors_move_the_posteriors_as_in_r(case, method):
    X, y, numbers = case
    expected = numbers[method]["given_prior"]
    model = METHODS[method](priors=expected["prior"], normalization="unbiased").fit(X, y)
    same_answers(model, X, expected)


@each_method
def test_maximum_likelihood_is_method_mle_of_r(case, method):
    X, y, numbers = case
    same_answers(METHODS[method](normalization="mle").fit(X, y), X, numbers[method]["mle"])


@pytest.mark.parametrize(
    ("method", "normalization", "published"),
    [
        ("lda", "unbiased", 0.7467718),
        ("lda", "mle", 0.7509227),
        ("qda", "unbiased", 0.6640558),
        ("qda", "mle", 0.6715487),
    ],
)
def test_the_flower_in_doubt_is_as_doubtful_as_published(method, normalization, published):
    X, y = load_iris().xy
    model = METHODS[method](normalization=normalization).fit(X, y)
    assert model.predict_proba(X[70:71])[0, 2] == pytest.approx(published, abs=5e-8)


def test_means_directions_and_scores_of_lda_are_those_of_r(case):
    X, y, numbers = case
    expected = numbers["lda"]
    model = LinearDiscriminantAnalysis(normalization="unbiased").fit(X, y)
    same(model.means_, expected["means"])
    same(model.priors_, expected["prior"])
    same(model.explained_variance_ratio_, expected["trace"])
    same_up_to_sign(model.scalings_, expected["scaling"])
    same_up_to_sign(model.transform(X[:10]), expected["scores"])


def test_given_priors_turn_the_directions_as_in_r(case):
    X, y, numbers = case
    expected = numbers["lda"]["given_prior"]
    model = LinearDiscriminantAnalysis(priors=expected["prior"], normalization="unbiased").fit(X, y)
    share = np.square(expected["svd"])
    same_up_to_sign(model.scalings_, expected["scaling"])
    same(model.explained_variance_ratio_, share / share.sum())


def test_directions_by_maximum_likelihood_are_those_of_r(case):
    X, y, numbers = case
    model = LinearDiscriminantAnalysis(normalization="mle").fit(X, y)
    same_up_to_sign(model.scalings_, numbers["lda"]["mle"]["scaling"])


def test_prediction_of_rank_one_is_that_of_dimen_one(case):
    X, y, numbers = case
    model = LinearDiscriminantAnalysis(rank=1, normalization="unbiased").fit(X, y)
    same_answers(model, X, numbers["lda"]["dimen1"])


@each_method
def test_leave_one_out_with_given_priors_is_cv_of_r(case, method):
    X, y, numbers = case
    priors = np.unique(y, return_counts=True)[1] / len(y)
    model = METHODS[method](priors=priors, normalization="unbiased")
    found = cross_validate(model, X, y, cv="loo")
    expected = numbers[method]["cv"]
    same(found.posterior, expected["posterior"])
    assert_array_equal(found.predicted, np.unique(y)[expected["class"]])
    assert found.error == pytest.approx(np.mean(np.unique(y)[expected["class"]] != y))


@each_method
def test_leave_one_out_with_estimated_priors_is_refitting_in_r(case, method):
    X, y, numbers = case
    expected = numbers[method]["refit"]
    found = cross_validate(METHODS[method](normalization="unbiased"), X, y, cv="loo")
    same(found.posterior[expected["row"]], expected["posterior"])


@each_method
def test_leave_one_out_by_maximum_likelihood_is_refitting_in_r(case, method):
    X, y, numbers = case
    priors = np.unique(y, return_counts=True)[1] / len(y)
    expected = numbers[method]["refit_mle_same_prior"]
    found = cross_validate(METHODS[method](priors=priors, normalization="mle"), X, y, cv="loo")
    same(found.posterior[expected["row"]], expected["posterior"])
    same(found.posterior[expected["row"]], numbers[method]["cv_mle"]["posterior"])


def test_leave_one_out_with_tilted_priors_is_cv_of_r(case):
    X, y, numbers = case
    priors = numbers["lda"]["given_prior"]["prior"]
    model = LinearDiscriminantAnalysis(priors=priors, normalization="unbiased")
    found = cross_validate(model, X, y, cv="loo")
    same(found.posterior[numbers["lda"]["refit"]["row"]], numbers["lda"]["cv_given_prior"]["posterior"])


def test_cv_of_r_is_a_refit_with_the_priors_of_all_rows(case):
    for method in ("lda", "qda"):
        numbers = case[2][method]
        kept, refit = np.array(numbers["cv"]["posterior"])[numbers["refit"]["row"]], numbers["refit"]
        assert_allclose(kept, numbers["refit_same_prior"]["posterior"], rtol=0, atol=1e-12)
        assert 0.003 < np.abs(kept - refit["posterior"]).max() < 0.006


@pytest.fixture
def unequal(mass):
    X, y = load_iris().xy
    return X[20:140], y[20:140], mass["iris"]["rows_20_to_139"]


def test_classes_of_unequal_size_are_weighed_as_in_r(unequal):
    X, y, expected = unequal
    model = LinearDiscriminantAnalysis(normalization="unbiased").fit(X, y)
    same_up_to_sign(model.scalings_, expected["scaling"])
    same_answers(model, X, expected["lda"])


@each_method
def test_leave_one_out_of_unequal_classes_is_that_of_r(unequal, method):
    X, y, expected = unequal
    kept = cross_validate(
        METHODS[method](priors=np.array([30, 50, 40]) / 120, normalization="unbiased"), X, y, cv="loo"
    )
    refitted = cross_validate(METHODS[method](normalization="unbiased"), X, y, cv="loo")
    rows = expected[f"{method}_refit"]["row"]
    same(kept.posterior, expected[f"{method}_cv"]["posterior"])
    same(refitted.posterior[rows], expected[f"{method}_refit"]["posterior"])


def test_wilks_lambda_is_that_of_manova(case):
    X, y, numbers = case
    model = LinearDiscriminantAnalysis().fit(X, y)
    same(model.wilks_lambda_, numbers["canonical"]["wilks"])


def test_canonical_correlations_are_those_of_cancor(case):
    X, y, numbers = case
    model = LinearDiscriminantAnalysis().fit(X, y)
    same(model.canonical_correlations_, numbers["canonical"]["canonical_correlations"])


def test_structure_is_the_correlation_within_classes_of_columns_and_coordinates(case):
    X, y, numbers = case
    model = LinearDiscriminantAnalysis().fit(X, y)
    same_up_to_sign(model.structure_, numbers["canonical"]["structure_within"])


@pytest.mark.parametrize("normalization", ["unbiased", "mle"])
def test_naive_bayes_is_a_product_of_dnorm(mass, normalization):
    X, y = load_iris().xy
    model = GaussianNB(var_smoothing=0.0, normalization=normalization).fit(X, y)
    same(model.predict_proba(X), mass["iris"]["naive_bayes"][normalization])


def test_indicator_regression_is_lm(mass):
    X, y = load_iris().xy
    expected = mass["iris"]["indicator"]
    model = LeastSquaresClassifier().fit(X, y)
    same(np.column_stack([model.intercept_, model.coef_]).T, expected["coef"])
    assert_array_equal(model.predict(X), model.classes_[expected["class"]])
