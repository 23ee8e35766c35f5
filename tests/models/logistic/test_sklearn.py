"""What remains true of the tests of scikit-learn's logistic regression that are left out; coefficients by hand."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import expit
from sklearn import linear_model as theirs
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.multiclass import OneVsRestClassifier

from discrim import LogisticRegression
from discrim.errors import SeparationWarning

SOLVERS = ["lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"]
X, Y = load_iris(return_X_y=True)
OVERLAP = make_classification(200, 5, n_redundant=0, flip_y=0.3, random_state=0)


@pytest.mark.parametrize(
    ("solver", "words"),
    {
        **{
            name: f"{name} failed to converge after 2 steps. Increase"
            for name in ("lbfgs", "newton-cg", "quasi-newton")
        },
        "auto": "newton failed to converge after 2 steps. Increase",
        "liblinear": "Liblinear failed to converge, increase",
        "newton-cholesky": "Newton solver did not converge after 2 iterations: ",
        "sag": "The max_iter was reached which means the coef_ did not converge: ",
        "saga": "The max_iter was reached which means the coef_ did not converge: ",
    }.items(),
)
def test_a_fit_that_is_stopped_early_says_so_in_the_words_that_scikit_learn_has_for_its_solver(solver, words):
    model = LogisticRegression(solver=solver, max_iter=2)
    with pytest.warns(ConvergenceWarning, match=r"max_iter is 2\.$") as told:
        model.fit(X, Y == 1)
    assert str(told[0].message).startswith(words)
    assert told[0].filename == __file__
    assert_array_equal(model.n_iter_, [2])


@pytest.mark.parametrize("solver", SOLVERS)
def test_sparse_rows_may_have_long_indices(solver):
    rows = sparse.csr_array(np.where(OVERLAP[0] > 0, OVERLAP[0], 0.0))
    expected = LogisticRegression(solver=solver).fit(rows, OVERLAP[1])
    rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    assert_allclose(LogisticRegression(solver=solver).fit(rows, OVERLAP[1]).coef_, expected.coef_, rtol=1e-9)


@pytest.mark.parametrize("solver", ["auto", "liblinear"])
def test_huge_values_are_no_obstacle(solver):
    rows = OVERLAP[0] * 1e100
    model = LogisticRegression(solver=solver, fit_intercept=False).fit(rows, OVERLAP[1])
    free = LogisticRegression(solver=solver, fit_intercept=False, C=1e200).fit(OVERLAP[0], OVERLAP[1])
    assert_allclose(model.coef_ * 1e100, free.coef_, rtol=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_single_precision_stays_single_but_with_liblinear(solver):
    model = LogisticRegression(solver=solver).fit(OVERLAP[0].astype(np.float32), OVERLAP[1])
    assert model.coef_.dtype == model.intercept_.dtype == (np.float64 if solver == "liblinear" else np.float32)


def test_separated_classes_are_a_failure_to_converge_for_whoever_filters_those():
    with pytest.warns(ConvergenceWarning, match="completely separated"):
        LogisticRegression(C=np.inf).fit(X[:100], Y[:100])


def test_the_answer_does_not_depend_on_the_seed():
    first, second = (
        LogisticRegression(solver="liblinear", dual=True, random_state=seed).fit(*OVERLAP) for seed in (1, 2)
    )
    assert_array_equal(first.coef_, second.coef_)


@pytest.mark.parametrize("solver", ["auto", *sorted(set(SOLVERS) - {"liblinear"})])
def test_without_a_penalty_only_separated_classes_are_worth_a_warning(solver):
    model = LogisticRegression(C=np.inf, solver=solver)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(*OVERLAP)
    with pytest.warns(SeparationWarning, match="completely separated") as told:
        model.fit(X, Y == 0)
    assert told[0].filename == __file__


def test_a_nearly_vanishing_penalty_on_wide_rows_is_the_same_problem_for_every_solver():
    wide = make_classification(10, 20, random_state=42)
    first, *others = (
        LogisticRegression(C=1e6, solver=solver).fit(*wide).coef_ for solver in SOLVERS if solver != "liblinear"
    )
    for other in others:
        assert_allclose(other, first, rtol=1e-5)


def test_softmax_fits_better_than_one_class_against_the_rest():
    rows, labels = make_classification(60, 20, n_informative=10, n_classes=3, random_state=0)
    model = LogisticRegression().fit(rows, labels)
    softmax = log_loss(labels, model.predict_proba(rows))
    one_by_one = OneVsRestClassifier(LogisticRegression()).fit(rows, labels)
    assert softmax < log_loss(labels, one_by_one.predict_proba(rows))
    logistic = expit(model.decision_function(rows))
    assert softmax < log_loss(labels, logistic / logistic.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("labels", [Y == 1, Y], ids=["two classes", "three classes"])
class TestCoefficientsByHand:
    def test_what_is_written_to_the_coefficients_decides(self, labels):
        model = LogisticRegression().fit(X, labels)
        expected = theirs.LogisticRegression(max_iter=1000).fit(X, labels)
        for each in (model, expected):
            each.coef_ = np.linspace(-1, 1, each.coef_.size).reshape(each.coef_.shape)
            each.intercept_[:] = 0.5
        assert_allclose(model.decision_function(X), expected.decision_function(X), rtol=1e-12)
        assert_allclose(model.predict_proba(X), expected.predict_proba(X), rtol=1e-12)
        model.coef_[:] = 0.0
        assert_allclose(model.decision_function(X), 0.5)

    def test_a_model_can_be_put_together_without_a_fit(self, labels):
        fitted = LogisticRegression().fit(X, labels)
        model = LogisticRegression()
        model.classes_, model.coef_, model.intercept_ = fitted.classes_, fitted.coef_, fitted.intercept_
        assert_allclose(model.predict_proba(X), fitted.predict_proba(X), rtol=1e-9)
        assert_array_equal(model.predict(X), fitted.predict(X))
        with pytest.raises(ValueError, match="X has 3 features, but LogisticRegression is expecting 4"):
            model.predict(X[:, :3])

    def test_a_warm_start_begins_with_what_was_written(self, labels):
        model = LogisticRegression(warm_start=True).fit(X, labels)
        expected = model.coef_.copy()
        model.max_iter = 1
        assert_allclose(model.fit(X, labels).coef_, expected, rtol=1e-6)
        model.coef_[:] = 0.0
        model.intercept_[:] = 0.0
        with pytest.warns(ConvergenceWarning):
            model.fit(X, labels)
        assert not np.allclose(model.coef_, expected, rtol=0.1)

    def test_sparse_coefficients_predict_the_same(self, labels):
        model = LogisticRegression(l1_ratio=1.0, C=0.1).fit(X, labels)
        expected = model.decision_function(X)
        assert sparse.issparse(model.sparsify().coef_)
        assert_array_equal(model.decision_function(X), expected)
        assert_array_equal(model.densify().decision_function(X), expected)
