"""The same rows in the same order give scikit-learn's coefficients."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import linear_model
from sklearn.exceptions import ConvergenceWarning

from discrim import PassiveAggressiveClassifier, Perceptron, SGDClassifier, datasets

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:Class PassiveAggressive:FutureWarning"),
]
LOSSES = SGDClassifier.loss_functions
# Steps small enough that rounding is not blown up from row to row.
RATES = {
    "constant": {"learning_rate": "constant", "eta0": 0.01},
    "optimal": {"learning_rate": "optimal", "alpha": 0.1},
    "invscaling": {"learning_rate": "invscaling", "eta0": 0.05, "power_t": 0.3},
    "adaptive": {"learning_rate": "adaptive", "eta0": 0.02, "max_iter": 60},
}


def rows(kind):
    X, species = datasets.load_iris().xy
    y = np.unique(species, return_inverse=True)[1]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    if kind == "two":
        return X[50:], y[50:]
    if kind == "sparse":
        return sparse.csr_matrix(np.where(np.abs(X) < 0.5, 0.0, X)), y
    return X, y


def assert_same(ours, theirs, rtol=1e-10):
    assert_allclose(ours.coef_, theirs.coef_, rtol=rtol, atol=rtol * np.abs(theirs.coef_).max())
    assert_allclose(ours.intercept_, theirs.intercept_, rtol=rtol, atol=rtol * np.abs(theirs.intercept_).max())
    assert ours.n_iter_ == theirs.n_iter_
    assert ours.t_ == theirs.t_


@pytest.mark.parametrize("kind", ["two", "three", "sparse"])
@pytest.mark.parametrize("penalty", [None, "l2", "l1", "elasticnet"])
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_rate_and_penalty_agrees_with_the_rows_in_turn(loss, rate, penalty, kind):
    X, y = rows(kind)
    options = {"max_iter": 20, "loss": loss, "penalty": penalty, "shuffle": False, **RATES[rate]}
    assert_same(SGDClassifier(**options).fit(X, y), linear_model.SGDClassifier(**options).fit(X, y))


@pytest.mark.parametrize("kind", ["two", "three", "sparse"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"random_state": 7},
        {"average": True},
        {"average": 60},
        {"class_weight": "balanced"},
        {"class_weight": {1: 3.0}},
        {"fit_intercept": False},
        {"tol": None, "max_iter": 3},
        {"tol": 1e-5, "n_iter_no_change": 2},
        {"loss": "log_loss", "learning_rate": "invscaling", "eta0": 0.1},
        {"learning_rate": "pa1", "eta0": 0.5, "penalty": None},
        {"learning_rate": "pa2", "eta0": 0.5, "penalty": None},
    ],
    ids=str,
)
def test_shuffled_rows_are_read_in_the_same_order(options, kind):
    X, y = rows(kind)
    options = {"random_state": 0, "max_iter": 40, "alpha": 0.01, **options}
    assert_same(SGDClassifier(**options).fit(X, y), linear_model.SGDClassifier(**options).fit(X, y))


@pytest.mark.parametrize("kind", ["two", "three", "sparse"])
def test_weights_of_rows_agree(kind):
    X, y = rows(kind)
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    options = {"random_state": 0, "alpha": 0.01}
    ours = SGDClassifier(**options).fit(X, y, sample_weight=weight)
    assert_same(ours, linear_model.SGDClassifier(**options).fit(X, y, sample_weight=weight))


@pytest.mark.parametrize("kind", ["two", "three", "sparse"])
@pytest.mark.parametrize("options", [{}, {"penalty": "l2"}, {"penalty": "l1", "alpha": 0.01}, {"eta0": 0.1}], ids=str)
def test_the_perceptron_agrees(options, kind):
    X, y = rows(kind)
    assert_same(Perceptron(**options).fit(X, y), linear_model.Perceptron(**options).fit(X, y))


@pytest.mark.parametrize("kind", ["two", "three", "sparse"])
@pytest.mark.parametrize("options", [{}, {"loss": "squared_hinge"}, {"C": 0.01, "average": True}], ids=str)
def test_the_passive_aggressive_classifier_agrees(options, kind):
    X, y = rows(kind)
    options = {"random_state": 3, "max_iter": 50, **options}
    ours = PassiveAggressiveClassifier(**options).fit(X, y)
    assert_same(ours, linear_model.PassiveAggressiveClassifier(**options).fit(X, y), rtol=1e-9)


@pytest.mark.parametrize("kind", ["two", "three", "sparse"])
@pytest.mark.parametrize("model", ["SGDClassifier", "Perceptron"])
def test_parts_agree(model, kind):
    X, y = rows(kind)
    ours = {"SGDClassifier": SGDClassifier, "Perceptron": Perceptron}[model](random_state=0, alpha=0.01)
    theirs = getattr(linear_model, model)(random_state=0, alpha=0.01)
    for start in (0, 30, 60):
        part = slice(start, start + 40)
        for each in (ours, theirs):
            each.partial_fit(X[part], y[part], classes=np.unique(y))
    assert_same(ours, theirs)


def test_a_warm_start_and_given_coefficients_agree():
    X, y = rows("three")
    options = {"random_state": 0, "alpha": 0.01, "warm_start": True}
    ours, theirs = SGDClassifier(**options).fit(X, y), linear_model.SGDClassifier(**options).fit(X, y)
    assert_same(ours.fit(X, y), theirs.fit(X, y))
    start = {"coef_init": np.ones((3, 4)), "intercept_init": np.arange(3.0)}
    assert_same(ours.fit(X, y, **start), theirs.fit(X, y, **start))


@pytest.mark.parametrize("loss", ["log_loss", "modified_huber"])
@pytest.mark.parametrize("kind", ["two", "three", "sparse"])
def test_scores_and_probabilities_agree(loss, kind):
    X, y = rows(kind)
    options = {"loss": loss, "random_state": 0, "alpha": 0.1}
    ours, theirs = SGDClassifier(**options).fit(X, y), linear_model.SGDClassifier(**options).fit(X, y)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-9, atol=1e-11)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9, atol=1e-12)
    assert_array_equal(ours.predict(X), theirs.predict(X))
    with np.errstate(divide="ignore"):
        assert_allclose(ours.predict_log_proba(X), np.log(theirs.predict_proba(X)), rtol=1e-8, atol=1e-9)


def test_single_precision_gives_single_precision():
    X, y = rows("three")
    options = {"random_state": 0, "alpha": 0.01, "max_iter": 5, "tol": None}
    ours = SGDClassifier(**options).fit(X.astype(np.float32), y)
    theirs = linear_model.SGDClassifier(**options).fit(X.astype(np.float32), y)
    assert ours.coef_.dtype == theirs.coef_.dtype == np.float32
    assert_allclose(ours.coef_, theirs.coef_, rtol=1e-3, atol=1e-3)


def test_a_fit_that_did_not_converge_warns_as_scikit_learn_does():
    X, y = rows("three")
    with pytest.warns(ConvergenceWarning, match="Maximum number of iteration"):
        SGDClassifier(max_iter=2, tol=1e-9, random_state=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SGDClassifier(max_iter=2, tol=None, random_state=0).fit(X, y)


def test_values_too_large_for_steps_are_an_error_as_in_scikit_learn():
    X, y = rows("two")
    for model in (SGDClassifier, linear_model.SGDClassifier):
        with pytest.raises(ValueError, match=r"under-/overflow occurred at epoch #.* Scaling input data"):
            model(loss="squared_hinge", max_iter=500, alpha=0.1, random_state=0).fit(X * 1e300, y)
