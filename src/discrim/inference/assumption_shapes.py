"""How far the rows of each class are from normal: third and fourth powers, summed block by block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from discrim.block import Block
from discrim.engines import reduce_blocks
from discrim.families.gaussian.covariance import SQUARED_NOISE
from discrim.sources import Rows
from discrim.statistics import ClassMoments, Depth, merge_moments
from discrim.typing import Floats

# Columns up to which the tensor of third moments is kept: p^3 numbers a class, n p^3 multiplications.
TENSOR_COLUMNS = 30
# Numbers of the products of two coordinates that are held at once.
_HELD = 1 << 20


@dataclass(frozen=True, eq=False)
class ClassShapes:
    """Sums over the rows of each class, about its mean, which an earlier pass has found.

    With u the residuals divided by the standard deviations of their class, and z = L^-1 (x - mu_k) for Sigma_k = L L':
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
    roots = [_inverse_root(scatter, weight) for scatter, weight in zip(moments.scatter, moments.weight, strict=True)]
    variances = np.diagonal(moments.scatter, axis1=1, axis2=2) / np.maximum(moments.weight, 1.0)[:, None]
    with np.errstate(divide="ignore"):
        scales = np.where(variances > 0, 1.0 / np.sqrt(variances), 0.0)
    return reduce_blocks(rows, partial(_of_block, moments, scales, roots), _merged)


def full_moments(rows: Rows) -> ClassMoments:
    """Weights, means and a scatter matrix a class: one pass."""
    p, known = rows.design.n_out, 2 if rows.classes is None else len(rows.classes)
    return reduce_blocks(
        rows, lambda block: ClassMoments.of(block, Depth.FULL), merge_moments, state_bytes=8 * known * p * p
    )


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
    tensors = [part.tensor for part in parts if part.tensor is not None]
    return ClassShapes(
        np.sum([part.weight for part in parts], axis=0),
        np.sum([part.third for part in parts], axis=0),
        np.sum([part.fourth for part in parts], axis=0),
        np.sum([part.distance for part in parts], axis=0),
        np.sum(tensors, axis=0) if tensors else None,
    )


def _inverse_root(scatter: Floats, weight: float) -> Floats | None:
    """R with R'(S / n)R = I; None where the class has no inverse covariance."""
    scale = np.sqrt(np.diagonal(scatter))
    if weight <= len(scatter) or not (scale > 0).all():
        return None
    values, vectors = np.linalg.eigh(scatter / scale[:, None] / scale)
    if values[0] <= SQUARED_NOISE * values[-1]:
        return None
    return np.asarray(np.sqrt(weight) * (vectors / np.sqrt(values)) / scale[:, None])
