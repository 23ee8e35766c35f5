"""Tests of discriminant analysis, from weights, means and scatter: no data are needed.

Throughout: K classes, p columns, n rows (or their weight), W the pooled within-class scatter (sums of
squares, not divided) and B = sum_k n_k (mu_k - mu)(mu_k - mu)' the scatter between classes. A test that
the numbers cannot carry, for example of too few rows, is NaN.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

# The functions that scipy.stats stands on: its own import takes a second.
from scipy import special

from discrim.families.gaussian.covariance import SQUARED_NOISE
from discrim.statistics.moments import grand_mean
from discrim.typing import Floats


@dataclass(frozen=True)
class WilksTests:
    """Do the class means differ, and in how many dimensions?

    Row i (from 0) of ``lambdas``, ``chi2``, ``df`` and ``p_value`` tests that the dimensions from i on
    tell nothing. ``approx_f`` with ``df1`` and ``df2`` degrees of freedom and ``f_p_value`` is the test of
    all dimensions together.
    """

    correlations: Floats
    lambdas: Floats
    chi2: Floats
    df: Floats
    p_value: Floats
    approx_f: float
    df1: float
    df2: float
    f_p_value: float

    @property
    def wilks_lambda(self) -> float:
        """Lambda of all dimensions together: the share of the spread that the classes leave unexplained."""
        return float(self.lambdas[0]) if len(self.lambdas) else 1.0


def wilks_tests(eigenvalues: ArrayLike, n: float, p: int, K: int) -> WilksTests:
    """Wilks' lambda of the dimensions from the i-th on, with Bartlett's and Rao's approximations.

    From the eigenvalues l_0 >= l_1 >= ... of W^-1 B, at most min(p, K - 1) of them:

    - canonical correlations sqrt(l_i / (1 + l_i));
    - Lambda_i = prod_{j >= i} 1 / (1 + l_j);
    - Bartlett: -a log Lambda_i ~ chi^2 with (p - i)(K - 1 - i) degrees of freedom, a = n - 1 - (p + K) / 2;
    - Rao: see ``_rao_f``.
    """
    values = np.asarray(eigenvalues, dtype=np.float64)[: min(p, K - 1)]
    # A sum from the last dimension on, so that the small ones are not lost beside the large.
    log_wilks = -np.cumsum(np.log1p(values)[::-1])[::-1]
    i = np.arange(len(values))
    df = np.asarray((p - i) * (K - 1 - i), dtype=np.float64)
    factor = n - 1 - (p + K) / 2
    chi2 = -factor * log_wilks if factor > 0 else np.full_like(log_wilks, np.nan)
    total = float(log_wilks[0]) if len(values) else 0.0
    return WilksTests(
        1 / np.sqrt(1 + _ratio(np.ones_like(values), values)),
        np.exp(log_wilks),
        chi2,
        df,
        special.chdtrc(df, chi2),
        *_rao_f(total, n, p, K),
    )


def structure_loadings(covariance: Floats, variances: Floats, scalings: Floats) -> Floats:
    """Correlations within classes of each column with each discriminant coordinate (p x L).

    For z = A'x: ``covariance`` Sigma A, divided by the standard deviations sqrt(Sigma_jj) of the columns, from their
    ``variances``, and sqrt(a_l'Sigma a_l) of the coordinates.
    """
    columns = np.sqrt(variances)
    coordinates = np.sqrt(np.einsum("jl,jl->l", scalings, covariance))
    return _ratio(covariance, np.outer(columns, coordinates))


def univariate_f(weight: Floats, mean: Floats, within_scatter_diagonal: Floats) -> tuple[Floats, Floats]:
    """F = (B_jj / (K - 1)) / (W_jj / (n - K)) and its p-value: analysis of variance of each column alone."""
    n, K = float(weight.sum()), len(weight)
    between = weight @ (mean - grand_mean(weight, mean)) ** 2
    if K < 2 or n <= K:
        return np.full(between.shape, np.nan), np.full(between.shape, np.nan)
    statistic = _ratio(between / (K - 1), np.asarray(within_scatter_diagonal) / (n - K))
    return statistic, np.asarray(special.fdtrc(K - 1, n - K, statistic))


def box_m(weight: Floats, scatter: Floats) -> tuple[float, float, float]:
    """Box's M test of equal covariance matrices: chi^2 statistic, degrees of freedom, p-value.

    (1 - c) M ~ chi^2 with (K - 1) p (p + 1) / 2 degrees of freedom; see ``box_terms``.
    """
    m, c, df = box_terms(weight, scatter)
    statistic = float((1 - c) * m) if c < 1 else np.nan
    return statistic, df, float(special.chdtrc(df, statistic))


def box_terms(weight: Floats, scatter: Floats) -> tuple[float, float, float]:
    """M, its correction c and the degrees of freedom.

    With v_k = n_k - 1, v = sum v_k, Sigma_k = S_k / v_k and Sigma = sum_k S_k / v:
    M = v log|Sigma| - sum_k v_k log|Sigma_k|, and
    c = (sum_k 1/v_k - 1/v) (2p^2 + 3p - 1) / (6 (p + 1)(K - 1)).

    A class whose covariance has no inverse makes the test NaN.
    """
    K, p = scatter.shape[:2]
    v_k = np.asarray(weight, dtype=np.float64) - 1
    v = v_k.sum()
    df = (K - 1) * p * (p + 1) / 2
    if K < 2 or p < 1 or v_k.min() < p:
        return np.nan, np.nan, df
    m = v * _log_det(scatter.sum(axis=0) / v) - v_k @ _log_det(scatter / v_k[:, None, None])
    c = ((1 / v_k).sum() - 1 / v) * (2 * p**2 + 3 * p - 1) / (6 * (p + 1) * (K - 1))
    return float(m), float(c), df


def coefficient_table(coef: Floats, std_error: Floats, df: float | None = None) -> tuple[Floats, Floats]:
    """The statistic coef / std_error and its two-sided p-value: normal (z), or Student's t with df."""
    statistic = _ratio(np.asarray(coef, dtype=np.float64), np.asarray(std_error, dtype=np.float64))
    tail = special.ndtr(-np.abs(statistic)) if df is None else special.stdtr(df, -np.abs(statistic))
    return statistic, np.asarray(2 * tail)


def _rao_f(log_wilks: float, n: float, p: int, K: int) -> tuple[float, float, float, float]:
    """F, its degrees of freedom and p-value: with q = K - 1 and s = sqrt((p^2 q^2 - 4) / (p^2 + q^2 - 5)),

    F = (Lambda^(-1/s) - 1) df2 / df1, df1 = pq, df2 = (n - 1 - (p + K) / 2) s - (pq - 2) / 2.
    Exact where p or q is at most 2; s is 1 where the formula gives none.
    """
    q = K - 1
    df1 = float(p * q)
    if df1 <= 0:
        return np.nan, df1, np.nan, np.nan
    s = np.sqrt((df1**2 - 4) / (p**2 + q**2 - 5)) if p**2 + q**2 > 5 else 1.0
    df2 = float((n - 1 - (p + K) / 2) * s - (df1 - 2) / 2)
    if df2 <= 0:
        return np.nan, df1, df2, np.nan
    statistic = float(np.expm1(-log_wilks / s) * df2 / df1)
    return statistic, df1, df2, float(special.fdtrc(df1, df2, statistic))


def _log_det(sigma: Floats) -> Floats:
    """Logarithms of determinants, NaN for matrices that are singular but for rounding.

    Scaled to correlations first, so that the units of the columns do not look like singularity.
    """
    variance = np.diagonal(sigma, axis1=-2, axis2=-1)
    scale = np.sqrt(np.where(variance > 0, variance, np.nan))
    usable = np.asarray(np.isfinite(scale).all(axis=-1))
    scaled = sigma / (scale[..., :, None] * scale[..., None, :])
    safe = np.where(usable[..., None, None], scaled, np.eye(sigma.shape[-1]))
    values = np.linalg.eigvalsh(safe)
    regular = usable & (values[..., 0] > SQUARED_NOISE * values[..., -1])
    logs = np.log(np.where(regular[..., None], values, 1.0)).sum(axis=-1) + 2 * np.log(scale).sum(axis=-1)
    return np.asarray(np.where(regular, logs, np.nan))


def _ratio(above: Floats, below: Floats) -> Floats:
    """The quotient, infinite where only the divisor is zero, NaN where both are."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(above / below)
