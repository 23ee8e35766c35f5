"""Regression of class indicators on the columns, from class moments alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from discrim.solvers.sphering import Sphering, rounding_noise
from discrim.solvers.within import Within, pooled_within
from discrim.statistics import ClassFactors, ClassMoments

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Regression:
    """Normal equations of K indicators: T = sum w (x - origin)(x - origin)' and X'Y, columns centred or not.

    ``spread`` is T / n, ``cross`` is X'Y / n for indicators Y (p x K), ``level`` their means (K).
    """

    spread: Within
    cross: Floats
    level: Floats
    origin: Floats
    weight: float


def indicator_regression(statistic: ClassMoments | ClassFactors, eps: float, *, centred: bool = True) -> Regression:
    """The indicators' covariance with the columns is that of the class means: n_k (mu_k - mu) / n."""
    n = statistic.total_weight
    shares = statistic.weight / n
    mean = shares @ statistic.mean
    origin = mean if centred else np.zeros_like(mean)
    gaps = np.sqrt(shares)[:, None] * (statistic.mean - origin)
    noise = rounding_noise(statistic.mean, eps)
    within = pooled_within(statistic, "mle", noise, eps)
    if within.matrix is not None:
        spread = Within(within.matrix + gaps.T @ gaps, None, noise, eps)
    else:
        assert within.rows is not None
        spread = Within(None, np.vstack([within.rows, gaps]), noise, eps)
    cross = (shares[:, None] * (statistic.mean - origin)).T
    level = shares if centred else np.zeros_like(shares)
    return Regression(spread, cross, level, origin, n)


def least_squares(problem: Regression, tol: float, *, reread: bool) -> tuple[Floats, Sphering]:
    """Coefficients p x K of the indicators; directions without variance get none."""
    sphering = problem.spread.sphere(tol=tol, reread=reread)
    return sphering.backward(sphering.forward(problem.cross)), sphering


def ridge(problem: Regression, alpha: float, *, reread: bool) -> Floats:
    """Coefficients p x K of argmin |Y - XB|^2 + alpha |B|^2. Cost p^3 / 3, or n^2 p where n < p."""
    if alpha == 0:
        return least_squares(problem, 0.0, reread=reread)[0]
    added = np.full(len(problem.origin), alpha / problem.weight)
    sphering = problem.spread.sphere_added(1.0, added, reread=reread)
    return sphering.backward(sphering.forward(problem.cross))


def positive_ridge(problem: Regression, target: Floats, alpha: float) -> Floats:
    """The ridge coefficients of one target that has no negative one; ``target`` is X'y / n."""
    gram = problem.spread.dense() + alpha / problem.weight * np.eye(len(target))
    scale = np.sqrt(np.maximum(np.diagonal(gram), np.finfo(float).tiny))
    scaled, wanted = gram / scale[:, None] / scale[None, :], target / scale

    def objective(b: Floats) -> tuple[float, Floats]:
        slope = scaled @ b
        return 0.5 * float(b @ slope) - float(wanted @ b), slope - wanted

    found = minimize(
        objective, np.zeros_like(wanted), jac=True, method="L-BFGS-B", bounds=[(0, None)] * len(wanted),
        options={"maxiter": 10_000, "ftol": 1e-16, "gtol": 1e-12},
    )  # fmt: skip
    return np.asarray(found.x / scale)
