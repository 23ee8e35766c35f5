"""Ridge regression by conjugate gradients against the solution of the normal equations."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from discrim.families.regression.conjugate import sparse_ridge


def solved(x, weight, targets, alphas, *, centred):
    origin = weight @ x / weight.sum() if centred else np.zeros(x.shape[1])
    apart = x - origin
    scatter = (weight[:, None] * apart).T @ apart
    cross = (weight[:, None] * apart).T @ targets
    each = [np.linalg.solve(scatter + a * np.eye(len(scatter)), b) for a, b in zip(alphas, cross.T, strict=True)]
    return np.column_stack(each), origin, np.diag(scatter)


@pytest.mark.parametrize("shape", [(20, 150), (40, 60), (90, 30)], ids=["rows", "nearly square", "columns"])
@pytest.mark.parametrize("targets", [1, 3, 10])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("centred", [False, True])
def test_the_answer_solves_the_normal_equations(shape, targets, weighted, centred):
    rng = np.random.default_rng([*shape, targets])
    x = rng.poisson(0.3, shape) * rng.uniform(0.5, 2.0, shape)
    # Columns that say nothing: one without an entry, and one that is constant.
    x[:, 3], x[:, 5] = 0.0, 0.0 if centred else 2.0
    weight = rng.integers(0, 4, shape[0]) / 2.0 if weighted else np.ones(shape[0])
    y = rng.standard_normal((shape[0], targets))
    if centred:
        y -= weight @ y / weight.sum()
    alphas = rng.uniform(0.5, 2.0, targets)
    wanted, origin, squares = solved(x, weight, y, alphas, centred=centred)
    for entry_type, slack in ((np.float64, 1e-10), (np.float32, 1e-6)):
        rows = sparse.csr_array(x.astype(entry_type))
        found, steps = sparse_ridge(rows, weight, y, origin, squares, alphas, 1e-13, 500)
        assert 0 < steps < 500
        assert_allclose(found, wanted, rtol=slack, atol=slack)


def test_a_looser_tolerance_takes_fewer_steps_and_the_limit_is_kept():
    rng = np.random.default_rng(0)
    x, y = rng.poisson(0.2, (60, 400)).astype(float), rng.standard_normal((60, 2))
    given = (sparse.csr_array(x), np.ones(60), y, np.zeros(400), (x**2).sum(axis=0), np.ones(2))
    assert sparse_ridge(*given, 1e-2, 500)[1] < sparse_ridge(*given, 1e-10, 500)[1]
    assert sparse_ridge(*given, 1e-10, 3)[1] == 3


@pytest.mark.parametrize("weighted", [False, True])
def test_a_few_large_columns_cost_no_steps(weighted):
    """Of many more columns than rows, those with the largest squares are solved for exactly on the way."""
    rng = np.random.default_rng(1)
    x = rng.poisson(0.05, (150, 800)) * 1.0
    x[:, :20] = rng.poisson(2.0, (150, 20))
    larger = x * np.where(np.arange(800) < 20, 50.0, 1.0)
    weight = rng.uniform(0.5, 2.0, 150) if weighted else np.ones(150)
    y = rng.standard_normal((150, 2))
    steps = []
    for rows in (x, larger):
        squares = weight @ rows**2
        found, taken = sparse_ridge(sparse.csr_array(rows), weight, y, np.zeros(800), squares, np.ones(2), 1e-10, 500)
        assert_allclose(found, solved(rows, weight, y, np.ones(2), centred=False)[0], rtol=1e-6, atol=1e-9)
        steps.append(taken)
    assert steps[1] <= steps[0] + 2
