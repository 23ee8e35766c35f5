"""Oxford MS1b: linear discriminant analysis of the log crabs, as the lecture prints it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from discrim import LinearDiscriminantAnalysis

GROUP_MEANS = [
    [2.564985, 2.475174, 3.312685, 3.462327, 2.441351],
    [2.852455, 2.683831, 3.529370, 3.649555, 2.733273],
    [2.672724, 2.443774, 3.437968, 3.578077, 2.560806],
    [2.787885, 2.489921, 3.490431, 3.589426, 2.701580],
]
COEFFICIENTS = [
    [-31.217207, -2.851488, 25.719750],
    [-9.485303, -24.652581, -6.067361],
    [-9.822169, 38.578804, -31.679288],
    [65.950295, -21.375951, 30.600428],
    [-17.998493, 6.002432, -14.541487],
]
POSTERIORS = [
    [4.058456e-02, 1.579991e-10, 9.594150e-01, 4.367517e-07],
    [4.912087e-01, 2.057493e-09, 5.087911e-01, 2.314634e-07],
    [2.001047e-02, 4.368642e-16, 9.799895e-01, 2.087757e-13],
    [7.867144e-04, 9.148327e-15, 9.992133e-01, 2.087350e-09],
    [2.094626e-03, 2.381970e-11, 9.979020e-01, 3.335500e-06],
    [3.740294e-03, 3.170411e-13, 9.962597e-01, 2.545022e-08],
    [7.291360e-01, 1.625743e-09, 2.708639e-01, 6.637005e-08],
]
# Rows counted from 0 that the printed $class puts into another group than $ct.
MISTAKES = {6: 0, 9: 0, 11: 0, 15: 0, 54: 2, 151: 3, 152: 3, 160: 3}


@pytest.fixture(scope="module")
def lda(log_crabs):
    return LinearDiscriminantAnalysis(normalization="unbiased").fit(*log_crabs)


def test_priors_are_a_quarter_each(lda):
    assert_allclose(lda.priors_, 0.25, rtol=1e-15)


def test_group_means_are_as_printed(lda):
    assert_allclose(lda.means_, GROUP_MEANS, atol=5.1e-7)


def test_coefficients_of_linear_discriminants_are_as_printed_up_to_sign(lda):
    signs = np.sign(lda.scalings_[0] * COEFFICIENTS[0])
    assert_allclose(lda.scalings_[:, :3] * signs[:3], COEFFICIENTS, atol=5.1e-7)


def test_proportion_of_trace_is_as_printed(lda):
    assert_allclose(lda.explained_variance_ratio_, [0.6891, 0.3018, 0.0091], atol=5.1e-5)


def test_posteriors_of_the_first_seven_crabs_are_as_printed(lda, log_crabs):
    assert_allclose(lda.predict_proba(log_crabs[0][:7]), POSTERIORS, rtol=5e-7)


def test_predicted_groups_are_as_printed(lda, log_crabs):
    X, ct = log_crabs
    printed = ct.copy()
    printed[list(MISTAKES)] = list(MISTAKES.values())
    assert_array_equal(lda.predict(X), printed)


def test_lda_on_the_discriminant_coordinates_draws_the_same_boundaries(lda, log_crabs):
    X, ct = log_crabs
    coordinates = lda.transform(X)
    again = LinearDiscriminantAnalysis(normalization="unbiased").fit(coordinates, ct)
    assert_allclose(again.predict_proba(coordinates), lda.predict_proba(X), rtol=1e-8, atol=1e-12)
