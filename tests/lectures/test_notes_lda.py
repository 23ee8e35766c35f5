"""Notes on LDA: sphering, the plane of the centroids, and S = W + B."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import fractional_matrix_power

from discrim import LinearDiscriminantAnalysis
from discrim.datasets import load_crabs, load_iris

CASES = {
    "iris": (load_iris().xy, [0.2, 0.3, 0.5]),
    "crabs": (load_crabs(log=True).xy, [0.1, 0.2, 0.3, 0.4]),
}


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


def within_and_between(X, y):
    """W and B of the notes, divided by n, straight from their definitions."""
    p = X.shape[1]
    W, B = np.zeros((p, p)), np.zeros((p, p))
    for k in np.unique(y):
        rows = X[y == k]
        d = rows.mean(axis=0) - X.mean(axis=0)
        W += (rows - rows.mean(axis=0)).T @ (rows - rows.mean(axis=0)) / len(X)
        B += len(rows) / len(X) * np.outer(d, d)
    return W, B


@pytest.mark.parametrize("given", [False, True])
def test_sphering_then_nearest_centroid_less_log_prior_is_the_same_rule(case, given):
    (X, y), priors = case
    model = LinearDiscriminantAnalysis(priors=priors if given else None).fit(X, y)
    sphere = fractional_matrix_power(within_and_between(X, y)[0], -0.5)
    centroids = np.array([X[y == k].mean(axis=0) for k in model.classes_]) @ sphere
    distance = ((X @ sphere)[:, None, :] - centroids) ** 2
    score = distance.sum(axis=2) / 2 - np.log(model.priors_)
    assert_array_equal(model.predict(X), model.classes_[score.argmin(axis=1)])
    density = np.exp(score.min(axis=1, keepdims=True) - score)
    assert_allclose(model.predict_proba(X), density / density.sum(axis=1, keepdims=True), atol=1e-10)


def test_projecting_on_the_canonical_coordinates_leaves_predictions_unchanged(case):
    (X, y), priors = case
    full = LinearDiscriminantAnalysis(priors=priors).fit(X, y)
    projected = full.transform(X)
    assert projected.shape[1] == len(full.classes_) - 1
    below = LinearDiscriminantAnalysis(priors=priors).fit(projected, y)
    assert_array_equal(below.predict(projected), full.predict(X))
    assert_allclose(below.predict_proba(projected), full.predict_proba(X), atol=1e-10)


def test_rank_of_all_canonical_coordinates_is_the_full_rule_and_rank_one_is_not(case):
    (X, y), _ = case
    full = LinearDiscriminantAnalysis().fit(X, y).predict_proba(X)
    every = LinearDiscriminantAnalysis(rank=len(np.unique(y)) - 1).fit(X, y).predict_proba(X)
    one = LinearDiscriminantAnalysis(rank=1).fit(X, y).predict_proba(X)
    assert_allclose(every, full, atol=1e-12)
    assert np.abs(one - full).max() > 0.1


def test_total_scatter_is_within_plus_between_in_the_canonical_coordinates(case):
    (X, y), _ = case
    Z = LinearDiscriminantAnalysis(normalization="mle").fit(X, y).transform(X)
    W, B = within_and_between(Z, y)
    assert_allclose(W + B, np.cov(Z.T, bias=True), atol=1e-9)
    assert_allclose(W, np.eye(len(W)), atol=1e-9)
    assert_allclose(B, np.diag(np.diag(B)), atol=1e-9)


def test_canonical_directions_maximise_the_rayleigh_quotient_in_turn(case):
    (X, y), _ = case
    model = LinearDiscriminantAnalysis(normalization="mle").fit(X, y)
    W, B = within_and_between(X, y)
    L = len(model.classes_) - 1
    eigenvalues = np.sort(np.linalg.eigvals(np.linalg.solve(W, B)).real)[::-1][:L]
    V = model.scalings_[:, :L]
    assert_allclose(np.diag(V.T @ B @ V) / np.diag(V.T @ W @ V), eigenvalues, rtol=1e-9)
    assert_allclose(B @ V, W @ V * eigenvalues, atol=1e-9 * np.abs(B @ V).max())
    assert_allclose(model.explained_variance_ratio_, eigenvalues / eigenvalues.sum(), rtol=1e-9)
