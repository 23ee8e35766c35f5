"""Canonical directions and linear rules against eigenvalues and Gaussian densities by brute force."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.stats import multivariate_normal

from discrim.families.gaussian.covariance import sphere_factor, sphere_low_rank, sphere_matrix
from discrim.families.gaussian.lda import full_rule, reduced_rule, sphered_centroids

EPS = float(np.finfo(float).eps)


def problem(classes=4, p=6, seed=0):
    """Means, a covariance matrix with its root, priors and the weight."""
    rng = np.random.default_rng(seed)
    root = np.eye(p) + 0.4 * rng.normal(size=(p, p))
    priors = rng.uniform(0.5, 2.0, classes)
    return 5.0 + 2 * rng.normal(size=(classes, p)), root, priors / priors.sum(), 90.0


def sphere(root):
    return sphere_matrix(root.T @ root, np.full(root.shape[1], 1e-300), may_reread=False)


def between(mean, priors, weight):
    d = mean - priors @ mean
    return weight * (d.T * priors) @ d / (len(mean) - 1)


@pytest.mark.parametrize(("classes", "p"), [(4, 6), (2, 5), (7, 3), (3, 1)])
def test_eigenvalues_are_those_of_the_between_and_within_matrices(classes, p):
    mean, root, priors, weight = problem(classes, p)
    found = sphered_centroids(sphere(root), mean, priors, weight)
    expected = eigh(between(mean, priors, weight), root.T @ root, eigvals_only=True)[::-1]
    np.testing.assert_allclose(found.canonical.eigenvalues, expected[: min(classes - 1, p)], rtol=1e-10)
    assert found.canonical.explained.sum() == pytest.approx(1.0, abs=1e-14)
    assert (np.diff(found.canonical.explained) <= 0).all()


def test_directions_are_orthonormal_within_and_diagonal_between():
    mean, root, priors, weight = problem()
    found = sphered_centroids(sphere(root), mean, priors, weight)
    a = found.canonical.scalings
    np.testing.assert_allclose(a.T @ root.T @ root @ a, np.eye(3), atol=1e-12)
    spread = a.T @ between(mean, priors, weight) @ a
    np.testing.assert_allclose(spread, np.diag(found.canonical.eigenvalues), atol=1e-10 * spread.max())
    np.testing.assert_allclose(found.canonical.coordinates, (mean - found.origin) @ a, atol=1e-11)
    np.testing.assert_allclose(found.origin, priors @ mean, rtol=1e-14)


def test_the_largest_loading_of_every_direction_is_positive():
    for seed in range(5):
        mean, root, priors, weight = problem(seed=seed)
        for means in (mean, 10.0 - mean):
            scalings = sphered_centroids(sphere(root), means, priors, weight).canonical.scalings
            assert (scalings[np.abs(scalings).argmax(axis=0), range(scalings.shape[1])] > 0).all()


def test_centroids_on_a_line_give_one_direction_and_explained_one():
    _, root, priors, weight = problem()
    mean = np.array([[0.0], [1.0], [2.0], [7.0]]) * np.ones(6)
    found = sphered_centroids(sphere(root), mean, priors, weight)
    assert found.canonical.scalings.shape == (6, 1)
    np.testing.assert_allclose(found.canonical.explained, [1, 0, 0], atol=1e-15)


def test_equal_centroids_explain_nothing():
    _, root, priors, weight = problem()
    found = sphered_centroids(sphere(root), np.ones((4, 6)), priors, weight)
    assert found.canonical.scalings.shape == (6, 0)
    assert found.canonical.explained.tolist() == [0, 0, 0]


def test_one_class_has_no_direction_but_a_rule():
    mean, root, _, weight = problem(classes=1)
    found = sphered_centroids(sphere(root), mean, np.ones(1), weight)
    assert found.canonical.scalings.shape == (6, 0)
    assert found.canonical.explained.shape == (0,)
    rule = full_rule(found.both, np.zeros(1), found.origin)
    np.testing.assert_allclose(rule.coef, 0.0, atol=1e-15)
    np.testing.assert_allclose(reduced_rule(found, np.zeros(1), 0).coef, 0.0)


def test_columns_without_any_variance_have_no_direction():
    mean, _, priors, weight = problem()
    sphering = sphere_factor(np.zeros((3, 6)), np.full(6, 1e-300), EPS, 0.0)
    found = sphered_centroids(sphering, mean, priors, weight)
    assert found.canonical.scalings.shape == (6, 0)
    assert found.canonical.explained.tolist() == [0, 0, 0]
    assert not full_rule(found.both, np.log(priors), found.origin).coef.any()


FORMS = {
    "matrix": lambda root: (sphere(root), root.T @ root),
    "factor": lambda root: (sphere_factor(root, np.full(root.shape[1], 1e-300), EPS, 0.0), root.T @ root),
    "low rank": lambda root: (
        sphere_low_rank(np.full(6, 0.3), root[:2]),
        0.3 * np.eye(6) + root[:2].T @ root[:2],
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_the_full_rule_is_the_gaussian_log_density_up_to_a_constant(form, offset):
    mean, root, priors, _ = problem()
    sphering, sigma = FORMS[form](root)
    origin = priors @ mean + offset
    rule = full_rule(sphering.both((mean + offset - origin).T), np.log(priors), origin)
    x = np.random.default_rng(1).normal(size=(30, 6)) * 3 + 5
    expected = np.column_stack([multivariate_normal(m, sigma).logpdf(x) for m in mean]) + np.log(priors)
    found = rule.offset + (x + offset - rule.origin) @ rule.coef.T
    gap = found - expected
    # x - origin is known to eps times the offset.
    np.testing.assert_allclose(gap - gap[:, :1], 0.0, atol=1e-10 + 2e3 * EPS * offset)
    if not offset:
        np.testing.assert_allclose(x @ rule.coef.T + rule.intercept, found, atol=1e-10)


@pytest.mark.parametrize("classes", [2, 4, 7])
def test_all_discriminant_coordinates_give_the_full_rule(classes):
    mean, root, priors, weight = problem(classes, p=6)
    found = sphered_centroids(sphere(root), mean, priors, weight)
    full = full_rule(found.both, np.log(priors), found.origin)
    reduced = reduced_rule(found, np.log(priors), classes - 1)
    np.testing.assert_allclose(reduced.coef, full.coef, atol=1e-11)
    np.testing.assert_allclose(reduced.offset, full.offset, atol=1e-11)
    np.testing.assert_array_equal(reduced.origin, full.origin)


def test_a_reduced_rule_is_the_nearest_centroid_in_its_coordinates():
    mean, root, priors, weight = problem()
    found = sphered_centroids(sphere(root), mean, priors, weight)
    rule = reduced_rule(found, np.log(priors), 2)
    x = np.random.default_rng(2).normal(size=(50, 6)) * 3 + 5
    z = (x - found.origin) @ found.canonical.scalings[:, :2]
    distance = ((z[:, None, :] - found.canonical.coordinates[None, :, :2]) ** 2).sum(axis=2)
    expected = np.log(priors) - distance / 2
    found = rule.offset + (x - rule.origin) @ rule.coef.T
    gap = found - expected
    np.testing.assert_allclose(gap - gap[:, :1], 0.0, atol=1e-10)


def test_units_of_measurement_do_not_change_the_eigenvalues():
    mean, root, priors, weight = problem()
    units = np.array([1e6, 1.0, 1e-6, 1e3, 1e-3, 1.0])
    plain = sphered_centroids(sphere(root), mean, priors, weight)
    scaled = sphered_centroids(sphere(root * units), mean * units, priors, weight)
    np.testing.assert_allclose(scaled.canonical.eigenvalues, plain.canonical.eigenvalues, rtol=1e-10)
