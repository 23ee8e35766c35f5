"""Tests of what the models assume, from the sums over the rows alone. A test that cannot be made is NaN."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import special

from discrim.inference.assumption_shapes import ClassShapes
from discrim.inference.discriminant import box_terms
from discrim.typing import Floats


@dataclass(frozen=True)
class BoxTest:
    """Box's ``m``, its chi-squared and F approximations, and how much it matters.

    ``gain`` is what a covariance matrix for each class adds to the log-likelihood of a row, beyond what noise would
    add: (chi2 - df) / (2 n), at least 0.
    """

    m: float
    chi2: float
    df: float
    chi2_p_value: float
    f: float
    df2: float
    f_p_value: float
    gain: float


def box_test(weight: Floats, scatter: Floats) -> BoxTest:
    """Are the covariance matrices of the classes equal?

    With M, c1 and f = (K - 1) p (p + 1) / 2 as in ``box_terms``, (1 - c1) M is about chi-squared with f degrees of
    freedom. Box's F is nearer for small classes: with v_k = n_k - 1, v = sum v_k,
    c2 = (sum 1/v_k^2 - 1/v^2)(p - 1)(p + 2) / (6 (K - 1)) and df2 = (f + 2) / |c2 - c1^2|, it is
    F = M (1 - c1 - f/df2) / f for c2 > c1^2, else df2 M / (f (b - M)) with b = df2 / (1 - c1 + 2/df2).
    """
    m, c1, f = box_terms(weight, scatter)
    if not np.isfinite(m):
        return BoxTest(np.nan, np.nan, f, np.nan, np.nan, np.nan, np.nan, np.nan)
    classes, p = scatter.shape[:2]
    v_k = np.asarray(weight, dtype=np.float64) - 1.0
    v = float(v_k.sum())
    c2 = float(((1 / v_k**2).sum() - 1 / v**2) * (p - 1) * (p + 2) / (6 * (classes - 1)))
    chi2 = (1 - c1) * m if c1 < 1 else np.nan
    away = c2 - c1**2
    df2 = (f + 2) / abs(away) if away else np.inf
    if away >= 0:
        ratio = m * (1 - c1 - f / df2) / f
    else:
        b = df2 / (1 - c1 + 2 / df2)
        ratio = df2 * m / (f * (b - m)) if m < b else np.nan
    ratio = ratio if ratio > 0 else np.nan
    p_f = float(special.fdtrc(f, df2, ratio)) if np.isfinite(df2) else float(special.chdtrc(f, f * ratio))
    gain = max(chi2 - f, 0.0) / (2 * (v + classes))
    return BoxTest(m, float(chi2), f, float(special.chdtrc(f, chi2)), float(ratio), float(df2), p_f, float(gain))


@dataclass(frozen=True, eq=False)
class MardiaTest:
    """Mardia's coefficients of each class, K numbers each, and the tests of all classes together.

    ``skewness`` is |sum z z z|^2 / n_k^2, with n_k b_1 / 6 about chi-squared with p (p + 1)(p + 2) / 6 degrees of
    freedom; NaN with too many columns. ``kurtosis`` is the mean of |z|^4, about N(p (p + 2), 8 p (p + 2) / n_k). The
    statistics of the classes are added: ``statistic`` and ``df``.
    """

    skewness: Floats
    kurtosis: Floats
    skewness_statistic: Floats
    kurtosis_z: Floats
    statistic: float
    df: float
    p_value: float


def mardia_test(shapes: ClassShapes) -> MardiaTest:
    """Are the rows of each class multivariate normal? Classes without an inverse covariance do not count."""
    n, p = shapes.weight, shapes.third.shape[1]
    safe = np.where(n > 0, n, 1.0)
    kurtosis = shapes.distance / safe
    z = (kurtosis - p * (p + 2)) * np.sqrt(safe / (8 * p * (p + 2)))
    skewness = np.full(len(n), np.nan)
    if shapes.tensor is not None:
        skewness = np.einsum("kabc,kabc->k", shapes.tensor, shapes.tensor) / safe**2
    chi2 = safe * skewness / 6
    there = np.isfinite(z) & (n > p + 1)
    told = there & np.isfinite(chi2)
    if not there.any():
        return MardiaTest(skewness, kurtosis, chi2, z, np.nan, np.nan, np.nan)
    statistic = float((z[there] ** 2).sum() + chi2[told].sum())
    df = float(there.sum() + told.sum() * p * (p + 1) * (p + 2) / 6)
    return MardiaTest(skewness, kurtosis, chi2, z, statistic, df, float(special.chdtrc(df, statistic)))


class ColumnShapes(NamedTuple):
    """Of each column, residuals of all classes together in units of their class's standard deviation (p each)."""

    skewness: Floats
    excess_kurtosis: Floats
    omnibus: Floats
    p_value: Floats


