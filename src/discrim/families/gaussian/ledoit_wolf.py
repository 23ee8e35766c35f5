"""Covariances of classes with help of the rows: shrinkage with estimated intensities, and somebody's estimator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from discrim.block import Block
from discrim.errors import DataError, ParameterError, RowsNeededError
from discrim.families.gaussian.covariance import Within
from discrim.families.gaussian.shrinkage import covariance_norms, ledoit_wolf_intensity, oas_intensity
from discrim.families.recipe import Passes
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


@dataclass(frozen=True, eq=False)
class FourthPowers:
    """The reduction to sum_i w_i |z_i|^4 of each class, z the rows centred and in units of ``scales``."""

    classes: NDArray[Any]
    mean: Floats
    scales: Floats
    uses_blas: ClassVar[bool] = False

    def of(self, block: Block) -> Floats:
        codes, x = np.searchsorted(self.classes, block.classes)[block.codes], block.dense()
        total = np.zeros(len(self.mean))
        for start in range(0, len(x), 4096):
            at = codes[start : start + 4096]
            z = (x[start : start + 4096] - self.mean[at]) / self.scales[at]
            norms = np.einsum("ij,ij->i", z, z) ** 2
            if block.weight is not None:
                # What a row of weight zero holds must not matter, even NaN.
                w = block.weight[start : start + 4096]
                norms = np.where(w > 0, norms, 0.0) * w
            total += np.bincount(at, norms, len(self.mean))
        return total

    def merge(self, states: Sequence[Floats]) -> Floats:
        return np.asarray(np.sum(states, axis=0))

    def numbers(self, shape: Any) -> int:  # noqa: ARG002 - one a class
        return len(self.mean)

    def by_class(self) -> FourthPowers:
        return self

    def covers(self, other: Any) -> bool:
        return self is other

    def narrow(self, state: Floats) -> Floats:
        return state


def fourth_powers(passes: Passes | None, statistic: ClassMoments | ClassFactors, scales: Floats) -> Floats:
    """sum_i w_i |z_i|^4 of each class: one more pass."""
    if passes is None or not passes.again:
        raise DataError(
            "Ledoit and Wolf's shrinkage reads the rows twice, which parts, merged models and one-way streams "
            "do not allow. Use a number, 'oas' or 'nonlinear'."
        )
    return passes.reduce(FourthPowers(statistic.classes, statistic.mean, scales))


def estimated_covariances(estimator: Any, passes: Passes | None, classes: int) -> list[Floats]:
    """``estimator`` fitted to the rows of each class in turn."""
    if passes is None:
        raise RowsNeededError("A covariance_estimator needs the rows themselves: use fit, not a statistic.")
    block = passes.block()
    if block.weight is not None and len(np.unique(block.weight)) > 1:
        raise ParameterError("A covariance_estimator takes no weights: leave sample_weight out, or use shrinkage.")
    x = block.dense()
    return [_estimated_covariance(clone(estimator, safe=False), x[block.codes == k]) for k in range(classes)]


def _estimated_covariance(estimator: Any, x: NDArray[Any]) -> Floats:
    fitted = estimator.fit(x)
    covariance = getattr(estimator if fitted is None else fitted, "covariance_", None)
    if covariance is None:
        raise ParameterError(f"{type(estimator).__name__} does not have a covariance_ attribute.")
    sigma = np.atleast_2d(np.asarray(covariance, dtype=np.float64))
    if sigma.shape != (x.shape[1], x.shape[1]):
        raise ParameterError(
            f"The covariance_ of {type(estimator).__name__} has the shape {sigma.shape}; X has {x.shape[1]} columns."
        )
    return sigma
