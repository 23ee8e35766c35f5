"""Normal equations of class indicators, from class moments alone, and their solutions by least squares and ridge."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discrim.families.gaussian.covariance import ILL_CONDITIONED, Sphering, Within, divided, pooled_within, row_products
from discrim.families.rule import LinearRule
from discrim.statistics import ClassFactors, ClassMoments
from discrim.statistics.moments import mean_and_gaps
from discrim.typing import Floats

# Exchanges of many coefficients that may fail to help before they are made one by one.
PATIENCE = 3


@dataclass(frozen=True)
class Regression:
    """Normal equations of K targets: T = sum w (x - origin)(x - origin)' and X'Y, columns centred or not.

    ``spread`` is T / n, ``cross`` is X'Y / n for targets Y (p x K), ``level`` their means (K), zero without centring.
    Where T / n = A'A is known by rows A, ``cross`` is A'(0, ``targets``), with one row of targets a class; elsewhere
    these are not needed, which saves a matrix of classes by classes.
    """

    spread: Within
    cross: Floats
    level: Floats
    origin: Floats
    weight: float
    targets: Floats | None

    def functions(self, coef: Floats) -> LinearRule:
        """level_k + b_k'(x - origin) for the columns b_k of ``coef``."""
        return LinearRule(np.ascontiguousarray(coef.T), self.level, self.origin)

    def intercepts(self, coef: Floats) -> Floats:
        """Those of the functions with the slopes ``coef``, penalties x columns x functions."""
        return np.asarray(second_of_two(self.level) - np.einsum("j,ajm->am", self.origin, coef))


def indicator_regression(statistic: ClassMoments | ClassFactors, eps: float, *, centred: bool = True) -> Regression:
    """The indicators' covariance with the columns is that of the class means: n_k (mu_k - mu) / n."""
    n = statistic.total_weight
    shares = statistic.weight / n
    mean, apart = mean_and_gaps(statistic)
    origin, apart = (mean, apart) if centred else (np.zeros_like(mean), statistic.mean)
    roots = np.sqrt(shares)[:, None]
    spread = pooled_within(statistic, "mle", eps).with_rows(roots * apart)
    level = shares if centred else np.zeros_like(shares)
    targets = np.diag(roots[:, 0]) if spread.thin else None
    return Regression(spread, (shares[:, None] * apart).T, level, origin, n, targets)


def signed_regression(statistic: ClassMoments | ClassFactors, eps: float, *, centred: bool = True) -> Regression:
    """The same for targets +1 for a class and -1 for the others, 2 Y - 1: once X is centred, X'Y counts twice."""
    found = indicator_regression(statistic, eps, centred=centred)
    cross, targets = 2.0 * found.cross, None if found.targets is None else 2.0 * found.targets
    if centred:
        return replace(found, cross=cross, targets=targets, level=2.0 * found.level - 1.0)
    cross -= found.cross.sum(axis=1, keepdims=True)
    if targets is not None:
        targets -= 0.5 * targets.sum(axis=1, keepdims=True)
    return replace(found, cross=cross, targets=targets)


def second_of_two(values: Floats) -> Floats:
    """Of two classes the second: with targets +1 and -1 the first is its opposite."""
    return values[..., 1:] if values.shape[-1] == 2 else values


def squared_errors(part: ClassMoments | ClassFactors, coef: Floats, intercept: Floats) -> Floats:
    """Mean squared errors of b_0 + b'x (coef alphas x p x m) for the targets 2 Y - 1 of the rows behind a statistic.

    The mean of (y - b_0 - b'x)^2 is the square of its mean plus the variance of y - b'x, which follows from the normal
    equations of those rows.
    """
    there = signed_regression(part, 0.0)
    level, cross = second_of_two(there.level), second_of_two(there.cross)
    bias = level - intercept - np.einsum("j,ajm->am", there.origin, coef)
    explained = np.einsum("jm,ajm->am", cross, coef)
    flat = coef.transpose(1, 0, 2).reshape(coef.shape[1], -1)
    quadratic = (flat * there.spread.times(flat)).sum(axis=0).reshape(explained.shape)
    variance = np.maximum(1.0 - level**2 - 2.0 * explained + quadratic, 0.0)
    return np.asarray((bias**2 + variance).sum(axis=1))


