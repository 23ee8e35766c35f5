"""Linear rules on sparse rows give the scores of dense ones, also where columns lie far from zero."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from discrim import LinearDiscriminantAnalysis, LogisticRegression, RidgeClassifier
from discrim.families.rule import LinearRule, by_column


def rows(shift=0.0):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 80)
    X = rng.poisson(0.7, (80, 6)) + 0.5 * (y[:, None] == [0, 1, 2, 0, 1, 2]) * rng.random((80, 6))
    X[:, 5] = rng.normal(size=80) + shift
    return X, y


@pytest.mark.parametrize("shift", [0.0, 1e7])
@pytest.mark.parametrize("model", [LinearDiscriminantAnalysis(), RidgeClassifier(), LogisticRegression()], ids=str)
def test_sparse_rows_get_the_answers_of_dense_ones(model, shift):
    X, y = rows(shift)
    model.fit(X, y)
    for method in ("decision_function", "predict"):
        found, expected = getattr(model, method)(sparse.csr_array(X)), getattr(model, method)(X)
        assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_an_origin_that_would_cost_digits_keeps_the_rows_dense():
    coef, offset = np.ones((2, 3)), np.zeros(2)
    assert LinearRule(coef, offset, np.zeros(3)).keeps_sparse
    assert LinearRule(coef, offset, np.full(3, 10.0)).keeps_sparse
    assert not LinearRule(coef, offset, np.full(3, 1e6)).keeps_sparse


@pytest.mark.parametrize(("classes", "width"), [(1, 1), (2, 2), (3, 4), (4, 4), (5, 8), (9, 16), (20, 24)])
def test_coefficients_of_a_column_lie_together_on_cache_lines(classes, width):
    coef = np.random.default_rng(1).normal(size=(classes, 7))
    table = by_column(coef)
    assert table.shape == (7, width)
    # A single number for each column lies within one line wherever the table begins.
    assert classes == 1 or table.ctypes.data % 64 == 0
    assert_allclose(table[:, :classes], coef.T)
    assert not table[:, classes:].any()