def column_shapes(shapes: ClassShapes) -> ColumnShapes:
    """Skewness, kurtosis - 3 and the omnibus test of D'Agostino and Pearson (1973), which needs 20 rows."""
    n = float(shapes.weight.sum())
    skewness, kurtosis = shapes.third.sum(axis=0) / n, shapes.fourth.sum(axis=0) / n
    if n < 20:
        none = np.full_like(skewness, np.nan)
        return ColumnShapes(skewness, kurtosis - 3.0, none, none)
    omnibus = _skewness_z(skewness, n) ** 2 + _kurtosis_z(kurtosis, n) ** 2
    return ColumnShapes(skewness, kurtosis - 3.0, omnibus, special.chdtrc(2, omnibus))


class Collinearity(NamedTuple):
    """``inflation`` (p): 1 / (1 - R_j^2) within classes, infinite where the others determine a column, NaN where it is
    constant; ``condition``: the root of the ratio of the largest to the smallest eigenvalue of the correlations.
    """

    inflation: Floats
    condition: float


def collinearity(pooled_scatter: Floats, degrees: float) -> Collinearity:
    """Variance inflation factors from the correlations within classes, which ``degrees`` of freedom tell."""
    variance = np.diagonal(pooled_scatter)
    alive = variance > 0
    inflation = np.full(len(variance), np.nan)
    if not alive.any():
        return Collinearity(inflation, np.nan)
    if degrees < alive.sum():
        inflation[alive] = np.inf
        return Collinearity(inflation, np.inf)
    scale = np.sqrt(variance[alive])
    values, vectors = np.linalg.eigh(pooled_scatter[np.ix_(alive, alive)] / scale[:, None] / scale)
    # Where another column takes part in a direction without variance, that column is determined by the others.
    floor = 1e-10 * values[-1]
    lost = values <= floor
    found = (vectors**2 / np.where(lost, np.inf, values)).sum(axis=1)
    found[(vectors[:, lost] ** 2).sum(axis=1) > 1e-8] = np.inf
    inflation[alive] = found
    smallest = float(values[0])
    condition = np.inf if lost[0] else float(np.sqrt(values[-1] / smallest))
    return Collinearity(inflation, condition)


def _skewness_z(skewness: Floats, n: float) -> Floats:
    """D'Agostino's (1970) transformation of the skewness to a standard normal."""
    y = skewness * np.sqrt((n + 1) * (n + 3) / (6 * (n - 2)))
    beta = 3 * (n**2 + 27 * n - 70) * (n + 1) * (n + 3) / ((n - 2) * (n + 5) * (n + 7) * (n + 9))
    w2 = np.sqrt(2 * (beta - 1)) - 1
    return np.asarray(np.arcsinh(y / np.sqrt(2 / (w2 - 1))) / np.sqrt(0.5 * np.log(w2)))


def _kurtosis_z(kurtosis: Floats, n: float) -> Floats:
    """Anscombe and Glynn's (1983) transformation of the kurtosis to a standard normal."""
    variance = 24 * n * (n - 2) * (n - 3) / ((n + 1) ** 2 * (n + 3) * (n + 5))
    x = (kurtosis - 3 * (n - 1) / (n + 1)) / np.sqrt(variance)
    skew = 6 * (n**2 - 5 * n + 2) / ((n + 7) * (n + 9)) * np.sqrt(6 * (n + 3) * (n + 5) / (n * (n - 2) * (n - 3)))
    a = 6 + 8 / skew * (2 / skew + np.sqrt(1 + 4 / skew**2))
    below = 1 + x * np.sqrt(2 / (a - 4))
    with np.errstate(divide="ignore"):
        return np.asarray((1 - 2 / (9 * a) - np.cbrt((1 - 2 / a) / below)) / np.sqrt(2 / (9 * a)))
