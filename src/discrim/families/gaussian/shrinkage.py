"""Covariance shrinkage with estimated intensities: how far to pull, and what each eigenvalue becomes.

Throughout, C = S/n is the covariance matrix of n centred rows x_i in p columns. The linear
estimators (1 - s) C + s (tr C/p) I need C only through two norms, which the p x p scatter X'X and
the n x n Gram matrix XX' share; so more columns than rows costs nothing extra.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from discrim.block import Block
from discrim.errors import DataError, ParameterError, RowsNeededError
from discrim.families.recipe import Passes, Sum
from discrim.statistics import ClassFactors, ClassMoments
from discrim.typing import Floats

_SQRT5 = np.sqrt(5.0)
# Values that a core keeps at hand.
CACHED = 1 << 15
# u^2 <= 1/16 where the series is used, so that 14 terms reach the last digit.
_FAR_SERIES = [3.0 / ((2 * j + 1) * (2 * j + 3)) for j in range(14)]


def class_shrinkage(statistic: ClassMoments | ClassFactors, how: str, passes: Passes | None) -> tuple[Floats, Floats]:
    """D_k [(1 - s_k) C_k + s_k (tr C_k/p) I] D_k of each class: the s_k (K), and the diagonals that are added (K x p).

    C_k is the covariance of class k in units of D_k: its deviations (1 where there is no variance) for ``how`` 'auto',
    else their root mean square, on which the intensities do not depend; fourth powers neither overflow nor vanish. s_k
    is Ledoit and Wolf's intensity, or the oracle-approximating one for 'oas'.
    """
    p, present = statistic.n_features, np.flatnonzero(statistic.weight > 0)
    variances = statistic.squares / np.where(statistic.weight > 0, statistic.weight, 1.0)[:, None]
    if how != "auto":
        variances = np.repeat(variances.mean(axis=1, keepdims=True), p, axis=1)
    scales = np.where(variances > 0, np.sqrt(variances), 1.0)
    fourth = None if how == "oas" else fourth_powers(passes, statistic, scales)
    intensity, added = np.zeros(len(scales)), np.zeros_like(scales)
    for k, n in zip(present.tolist(), statistic.weight[present].tolist(), strict=True):
        trace, frobenius2 = covariance_norms(_scaled_square(statistic, k, scales[k]), n)
        if fourth is None:
            intensity[k] = oas_intensity(n, p, trace, frobenius2)
        else:
            intensity[k] = ledoit_wolf_intensity(n, p, trace, frobenius2, fourth[k])
        added[k] = intensity[k] * (trace / p) * scales[k] ** 2
    return intensity, added


def covariance_norms(scatter: NDArray[Any], n: float) -> tuple[float, float]:
    """tr C and the squared Frobenius norm of C = S/n.

    ``scatter`` is the p x p scatter or, just as well, the n x n Gram matrix of the centred rows.
    """
    values = np.asarray(scatter, dtype=np.float64) / n
    return float(np.trace(values)), float(np.vdot(values, values))


def ledoit_wolf_intensity(n: float, p: int, trace: float, frobenius2: float, fourth: float) -> float:
    """The Ledoit-Wolf (2004) weight s of the identity target; O(1).

    With q = sum_i w_i |x_i|^4 (``fourth``) and m = tr C/p,

        beta  = (q/n - |C|^2)/(n p)     the variance of the entries of C,
        delta = (|C|^2 - p m^2)/p       the distance of C from m I,

    and s = min(beta, delta)/delta. It is 0 where there is nothing to shrink (one column, or C = m I
    with no variance).
    """
    delta = (frobenius2 - trace**2 / p) / p
    beta = min((fourth / n - frobenius2) / (n * p), delta)
    # One column already is its target; what is left in delta then is only rounding.
    if p == 1 or beta <= 0.0:
        return 0.0
    return beta / delta


def oas_intensity(n: float, p: int, trace: float, frobenius2: float) -> float:
    """The oracle-approximating weight s of the identity target, as scikit-learn's ``OAS`` has it; O(1).

    s = min(1, (|C|^2 + tr^2)/[(n + 1)(|C|^2 - tr^2/p)]); a C that equals its target gives 1. Chen et al. (2010) have
    (1 - 2/p) |C|^2 in the numerator and n + 1 - 2/p in the denominator: of few columns theirs shrinks less.
    """
    if p == 1:
        return 0.0
    distance = (n + 1.0) * (frobenius2 - trace**2 / p)
    if distance <= 0.0:
        return 1.0
    return min((frobenius2 + trace**2) / distance, 1.0)


def nonlinear_eigenvalues(eigenvalues: NDArray[Any], p: int, n: float) -> tuple[Floats, float]:
    """Analytical nonlinear shrinkage (Ledoit and Wolf 2020) of the eigenvalues of C.

    ``n`` is the effective number of rows, that is the divisor of C: n - 1 after centring, n - K
    within K classes. ``eigenvalues`` are all p of them, or only the non-null ones as a Gram matrix
    gives them, in any order. Returns their replacements in the same order, and the one value d_0 that
    replaces every null eigenvalue; an estimator keeps the eigenvectors.

    The density f of the m non-null eigenvalues is estimated by Epanechnikov kernels of width
    h lambda_j, h = n^(-1/3), at each of them, and Hf is its Hilbert transform. With c = p/n

        p <= n:  d_i = lambda_i/[(pi c lambda_i f_i)^2 + (1 - c - pi c lambda_i Hf_i)^2]
        p > n:   d_i = 1/[pi^2 lambda_i (f_i^2 + Hf_i^2)],   d_0 = 1/[pi (c - 1) Hf(0)]

    where f and Hf are those of the non-null part. If fewer than min(p, n) eigenvalues differ from
    zero, the columns themselves are dependent: the estimate then lives in their span (p is replaced
    by the rank) and d_0 = 0. O(m^2).
    """
    values = np.asarray(eigenvalues, dtype=np.float64)
    alive = _nonnull(values, p, n)
    rank = int(alive.sum())
    shrunk = np.zeros_like(values)
    if rank == 0:
        return shrunk, 0.0
    lam = values[alive]
    density, hilbert = _density_and_hilbert(lam, lam, n)
    if p > n and rank >= int(n):
        shrunk[alive] = 1.0 / (np.pi**2 * lam * (density**2 + hilbert**2))
        at_zero = float(_density_and_hilbert(np.zeros(1), lam, n)[1][0])
        null = 1.0 / (np.pi * (p / n - 1.0) * at_zero)
    else:
        c = rank / n
        scaled = np.pi * c * lam
        shrunk[alive] = lam / ((scaled * density) ** 2 + (1.0 - c - scaled * hilbert) ** 2)
        null = 0.0
    shrunk[~alive] = null
    return shrunk, null


def _nonnull(values: Floats, p: int, n: float) -> NDArray[np.bool_]:
    """Which eigenvalues are more than rounding; at most min(p, n) can be."""
    top = float(values.max(initial=0.0))
    alive = values > 8.0 * np.finfo(np.float64).eps * max(p, n) * top
    surplus = int(alive.sum()) - int(min(p, n))
    if surplus > 0:
        smallest = np.argsort(np.where(alive, values, np.inf), kind="stable")[:surplus]
        alive[smallest] = False
    return alive


def _density_and_hilbert(at: Floats, lam: Floats, n: float) -> tuple[Floats, Floats]:
    """Kernel density of ``lam`` and its Hilbert transform at the points ``at``.

    The kernel is the Epanechnikov density k(x) = 3/(4 sqrt5) (1 - x^2/5)_+ with variance 1.
    """
    width = n ** (-1.0 / 3.0) * lam
    x = (at[:, None] - lam) / width
    kernel = 3.0 / (4.0 * _SQRT5) * np.maximum(1.0 - x**2 / 5.0, 0.0)
    return (kernel / width).mean(axis=1), (_kernel_hilbert(x) / width).mean(axis=1)


def _kernel_hilbert(x: Floats) -> Floats:
    """The Hilbert transform of k: -3x/(10 pi) + 3/(4 sqrt5 pi) (1 - x^2/5) log|(sqrt5 - x)/(sqrt5 + x)|.

    Its two parts grow with x and cancel to -1/(pi x), which would leave no digit near a tiny
    eigenvalue. Far out the moments of k give the same function as a series in u = sqrt5/x:
    -(1/(pi x)) sum_j 3 u^(2j)/((2j + 1)(2j + 3)).
    """
    far = np.abs(x) > 4.0 * _SQRT5
    near = np.where(far, 0.0, x)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = (1.0 - near**2 / 5.0) * (np.log(np.abs(_SQRT5 - near)) - np.log(np.abs(_SQRT5 + near)))
    # At the edge of the support the product of 0 and the infinite logarithm has the limit 0.
    logs[~np.isfinite(logs)] = 0.0
    value: Floats = -0.3 * near + 3.0 / (4.0 * _SQRT5) * logs
    value[far] = -np.polynomial.polynomial.polyval(5.0 / x[far] ** 2, _FAR_SERIES) / x[far]
    value /= np.pi
    return value


def _scaled_square(statistic: ClassMoments | ClassFactors, k: int, scale: Floats) -> Floats:
    """The scatter of class k in units of the scale, or the Gram matrix of its rows: both have the same norms."""
    if isinstance(statistic, ClassMoments):
        return np.asarray(statistic.scatter[k] / scale[:, None] / scale[None, :])
    rows = statistic.factors[k]
    if rows.shape[0] < rows.shape[1]:
        return scaled_products(rows, scale)
    scaled = rows / scale
    return np.asarray(scaled.T @ scaled)


def scaled_products(rows: Floats, scale: Floats) -> Floats:
    """BB' for rows B = AD^-1 (r x p), without a second matrix of that size."""
    r, p = rows.shape
    products, inverse, step = np.zeros((r, r)), 1.0 / scale, max(CACHED // max(r, 1), 512)
    # So few columns at a time that they stay in the cache.
    space = np.empty((r, min(step, p)))
    for start in range(0, p, step):
        stop = min(start + step, p)
        part = np.multiply(rows[:, start:stop], inverse[start:stop], out=space[:, : stop - start])
        products += part @ part.T
    return products


def fourth_powers(passes: Passes | None, statistic: ClassMoments | ClassFactors, scales: Floats) -> Floats:
    """sum_i w_i |z_i|^4 of each class, z the rows centred and in units of ``scales``: one more pass."""
    if passes is None or not passes.again:
        raise DataError(
            "Ledoit and Wolf's shrinkage reads the rows twice, which parts, merged models and one-way streams "
            "do not allow. Use a number, 'oas' or 'nonlinear'."
        )
    of = partial(_fourth_powers, statistic.classes, statistic.mean, scales)
    return passes.reduce(Sum(of, _added, len(scales)))


def _fourth_powers(classes: NDArray[Any], mean: Floats, scales: Floats, block: Block) -> Floats:
    codes, x = np.searchsorted(classes, block.classes)[block.codes], block.dense()
    # So few rows at a time that they stay in the cache.
    norms, step, inverse = np.empty(len(x)), max(CACHED // x.shape[1], 1), 1.0 / scales
    space = np.empty((2, min(step, len(x)), x.shape[1]))
    for start in range(0, len(x), step):
        rows = slice(start, start + step)
        of_rows = codes[rows]
        z, unit = space[:, : len(of_rows)]
        np.subtract(x[rows], np.take(mean, of_rows, axis=0, out=z, mode="clip"), out=z)
        z *= np.take(inverse, of_rows, axis=0, out=unit, mode="clip")
        norms[rows] = np.einsum("ij,ij->i", z, z) ** 2
    if block.weight is not None:
        # What a row of weight zero holds must not matter, even NaN.
        norms = np.where(block.weight > 0, norms, 0.0) * block.weight
    return np.asarray(np.bincount(codes, norms, len(mean)), dtype=np.float64)


def _added(states: Sequence[Floats]) -> Floats:
    return np.asarray(np.sum(states, axis=0))


def estimated_covariances(estimator: Any, passes: Passes | None, classes: int) -> list[Floats]:
    """``estimator`` fitted to the rows of each class in turn."""
    if passes is None:
        raise RowsNeededError("A covariance_estimator needs the rows themselves: use fit, not a statistic.")
    block = passes.block()
    if block.weight is not None and len(np.unique(block.weight)) > 1:
        raise ParameterError("A covariance_estimator takes no weights: leave sample_weight out, or use shrinkage.")
    x, found = block.dense(), []
    for k in range(classes):
        fitted = clone(estimator, safe=False)
        fitted = fitted.fit(x[block.codes == k]) or fitted
        sigma = getattr(fitted, "covariance_", None)
        if sigma is None:
            raise ParameterError(f"{type(estimator).__name__} does not have a covariance_ attribute.")
        found.append(np.atleast_2d(np.asarray(sigma, dtype=np.float64)))
        if found[k].shape != (x.shape[1], x.shape[1]):
            raise ParameterError(
                f"The covariance_ of {type(estimator).__name__} has the shape {found[k].shape}; "
                f"X has {x.shape[1]} columns."
            )
    return found
