"""Fisher's direction for two classes, and a threshold on the projection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from discrim.errors import DataError
from discrim.families.gaussian.covariance import EPS, pooled_within
from discrim.families.gaussian.recipe import Statistic
from discrim.statistics import ClassFactors, Depth
from discrim.typing import Floats


@dataclass(frozen=True)
class FisherDiscriminant:
    """Project rows as X @ direction; above ``threshold`` lies the second class.

    ``direction`` = S^-1 (m_2 - m_1), of length one. On the projection each class is taken as a Gaussian with
    mean ``means[i]`` and variance ``variances[i]`` (divisor n_i - 1; the pooled one where only the pooled
    scatter is known, or a class has a single row or no variance), and the threshold is the one with the fewest
    expected errors, n_1 P(y > t | 1) + n_2 P(y <= t | 2): where n_2 p(y | 2) overtakes n_1 p(y | 1), or infinity
    where no threshold is better than always the first class (+inf) or always the second (-inf).
    """

    direction: Floats
    threshold: float
    means: tuple[float, float]
    variances: tuple[float, float]

    def predict(self, X: Any, classes: NDArray[Any]) -> NDArray[Any]:
        """The second class above the threshold, the first below; always the same one where it is infinite."""
        return np.asarray(classes[(np.asarray(X) @ self.direction > self.threshold).astype(int)])


def fisher_discriminant(statistic: Statistic, classes: NDArray[Any]) -> FisherDiscriminant:
    """Fisher's direction from a statistic of two classes."""
    if len(classes) != 2:
        raise DataError(f"Fisher's direction is for two classes; the model has {len(classes)}.")
    for label, weight in zip(classes, statistic.weight, strict=True):
        if not weight > 0:
            raise DataError(
                f"Fisher's direction compares the means of two classes, and class '{label}' has no rows. Add some, "
                "or leave the class out."
            )
    sphering = pooled_within(statistic, "mle", EPS).sphere(tol=0.0, reread=False)
    gap = (statistic.mean[1] - statistic.mean[0])[:, None]
    w = sphering.backward(sphering.forward(gap))[:, 0]
    if not w.any():
        raise DataError(
            "Fisher's direction does not exist: the means of the two classes are equal, or there is no variance within "
            "the classes where the means differ."
        )
    w /= np.linalg.norm(w)
    low, distance = float(statistic.mean[0] @ w), float(gap[:, 0] @ w)
    variances = _projected_variances(statistic, w)
    share = float(statistic.weight[1] / statistic.total_weight)
    threshold = low + best_threshold(distance, *variances, share)
    return FisherDiscriminant(w, threshold, (low, low + distance), variances)


def _projected_variances(statistic: Statistic, w: Floats) -> tuple[float, float]:
    if statistic.depth is Depth.FULL:
        squares, divisors = np.array(_squares(statistic, w)), statistic.weight - 1
        if (divisors > 0).all() and squares.min() > 1e-20 * squares.max():
            return float(squares[0] / divisors[0]), float(squares[1] / divisors[1])
    pooled = sum(_squares(statistic, w)) / (statistic.total_weight - 2)
    return pooled, pooled


def _squares(statistic: Statistic, w: Floats) -> list[float]:
    """w'Sw for every scatter S of the statistic, also where it is known by a factor R with R'R = S."""
    if isinstance(statistic, ClassFactors):
        return [float(np.sum((r @ w) ** 2)) for r in statistic.factors]
    p = statistic.n_features
    return [float(w @ s @ w) for s in statistic.scatter.reshape(-1, p, p)]


def best_threshold(distance: float, v1: float, v2: float, share: float) -> float:
    """t with the fewest errors (1 - share) P(Y_1 > t) + share P(Y_2 <= t), Y_1 ~ N(0, v1) and Y_2 ~ N(distance, v2).

    The errors fall with t while the first class is more likely at t, and rise where the second is. So the best t is
    where a y^2 + b y + c, the log of the ratio of the second to the first, turns positive; or, where the second class
    is more likely nowhere, only between two points or only outside of them, possibly at one of the infinite ends.
    Of equal errors the finite threshold is taken.
    """
    with np.errstate(divide="ignore"):
        odds = float(np.log(share) - np.log1p(-share))
    a, b = 0.5 * (1.0 / v1 - 1.0 / v2), distance / v2
    c = -0.5 * distance**2 / v2 + 0.5 * np.log(v1 / v2) + odds
    ends = {np.inf: share, -np.inf: 1.0 - share}
    discriminant = b * b - 4.0 * a * c if np.isfinite(c) else 0.0
    if discriminant > 0:
        # The root at which the ratio rises; written so that equal variances, with a = 0, are nothing special.
        t = float(-2.0 * c / (b + np.sqrt(discriminant)))
        errors = (1.0 - share) * ndtr(-t / np.sqrt(v1)) + share * ndtr((t - distance) / np.sqrt(v2))
        if errors <= min(ends.values()):
            return t
    return min(ends, key=lambda t: ends[t])
