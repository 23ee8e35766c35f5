"""Logistic regression against scikit-learn, statsmodels and itself on rows that are said in another way."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import log_softmax
from sklearn import datasets
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as Peer

from discrim import LogisticRegression, parallel
from discrim.errors import DataError

# A warning on ordinary data is a failure.
pytestmark = pytest.mark.filterwarnings("error")

SETS = {
    "breast cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    "iris": lambda: datasets.load_iris(return_X_y=True),
    "wine": lambda: datasets.load_wine(return_X_y=True),
    "digits": lambda: tuple(part[:400] for part in datasets.load_digits(n_class=5, return_X_y=True)),
    "random": lambda: drawn(400, 6),
    "random, 4 classes": lambda: drawn(400, 5, 4),
}
each_set = pytest.mark.parametrize("name", SETS)


def drawn(n, p, classes=2, seed=0):
    """Rows with labels that follow the model, so that the classes overlap."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.normal(size=p)
    eta = (X - X.mean(axis=0)) @ rng.normal(size=(p, classes)) / np.sqrt(p)
    y = (eta + rng.gumbel(size=eta.shape)).argmax(axis=1)
    y[:classes] = np.arange(classes)
    return X, y


def objective(model, X, y, C, weight=None):
    """The penalised loss at the fitted coefficients, from scratch."""
    eta = np.asarray(X, float) @ model.coef_.T.astype(float) + model.intercept_
    eta = np.column_stack([np.zeros(len(eta)), eta]) if eta.shape[1] == 1 else eta
    codes = np.searchsorted(model.classes_, y)
    losses = -log_softmax(eta, axis=1)[np.arange(len(y)), codes]
    return np.sum(losses if weight is None else weight * losses) + (model.coef_**2).sum() / (2 * C)


