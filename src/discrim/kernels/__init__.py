"""Hot loops: C++ where it was built, the NumPy reference that says the same elsewhere."""

from __future__ import annotations

from discrim.kernels import reference_labels, reference_placements, versions
from discrim.kernels.counts import reference as reference_counts
from discrim.kernels.gaussian import reference as reference_gaussian
from discrim.kernels.logistic import reference_columns, reference_coordinate, reference_likelihood
from discrim.kernels.online import reference as reference_online

# The version that was chosen when the library was loaded.
VERSION = versions.start()
BACKEND = "numpy" if VERSION == versions.REFERENCE else "native"

class_moments = reference_gaussian.class_moments
score = reference_gaussian.score
sphere = reference_gaussian.sphere
code_integers = reference_labels.code_integers
code_rows = reference_labels.code_rows
identities = reference_labels.identities
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
sparse_class_moments = reference_counts.sparse_class_moments
sparse_class_sums = reference_counts.sparse_class_sums
sparse_score = reference_counts.sparse_score
held_out_logs = reference_counts.held_out_logs
grid_sums = reference_counts.grid_sums
read_codes = reference_counts.read_codes
read_lists = reference_counts.read_lists
count_codes = reference_counts.count_codes
add_levels = reference_counts.add_levels
log_shares = reference_counts.log_shares
binary_likelihood = reference_likelihood.binary_likelihood
binary_newton = reference_likelihood.binary_newton
quasi_newton = reference_likelihood.quasi_newton
softmax_likelihood = reference_likelihood.softmax_likelihood
sparse_likelihood = reference_likelihood.sparse_likelihood
Stream = reference_online.Stream
learn_dense = reference_online.learn_dense
learn_sparse = reference_online.learn_sparse
learn_epochs = reference_online.learn_epochs
shuffle = reference_online.shuffle
placements = reference_placements.placements

if BACKEND == "native":
    from discrim.kernels import _native

    # Every compiled kernel takes the place of the reference of its name, whose signature it has.
    for _name, _kernel in list(globals().items()):
        if callable(_kernel):
            globals()[_name] = getattr(_native, _name)
