"""The brute force that every route of cross_validate is held against."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import LeaveOneOut, StratifiedKFold
from sklearn.utils import _safe_indexing


def refit(model, X, y, cv, sample_weight=None, groups=None):
    """Posteriors and predictions of an explicit loop of clone, fit and predict_proba."""
    y = np.asarray(y)
    classes = np.unique(y)
    splitter = LeaveOneOut() if cv == "loo" else StratifiedKFold(cv) if isinstance(cv, int) else cv
    posterior, predicted = np.zeros((len(y), len(classes))), np.empty_like(y)
    for train, test in splitter.split(np.zeros(len(y)), y, groups):
        weight = {} if sample_weight is None else {"sample_weight": np.asarray(sample_weight)[train]}
        fitted = clone(model).fit(_safe_indexing(X, train), y[train], **weight)
        held_out = _safe_indexing(X, test)
        posterior[np.ix_(test, np.searchsorted(classes, fitted.classes_))] = fitted.predict_proba(held_out)
        predicted[test] = fitted.predict(held_out)
    return posterior, predicted


def assert_equals_refitting(result, expected, atol=1e-10):
    posterior, predicted = expected
    np.testing.assert_allclose(result.posterior, posterior, rtol=0, atol=atol)
    np.testing.assert_array_equal(result.predicted, predicted)


@pytest.fixture(scope="session")
def brute_force():
    return refit


@pytest.fixture(scope="session")
def equals_refitting():
    return assert_equals_refitting


@pytest.fixture(scope="session")
def ordinary():
    """Three overlapping classes of unequal size and spread: rows, labels, weights, groups."""
    rng = np.random.default_rng(5)
    n, p = 60, 4
    y = np.array(["low", "mid", "top"])[np.r_[np.zeros(26, int), np.ones(20, int), np.full(14, 2)]]
    x = rng.normal(size=(n, p)) @ rng.normal(size=(p, p))
    x[y == "mid"] = 1.4 * x[y == "mid"] + 0.8
    x[y == "top", 0] += 1.5
    order = rng.permutation(n)
    weight = rng.uniform(0.2, 3.0, n)
    return x[order] + 3.0, y[order], weight, rng.integers(0, 7, n)


@pytest.fixture(scope="session")
def fewer(ordinary):
    """Three fifths of these rows, labels and weights: brute force without each row fits as many models."""
    x, y, weight, _ = ordinary
    kept = np.arange(len(y)) % 5 < 3
    return x[kept], y[kept], weight[kept]
