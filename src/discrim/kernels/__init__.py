"""Hot loops: C++ where it was built, the NumPy reference that says the same elsewhere."""

from __future__ import annotations

from discrim.kernels import reference_placements, versions
from discrim.kernels.counts import reference_counts, reference_levels
from discrim.kernels.gaussian import reference as reference_gaussian
from discrim.kernels.gaussian.reference import (
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
from discrim.kernels.logistic import reference_columns, reference_coordinate, reference_likelihood
from discrim.kernels.online import reference as reference_online

# The version that was chosen when the library was loaded.
REFERENCE = versions.REFERENCE
VERSION = versions.start()

if VERSION == versions.REFERENCE:
    BACKEND = "numpy"
    class_moments = reference_gaussian.class_moments
    score = reference_gaussian.score
    code_integers = reference_levels.code_integers
    dense_descent = reference_columns.dense_descent
    sparse_descent = reference_columns.sparse_descent
    dense_slopes = reference_columns.dense_slopes
    sparse_slopes = reference_columns.sparse_slopes
    residuals = reference_columns.residuals
    gram_descent = reference_coordinate.gram_descent
    secant = reference_coordinate.secant
    several_descents = reference_coordinate.several_descents
    several_gradients = reference_coordinate.several_gradients
    several_secants = reference_coordinate.several_secants
    class_sums = reference_counts.class_sums
    sparse_class_sums = reference_counts.sparse_class_sums
    sparse_score = reference_counts.sparse_score
    held_out_logs = reference_counts.held_out_logs
    grid_sums = reference_counts.grid_sums
    read_codes = reference_levels.read_codes
    count_codes = reference_levels.count_codes
    add_levels = reference_levels.add_levels
    binary_likelihood = reference_likelihood.binary_likelihood
    binary_newton = reference_likelihood.binary_newton
    softmax_likelihood = reference_likelihood.softmax_likelihood
    sparse_likelihood = reference_likelihood.sparse_likelihood
    Stream: type[reference_online.Stream] = reference_online.Stream
    learn_dense = reference_online.learn_dense
    learn_sparse = reference_online.learn_sparse
    shuffle = reference_online.shuffle
    placements = reference_placements.placements
else:
    from discrim.kernels import _native

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
    several_descents = _native.several_descents
    several_gradients = _native.several_gradients
    several_secants = _native.several_secants
    class_sums = _native.class_sums
    sparse_class_sums = _native.sparse_class_sums
    sparse_score = _native.sparse_score
    held_out_logs = _native.held_out_logs
    grid_sums = _native.grid_sums
    read_codes = _native.read_codes
    count_codes = _native.count_codes
    add_levels = _native.add_levels
    binary_likelihood = _native.binary_likelihood
    binary_newton = _native.binary_newton
    softmax_likelihood = _native.softmax_likelihood
    sparse_likelihood = _native.sparse_likelihood
    Stream = _native.Stream
    learn_dense = _native.learn_dense
    learn_sparse = _native.learn_sparse
    shuffle = _native.shuffle
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
    "REFERENCE",
    "SCORES",
    "VERSION",
    "Stream",
    "add_levels",
    "binary_likelihood",
    "binary_newton",
    "class_moments",
    "class_sums",
    "code_integers",
    "count_codes",
    "dense_descent",
    "dense_slopes",
    "gram_descent",
    "grid_sums",
    "held_out_logs",
    "learn_dense",
    "learn_sparse",
    "placements",
    "read_codes",
    "residuals",
    "score",
    "secant",
    "several_descents",
    "several_gradients",
    "several_secants",
    "shuffle",
    "softmax_likelihood",
    "sparse_class_sums",
    "sparse_descent",
    "sparse_likelihood",
    "sparse_score",
    "sparse_slopes",
]
