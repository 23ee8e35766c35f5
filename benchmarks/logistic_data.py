"""Data for the logistic rows, whose labels are drawn from the model, and what the fits minimise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logsumexp

from benchmarks.job import Data

Floats = NDArray[np.float64]

# Standard deviation of the log-odds, which leaves the classes overlapping.
SIGNAL = 2.0


@dataclass(frozen=True)
class PathData(Data):
    """The penalties of a path, in glmnet's scaling; the fold of each row for cross-validation."""

    lambdas: Floats
    intercept: bool = True
    folds: NDArray[np.int64] | None = None

    def without_intercept(self) -> PathData:
        return replace(self, intercept=False)

    def without_first_fold(self) -> PathData:
        """The rows that the first fold's fits are learnt from."""
        assert self.folds is not None
        keep = self.folds > 0
        return replace(self, X=self.X[keep], y=self.y[keep], folds=self.folds[keep] - 1)


def logistic_rows(n: int, p: int, k: int = 2, *, unequal: bool = False) -> Callable[[bool], Data]:
    """Recipe for ``n`` rows of ``p`` correlated columns; ``unequal`` scales them by exp(2 normal).

    The coefficients are divided by the same factors, so that every column says as much as before.
    """
    return partial(_logistic_rows, n, p, k, unequal)


def _logistic_rows(n: int, p: int, k: int, unequal: bool, small: bool) -> Data:
    if small:
        n, p = min(n, 200 * k), min(p, 20 if p < n else 200)
    rng = np.random.default_rng(20263)
    X = _correlated(rng, n, p)
    eta = X @ rng.standard_normal((p, k))
    y = _labels(rng, SIGNAL * eta / eta.std())
    if unequal:
        X *= np.exp(2.0 * rng.standard_normal(p))
    return Data(X, y)


def path_rows(n: int, p: int, *, folds: int = 0) -> Callable[[bool], PathData]:
    """Recipe for a lasso path: ``n`` rows of ``p`` correlated columns, of which twenty matter."""
    return partial(_path_rows, n, p, folds)


def _path_rows(n: int, p: int, folds: int, small: bool) -> PathData:
    if small:
        n, p = min(n, 1000), min(p, 1000 if p > n else 20)
    rng = np.random.default_rng(20263)
    X = _correlated(rng, n, p)
    slopes = np.zeros((p, 2))
    slopes[rng.choice(p, min(20, p), replace=False), 1] = rng.standard_normal(min(20, p))
    eta = X @ slopes
    y = _labels(rng, SIGNAL * eta / eta.std())
    return PathData(X, y, _grid(X, y), folds=rng.permutation(np.arange(n) % folds) if folds else None)


def text_rows(n: int, p: int) -> Callable[[bool], PathData]:
    """Recipe for a lasso path on ``n`` texts over ``p`` words: sparse rows of length one."""
    return partial(_text_rows, n, p)


def _text_rows(n: int, p: int, small: bool) -> PathData:
    if small:
        n, p = min(n, 500), min(p, 2000)
    rng = np.random.default_rng(20263)
    frequency = 1.0 / (10.0 + np.arange(p))
    words = rng.choice(p, size=n * 120, p=frequency / frequency.sum())
    counts = sparse.csr_array((np.ones(len(words)), (np.repeat(np.arange(n), 120), words)), shape=(n, p))
    counts.sum_duplicates()
    rarity = np.log(n / (1.0 + np.bincount(counts.indices, minlength=p)))
    X = sparse.csr_matrix(counts)
    X.data = np.log1p(X.data) * np.maximum(rarity, 0.1)[X.indices]
    X = sparse.csr_matrix(X.multiply(1.0 / sparse.linalg.norm(X, axis=1)[:, None]))
    slopes = np.zeros((p, 2))
    # Of the words that are neither everywhere nor nowhere.
    slopes[rng.choice(min(p, 5000), 300, replace=False), 1] = rng.standard_normal(300)
    eta = X @ slopes
    y = _labels(rng, SIGNAL * eta / eta.std())
    return PathData(X, y, _grid(X, y))


def _correlated(rng: np.random.Generator, n: int, p: int) -> Floats:
    """Normal columns that share ten hidden ones."""
    X = rng.standard_normal((n, p))
    X += rng.standard_normal((n, 10)) @ rng.standard_normal((10, p)) * 0.2
    return X


def _labels(rng: np.random.Generator, eta: Floats) -> NDArray[np.int64]:
    """One draw a row from the softmax of its log-odds: the largest of them plus Gumbel noise."""
    return np.asarray((eta + rng.gumbel(size=eta.shape)).argmax(axis=1))


def _grid(X: Floats, y: NDArray[np.int64], count: int = 100) -> Floats:
    """glmnet's penalties: from the one that leaves no slope to 1e-4 of it, or 1e-2 with more columns than rows."""
    top = float(np.abs(X.T @ (y - y.mean())).max()) / len(y)
    return top * np.geomspace(1.0, 1e-4 if X.shape[0] > X.shape[1] else 1e-2, count)


def ridge_objective(strength: float) -> Callable[[Data, Floats], Floats]:
    """Sum of losses + strength |slopes|^2 / 2, for coefficients (1 + p), or K x (1 + p)."""

    def value(data: Data, coefficients: Floats) -> Floats:
        rows = np.atleast_2d(coefficients)
        eta = data.X @ rows[:, 1:].T + rows[:, 0]
        if len(rows) == 1:
            loss = np.logaddexp(0.0, np.where(data.y == 1, -eta[:, 0], eta[:, 0])).sum()
        else:
            loss = (logsumexp(eta, axis=1) - eta[np.arange(len(eta)), data.y]).sum()
        return np.array([loss + 0.5 * strength * (rows[:, 1:] ** 2).sum()])

    return value


def lasso_objective(data: PathData, coefficients: Floats) -> Floats:
    """Mean of losses + lambda |slopes|_1 for every lambda; infinite where a path (L x (1 + p)) ends too soon."""
    slopes = sparse.csr_array(coefficients[:, 1:])
    eta = np.asarray((data.X @ slopes.T).todense() if sparse.issparse(data.X) else (slopes @ data.X.T).T)
    eta = eta + coefficients[:, 0]
    loss = np.logaddexp(0.0, np.where(data.y[:, None] == 1, -eta, eta)).mean(axis=0)
    values = np.full(len(data.lambdas), np.inf)
    values[: len(loss)] = loss + data.lambdas[: len(loss)] * np.abs(slopes).sum(axis=1)
    return values
