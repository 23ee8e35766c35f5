"""The sphering, the plane of the centroids and Fisher's criterion of linear discriminant analysis."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from discrim import LinearDiscriminantAnalysis, datasets
from discrim.errors import ParameterError

X, Y = datasets.load_iris().xy


@pytest.fixture(scope="module")
def lda():
    return LinearDiscriminantAnalysis(store_covariance=True).fit(X, Y)


def test_the_sphering_makes_the_covariance_within_the_classes_the_identity(lda):
    plane = lda.centroid_plane()
    assert_allclose(plane.sphering.T @ lda.covariance_ @ plane.sphering, np.eye(4), atol=1e-10)


def test_the_projection_keeps_the_centroids_and_is_one(lda):
    plane = lda.centroid_plane()
    assert_allclose(plane.projection @ plane.projection, plane.projection, atol=1e-12)
    assert np.trace(plane.projection) == pytest.approx(2)
    gaps = np.diff(plane.sphere(lda.means_), axis=0)
    assert_allclose(gaps @ plane.projection, gaps, atol=1e-10)


def test_pythagoras_distances_to_the_centroids_differ_by_what_is_in_the_plane(lda):
    plane = lda.centroid_plane()
    inside = ((plane.project(X)[:, None] - plane.project(lda.means_)) ** 2).sum(axis=2)
    outside = lda.mahalanobis(X) - inside
    assert_allclose(outside, np.repeat(outside[:, :1], 3, axis=1), rtol=1e-8)
    assert (outside > 0).all()
    assert_allclose(plane.centroids, plane.project(lda.means_), atol=1e-10)


def test_fishers_criterion_is_the_ratio_of_the_sums_of_squares(lda):
    means, total = lda.means_, X - X.mean(axis=0)
    B = 50 * (means - X.mean(axis=0)).T @ (means - X.mean(axis=0))
    W = total.T @ total - B
    w = np.random.default_rng(0).normal(size=(4, 5))
    assert_allclose(lda.criterion(w), np.diag(w.T @ B @ w) / np.diag(w.T @ W @ w), rtol=1e-9)
    assert lda.criterion(w[:, 0]) == pytest.approx(lda.criterion(w)[0])
    assert_allclose(lda.criterion(lda.scalings_), lda.scatter_eigenvalues_, rtol=1e-8)
    r = lda.canonical_correlations_
    assert_allclose(lda.scatter_eigenvalues_, r**2 / (1 - r**2), rtol=1e-9)


def test_two_classes_have_romes_criterion_up_to_a_constant():
    x, y = X[50:], Y[50:]
    lda = LinearDiscriminantAnalysis().fit(x, y)
    w = lda.fisher().direction
    one, two = x[:50] @ w, x[50:] @ w
    J = (two.mean() - one.mean()) ** 2 / (50 * one.var() + 50 * two.var())
    assert lda.criterion(w) == pytest.approx(25 * J)
    assert lda.criterion(w) == pytest.approx(lda.scatter_eigenvalues_[0])


@pytest.mark.parametrize("w", [[0, 0, 0, 0], [1, 2], np.zeros((4, 2))])
def test_directions_that_are_none_are_refused(lda, w):
    with pytest.raises(ParameterError, match="directions of 4 numbers"):
        lda.criterion(w)
