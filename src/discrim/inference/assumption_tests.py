"""Tests of what the models assume, from sums over the rows alone. A test that cannot be made is NaN."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from discrim.block import Block
from discrim.engines import reduce_blocks
from discrim.families.gaussian.covariance import rounding_noise, sphere_matrix
from discrim.sources import Rows
from discrim.statistics import ClassMoments, Depth
from discrim.typing import Floats

# Columns up to which the tensor of third moments is kept: p^3 numbers a class, n p^3 multiplications.
TENSOR_COLUMNS = 30
# Products of two coordinates that are held at once.
_HELD = 1 << 20


class ClassShapes(NamedTuple):
    """Sums over the rows of each class, about its mean, which an earlier pass has found.

    With u the residuals divided by the standard deviations of their class, and z = W'(x - mu_k) for Sigma_k^-1 = WW':
    ``third`` and ``fourth`` (K x p) sum u^3 and u^4, ``distance`` (K) sums |z|^4, and ``tensor`` (K x p x p x p) sums
    z_a z_b z_c; None with more than 30 columns. ``weight`` counts the rows. The shapes of two sets of rows about the
    same means are the sums of both.
    """

    weight: Floats
    third: Floats
    fourth: Floats
    distance: Floats
    tensor: Floats | None


def class_shapes(rows: Rows, moments: ClassMoments) -> ClassShapes:
    """One more pass over the rows, n p^2 multiplications (n p^3 with up to 30 columns); ``moments`` are full."""
    roots = [_inverse_root(moments, k) for k in range(len(moments.classes))]
    variances = np.diagonal(moments.scatter, axis1=1, axis2=2) / np.maximum(moments.weight, 1.0)[:, None]
    with np.errstate(divide="ignore"):
        scales = np.where(variances > 0, 1.0 / np.sqrt(variances), 0.0)
    return reduce_blocks(rows, partial(_of_block, moments, scales, roots), _merged)


def full_moments(rows: Rows) -> ClassMoments:
    """Weights, means and a scatter matrix a class: one pass."""
    p, known = rows.design.n_out, 2 if rows.classes is None else len(rows.classes)
    return reduce_blocks(
        rows, lambda block: ClassMoments.of(block, Depth.FULL), ClassMoments.merged, state_bytes=8 * known * p * p
    )


def mardia_test(shapes: ClassShapes) -> tuple[float, float, float, dict[str, Any]]:
    """Are the rows of each class multivariate normal? Statistic, degrees of freedom, p-value, and details by name.

    A class's skewness is |sum z z z|^2 / n_k^2, with n_k b_1 / 6 about chi-squared with p (p + 1)(p + 2) / 6 degrees
    of freedom; NaN with too many columns. Its kurtosis is the mean of |z|^4, about N(p (p + 2), 8 p (p + 2) / n_k).
    The statistics of the classes are added; classes without an inverse covariance do not count.
    """
    n, p = shapes.weight, shapes.third.shape[1]
    safe, normal = np.where(n > 0, n, 1.0), p * (p + 2)
    kurtosis = shapes.distance / safe
    z = (kurtosis - normal) * np.sqrt(safe / (8 * normal))
    skewness = np.full(len(n), np.nan)
    if shapes.tensor is not None:
        skewness = np.einsum("kabc,kabc->k", shapes.tensor, shapes.tensor) / safe**2
    chi2 = safe * skewness / 6
    tested = np.isfinite(z) & (n > p + 1)
    skew_tested = tested & np.isfinite(chi2)
    statistic = float((z[tested] ** 2).sum() + chi2[skew_tested].sum()) if tested.any() else np.nan
    df = float(tested.sum() + skew_tested.sum() * p * (p + 1) * (p + 2) / 6) if tested.any() else np.nan
    details = {
        "mardia_skewness": skewness,
        "mardia_kurtosis": kurtosis,
        "mardia_skewness_statistic": chi2,
        "mardia_kurtosis_z": z,
        "mardia_excess": np.average(kurtosis[tested], weights=n[tested]) / normal - 1 if tested.any() else 0.0,
    }
    return statistic, df, float(special.chdtrc(df, statistic)), details


def column_shapes(shapes: ClassShapes) -> tuple[Floats, Floats, Floats, Floats]:
    """Of each column: skewness, kurtosis - 3, the omnibus statistic of D'Agostino and Pearson (1973) and its p-value.

    They are of the residuals of all classes together, in units of their class's standard deviation. The test needs 20
    rows.
    """
    n = float(shapes.weight.sum())
    skewness, kurtosis = shapes.third.sum(axis=0) / n, shapes.fourth.sum(axis=0) / n
    omnibus = np.full_like(skewness, np.nan)
    if n >= 20:
        omnibus = _skewness_z(skewness, n) ** 2 + _kurtosis_z(kurtosis, n) ** 2
    return skewness, kurtosis - 3.0, omnibus, special.chdtrc(2, omnibus)


def collinearity(pooled_scatter: Floats, degrees: float) -> tuple[Floats, float]:
    """Variance inflation and condition number, from the correlations within classes with ``degrees`` of freedom.

    The inflation (p) is 1 / (1 - R_j^2), infinite where the others determine a column, NaN where it is constant; the
    condition number is the root of the ratio of the largest to the smallest eigenvalue of the correlations.
    """
    variance = np.diagonal(pooled_scatter)
    alive = variance > 0
    inflation = np.full(len(variance), np.nan)
    if not alive.any():
        return inflation, np.nan
    if degrees < alive.sum():
        inflation[alive] = np.inf
        return inflation, np.inf
    scale = np.sqrt(variance[alive])
    values, vectors = np.linalg.eigh(pooled_scatter[np.ix_(alive, alive)] / scale[:, None] / scale)
    # Where another column takes part in a direction without variance, that column is determined by the others.
    lost = values <= 1e-10 * values[-1]
    found = (vectors**2 / np.where(lost, np.inf, values)).sum(axis=1)
    found[(vectors[:, lost] ** 2).sum(axis=1) > 1e-8] = np.inf
    inflation[alive] = found
    return inflation, np.inf if lost[0] else float(np.sqrt(values[-1] / values[0]))


def _of_block(moments: ClassMoments, scales: Floats, roots: Sequence[Floats | None], block: Block) -> ClassShapes:
    classes, p = moments.mean.shape
    weight, third, fourth = np.zeros(classes), np.zeros((classes, p)), np.zeros((classes, p))
    distance = np.zeros(classes)
    tensor = np.zeros((classes, p, p, p)) if p <= TENSOR_COLUMNS else None
    x = block.x if isinstance(block.x, np.ndarray) else block.x.toarray()
    # A block of a scan brings only the classes that it has met.
    at = np.searchsorted(moments.classes, block.classes)[block.codes]
    for k in np.unique(at):
        own = at == k
        gap = np.asarray(x[own], dtype=np.float64) - moments.mean[k]
        w = np.ones(len(gap)) if block.weight is None else block.weight[own]
        u = gap * scales[k]
        squares = u * u
        weight[k], third[k], fourth[k] = w.sum(), w @ (squares * u), w @ (squares * squares)
        root = roots[k]
        if root is None:
            distance[k] = np.nan
            continue
        z = gap @ root
        distance[k] = w @ np.einsum("ij,ij->i", z, z) ** 2
        if tensor is not None:
            tensor[k] = _third_moments(z, w)
    return ClassShapes(weight, third, fourth, distance, tensor)


def _third_moments(z: Floats, w: Floats) -> Floats:
    n, p = z.shape
    total, step = np.zeros((p, p * p)), max(_HELD // max(p * p, 1), 1)
    for start in range(0, n, step):
        part = z[start : start + step]
        pairs = (part[:, :, None] * part[:, None, :]).reshape(len(part), -1)
        total += (w[start : start + step, None] * part).T @ pairs
    return total.reshape(p, p, p)


def _merged(parts: Sequence[ClassShapes]) -> ClassShapes:
    sums: list[Any] = [None if values[0] is None else np.sum(values, axis=0) for values in zip(*parts, strict=True)]
    return ClassShapes(*sums)


def _inverse_root(moments: ClassMoments, k: int) -> Floats | None:
    """W with W'(S / n)W = I; None where the class has no inverse covariance."""
    p = moments.n_features
    if moments.weight[k] <= p:
        return None
    noise = rounding_noise(moments.mean[k : k + 1], np.finfo(float).eps)
    sphering = sphere_matrix(moments.scatter[k] / moments.weight[k], noise, may_reread=False)
    return sphering.backward(np.eye(p)) if sphering.rank == p else None


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
