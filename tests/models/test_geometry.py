"""Distances, boundaries and new rows, against the formulas written out."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

import discrim
from discrim import datasets
from discrim.errors import DataError, ParameterError

X, Y = datasets.load_iris().xy
WINE = datasets.load_crabs().xy

LINEAR = [
    discrim.LinearDiscriminantAnalysis(),
    discrim.LogisticRegression(C=1.0),
    discrim.LeastSquaresClassifier(),
    discrim.NearestCentroid(),
    discrim.Perceptron(),
]
GAUSSIAN = [
    discrim.LinearDiscriminantAnalysis(store_covariance=True),
    discrim.LinearDiscriminantAnalysis(store_covariance=True, shrinkage=0.3),
    discrim.QuadraticDiscriminantAnalysis(store_covariance=True),
    discrim.QuadraticDiscriminantAnalysis(store_covariance=True, reg_param=0.2),
]


@pytest.mark.parametrize("model", LINEAR, ids=lambda model: type(model).__name__)
def test_the_distance_between_two_classes_is_the_score_by_the_length_of_w(model):
    two = model.fit(X[50:], Y[50:])
    border = two.hyperplane()
    found = two.distance(X)
    assert_allclose(found, (X @ border.w + border.b) / np.linalg.norm(border.w), atol=1e-9)
    assert_array_equal(found > 0, two.predict(X) == two.classes_[1])
    foot = border.foot(X)
    assert_allclose(border.score(foot), 0, atol=1e-9)
    assert_allclose(np.linalg.norm(X - foot, axis=1), np.abs(found), atol=1e-9)


@pytest.mark.parametrize("model", LINEAR, ids=lambda model: type(model).__name__)
def test_inside_its_region_a_row_is_as_far_from_the_border_as_the_nearest_hyperplane(model):
    model.fit(X, Y)
    found = model.distance(X)
    assert_array_equal(model.classes_[found.argmax(axis=1)], model.predict(X))
    assert ((found > 0).sum(axis=1) == 1).all()
    k = np.searchsorted(model.classes_, model.predict(X))
    others = [[model.hyperplane(other, model.classes_[c]).distance(x[None])[0] for other in model.classes_ if
               other != model.classes_[c]] for x, c in zip(X, k, strict=True)]  # fmt: skip
    assert_allclose(found[np.arange(150), k], np.min(others, axis=1), atol=1e-9)


def test_the_offset_is_where_the_boundary_passes_zero():
    border = discrim.LinearDiscriminantAnalysis().fit(X[50:], Y[50:]).hyperplane("virginica", "versicolor")
    assert border.positive == "versicolor"
    assert_allclose(border.foot(np.zeros((1, 4)))[0], border.offset * border.w / border.norm, atol=1e-12)


def test_rules_that_bend_have_no_hyperplane():
    with pytest.raises(DataError, match="not hyperplanes"):
        discrim.QuadraticDiscriminantAnalysis().fit(X, Y).distance(X)
    with pytest.raises(ParameterError, match="'positive' parameter"):
        discrim.LinearDiscriminantAnalysis().fit(X, Y).hyperplane("setosa", "rose")
    with pytest.raises(ParameterError, match="both are 'setosa'"):
        discrim.LinearDiscriminantAnalysis().fit(X, Y).hyperplane("setosa", "setosa")


@pytest.mark.parametrize("model", GAUSSIAN, ids=str)
def test_mahalanobis_distances_are_those_of_the_estimated_covariances(model):
    model.fit(X, Y)
    found, covariances = model.mahalanobis(X), np.broadcast_to(model.covariance_, (3, 4, 4))
    for k, (mean, sigma) in enumerate(zip(model.means_, covariances, strict=True)):
        away = X - mean
        assert_allclose(found[:, k], np.einsum("ij,ji->i", away, np.linalg.solve(sigma, away.T)), rtol=1e-8)


def test_mahalanobis_of_variances_only():
    naive = discrim.GaussianNB().fit(X, Y)
    expected = (((X[:, None] - naive.theta_) ** 2) / naive.var_).sum(axis=2)
    assert_allclose(naive.mahalanobis(X), expected, rtol=1e-9)
    nearest = discrim.NearestCentroid().fit(X, Y)
    expected = (((X[:, None] - nearest.centroids_) / nearest.within_class_std_dev_) ** 2).sum(axis=2)
    assert_allclose(nearest.mahalanobis(X), expected, rtol=1e-9)


@pytest.mark.parametrize("target", ["identity", "diagonal"])
def test_mahalanobis_with_more_columns_than_rows(target):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(20, 30)) * np.arange(1, 31), np.arange(20) % 2
    model = discrim.LinearDiscriminantAnalysis(shrinkage=0.4, target=target, store_covariance=True).fit(x, y)
    away = x - model.means_[1]
    expected = np.einsum("ij,ji->i", away, np.linalg.solve(model.covariance_, away.T))
    assert_allclose(model.mahalanobis(x)[:, 1], expected, rtol=1e-7)
    assert model.sample(3, 0)[0].shape == (3, 30)


def test_models_without_a_covariance_say_so():
    with pytest.raises(DataError, match="no covariance matrix"):
        discrim.LogisticRegression().fit(X, Y).mahalanobis(X)
    with pytest.raises(DataError, match="none can be drawn"):
        discrim.Perceptron().fit(X, Y).sample(3)
    with pytest.raises(ParameterError, match="'n' parameter"):
        discrim.GaussianNB().fit(X, Y).sample(0)
    with pytest.raises(ParameterError, match="'random_state' parameter"):
        discrim.GaussianNB().fit(X, Y).sample(2, random_state="one")


@pytest.mark.parametrize(
    "model",
    [*GAUSSIAN, discrim.LinearDiscriminantAnalysis(shrinkage="nonlinear", store_covariance=True), discrim.GaussianNB()],
    ids=str,
)
def test_rows_drawn_have_the_means_and_covariances_of_the_model(model):
    model.fit(X, Y)
    rows, labels = model.sample(30_000, random_state=1)
    means = model.theta_ if hasattr(model, "theta_") else model.means_
    for k, label in enumerate(model.classes_):
        part = rows[labels == label]
        assert abs(len(part) / 30_000 - 1 / 3) < 0.015
        assert_allclose(part.mean(axis=0), means[k], atol=0.03)
        if hasattr(model, "theta_"):
            assert_allclose(part.var(axis=0), model.var_[k], rtol=0.06)
        elif model.shrinkage != "nonlinear":
            sigma = np.broadcast_to(model.covariance_, (3, 4, 4))[k]
            assert_allclose(np.cov(part.T), sigma, atol=0.06 * np.abs(sigma).max())


def test_bayesian_rows_are_student_t():
    model = discrim.BayesianQuadraticDiscriminantAnalysis(psi=1.0, nu=6.0).fit(X[::5], Y[::5])
    rows, labels = model.sample(20_000, random_state=0)
    known = model.posterior("setosa")
    df, k = model.df_[0], 0
    scale = np.sqrt(known.scale[k, k] * (1 + 1 / known.weight) / df)
    values = rows[labels == "setosa", k]
    assert stats.kstest(values, stats.t(df, known.mean[k], scale).cdf).pvalue > 0.001


def test_counts_levels_and_text_are_drawn_as_they_were_learned():
    rng = np.random.default_rng(0)
    ones, y = (rng.random((400, 3)) < [0.1, 0.5, 0.9]).astype(float), np.arange(400) % 2
    model = discrim.BernoulliNB().fit(ones, y)
    rows, labels = model.sample(20_000, 0)
    assert_allclose(rows[labels == 1].mean(axis=0), np.exp(model.feature_log_prob_[1]), atol=0.02)
    words = rng.poisson([1, 5, 4], size=(400, 3))
    model = discrim.MultinomialNB().fit(words, y)
    rows, labels = model.sample(5_000, 0)
    assert_array_equal(np.unique(rows.sum(axis=1)), [10])
    assert_allclose(rows[labels == 0].mean(axis=0) / 10, np.exp(model.feature_log_prob_[0]), atol=0.02)
    mixed = pd.DataFrame({"colour": rng.choice(["red", "blue"], 400), "size": rng.normal(size=400)})
    model = discrim.MixedNB().fit(mixed, y)
    rows, _ = model.sample(50, 0)
    assert set(rows[:, 0]) == {"red", "blue"}
    again = pd.DataFrame(rows, columns=model.feature_names_in_).infer_objects()
    assert model.predict(again).shape == (50,)


def test_the_same_seed_gives_the_same_rows():
    model = discrim.LinearDiscriminantAnalysis().fit(*WINE)
    assert_array_equal(model.sample(5, 3)[0], model.sample(5, 3)[0])
    assert not np.array_equal(model.sample(5, 3)[0], model.sample(5, 4)[0])
    assert model.sample(4, np.random.RandomState(0))[0].shape == (4, 5)


QUADRATIC = {
    "quadratic": discrim.QuadraticDiscriminantAnalysis(),
    "squares": discrim.LeastSquaresClassifier(basis="quadratic"),
    "projected": discrim.QuadraticDiscriminantAnalysis(reg_param=0.3),
    "low rank": discrim.RegularizedDiscriminantAnalysis(alpha=0.5, gamma=0.5, target="diagonal"),
}


@pytest.mark.parametrize("name", QUADRATIC)
def test_a_column_of_a_quadratic_rule_contributes_its_shapley_value(name):
    """The mean over all orders of the columns of what each adds, from the class mean on; of squares from that of all.

    Where nothing but pairs interact, that is the mean of what it adds as the first and as the last of all.
    """
    wide = name in {"projected", "low rank"}
    x = np.hstack([X[::5, :3], np.random.default_rng(0).normal(size=(30, 36 if wide else 0))])
    model = QUADRATIC[name].fit(x, Y[::5])
    row, found, score = x[4], model.contributions(x[4:5])[0], model.solution().rule.scores
    for k, label in enumerate(model.classes_):
        start = (x if name == "squares" else x[Y[::5] == label]).mean(axis=0)
        first, last = (np.array(score(each)[:, k]) for each in (_with_one(start, row), _with_one(row, start)))
        values = 0.5 * (first - score(start[None])[0, k] + score(row[None])[0, k] - last)
        assert_allclose(found[k], values, atol=1e-9)
        if not wide:
            assert_allclose(values, _over_all_orders(lambda at, k=k: score(at[None])[0, k], start, row), atol=1e-9)


def _with_one(base, other):
    """p rows: ``base`` with one value of ``other``."""
    return np.where(np.eye(len(base), dtype=bool), other, base)


def _over_all_orders(score, start, row):
    gains, orders = np.zeros(len(row)), list(permutations(range(len(row))))
    for order in orders:
        at = start.copy()
        for j in order:
            before = score(at)
            at[j] = row[j]
            gains[j] += (score(at) - before) / len(orders)
    return gains
