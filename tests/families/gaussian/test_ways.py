"""The way that a fit takes is the cheapest that is accurate, by the costs that ``covariance.py`` lists."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import discrim
from discrim.block import Block
from discrim.families.gaussian.covariance import (
    LowRankSphering,
    RowSphering,
    TriangularSphering,
    Within,
    WoodburySphering,
    sphere_factor,
    sphere_sum,
    stacked,
)
from discrim.families.gaussian.lda import LdaRecipe
from discrim.families.recipe import Shape, Turned
from discrim.families.regression.recipe import RidgeRecipe
from discrim.statistics import Depth, FactorsOf, MomentsOf
from discrim.statistics import moments as moments_file
from discrim.statistics.factors import ClassFactors
from discrim.statistics.moments import ClassMoments

EPS = float(np.finfo(float).eps)


@pytest.mark.parametrize(("family", "recipe"), [("discriminant", LdaRecipe()), ("ridge", RidgeRecipe())])
def test_the_statistic_that_is_chosen_is_near_the_fastest_that_was_measured(family, recipe):
    path = Path(__file__).parents[3] / "benchmarks" / "paths.json"
    shapes = {}
    for timing in json.loads(path.read_text()):
        if timing["family"] == family:
            shapes.setdefault(tuple(timing["shape"].items()), {})[timing["way"]] = timing["seconds"]
    assert len(shapes) >= 10
    for shape, seconds in shapes.items():
        n, p, k, *_ = dict(shape).values()
        chosen = recipe.reduction(Shape(Turned(p), np.arange(k), n))
        assert seconds["rows" if isinstance(chosen, FactorsOf) else "moments"] <= 1.5 * min(seconds.values()), shape


@pytest.mark.parametrize("n", [12, 60, 150, 800, 900, 4000])
@pytest.mark.parametrize("p", [4, 50, 800, 900, 5000])
def test_rows_are_kept_where_their_products_are_the_smaller_matrix(n, p):
    shape = Shape(Turned(p), np.arange(2), n)
    rows, matrix = n * n * p, n * p * p
    kind = FactorsOf if rows <= matrix else MomentsOf
    assert isinstance(RidgeRecipe().reduction(shape), kind)
    # Within two classes n rows have n - 2 directions.
    assert isinstance(LdaRecipe().reduction(shape), FactorsOf if n - 2 <= p else MomentsOf)


@pytest.mark.parametrize(("n", "p"), [(20, 50), (49, 50), (60, 50), (51, 50)])
def test_independent_rows_or_columns_need_no_singular_vectors(n, p):
    a = np.random.default_rng(n).normal(size=(n, p))
    found = sphere_factor(a, np.full(p, 1e-300), EPS, 0.0)
    assert isinstance(found, RowSphering if n < p else TriangularSphering)
    if n < p:
        assert found.rows is a
    pseudo = np.linalg.pinv(
        (a.T @ a) / np.outer(scale := np.sqrt((a * a).sum(axis=0)), scale), hermitian=True, rtol=1e-12
    )
    np.testing.assert_allclose(
        found.both(np.eye(p))[1] * np.outer(scale, scale), pseudo, atol=1e-7 * np.abs(pseudo).max()
    )


def test_rows_that_depend_on_each_other_are_decomposed():
    a = np.random.default_rng(0).normal(size=(20, 50))
    a[7] = a[3] + a[4]
    found = sphere_factor(a, np.full(50, 1e-300), EPS, 0.0)
    assert found.rank == 19


@pytest.mark.parametrize("share", [0.7, np.array([0.7, 0.2, 0.0, 0.5, 0.7])], ids=["one", "each"])
@pytest.mark.parametrize(("size", "kind"), [(1.0, WoodburySphering), (1e-7, LowRankSphering)])
def test_a_small_diagonal_is_left_to_eigenvectors(size, kind, share):
    a, h = np.random.default_rng(0).normal(size=(5, 30)), np.full(30, size)
    found, sigma = sphere_sum(h, a, share), np.diag(h) + (a.T * share) @ a
    assert isinstance(found, kind)
    z, solved = found.both(np.eye(30))
    inverse = np.linalg.inv(sigma)
    np.testing.assert_allclose(solved, inverse, atol=1e-6 * np.abs(inverse).max())
    np.testing.assert_allclose(z.T @ z, solved, atol=1e-6 * np.abs(inverse).max())
    np.testing.assert_allclose(found.backward(z), solved, atol=1e-6 * np.abs(inverse).max())
    np.testing.assert_allclose(found.log_det, np.linalg.slogdet(sigma)[1], rtol=1e-9)


def test_parts_of_one_matrix_are_stacked_without_a_copy_only_in_their_order():
    a = np.arange(40.0).reshape(8, 5)
    whole = stacked((a[:3], a[3:3], a[3:]))
    assert np.shares_memory(whole, a)
    np.testing.assert_array_equal(whole, a)
    for parts in [(a[4:], a[:4]), (a[::2], a[1::2]), (a[:3], a[5:]), (a[:3], a[3:].copy()), (a[:4], a[:4])]:
        found = stacked(parts)
        assert not np.shares_memory(found, a)
        np.testing.assert_array_equal(found, np.vstack(parts))


@pytest.mark.parametrize("share", [0.3, np.array([0.3, 0.1, 0.0, 2.0])], ids=["one", "each"])
def test_rows_with_shares_answer_like_the_matrix_that_they_stand_for(share):
    rng = np.random.default_rng(1)
    rows, v = rng.normal(size=(4, 9)), rng.normal(size=(9, 2))
    thin = Within(rows, np.zeros(9), EPS, thin=True, share=share)
    sigma = (rows.T * share) @ rows
    np.testing.assert_allclose(thin.diagonal, np.diagonal(sigma), rtol=1e-12)
    np.testing.assert_allclose(thin.dense(2.0, 0.5), 2.0 * sigma + 0.5 * np.eye(9), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(thin.times(v), sigma @ v, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(thin.times(v[:, 0]), sigma @ v[:, 0], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(thin.root.T @ thin.root, sigma, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("depth", [Depth.POOLED, Depth.FULL])
def test_rows_kept_are_one_fewer_a_class_and_have_the_same_scatter(depth, weighted):
    rng = np.random.default_rng(2)
    x, codes = rng.normal(size=(30, 40)) + 1e3, (np.arange(30) % 3).astype(np.int32)
    block = Block(x, codes, np.arange(3), rng.uniform(0.5, 2.0, 30) if weighted else None)
    factors, expected = ClassFactors.of(block, depth), ClassMoments.of(block, depth)
    assert sum(map(len, factors.factors)) == 27
    np.testing.assert_allclose(
        factors.to_moments().scatter, expected.scatter, atol=1e-11 * np.abs(expected.scatter).max()
    )
    parts = [ClassFactors.of(block.rows(a, a + 10), depth) for a in (0, 10, 20)]
    merged = ClassFactors.merged(parts)
    assert sum(map(len, merged.factors)) == 27
    np.testing.assert_allclose(
        merged.to_moments().scatter, expected.scatter, atol=1e-11 * np.abs(expected.scatter).max()
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("depth", [Depth.POOLED, Depth.FULL])
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_library_and_the_kernel_give_the_same_scatter(depth, weighted, order, monkeypatch):
    rng = np.random.default_rng(3)
    x = np.asarray(rng.normal(size=(700, 40)) + 1e4, order=order)
    weight = rng.integers(0, 3, 700).astype(float) if weighted else None
    block = Block(x, rng.integers(0, 3, 700).astype(np.int32), np.arange(3), weight)
    expected = ClassMoments.of(block, depth)
    monkeypatch.setattr(moments_file, "MANY", 40)
    monkeypatch.setattr(moments_file, "STEP", 16)
    found = ClassMoments.of(block, depth)
    np.testing.assert_allclose(found.scatter, expected.scatter, rtol=1e-9, atol=1e-9 * np.abs(expected.scatter).max())
    np.testing.assert_array_equal(found.scatter, np.swapaxes(found.scatter, -1, -2))


@pytest.mark.parametrize("shape", [(300, 900), (900, 300)])
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("intercept", [True, False])
def test_sparse_rows_have_the_ridge_of_dense_ones(shape, classes, intercept):
    x = sparse.random(*shape, density=0.004, format="csr", random_state=0)
    y, w = np.arange(shape[0]) % classes, np.random.default_rng(0).uniform(0.5, 2.0, shape[0])
    options = {"fit_intercept": intercept, "class_weight": "balanced"}
    found = discrim.RidgeClassifier(tol=1e-12, **options).fit(x, y, w)
    expected = discrim.RidgeClassifier(**options).fit(x.toarray(), y, w)
    assert (found.solver_, expected.solver_) == ("sparse_cg", "cholesky")
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-9)
    np.testing.assert_allclose(found.intercept_, expected.intercept_, atol=1e-9)
    with pytest.warns(discrim.errors.UnfinishedWarning, match="did not converge in 2 iterations"):
        discrim.RidgeClassifier(max_iter=2).fit(x, y)


def test_conjugate_gradients_refuse_what_needs_covariances_and_say_which_solver_keeps_them():
    x = sparse.random(300, 900, density=0.004, format="csr", random_state=0)
    y = np.arange(300) % 3
    found = discrim.RidgeClassifier().fit(x, y)
    before = found.coef_.copy()
    assert found.solver_ == "sparse_cg"
    for call in (found.partial_fit, found.forget):
        with pytest.raises(discrim.errors.DataError, match=r"fit with solver='cholesky'\.$"):
            call(x[:30], y[:30])
    with pytest.raises(discrim.errors.DataError, match=r"fit with solver='cholesky'\.$"):
        discrim.merge(found, discrim.RidgeClassifier().fit(x, y))
    np.testing.assert_array_equal(found.coef_, before)


@pytest.mark.parametrize("solver", ["cholesky", "svd"])
def test_a_closed_form_of_sparse_rows_learns_forgets_and_merges(solver):
    x = sparse.random(300, 900, density=0.004, format="csr", random_state=0)
    y = np.arange(300) % 3

    def fit(rows):
        return discrim.RidgeClassifier(solver=solver).fit(x[rows], y[rows])

    whole, head, tail = fit(slice(None)), slice(0, 200), slice(200, 300)
    more = fit(head).partial_fit(x[tail], y[tail])
    merged = discrim.merge(fit(head), fit(tail))
    for found, expected in ((more, whole), (merged, whole), (fit(slice(None)).forget(x[tail], y[tail]), fit(head))):
        assert found.solver_ == "cholesky"
        np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-9)
        np.testing.assert_allclose(found.intercept_, expected.intercept_, atol=1e-9)


def test_few_sparse_values_are_solved_as_dense_ones():
    x = sparse.csr_array(np.random.default_rng(0).normal(size=(50, 4)))
    assert discrim.RidgeClassifier().fit(x, np.arange(50) % 2).solver_ == "cholesky"
