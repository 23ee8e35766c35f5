"""Linear shrinkage of class covariances with intensities estimated from the data."""

from __future__ import annotations

import numpy as np

from discrim.solvers.shrinkage import covariance_norms, ledoit_wolf_intensity, oas_intensity
from discrim.solvers.within import Within
from discrim.statistics import ClassFactors, ClassMoments
from discrim.typing import Floats


def class_scales(statistic: ClassMoments | ClassFactors, *, standardised: bool) -> Floats:
    """Standard deviations of each class's columns (1 where there is no variance), K x p.

    Without standardising, all columns of a class have their common root mean square: the intensities do not
    depend on it, and the fourth powers neither overflow nor vanish.
    """
    if isinstance(statistic, ClassMoments):
        squares = np.diagonal(statistic.scatter, axis1=1, axis2=2)
    else:
        squares = np.stack([np.einsum("ij,ij->j", r, r) for r in statistic.factors])
    variances = squares / np.where(statistic.weight > 0, statistic.weight, 1.0)[:, None]
    if not standardised:
        variances = np.repeat(variances.mean(axis=1, keepdims=True), variances.shape[1], axis=1)
    deviations = np.sqrt(variances)
    return np.asarray(np.where(deviations > 0, deviations, 1.0))


def shrunk_within(
    statistic: ClassMoments | ClassFactors,
    shares: Floats,
    scales: Floats,
    fourth: Floats | None,
    noise: Floats,
    eps: float,
) -> tuple[Within, Floats]:
    """sum_k shares_k D_k [(1 - s_k) C_k + s_k (tr C_k / p) I] D_k as (Within, diagonal to add).

    C_k is the covariance of class k in units of D_k = diag(scales_k); s_k is Ledoit and Wolf's intensity
    from ``fourth`` = sum_i |z_i|^4, or without it the oracle-approximating one.
    """
    p = statistic.n_features
    added = np.zeros(p)
    factor = np.zeros(len(shares))
    for k, n in enumerate(statistic.weight):
        if not n > 0:
            continue
        trace, frobenius2 = covariance_norms(_scaled_square(statistic, k, scales[k]), n)
        if fourth is None:
            intensity = oas_intensity(n, p, trace, frobenius2)
        else:
            intensity = ledoit_wolf_intensity(n, p, trace, frobenius2, fourth[k])
        factor[k] = shares[k] * (1.0 - intensity) / n
        added += shares[k] * intensity * (trace / p) * scales[k] ** 2
    if isinstance(statistic, ClassMoments):
        return Within(np.einsum("k,kij->ij", factor, statistic.scatter), None, noise, eps), added
    rows = np.vstack([np.sqrt(f) * r for f, r in zip(factor, statistic.factors, strict=True)])
    return Within(None, rows, noise, eps), added


def _scaled_square(statistic: ClassMoments | ClassFactors, k: int, scale: Floats) -> Floats:
    """The scatter of class k in units of the scale, or the Gram matrix of its rows: both have the same norms."""
    if isinstance(statistic, ClassMoments):
        return np.asarray(statistic.scatter[k] / scale[:, None] / scale[None, :])
    rows = statistic.factors[k] / scale
    return np.asarray(rows @ rows.T if rows.shape[0] < rows.shape[1] else rows.T @ rows)