def peer(X, y, weight=None, **parameters):
    """scikit-learn's answer, as exact as it gets."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solver = {"solver": "newton-cholesky", "tol": 1e-12, "max_iter": 1000}
        return Peer(**{**solver, **parameters}).fit(X, y, weight)


@each_set
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_with_l2_it_is_scikit_learns_answer_on_the_columns_as_they_come(name, C):
    X, y = SETS[name]()
    found, expected = LogisticRegression(C=C, tol=0).fit(X, y), peer(X, y, C=C)
    assert objective(found, X, y, C) <= objective(expected, X, y, C) * (1 + 1e-10) + 1e-12 * len(y)
    assert_allclose(found.predict_proba(X), expected.predict_proba(X), atol=2e-5)
    assert_allclose(found.decision_function(X), expected.decision_function(X), rtol=1e-3, atol=1e-3)
    assert_array_equal(found.classes_, expected.classes_)
    assert found.coef_.shape == expected.coef_.shape
    assert found.intercept_.shape == expected.intercept_.shape
    if len(found.classes_) > 2:
        assert_allclose(found.coef_.sum(axis=0), 0, atol=1e-6)


@pytest.mark.parametrize("name", ["random", "random, 4 classes"])
@pytest.mark.parametrize("intercept", [True, False])
def test_without_a_penalty_it_is_scikit_learns_answer(name, intercept):
    X, y = SETS[name]()
    found = LogisticRegression(C=np.inf, fit_intercept=intercept).fit(X, y)
    expected = peer(X, y, C=np.inf, fit_intercept=intercept, solver="lbfgs", tol=1e-10)
    assert_allclose(found.coef_, expected.coef_ - expected.coef_.mean(axis=0) * (len(found.coef_) > 1), atol=2e-5)
    assert objective(found, X, y, np.inf) <= objective(expected, X, y, np.inf) + 1e-9
    if not intercept:
        assert_array_equal(found.intercept_, 0.0)


@pytest.mark.parametrize("intercept", [True, False])
def test_estimates_and_standard_errors_are_those_of_statsmodels(intercept):
    discrete = pytest.importorskip("statsmodels.discrete.discrete_model")
    X, y = SETS["random"]()
    design = np.column_stack([np.ones(len(X)), X]) if intercept else X
    expected = discrete.Logit(y, design).fit(disp=0, method="newton", tol=1e-14)
    summary = LogisticRegression(C=np.inf, fit_intercept=intercept).fit(X, y).summary()
    assert_allclose(summary.coef, expected.params, rtol=1e-8)
    assert_allclose(summary.std_error, expected.bse, rtol=1e-6)
    assert_allclose(summary.p_value, expected.pvalues, rtol=1e-5)
    assert_allclose([summary.loglik, summary.aic, summary.bic], [expected.llf, expected.aic, expected.bic])


@pytest.mark.parametrize("reference", [None, 2])
def test_more_classes_are_those_of_statsmodels_and_the_reference_only_changes_the_summary(reference):
    discrete = pytest.importorskip("statsmodels.discrete.discrete_model")
    X, y = SETS["random, 4 classes"]()
    model = LogisticRegression(C=np.inf, reference=reference).fit(X, y)
    order = np.array([0, 1, 2, 3] if reference is None else [2, 0, 1, 3])
    codes = np.argsort(order)[y]
    expected = discrete.MNLogit(codes, np.column_stack([np.ones(len(X)), X])).fit(disp=0, method="newton", tol=1e-14)
    summary = model.summary()
    assert_allclose(summary.coef, np.asarray(expected.params).T.ravel(), rtol=1e-6, atol=1e-8)
    assert_allclose(summary.std_error, np.asarray(expected.bse).T.ravel(), rtol=1e-5)
    assert summary.names[0] == f"{order[1]}:(Intercept)"
    assert summary.iterations == model.n_iter_[0]
    plain = LogisticRegression(C=np.inf).fit(X, y)
    assert_allclose(model.coef_, plain.coef_, rtol=1e-10)
    assert_allclose(model.predict_proba(X), plain.predict_proba(X), atol=1e-10)


def test_columns_as_they_come_reach_the_optimum_of_scaled_columns():
    X, y = SETS["breast cancer"]()
    scale = X.std(axis=0)
    # A ridge in other units is a ridge per column, which is said here by the weight of a column.
    Z = X / scale
    for C in (1e-2, 1.0, 1e4):
        raw, scaled = LogisticRegression(C=C).fit(X, y), LogisticRegression(C=C).fit(Z, y)
        best, best_scaled = peer(X, y, C=C), peer(Z, y, C=C)
        assert_allclose(objective(raw, X, y, C), objective(best, X, y, C), rtol=1e-10)
        assert_allclose(objective(scaled, Z, y, C), objective(best_scaled, Z, y, C), rtol=1e-10)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_units_and_origins_of_the_columns_do_not_matter_without_a_penalty(classes, scale):
    X, y = drawn(300, 3, classes)
    X = np.round(X * 64) / 64
    factors = np.array([1.0, scale, 1 / scale])
    plain = LogisticRegression(C=np.inf).fit(X, y)
    for origin, digits in ((0.0, 1e-9), (1e4, 1e-7), (1e8, 1e-5)):
        moved = LogisticRegression(C=np.inf).fit((X + origin) * factors, y)
        assert_allclose(moved.coef_ * factors, plain.coef_, rtol=digits, atol=digits)
        assert_allclose(moved.predict_proba((X + origin) * factors), plain.predict_proba(X), atol=digits)
        found, expected = moved.summary(), plain.summary()
        slopes = [i for i, label in enumerate(found.names) if "Intercept" not in label]
        assert_allclose(found.statistic[slopes], expected.statistic[slopes], rtol=10 * digits)
        assert_allclose(found.deviance, expected.deviance, rtol=1e-8)


def test_a_common_origin_of_1e8_does_not_matter_with_l2():
    X, y = drawn(300, 3)
    X = np.round(X * 64) / 64
    near, far = LogisticRegression().fit(X, y), LogisticRegression().fit(X + 1e8, y)
    assert_allclose(far.coef_, near.coef_, rtol=1e-6)
    assert_allclose(far.predict_proba(X + 1e8), near.predict_proba(X), atol=1e-6)


def test_without_an_intercept_a_far_origin_is_part_of_the_model():
    X, y = drawn(300, 2)
    X[:, 0] += 5.0
    assert_allclose(
        LogisticRegression(C=1.0, fit_intercept=False).fit(X, y).coef_, peer(X, y, fit_intercept=False).coef_, rtol=1e-7
    )


def test_a_weight_is_a_number_of_repetitions():
    X, y = drawn(150, 3, 3)
    times = np.random.default_rng(1).integers(0, 4, 150)
    for parameters in ({}, {"C": np.inf}, {"l1_ratio": 0.5}):
        model = LogisticRegression(**parameters)
        weighted = clone(model).fit(X, y, times)
        repeated = clone(model).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
        assert_allclose(weighted.coef_, repeated.coef_, atol=1e-5)
        assert_allclose(weighted.intercept_, repeated.intercept_, atol=1e-5)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("C", [1.0, np.inf])
def test_class_weights_multiply_the_weights_of_the_rows(classes, C):
    X, y = drawn(200, 3, classes)
    w = np.random.default_rng(2).uniform(0.5, 2, 200)
    given = {k: 1.0 + k for k in range(1, classes)}
    factors = np.array([1.0, *given.values()])
    found = LogisticRegression(C=C, class_weight=given).fit(X, y, w)
    expected = LogisticRegression(C=C).fit(X, y, w * factors[y])
    assert_allclose(found.coef_, expected.coef_, rtol=1e-8, atol=1e-10)
    balanced = LogisticRegression(C=1.0, class_weight="balanced").fit(X, y)
    assert_allclose(balanced.coef_, peer(X, y, class_weight="balanced").coef_, rtol=1e-6, atol=1e-8)


def test_groups_are_their_rows_one_by_one():
    rng = np.random.default_rng(3)
    X, trials = rng.normal(size=(40, 2)), rng.integers(0, 9, 40)
    successes = rng.binomial(trials, 1 / (1 + np.exp(-X[:, 0])))
    rows = np.repeat(X, 2, axis=0)
    labels, counts = np.tile([1, 0], 40), np.column_stack([successes, trials - successes]).ravel()
    for C in (1.0, np.inf):
        grouped = LogisticRegression(C=C).fit(X, successes, trials=trials)
        single = LogisticRegression(C=C).fit(np.repeat(rows, counts, axis=0), np.repeat(labels, counts))
        assert grouped.classes_.tolist() == [0, 1]
        assert_allclose(grouped.coef_, single.coef_, rtol=1e-8)
        assert_allclose(grouped.intercept_, single.intercept_, rtol=1e-8)
        assert_allclose(grouped.summary().std_error, single.summary().std_error, rtol=1e-6)
        assert_allclose(grouped.predict_proba(X), single.predict_proba(X), rtol=1e-8)
    weighted = LogisticRegression().fit(X, successes, np.full(40, 2.0), trials=trials)
    twice = LogisticRegression().fit(X, 2 * successes, trials=2 * trials)
    assert_allclose(weighted.coef_, twice.coef_, rtol=1e-9)
    assert_allclose(LogisticRegression().fit(X, np.minimum(successes, 8), trials=8).coef_.shape, (1, 2))


@pytest.mark.parametrize("C", [1.0, np.inf])
def test_an_offset_is_a_known_part_of_the_log_odds(C):
    X, y = drawn(300, 3)
    plain = LogisticRegression(C=C).fit(X, y)
    constant = LogisticRegression(C=C).fit(X, y, offset=np.full(300, 0.7))
    assert_allclose(constant.intercept_, plain.intercept_ - 0.7, rtol=1e-7)
    assert_allclose(constant.coef_, plain.coef_, rtol=1e-7)
    assert_allclose(constant.predict_proba(X, offset=0.7), plain.predict_proba(X), rtol=1e-6)
    assert_allclose(constant.predict_log_proba(X, 0.7), plain.predict_log_proba(X), rtol=1e-6)
    assert_array_equal(constant.predict(X, offset=np.full(300, 0.7)), plain.predict(X))
    assert_allclose(constant.decision_function(X, 0.7), plain.decision_function(X), atol=1e-6)
    assert_allclose(constant.decision_function(X), plain.decision_function(X) - 0.7, atol=1e-6)
    if np.isinf(C):
        known = LogisticRegression(C=C).fit(X, y, offset=X @ [1.0, -2.0, 0.5])
        assert_allclose(known.coef_ + np.array([1.0, -2.0, 0.5]), plain.coef_, rtol=1e-6)


@pytest.mark.parametrize("size", [30.0, 100.0, 1e5])
def test_a_large_offset_is_taken_up_by_the_intercept(size):
    X, y = drawn(300, 3)
    plain = LogisticRegression(C=np.inf).fit(X, y)
    model = LogisticRegression(C=np.inf).fit(X, y, offset=np.full(300, size))
    assert_allclose(model.intercept_ + size, plain.intercept_, atol=1e-7)
    assert_allclose(model.coef_, plain.coef_, rtol=1e-7)


def test_fewer_rows_than_columns_with_l2_are_scikit_learns_answer():
    for classes in (2, 3):
        X, y = drawn(40, 120, classes)
        w = np.random.default_rng(4).uniform(0, 2, 40)
        for intercept in (True, False):
            found = LogisticRegression(C=2.0, fit_intercept=intercept, tol=0).fit(X, y, w)
            expected = peer(X, y, w, C=2.0, fit_intercept=intercept, solver="lbfgs", tol=1e-12, max_iter=10_000)
            assert_allclose(found.coef_, expected.coef_, atol=2e-5)
            assert objective(found, X, y, 2.0, w) <= objective(expected, X, y, 2.0, w) + 1e-8
            # By default both end where the slope is small, ours no higher.
            found, expected = (fit(C=2.0, fit_intercept=intercept).fit(X, y, w) for fit in (LogisticRegression, Peer))
            assert objective(found, X, y, 2.0, w) <= objective(expected, X, y, 2.0, w)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("l1_ratio", [0.5, 1.0])
def test_l1_and_elastic_net_are_scikit_learns_answer(classes, l1_ratio):
    X, y = drawn(150, 4, classes)
    found = LogisticRegression(C=0.2, l1_ratio=l1_ratio).fit(X, y)
    expected = peer(X, y, C=0.2, l1_ratio=l1_ratio, solver="saga", tol=1e-9, max_iter=20_000)
    assert_allclose(found.predict_proba(X), expected.predict_proba(X), atol=1e-5)
    if classes == 2:
        assert_allclose(found.coef_, expected.coef_, atol=1e-5)


def test_single_precision_is_kept_and_fitted_in_double():
    X, y = drawn(200, 3, 3)
    X = X.astype(np.float32)
    found, expected = LogisticRegression().fit(X, y), LogisticRegression().fit(X.astype(float), y)
    assert found.coef_.dtype == found.intercept_.dtype == np.float32
    assert found.predict_proba(X).dtype == np.float32
    assert_allclose(found.coef_, expected.coef_, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_warm_start_begins_at_the_last_coefficients(classes):
    X, y = drawn(400, 4, classes)
    model = LogisticRegression(warm_start=True).fit(X, y)
    first = model.coef_.copy()
    assert model.fit(X, y).n_iter_[0] <= 1
    assert_allclose(model.coef_, first, rtol=1e-8)
    # Other columns or classes than before: nothing to begin with, and no error.
    assert model.fit(X[:, :2], y).coef_.shape[1] == 2
    assert model.fit(X, (y + np.arange(400)) % 3).coef_.shape == (3, 4)


def test_rows_and_labels_are_not_changed():
    X, y = drawn(100, 3)
    w, offset = np.ones(100), np.zeros(100)
    before = [a.copy() for a in (X, y, w, offset)]
    for parameters in ({}, {"C": np.inf}, {"l1_ratio": 1.0}):
        LogisticRegression(**parameters).fit(X, y, w, offset=offset)
        LogisticRegression(**parameters).fit(np.asfortranarray(X), y, w).predict(X)
    for a, b in zip((X, y, w, offset), before, strict=True):
        assert_array_equal(a, b)
    X.setflags(write=False)
    y.setflags(write=False)
    LogisticRegression(C=np.inf).fit(X, y).summary()


def test_too_few_steps_are_told():
    X, y = drawn(100, 3)
    for solver in ("newton", "lbfgs"):
        with pytest.warns(ConvergenceWarning, match="failed to converge after 1 steps.*max_iter"):
            assert LogisticRegression(max_iter=1, solver=solver).fit(X, y).n_iter_.tolist() == [1]


def test_fifty_classes_are_fitted():
    X, y = drawn(1500, 4, 50)
    model, expected = LogisticRegression(tol=0).fit(X, y), peer(X, y, solver="lbfgs", tol=1e-8)
    assert model.coef_.shape == (50, 4)
    assert objective(model, X, y, 1.0) <= objective(expected, X, y, 1.0) + 1e-6
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [-1, 1], [3.0, 7.0]])
def test_labels_of_any_type_come_back(labels):
    X, y = drawn(100, 2)
    model = LogisticRegression(C=np.inf, reference=labels[1]).fit(X, np.array(labels)[y])
    assert model.classes_.tolist() == labels
    assert set(model.predict(X).tolist()) == set(labels)
    assert model.score(X, np.array(labels)[y]) > 0.5


def test_the_number_of_threads_changes_no_bit(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80_000, 6))
    y = ((X @ rng.normal(size=(6, 3))) + rng.gumbel(size=(80_000, 3))).argmax(axis=1)
    for C, labels in ((np.inf, y > 0), (1.0, y)):
        answers = set()
        for threads in (1, 3):
            monkeypatch.setattr(parallel, "_worker_count", lambda threads=threads: threads)
            answers.add(LogisticRegression(C=C).fit(X, labels).coef_.tobytes())
        assert len(answers) == 1


@pytest.mark.parametrize("class_weight", [{0: 1.0, 1: 3.0}, {0: 0.5}, "balanced"])
@pytest.mark.parametrize("parameters", [{"C": np.inf}, {"C": 0.3}, {"C": 0.3, "l1_ratio": 1.0}])
def test_class_weights_count_the_failures_and_successes_of_trials(class_weight, parameters):
    rng = np.random.default_rng(5)
    X, trials = rng.normal(size=(40, 3)), rng.integers(0, 6, 40)
    y = rng.binomial(trials, 1 / (1 + np.exp(-X[:, 0] - 1)))
    single = np.repeat(X, trials, axis=0)
    outcome = np.concatenate([np.arange(n) < k for n, k in zip(trials, y, strict=True)]).astype(int)
    grouped = LogisticRegression(**parameters, class_weight=class_weight).fit(X, y, trials=trials)
    expected = LogisticRegression(**parameters, class_weight=class_weight).fit(single, outcome)
    assert_allclose(grouped.coef_, expected.coef_, rtol=1e-6, atol=1e-7)
    assert_allclose(grouped.intercept_, expected.intercept_, rtol=1e-6)


def test_one_offset_may_stand_for_all_rows():
    X, y = drawn(80, 2)
    one, all_of_them = (LogisticRegression(C=np.inf).fit(X, y, offset=o) for o in (0.7, np.full(80, 0.7)))
    assert_array_equal(one.coef_, all_of_them.coef_)
    assert_allclose(one.intercept_ + 0.7, LogisticRegression(C=np.inf).fit(X, y).intercept_, rtol=1e-7)


def test_a_saved_model_with_few_rows_is_no_larger_than_its_coefficients():
    X, y = drawn(40, 20_000)
    model = LogisticRegression().fit(X, y)
    model.summary()
    saved = pickle.dumps(model)
    assert len(saved) < 20 * X[0].nbytes
    again = pickle.loads(saved)
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    with pytest.raises(DataError, match="Fit it again"):
        again.summary()
    assert again.fit(X, y).summary().names == model.summary().names


@pytest.mark.parametrize("y", ["Int64", "boolean", "int8[pyarrow]"])
def test_nullable_labels_keep_their_type(y):
    pd = pytest.importorskip("pandas")
    if "pyarrow" in y:
        pytest.importorskip("pyarrow")
    X, codes = drawn(60, 2)
    series = pd.Series(codes.astype(int)).astype(y)
    for labels in (series, series.array):
        assert LogisticRegression().fit(X, labels).classes_.dtype.kind == ("b" if y == "boolean" else "i")
    with pytest.warns(UserWarning, match="column-vector"):
        assert LogisticRegression().fit(X, series.to_frame()).classes_.dtype.kind != "f"


def test_a_model_without_columns_predicts_the_shares_of_the_classes():
    X = np.random.default_rng(8).normal(size=(90, 2))
    y = np.arange(90) % 3 == 0
    model = LogisticRegression(C=np.inf).fit(X, y).step("bic")
    assert model.coef_.shape == (1, 0)
    assert_allclose(model.predict_proba(X[:4])[:, 1], 1 / 3)
    assert not model.predict(X).any()


@pytest.mark.parametrize("C", [1.0, 1e4])
def test_tol_shortens_a_fit_without_a_loss_to_scikit_learn_and_its_summary_is_that_of_the_minimum(C):
    X, y = datasets.load_digits(return_X_y=True)
    X, y = X[y < 4][:300, :40], y[y < 4][:300]
    loose, exact = (LogisticRegression(C=C, tol=tol, max_iter=1000).fit(X, y) for tol in (1e-2, 0))
    assert loose.n_iter_[0] < exact.n_iter_[0]
    assert not np.allclose(loose.coef_, exact.coef_, rtol=1e-6)
    default, theirs = LogisticRegression(C=C, max_iter=1000).fit(X, y), peer(X, y, solver="lbfgs", C=C, tol=1e-4)
    assert objective(default, X, y, C) <= objective(theirs, X, y, C)
    assert_allclose(loose.summary().deviance, exact.summary().deviance, rtol=1e-6, atol=1e-6)