def least_squares(problem: Regression, tol: float, *, reread: bool) -> tuple[Floats, Sphering]:
    """Coefficients p x K of the targets; directions without variance get none."""
    sphering = problem.spread.sphere(tol=tol, reread=reread)
    return sphering.both(problem.cross)[1], sphering


def ridge(problem: Regression, alpha: float, *, reread: bool) -> Floats:
    """Coefficients p x K of argmin |Y - XB|^2 + alpha |B|^2. Cost p^3 / 6, or n^2 p / 2 + n^3 / 6 where n < p."""
    if alpha == 0:
        return least_squares(problem, 0.0, reread=reread)[0]
    spread, added = problem.spread, alpha / problem.weight
    if spread.thin:
        # B = A'(AA' + alpha I)^-1 Y, unless that is too close to singular.
        lower, rcond, _ = row_products(spread.values, np.ones(len(problem.origin)), added)
        if rcond > ILL_CONDITIONED:
            assert problem.targets is not None
            targets = np.zeros((len(lower), problem.targets.shape[1]))
            targets[-len(problem.targets) :] = problem.targets
            along = divided(lower, targets)
            # What squaring the rows has cost in digits, one residual by the rows themselves brings back.
            along += divided(lower, targets - spread.values @ (spread.values.T @ along) - added * along)
            return np.asarray(spread.values.T @ along)
    sphering = spread.sphere_added(1.0, np.full(len(problem.origin), added), reread=reread)
    return sphering.both(problem.cross)[1]


def ridge_path(problem: Regression, alphas: Floats) -> Floats:
    """Coefficients (alphas x p x K) for all alphas from one eigendecomposition."""
    values, vectors = np.linalg.eigh(problem.spread.dense())
    shrunk = np.maximum(values, 0.0) + (alphas / problem.weight)[:, None]
    return np.asarray(vectors @ ((vectors.T @ problem.cross) / shrunk[:, :, None]))


def positive_ridge(problem: Regression, k: int, alpha: float) -> Floats:
    """The ridge coefficients of target k among those without a negative one.

    Block pivoting: guess which coefficients are free, solve for them, and exchange every one that is negative, or
    zero where the objective falls; where that does not help, one at a time, which ends for certain. The answer is
    exact to rounding. Cost: a ridge solution for each exchange, usually a handful.
    """
    spread, target, added = problem.spread, problem.cross[:, k], alpha / problem.weight
    size = np.sqrt(np.maximum(spread.diagonal + added, np.finfo(float).tiny))
    free, fewest, patience = np.ones(len(target), bool), len(target) + 1, PATIENCE
    while True:
        b = np.zeros_like(target)
        b[free] = _ridge_on(problem, k, alpha, free)
        slope = (spread.times(b) + added * b - target) / size
        rounding = 1e-12 * (np.linalg.norm(size * b) + np.abs(target / size).max(initial=0.0))
        wrong = np.where(free, size * b < -rounding, slope < -rounding)
        count = int(wrong.sum())
        if not count:
            return np.maximum(b, 0.0)
        if count < fewest:
            fewest, patience = count, PATIENCE
        else:
            patience -= 1
        if patience < 0:
            wrong[: np.flatnonzero(wrong)[-1]] = False
        free = free ^ wrong


def _ridge_on(problem: Regression, k: int, alpha: float, columns: NDArray[np.bool_]) -> Floats:
    part = problem.spread.of_columns(columns)
    cross = problem.cross[columns, k : k + 1]
    targets = None if problem.targets is None else problem.targets[:, k : k + 1]
    reduced = replace(problem, spread=part, cross=cross, targets=targets, origin=problem.origin[columns])
    return ridge(reduced, alpha, reread=False)[:, 0]
