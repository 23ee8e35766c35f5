"""Hot loops: C++ where it was built, the NumPy reference that says the same elsewhere."""

from __future__ import annotations

from discrim.kernels import reference_placements, versions
from discrim.kernels.counts import reference_counts, reference_levels
from discrim.kernels.gaussian import reference as gaussian_reference
from discrim.kernels.logistic import reference_columns, reference_coordinate, reference_likelihood
from discrim.kernels.online import reference as online_reference

# The version that was chosen when the library was loaded.
VERSION = versions.start()
BACKEND = "numpy" if VERSION == versions.REFERENCE else "native"

BEST = gaussian_reference.BEST
DIAGONAL = gaussian_reference.DIAGONAL
DIAGONAL_RULE = gaussian_reference.DIAGONAL_RULE
FULL = gaussian_reference.FULL
LINEAR = gaussian_reference.LINEAR
LOG_POSTERIOR = gaussian_reference.LOG_POSTERIOR
POOLED = gaussian_reference.POOLED
POSTERIOR = gaussian_reference.POSTERIOR
QUADRATIC = gaussian_reference.QUADRATIC
SCORES = gaussian_reference.SCORES

class_moments = gaussian_reference.class_moments
score = gaussian_reference.score
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
Stream = online_reference.Stream
learn_dense = online_reference.learn_dense
learn_sparse = online_reference.learn_sparse
shuffle = online_reference.shuffle
placements = reference_placements.placements

if BACKEND == "native":
    from discrim.kernels import _native

    # Every compiled kernel takes the place of the reference of its name, whose signature it has.
    for _name, _kernel in list(globals().items()):
        if callable(_kernel):
            globals()[_name] = getattr(_native, _name)
