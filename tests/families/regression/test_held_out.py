"""Held-out fits of least squares and ridge against refitting without the rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from discrim.families.regression.held_out import linear_smoother_loo


def ridge(n=40, p=5, penalty=2.0, seed=0):
    """Indicators, ridge fits with intercept, and U with H = U U'."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p)) + 3.0
    y = np.eye(3)[rng.integers(0, 3, n)]
    centred = x - x.mean(axis=0)
    left, singular, _ = np.linalg.svd(centred, full_matrices=False)
    root = np.divide(singular, np.sqrt(singular**2 + penalty), where=singular > 1e-9, out=np.zeros_like(singular))
    u = np.column_stack([np.full(n, n**-0.5), left * root])
    return x, y, u @ (u.T @ y), u


def refitted(x, y, rows, penalty):
    keep = ~np.isin(np.arange(len(x)), rows)
    if penalty:
        return Ridge(alpha=penalty, solver="svd").fit(x[keep], y[keep]).predict(x[rows])
    design = np.column_stack([np.ones(len(x)), x])
    return design[rows] @ np.linalg.lstsq(design[keep], y[keep], rcond=None)[0]


@pytest.mark.parametrize("penalty", [0.0, 2.0])
def test_each_row_is_predicted_as_by_the_fit_without_it(penalty):
    x, y, fitted, u = ridge(penalty=penalty)
    held_out = linear_smoother_loo(y, fitted, np.square(u).sum(axis=1))
    expected = np.concatenate([refitted(x, y, np.array([i]), penalty) for i in range(len(x))])
    np.testing.assert_allclose(held_out, expected, rtol=1e-10, atol=1e-12)


def test_a_row_that_decides_a_coefficient_alone_is_nan():
    x = np.zeros((6, 1))
    x[0] = 1.0
    y = np.eye(2)[[0, 0, 1, 1, 0, 1]]
    centred = x - x.mean()
    u = np.column_stack([np.full(6, 6**-0.5), centred / np.linalg.norm(centred)])
    fitted = u @ (u.T @ y)
    loo = linear_smoother_loo(y, fitted, np.square(u).sum(axis=1))
    assert np.isnan(loo[0]).all()
    assert np.isfinite(loo[1:]).all()
