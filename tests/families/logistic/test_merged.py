"""Columns of text that a single row has are solved as one: the answers are those of all columns."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from discrim import LogisticRegression
from discrim.families.logistic import fit as smooth
from discrim.families.logistic.merged import merge_columns


def words(n=120, p=900, seed=0):
    """Words of Zipf's frequencies, many of them in one row and many in none."""
    rng = np.random.default_rng(seed)
    popular = 1.0 / (np.arange(p) + 3.0)
    x = np.zeros((n, p))
    for row in x:
        np.add.at(row, rng.choice(p, size=rng.integers(5, 15), p=popular / popular.sum()), rng.uniform(0.5, 2.0))
    y = (x[:, :20] @ rng.normal(size=(20, 3)) + rng.gumbel(size=(n, 3))).argmax(axis=1)
    return x, y


def test_what_is_left_of_the_rows_has_the_same_products():
    x, _ = words()
    columns, left = merge_columns(sparse.csr_array(x))
    assert left.shape == (120, columns.size)
    assert columns.size < 0.5 * 900
    assert_allclose((left @ left.T).toarray(), x @ x.T, atol=1e-12)
    inner = np.random.default_rng(0).normal(size=(2, 1 + columns.size))
    outer = columns.outer(inner)
    assert_allclose(left @ inner[:, 1:].T, x @ outer[:, 1:].T, atol=1e-12)
    assert_allclose(columns.inner(outer), inner)
    assert_array_equal(outer[:, 1:][:, ~x.any(axis=0)], 0.0)


def test_entries_of_zero_need_no_column():
    x = sparse.csr_array((np.array([1.0, 0.0, 2.0, 0.0]), [0, 1, 0, 2], [0, 2, 3, 4]), shape=(3, 9))
    columns, left = merge_columns(x)
    assert columns.size == left.shape[1] == 1
    assert_array_equal(left.toarray().ravel(), [1.0, 2.0, 0.0])


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
def test_what_is_not_finite_is_left_to_those_who_name_its_column(value):
    x, y = words()
    x[3, 890] = value
    rows = sparse.csr_array(x)
    assert merge_columns(rows) is None
    with pytest.raises(ValueError, match=r"x890|NaN|inf|overflow"):
        LogisticRegression().fit(rows, y)


def test_columns_that_are_all_needed_stay():
    x, _ = words(n=400, p=60)
    assert merge_columns(sparse.csr_array(x)) is None


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_minimum_is_that_of_all_columns(monkeypatch, classes, intercept, weighted, dtype):
    x, y = words(n=150, p=4000)
    rows, y = sparse.csr_matrix(x.astype(dtype)), y % classes
    weight = np.random.default_rng(1).integers(0, 3, len(y)) if weighted else None
    model = LogisticRegression(fit_intercept=intercept, tol=0, solver="auto", max_iter=1000)
    calls = []
    merge = smooth._fit_merged
    monkeypatch.setattr(smooth, "choose_route", lambda *_, **__: "limited-memory")
    monkeypatch.setattr(smooth, "_fit_merged", lambda *a: calls.append(a) or merge(*a))
    found = model.fit(rows, y, weight)
    assert calls
    monkeypatch.setattr(smooth, "_fit_merged", lambda *_: None)
    expected = LogisticRegression(fit_intercept=intercept, tol=0, max_iter=1000).fit(rows, y, weight)
    assert_allclose(found.coef_, expected.coef_, atol=2e-6)
    assert_allclose(found.intercept_, expected.intercept_, atol=2e-6)
    assert found.coef_.shape == expected.coef_.shape
    assert_allclose(found.predict_proba(rows), expected.predict_proba(rows), atol=1e-6)


def test_a_warm_start_begins_where_the_last_fit_ended(monkeypatch):
    x, y = words(n=150, p=4000)
    monkeypatch.setattr(smooth, "choose_route", lambda *_, **__: "limited-memory")
    model = LogisticRegression(warm_start=True).fit(sparse.csr_matrix(x), y)
    first = model.n_iter_[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(sparse.csr_matrix(x), y)
    assert model.n_iter_[0] < first / 2


def test_slopes_at_the_minimum_are_those_of_the_penalty(monkeypatch):
    x, y = words(n=150, p=4000)
    monkeypatch.setattr(smooth, "choose_route", lambda *_, **__: "limited-memory")
    model = LogisticRegression(C=0.5, tol=1e-8, max_iter=1000).fit(sparse.csr_matrix(x), y)
    residual = np.eye(3)[y] - model.predict_proba(x)
    assert_allclose(model.coef_, 0.5 * residual.T @ x, atol=1e-5)
