"""Sphering against inverses, determinants and exact rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import discrim
from discrim.errors import CollinearWarning
from discrim.families.gaussian.covariance import (
    IllConditionedError,
    LowRankSphering,
    RowSphering,
    TriangularSphering,
    rounding_noise,
    sphere_factor,
    sphere_low_rank,
    sphere_matrix,
)

EPS = float(np.finfo(float).eps)


def rows_of(n=60, p=5, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p)) @ (np.eye(p) + 0.4 * rng.normal(size=(p, p)))
    return (x - x.mean(axis=0)) / np.sqrt(n)


def noise_for(p):
    return np.full(p, np.finfo(float).tiny)


def by_matrix(a, *, may_reread=False):
    return sphere_matrix(a.T @ a, noise_for(a.shape[1]), may_reread=may_reread)


def by_factor(a):
    return sphere_factor(a, noise_for(a.shape[1]), EPS, 0.0)


def low_rank(a):
    """The same covariance as a diagonal plus what remains."""
    extra = np.full(a.shape[1], 0.5)
    return sphere_low_rank(extra, a), np.diag(extra) + a.T @ a


FORMS = pytest.mark.parametrize("sphere", [by_matrix, by_factor], ids=["matrix", "factor"])


def w_of(sphering, p):
    """W written out, from either direction of use."""
    backward = sphering.backward(np.eye(sphering.forward(np.zeros((p, 1))).shape[0]))
    np.testing.assert_allclose(sphering.forward(np.eye(p)).T, backward, rtol=1e-9, atol=1e-9 * np.abs(backward).max())
    return backward


def exact_inverse(sigma):
    """The inverse of a matrix of fractions, by elimination."""
    p = len(sigma)
    work = [[*row, *(Fraction(int(i == j)) for j in range(p))] for i, row in enumerate(sigma)]
    for i in range(p):
        work[i] = [value / work[i][i] for value in work[i]]
        for other in range(p):
            if other != i:
                work[other] = [a - work[other][i] * b for a, b in zip(work[other], work[i], strict=True)]
    return [row[p:] for row in work]


def floats(matrix):
    return np.array([[float(value) for value in row] for row in matrix])


@FORMS
def test_w_turns_the_covariance_into_the_identity_and_gives_its_inverse(sphere):
    a = rows_of()
    sigma, w = a.T @ a, w_of(sphere(a), 5)
    np.testing.assert_allclose(w.T @ sigma @ w, np.eye(5), atol=1e-12)
    np.testing.assert_allclose(w @ w.T, np.linalg.inv(sigma), rtol=1e-10)
    assert sphere(a).rank == 5
    assert sphere(a).dependent.tolist() == []
    assert sphere(a).log_det == pytest.approx(np.linalg.slogdet(sigma)[1], rel=1e-12)


def test_the_three_forms_are_used_where_they_belong():
    a = rows_of()
    assert isinstance(by_matrix(a), TriangularSphering)
    assert isinstance(by_factor(a), TriangularSphering)
    assert isinstance(by_factor(a[:, [0, 1, 1]]), RowSphering)
    assert isinstance(by_matrix(a[:, [0, 1, 1]]), RowSphering)
    assert isinstance(low_rank(a)[0], LowRankSphering)


@pytest.mark.parametrize(("n", "p"), [(4, 30), (30, 4), (6, 6), (1, 5), (0, 5)])
def test_the_low_rank_form_equals_the_dense_inverse(n, p):
    rng = np.random.default_rng(1)
    a, h = rng.normal(size=(n, p)) * 3, rng.uniform(0.1, 2.0, p)
    sphering, sigma = sphere_low_rank(h, a), np.diag(h) + a.T @ a
    w = w_of(sphering, p)
    np.testing.assert_allclose(w.T @ sigma @ w, np.eye(p), atol=1e-11)
    np.testing.assert_allclose(w @ w.T, np.linalg.inv(sigma), atol=1e-11 * np.abs(np.linalg.inv(sigma)).max())
    assert sphering.log_det == pytest.approx(np.linalg.slogdet(sigma)[1], rel=1e-12)
    assert sphering.rank == p


@pytest.mark.parametrize("spread", [1e3, 1e6])
def test_the_low_rank_form_is_right_where_the_diagonal_is_tiny_beside_some_columns(spread):
    rng = np.random.default_rng(2)
    p, a = 12, rng.normal(size=(5, 12)) * np.logspace(0, np.log10(spread), 12)
    sphering = sphere_low_rank(np.ones(p), a)
    columns = [[Fraction(v) for v in column] for column in a.T.tolist()]
    products = [[sum(u * v for u, v in zip(i, j, strict=True)) for j in columns] for i in columns]
    sigma = [[value + (i == j) for j, value in enumerate(row)] for i, row in enumerate(products)]
    expected = floats(exact_inverse(sigma))
    w = sphering.backward(np.eye(p))
    scale = np.sqrt(np.diagonal(expected))
    # The singular values of A are right to eps times the largest, and the smallest that count are 1.
    np.testing.assert_allclose(
        w @ w.T / scale / scale[:, None], expected / scale / scale[:, None], atol=50 * EPS * spread
    )


@FORMS
@pytest.mark.parametrize("constant", [0, 2, 4])
def test_a_constant_column_gets_no_weight_and_the_others_their_inverse(sphere, constant):
    a = rows_of()
    a[:, constant] = 0.0
    others = np.delete(np.arange(5), constant)
    sphering = sphere(a)
    inverse = w_of(sphering, 5) @ w_of(sphering, 5).T
    expected = np.linalg.inv((a.T @ a)[np.ix_(others, others)])
    np.testing.assert_allclose(inverse[np.ix_(others, others)], expected, rtol=1e-10)
    assert not inverse[constant].any()
    assert sphering.dependent.tolist() == [constant]
    assert sphering.rank == 4
    assert sphering.log_det == pytest.approx(np.linalg.slogdet((a.T @ a)[np.ix_(others, others)])[1], rel=1e-12)


@FORMS
def test_a_column_that_varies_by_its_rounding_only_counts_as_constant(sphere):
    a, noise = rows_of(), noise_for(5)
    a[:, 3] *= 1e-13
    noise[3] = 1e-12
    sphering = (
        sphere_matrix(a.T @ a, noise, may_reread=False) if sphere is by_matrix else sphere_factor(a, noise, EPS, 0)
    )
    assert sphering.dependent.tolist() == [3]


@FORMS
def test_exact_duplicates_are_shared_and_one_of_them_named(sphere):
    a = rows_of()
    a[:, 4] = a[:, 1]
    sphering, sigma = sphere(a), a.T @ a
    scale = np.sqrt(np.diagonal(sigma))
    inverse = w_of(sphering, 5) @ w_of(sphering, 5).T
    expected = np.linalg.pinv(sigma / scale / scale[:, None], rcond=1e-10) / scale / scale[:, None]
    np.testing.assert_allclose(inverse, expected, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_allclose(sigma @ inverse @ sigma, sigma, atol=1e-12)
    assert sphering.rank == 4
    assert sphering.dependent.tolist() in ([1], [4])


@FORMS
def test_without_the_dependent_columns_the_others_are_independent(sphere):
    rng = np.random.default_rng(3)
    free = rows_of(p=4)
    mixed = free @ rng.normal(size=(4, 3))
    a = np.hstack([mixed[:, :2], free, mixed[:, 2:], np.zeros((60, 1))])
    sphering = sphere(a)
    assert sphering.rank == 4
    assert len(sphering.dependent) == 4
    assert 7 in sphering.dependent
    assert np.linalg.matrix_rank(np.delete(a, sphering.dependent, axis=1)) == 4


@FORMS
def test_units_of_measurement_decide_nothing(sphere):
    a, units = rows_of(), np.array([1e-6, 1.0, 1e6, 1e3, 1e-3])
    w, scaled = w_of(sphere(a), 5), w_of(sphere(a * units), 5)
    np.testing.assert_allclose((scaled @ scaled.T) * units * units[:, None], w @ w.T, rtol=1e-9)
    assert sphere(a * units).log_det == pytest.approx(sphere(a).log_det + 2 * np.log(units).sum(), abs=1e-10)


def test_a_matrix_too_close_to_singular_is_sent_back_if_the_rows_can_be_read_again():
    a = rows_of()
    a[:, 4] = a[:, 1] + 1e-6 * a[:, 4]
    with pytest.raises(IllConditionedError):
        by_matrix(a, may_reread=True)
    assert by_matrix(a, may_reread=False).rank in (4, 5)
    assert by_matrix(rows_of(), may_reread=True).rank == 5


def test_nearly_collinear_columns_keep_six_digits_from_factors():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(40, 4))
    x[:, 3] = x[:, 0] + 1e-8 * rng.normal(size=40)
    exact = [[Fraction(v) for v in row] for row in x.tolist()]
    mean = [sum(column) / 40 for column in zip(*exact, strict=True)]
    centred = [[v - m for v, m in zip(row, mean, strict=True)] for row in exact]
    sigma = [[sum(row[i] * row[j] for row in centred) / 40 for j in range(4)] for i in range(4)]
    inverse = exact_inverse(sigma)
    expected = floats(inverse)
    factor = np.linalg.qr((x - x.mean(axis=0)) / np.sqrt(40), mode="r")
    sphering = sphere_factor(factor, rounding_noise(x.mean(axis=0)[None, :], EPS), EPS, 0.0)
    assert sphering.rank == 4
    w = sphering.backward(np.eye(4))
    scale = np.sqrt(np.diagonal(expected))
    np.testing.assert_allclose(w @ w.T / scale / scale[:, None], expected / scale / scale[:, None], atol=1e-6)
    d = x[:5].T - x.mean(axis=0)[:, None]
    z = sphering.forward(d)
    mahalanobis = [
        float(sum(inverse[i][j] * row[i] * row[j] for i in range(4) for j in range(4))) for row in centred[:5]
    ]
    np.testing.assert_allclose(np.einsum("ik,ik->k", z, z), mahalanobis, rtol=1e-6)


def test_a_tolerance_leaves_out_weak_directions():
    a = rows_of()
    a[:, 4] = a[:, 1] + 1e-5 * a[:, 4]
    assert sphere_factor(a, noise_for(5), EPS, 0.0).rank == 5
    assert sphere_factor(a, noise_for(5), EPS, 1e-3).rank == 4


def test_more_columns_than_rows_span_the_rows():
    a = rows_of(n=6, p=20)
    sphering = by_factor(a)
    w = sphering.backward(np.eye(sphering.rank))
    assert sphering.rank == 5
    np.testing.assert_allclose(w.T @ (a.T @ (a @ w)), np.eye(5), atol=1e-11)
    assert len(sphering.dependent) == 15
    assert np.linalg.matrix_rank(np.delete(a, sphering.dependent, axis=1)) == 5


@FORMS
@pytest.mark.parametrize("shape", [(0, 3), (4, 3), (4, 0)])
def test_no_variance_at_all_is_a_sphering_of_rank_zero(sphere, shape):
    sphering = sphere(np.zeros(shape))
    assert sphering.rank == 0
    assert sphering.dependent.tolist() == list(range(shape[1]))
    assert sphering.forward(np.ones((shape[1], 2))).shape == (0, 2)
    assert not sphering.backward(np.ones((0, 2))).any()


def test_rounding_noise_is_the_last_place_of_the_largest_class_mean():
    noise = rounding_noise(np.array([[1.0, -1e8, 0.0], [-2.0, 1e7, 0.0]]), EPS)
    np.testing.assert_allclose(noise, np.spacing([2.0, 1e8, 0.0]), atol=1e-300)
    assert (noise > 0).all()
    single = rounding_noise(np.array([[1e6, 3.0]]), float(np.finfo(np.float32).eps))
    np.testing.assert_allclose(single, np.spacing(np.array([1e6, 3.0], np.float32)))


@pytest.mark.parametrize("seed", range(5))
def test_of_columns_that_say_the_same_the_later_one_is_named(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(60, 6)) * 10.0 ** rng.integers(-3, 4, 6)
    x[:, 5] = 2.5 * x[:, 1] + 3.0
    with pytest.warns(CollinearWarning, match=r"Columns 'x5' have"):
        discrim.LinearDiscriminantAnalysis().fit(x, rng.integers(0, 2, 60))
