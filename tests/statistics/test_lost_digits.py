"""Forgetting either gives what a refit gives, or says that rounding has taken the digits of it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

import discrim
from discrim import kernels
from discrim.block import Block
from discrim.errors import ForgetError
from discrim.kernels.gaussian import reference
from discrim.statistics import ClassFactors, ClassMoments, Depth
from discrim.statistics.cells import CellMoments

KINDS = {
    "diagonal": lambda block: ClassMoments.of(block, Depth.DIAGONAL),
    "pooled": lambda block: ClassMoments.of(block, Depth.POOLED),
    "full": lambda block: ClassMoments.of(block, Depth.FULL),
    "pooled factors": lambda block: ClassFactors.of(block, Depth.POOLED),
    "full factors": lambda block: ClassFactors.of(block, Depth.FULL),
    "cells": CellMoments.of,
}
MODELS = {
    "nb": discrim.GaussianNB,
    "lda": discrim.LinearDiscriminantAnalysis,
    "qda": discrim.QuadraticDiscriminantAnalysis,
    "rda": lambda: discrim.RegularizedDiscriminantAnalysis(alpha=0.5, gamma=0.9),
    "bayes": discrim.BayesianQuadraticDiscriminantAnalysis,
    "least squares": discrim.LeastSquaresClassifier,
    "ridge": discrim.RidgeClassifier,
    "mixed": discrim.MixedNB,
}
LOST = "so much larger than the others.*The model is unchanged"


def squares(statistic):
    return statistic.scatter if isinstance(statistic, CellMoments) else statistic.squares


class Rows:
    """Rows of two classes, of which any part has a statistic."""

    def __init__(self, kind, x, weight=None):
        self.of, self.x, self.y, self.weight = KINDS[kind], x, np.arange(len(x)) % 2, weight

    def part(self, index):
        classes, codes = np.unique(self.y[index], return_inverse=True)
        weight = None if self.weight is None else self.weight[index]
        return self.of(Block(self.x[index], codes.astype(np.int32), classes, weight))

    def without(self, gone):
        """What is left by forgetting, and what a refit gives."""
        everything = np.arange(len(self.x))
        kept = np.setdiff1d(everything, gone)
        return self.part(everything).subtract(self.part(gone)), self.part(kept)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(60))
def test_ordinary_rows_are_forgotten_as_if_they_had_never_been_there(kind, seed):
    """Offsets up to a million deviations, scales from 1e-6 to 1e6, any number of rows from 1 to all but 2."""
    rng = np.random.default_rng(seed)
    n, scale = int(rng.choice([6, 20, 100, 1000])), 10.0 ** rng.uniform(-6, 6, 3)
    x = scale * (rng.choice([0.0, 1.0, 1e3, 1e6], 3) + rng.normal(size=(n, 3)))
    rows = Rows(kind, x, rng.uniform(0.2, 3.0, n) if seed % 2 else None)
    gone = np.sort(rng.permutation(np.arange(2, n))[: rng.integers(1, n - 1)])
    left, expected = rows.without(gone)
    assert_allclose(squares(left) / scale**2, squares(expected) / scale**2, rtol=1e-6, atol=1e-10)
    mean = (left.mean - expected.mean) + (left.low - expected.low)
    assert np.abs(mean / scale).max() < 1e-11


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1e2, 1e4, 1e5, 1e6, 1e7, 1e8, 1e10, 1e13, 1e16, 1e20])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_large_row_is_forgotten_exactly_or_not_at_all(kind, size, weighted):
    refused = []
    for seed, n in enumerate([6, 40, 300, 3000]):
        rng = np.random.default_rng(seed)
        x = rng.choice([0.0, 1e3]) + rng.normal(size=(n, 2))
        i = int(rng.integers(n))
        x[i, 0] = size
        rows = Rows(kind, x, rng.uniform(0.2, 3.0, n) if weighted else None)
        try:
            left, expected = rows.without(np.array([i]))
        except ForgetError as error:
            refused.append((n, str(error)))
            continue
        assert_allclose(squares(left), squares(expected), rtol=1e-6)
    assert all("column 0" in text for _, text in refused)
    if size <= 1e4:
        assert {n for n, _ in refused} <= {6}  # two rows that are left may be nearly equal
    if size >= 1e7:
        assert len(refused) == 4


@pytest.mark.parametrize("kind", KINDS)
def test_a_large_row_that_came_with_another_part_is_as_large(kind):
    x = np.random.default_rng(0).normal(size=(200, 2))
    x[7, 1] = 1e8
    rows = Rows(kind, x)
    merged = rows.part(np.arange(100)).merge(rows.part(np.arange(100, 200)))
    with pytest.raises(ForgetError, match=LOST):
        merged.subtract(rows.part(np.array([7])))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [0.0, 1.0, -0.2672612419124244, 1e6 / 3])
@pytest.mark.parametrize("both", [False, True])
def test_a_column_that_becomes_constant_is_forgotten_without_a_word(kind, value, both):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(60, 2))
    x[:, 1] = value
    gone = np.array([4, 10, 21] if both else [4, 10])
    x[gone, 1] += [1.0, 3.74, 2.0][: len(gone)]
    left, _ = Rows(kind, x).without(gone)
    assert np.sqrt(squares(left)[:, 1].max() / 60) < 1e-7


@pytest.mark.parametrize("kind", KINDS)
def test_a_word_that_only_one_class_still_has_is_forgotten_in_the_other(kind):
    rng = np.random.default_rng(2)
    x = (rng.uniform(size=(400, 3)) < 0.1).astype(float)
    x[::2, 1] = 0.0
    x[40, 1] = 1.0
    left, expected = Rows(kind, x).without(np.array([40, 41, 42]))
    assert_allclose(squares(left), squares(expected), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_a_model_that_cannot_forget_says_so_and_stays_as_it_is(name):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(300, 3)), np.arange(300) % 2
    X += y[:, None]
    X[5, 1] = 1e8
    model = MODELS[name]().fit(X, y)
    before = model.decision_function(X) if not hasattr(model, "predict_proba") else model.predict_proba(X)
    with pytest.raises(ForgetError, match=LOST):
        model.forget(X[5:6], y[5:6])
    after = model.decision_function(X) if not hasattr(model, "predict_proba") else model.predict_proba(X)
    np.testing.assert_array_equal(before, after)
    model.forget(X[6:9], y[6:9])


@pytest.mark.parametrize("name", sorted(set(MODELS) - {"ridge", "bayes"}))
def test_a_model_far_from_zero_forgets_as_near_it(name):
    rng = np.random.default_rng(4)
    X, y = 1e6 + rng.normal(size=(300, 2)), np.arange(300) % 3
    X += 2.0 * np.eye(3, 2)[y]
    left = MODELS[name]().fit(X, y).forget(X[:280], y[:280])
    refit = MODELS[name]().fit(X[280:], y[280:])
    assert_allclose(left.predict_proba(X), refit.predict_proba(X), atol=1e-7)


def test_bytes_keep_the_digits_of_the_mean():
    rows = Rows("full", 1e6 + np.random.default_rng(5).normal(size=(50, 2)))
    whole = rows.part(np.arange(50))
    copy = ClassMoments.from_bytes(whole.to_bytes())
    np.testing.assert_array_equal(copy.low, whole.low)
    assert np.abs(whole.low).max() > 0


def test_a_statistic_without_the_low_digits_of_its_means_is_still_read():
    from dataclasses import replace

    rows = Rows("full", np.random.default_rng(6).normal(size=(50, 2)))
    whole, gone = replace(rows.part(np.arange(50)), low=None), rows.part(np.arange(10))
    assert_allclose(whole.subtract(gone).scatter, rows.part(np.arange(10, 50)).scatter, rtol=1e-9)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernels", [kernels, reference], ids=["chosen", "reference"])
def test_mean_and_low_part_together_are_the_mean_to_the_digits_of_the_deviation(kernels, dtype, order):
    rng = np.random.default_rng(7)
    x = np.asarray(1e6 + rng.normal(size=(5000, 3)), dtype=dtype, order=order)
    weight, codes, low = rng.uniform(0.1, 2.0, 5000), (np.arange(5000) % 2).astype(np.int32), np.zeros((2, 3))
    _, _, mean, _ = kernels.class_moments(x, codes, weight, 2, reference.DIAGONAL, low)
    for k in (0, 1):
        # Differences from a million are exact, and so their mean has all digits.
        near = np.average(x[codes == k].astype(float) - 1e6, axis=0, weights=weight[codes == k])
        assert_allclose((mean[k] - 1e6) + low[k], near, atol=1e-13)


def test_sparse_rows_know_their_means_as_well():
    x = 1e6 + np.random.default_rng(8).normal(size=(300, 2))
    codes, classes = np.zeros(300, np.int32), np.array(["a"])
    dense = ClassMoments.of(Block(x, codes, classes), Depth.DIAGONAL)
    stored = ClassMoments.of(Block(sparse.csr_array(x), codes, classes), Depth.DIAGONAL)
    assert_allclose((stored.mean - dense.mean) + (stored.low - dense.low), 0.0, atol=1e-13)
    assert_allclose(stored.scatter, dense.scatter, rtol=1e-12)


def test_equal_rows_have_factors_of_exactly_nothing():
    x = np.repeat(np.random.default_rng(9).uniform(size=(1, 20)), 3, axis=0)
    for weight in (None, np.array([3.0, 1.0, 0.7])):
        found = ClassFactors.of(Block(x, np.zeros(3, np.int32), np.array(["a"]), weight), Depth.FULL)
        assert not found.factors[0].any()
