from discrim.kernels.counts.reference import add_levels as add_levels
from discrim.kernels.counts.reference import class_sums as class_sums
from discrim.kernels.counts.reference import code_integers as code_integers
from discrim.kernels.counts.reference import count_codes as count_codes
from discrim.kernels.counts.reference import grid_sums as grid_sums
from discrim.kernels.counts.reference import held_out_logs as held_out_logs
from discrim.kernels.counts.reference import read_codes as read_codes
from discrim.kernels.counts.reference import read_lists as read_lists
from discrim.kernels.counts.reference import sparse_class_sums as sparse_class_sums
from discrim.kernels.counts.reference import sparse_score as sparse_score
from discrim.kernels.gaussian.reference import class_moments as class_moments
from discrim.kernels.gaussian.reference import score as score
from discrim.kernels.gaussian.reference import sphere as sphere
from discrim.kernels.logistic.reference_columns import dense_descent as dense_descent
from discrim.kernels.logistic.reference_columns import dense_slopes as dense_slopes
from discrim.kernels.logistic.reference_columns import residuals as residuals
from discrim.kernels.logistic.reference_columns import sparse_descent as sparse_descent
from discrim.kernels.logistic.reference_columns import sparse_slopes as sparse_slopes
from discrim.kernels.logistic.reference_coordinate import gram_descent as gram_descent
from discrim.kernels.logistic.reference_coordinate import secant as secant
from discrim.kernels.logistic.reference_coordinate import several_descents as several_descents
from discrim.kernels.logistic.reference_coordinate import several_gradients as several_gradients
from discrim.kernels.logistic.reference_coordinate import several_secants as several_secants
from discrim.kernels.logistic.reference_likelihood import binary_likelihood as binary_likelihood
from discrim.kernels.logistic.reference_likelihood import binary_newton as binary_newton
from discrim.kernels.logistic.reference_likelihood import softmax_likelihood as softmax_likelihood
from discrim.kernels.logistic.reference_likelihood import sparse_likelihood as sparse_likelihood
from discrim.kernels.online.reference import Stream as Stream
from discrim.kernels.online.reference import learn_dense as learn_dense
from discrim.kernels.online.reference import learn_sparse as learn_sparse
from discrim.kernels.online.reference import shuffle as shuffle
from discrim.kernels.reference_placements import placements as placements

def versions() -> tuple[str, ...]: ...
def version() -> str: ...
def use(name: str) -> None: ...
def compiler() -> str: ...
