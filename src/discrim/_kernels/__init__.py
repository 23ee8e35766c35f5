"""Hot loops: C++ where it was built, the NumPy reference that says the same elsewhere."""

from __future__ import annotations

from discrim._kernels import (
    reference,
    reference_columns,
    reference_coordinate,
    reference_likelihood,
    reference_placements,
)
from discrim._kernels.reference import (
    BEST,
    DIAGONAL,
    DIAGONAL_RULE,
    FULL,
    LINEAR,
    LOG_POSTERIOR,
    POOLED,
    POSTERIOR,
    QUADRATIC,
    SCORES,
)

try:
    from discrim._kernels import _native
except ImportError:
    BACKEND = "numpy"
    class_moments = reference.class_moments
    score = reference.score
    code_integers = reference.code_integers
    dense_descent = reference_columns.dense_descent
    sparse_descent = reference_columns.sparse_descent
    dense_slopes = reference_columns.dense_slopes
    sparse_slopes = reference_columns.sparse_slopes
    residuals = reference_columns.residuals
    gram_descent = reference_coordinate.gram_descent
    secant = reference_coordinate.secant
    several_gradients = reference_coordinate.several_gradients
    binary_likelihood = reference_likelihood.binary_likelihood
    softmax_likelihood = reference_likelihood.softmax_likelihood
    sparse_likelihood = reference_likelihood.sparse_likelihood
    placements = reference_placements.placements
else:
    BACKEND = "native"
    class_moments = _native.class_moments
    score = _native.score
    code_integers = _native.code_integers
    dense_descent = _native.dense_descent
    sparse_descent = _native.sparse_descent
    dense_slopes = _native.dense_slopes
    sparse_slopes = _native.sparse_slopes
    residuals = _native.residuals
    gram_descent = _native.gram_descent
    secant = _native.secant
    several_gradients = _native.several_gradients
    binary_likelihood = _native.binary_likelihood
    softmax_likelihood = _native.softmax_likelihood
    sparse_likelihood = _native.sparse_likelihood
    placements = _native.placements

__all__ = [
    "BACKEND",
    "BEST",
    "DIAGONAL",
    "DIAGONAL_RULE",
    "FULL",
    "LINEAR",
    "LOG_POSTERIOR",
    "POOLED",
    "POSTERIOR",
    "QUADRATIC",
    "SCORES",
    "binary_likelihood",
    "class_moments",
    "code_integers",
    "dense_descent",
    "dense_slopes",
    "gram_descent",
    "placements",
    "residuals",
    "score",
    "secant",
    "several_gradients",
    "softmax_likelihood",
    "sparse_descent",
    "sparse_likelihood",
    "sparse_slopes",
]
