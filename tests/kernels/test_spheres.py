"""Sphering of one covariance matrix: the kernel and its reference against what defines a sphering."""

from __future__ import annotations

import numpy as np
import pytest

from discrim import kernels
from discrim.kernels.gaussian import reference

BACKENDS = pytest.mark.parametrize("backend", [kernels, reference], ids=["kernel", "reference"])


def covariance(p, seed=0):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(2 * p + 1, p)) * 10.0 ** rng.uniform(-4, 4, p)
    return root.T @ root


@BACKENDS
@pytest.mark.parametrize("p", [1, 2, 3, 7, 32])
def test_the_factor_spheres_the_matrix_in_any_units(backend, p):
    sigma = covariance(p)
    scale, inverse, log_det, rcond = backend.sphere(sigma, np.zeros(p))
    np.testing.assert_allclose(scale, np.sqrt(np.diagonal(sigma)), rtol=1e-15)
    assert not np.triu(inverse, 1).any()
    w = inverse / scale
    np.testing.assert_allclose(w @ sigma @ w.T, np.eye(p), atol=1e-11)
    assert log_det == pytest.approx(np.linalg.slogdet(sigma)[1], rel=1e-12)
    values = np.linalg.eigvalsh(sigma / np.outer(scale, scale))
    assert values[0] / values[-1] / p**2 <= rcond * (1 + 1e-12)
    assert rcond <= values[0] / values[-1] * (1 + 1e-12)


@BACKENDS
def test_a_column_within_its_noise_has_an_infinite_scale_and_no_condition(backend):
    sigma = np.diag([4.0, 1e-20, 9.0])
    scale, _, _, rcond = backend.sphere(sigma, np.full(3, 1e-8))
    assert scale.tolist() == [2.0, np.inf, 3.0]
    assert rcond == 0


@BACKENDS
@pytest.mark.parametrize(
    "sigma",
    [[[1.0, 1.0], [1.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]], [[np.nan, 0.0], [0.0, 1.0]], [[-1.0, 0.0], [0.0, 1.0]]],
)
def test_a_matrix_that_is_not_positive_has_no_condition(backend, sigma):
    assert backend.sphere(np.array(sigma, dtype=float), np.zeros(2))[3] == 0


@BACKENDS
def test_a_matrix_and_a_noise_of_different_sizes_are_refused(backend):
    with pytest.raises(ValueError, match="a row and a column for each"):
        backend.sphere(np.eye(3), np.zeros(2))
    with pytest.raises(ValueError, match="a row and a column for each"):
        backend.sphere(np.ones((2, 3)), np.zeros(2))


def test_no_columns_have_no_condition():
    assert kernels.sphere(np.zeros((0, 0)), np.zeros(0))[3] == 0
