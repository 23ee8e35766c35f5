"""Tests of discriminant analysis, from weights, means and scatter: no data are needed.

Throughout: K classes, p columns, n rows (or their weight), W the pooled within-class scatter (sums of
squares, not divided) and B = sum_k n_k (mu_k - mu)(mu_k - mu)' the scatter between classes. A test that
cannot be made, for example with too few rows, is NaN.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

# The functions that scipy.stats stands on: its own import takes a second.
from scipy import special

from discrim.families.gaussian.covariance import SQUARED_NOISE
from discrim.statistics.moments import grand_mean
from discrim.typing import Floats


class WilksTests(NamedTuple):
    """Do the class means differ, and in how many dimensions?

    Row i (from 0) tests that the dimensions from i on do not distinguish the classes.
    """

    lambdas: Floats
    chi2: Floats
    df: Floats
    p_value: Floats

    @property
    def wilks_lambda(self) -> float:
        """Lambda of all dimensions together: the share of the variation that the classes leave unexplained."""
        return float(self.lambdas[0]) if len(self.lambdas) else 1.0


def wilks_tests(eigenvalues: ArrayLike, n: float, p: int, K: int) -> WilksTests:
    """Wilks' lambda of the dimensions from the i-th on, with Bartlett's approximation.

    From the eigenvalues l_0 >= l_1 >= ... of W^-1 B, at most min(p, K - 1) of them:

    - Lambda_i = prod_{j >= i} 1 / (1 + l_j);
    - -a log Lambda_i ~ chi^2 with (p - i)(K - 1 - i) degrees of freedom, a = n - 1 - (p + K) / 2.
    """
    values = np.asarray(eigenvalues, dtype=np.float64)[: min(p, K - 1)]
    # A sum from the last dimension on, so that the small ones are not lost beside the large.
    log_wilks = -np.cumsum(np.log1p(values)[::-1])[::-1]
    i = np.arange(len(values))
    df = np.asarray((p - i) * (K - 1 - i), dtype=np.float64)
    factor = n - 1 - (p + K) / 2
    chi2 = -factor * log_wilks if factor > 0 else np.full_like(log_wilks, np.nan)
    return WilksTests(np.exp(log_wilks), chi2, df, special.chdtrc(df, chi2))


def structure_loadings(covariance: Floats, variances: Floats, scalings: Floats) -> Floats:
    """Correlations within classes of each column with each discriminant coordinate (p x L).

    For z = A'x: ``covariance`` Sigma A, divided by the standard deviations sqrt(Sigma_jj) of the columns, from their
    ``variances``, and sqrt(a_l'Sigma a_l) of the coordinates.
    """
    columns = np.sqrt(variances)
    coordinates = np.sqrt(np.einsum("jl,jl->l", scalings, covariance))
    return _ratio(covariance, np.outer(columns, coordinates))


def sample_size(weight: Floats, rows: ArrayLike) -> float:
    """The n of tests: the weight where it is a whole number in every class, as weights that count rows are.

    Else the number of rows: fractions say how much a row matters, and their unit is arbitrary.
    """
    counted = np.abs(weight - np.rint(weight)) <= 1e-9 * np.maximum(weight, 1.0)
    return float(np.sum(weight if counted.all() else rows))


def univariate_f(
    weight: Floats, mean: Floats, within_scatter_diagonal: Floats, n: float | None = None
) -> tuple[Floats, Floats]:
    """F = (B_jj / (K - 1)) / (W_jj / (n - K)) and its p-value: analysis of variance of each column alone.

    ``n`` is the number of rows where the weights do not add up to it.
    """
    n, K = float(weight.sum()) if n is None else n, len(weight)
    between = weight @ (mean - grand_mean(weight, mean)) ** 2
    if K < 2 or n <= K:
        return np.full(between.shape, np.nan), np.full(between.shape, np.nan)
    statistic = _ratio(between / (K - 1), np.asarray(within_scatter_diagonal) / (n - K))
    return statistic, np.asarray(special.fdtrc(K - 1, n - K, statistic))


class BoxTest(NamedTuple):
    """Box's test of equal covariance matrices: its chi-squared and F approximations, and how much it matters.

    ``gain`` is what a covariance matrix for each class adds to the log-likelihood of a row, beyond what noise would
    add: (chi2 - df) / (2 n), at least 0.
    """

    chi2: float
    df: float
    p_value: float = np.nan
    m: float = np.nan
    f: float = np.nan
    df2: float = np.nan
    f_p_value: float = np.nan
    gain: float = np.nan


def box_m(weight: Floats, scatter: Floats) -> BoxTest:
    """Are the covariance matrices of the classes equal? NaN where that cannot be tested.

    With v_k = n_k - 1, v = sum v_k, Sigma_k = S_k / v_k and Sigma = sum_k S_k / v:

    - M = v log|Sigma| - sum_k v_k log|Sigma_k|;
    - (1 - c1) M is about chi-squared with f = (K - 1) p (p + 1) / 2 degrees of freedom,
      c1 = (sum 1/v_k - 1/v)(2p^2 + 3p - 1) / (6 (p + 1)(K - 1));
    - Box's F is nearer for small classes: with c2 = (sum 1/v_k^2 - 1/v^2)(p - 1)(p + 2) / (6 (K - 1)) and
      df2 = (f + 2) / |c2 - c1^2|, it is F = M (1 - c1 - f/df2) / f for c2 > c1^2, else df2 M / (f (b - M)) with
      b = df2 / (1 - c1 + 2/df2).
    """
    K, p = scatter.shape[:2]
    v_k = np.asarray(weight, dtype=np.float64) - 1.0
    v = float(v_k.sum())
    f = (K - 1) * p * (p + 1) / 2
    if K < 2 or p < 1 or v_k.min() < p:
        return BoxTest(np.nan, f)
    m = float(v * _log_det(scatter.sum(axis=0) / v) - v_k @ _log_det(scatter / v_k[:, None, None]))
    c1 = float(((1 / v_k).sum() - 1 / v) * (2 * p**2 + 3 * p - 1) / (6 * (p + 1) * (K - 1)))
    c2 = float(((1 / v_k**2).sum() - 1 / v**2) * (p - 1) * (p + 2) / (6 * (K - 1)))
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
    gain = max(chi2 - f, 0.0) / (2 * (v + K))
    return BoxTest(chi2, f, float(special.chdtrc(f, chi2)), m, ratio, df2, p_f, gain)


def coefficient_table(coef: Floats, std_error: Floats, df: float | None = None) -> tuple[Floats, Floats]:
    """The statistic coef / std_error and its two-sided p-value: normal (z), or Student's t with df."""
    statistic = _ratio(np.asarray(coef, dtype=np.float64), np.asarray(std_error, dtype=np.float64))
    tail = special.ndtr(-np.abs(statistic)) if df is None else special.stdtr(df, -np.abs(statistic))
    return statistic, np.asarray(2 * tail)


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
