"""Columns that others determine are found, named and harmless; those that nearly are keep their digits."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from discrim import LogisticRegression
from discrim.block import Block
from discrim.engines import RowPasses
from discrim.families.first_look import look
from discrim.families.logistic import fit
from discrim.families.logistic.rank import column_rank, looks_independent, row_space
from discrim.sources import open_rows, scan

pytestmark = pytest.mark.filterwarnings("error")


def drawn(n=300, p=3, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * 2 + [1, 5, -3, 0, 0, 0][:p]
    eta = (X - X.mean(axis=0)) @ rng.normal(size=(p, classes)) / 2
    y = (eta + rng.gumbel(size=eta.shape)).argmax(axis=1)
    return X, y


DEPENDENT = {
    "duplicate": lambda X: X[:, 0],
    "sum of two": lambda X: X[:, 0] + X[:, 2],
    "constant": lambda X: np.full(len(X), 7.0),
    "zero": lambda X: np.zeros(len(X)),
    "large constant": lambda X: np.full(len(X), 1e9 / 3),
    "affine": lambda X: 1e4 - 1e-3 * X[:, 1],
    "sum in other units": lambda X: 1e6 * (X[:, 0] - 2 * X[:, 1] + X[:, 2]),
}
every_dependence = pytest.mark.parametrize("kind", DEPENDENT)


@every_dependence
@pytest.mark.parametrize("classes", [2, 3])
def test_a_dependent_column_is_nan_in_the_summary_and_zero_in_prediction(kind, classes):
    X, y = drawn(classes=classes)
    more = np.column_stack([X, DEPENDENT[kind](X)])
    model, plain = LogisticRegression(C=np.inf).fit(more, y), LogisticRegression(C=np.inf).fit(X, y)
    assert_array_equal(model.coef_[:, 3], 0.0)
    assert_allclose(model.coef_[:, :3], plain.coef_, rtol=1e-6, atol=1e-9)
    assert_allclose(model.predict_proba(more), plain.predict_proba(X), atol=1e-8)
    summary, expected = model.summary(), plain.summary()
    undefined = [name for name, value in zip(summary.names, summary.coef, strict=True) if np.isnan(value)]
    assert undefined == (["x3"] if classes == 2 else ["1:x3", "2:x3"])
    kept = ~np.isnan(summary.coef)
    assert_allclose(summary.std_error[kept], expected.std_error, rtol=1e-6)
    assert (summary.df_residual, summary.deviance) == (expected.df_residual, pytest.approx(expected.deviance))
    assert "x3" in str(summary)


def test_of_dependent_columns_the_first_are_kept():
    X, y = drawn()
    model = LogisticRegression(C=np.inf).fit(np.column_stack([X[:, 0], X[:, 0] + X[:, 1], X[:, 1], X[:, 2]]), y)
    assert np.flatnonzero(model.coef_[0] == 0).tolist() == [2]


def test_a_constant_column_is_not_dependent_without_an_intercept():
    X, y = drawn()
    more = np.column_stack([np.full(len(X), 2.0), X])
    model = LogisticRegression(C=np.inf, fit_intercept=False).fit(more, y)
    expected = LogisticRegression(C=np.inf).fit(X, y)
    assert_allclose(model.coef_[0], [expected.intercept_[0] / 2, *expected.coef_[0]], rtol=1e-7)


def test_dependence_within_the_columns_is_found_without_an_intercept():
    X, y = drawn()
    model = LogisticRegression(C=np.inf, fit_intercept=False).fit(np.column_stack([X, X[:, 0] - X[:, 1]]), y)
    assert np.isnan(model.summary().coef).tolist() == [False, False, False, True]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", ["duplicate", "sum of two"])
def test_of_all_answers_the_shortest_is_given_on_request(kind, classes):
    X, y = drawn(classes=classes)
    more = np.column_stack([X, DEPENDENT[kind](X)])
    model = LogisticRegression(C=np.inf, aliased="minimum-norm").fit(more, y)
    dropped = LogisticRegression(C=np.inf).fit(more, y)
    centred = more - more.mean(axis=0)
    shortest = (np.linalg.pinv(centred) @ centred @ dropped.coef_.T).T
    assert_allclose(model.coef_, shortest, rtol=1e-6, atol=1e-9)
    assert_allclose(model.predict_proba(more), dropped.predict_proba(more), atol=1e-9)
    assert np.linalg.norm(model.coef_) < np.linalg.norm(dropped.coef_)


def test_the_shortest_answer_is_the_limit_of_a_vanishing_ridge():
    X, y = drawn()
    more = np.column_stack([X, X[:, 0] + X[:, 1]])
    model = LogisticRegression(C=np.inf, aliased="minimum-norm").fit(more, y)
    assert_allclose(model.coef_, LogisticRegression(C=1e9).fit(more, y).coef_, atol=1e-5)


def long_newton(X, y):
    """Maximum likelihood in extended precision, by Householder steps on weighted least squares."""
    z = np.column_stack([np.ones(len(X)), X]).astype(np.longdouble)
    beta = np.zeros(z.shape[1], np.longdouble)
    for _ in range(60):
        eta = z @ beta
        mu = 1 / (1 + np.exp(-eta))
        w = mu * (1 - mu)
        root = np.sqrt(w)
        step = least_squares(root[:, None] * z, (y - mu) / root)
        beta = beta + step
    return beta


def least_squares(a, b):
    """By modified Gram-Schmidt, twice, in the precision of its arguments."""
    a, p = a.copy(), a.shape[1]
    r = np.zeros((p, p), a.dtype)
    for j in range(p):
        for _ in range(2):
            h = a[:, :j].T @ a[:, j]
            a[:, j] -= a[:, :j] @ h
            r[:j, j] += h
        r[j, j] = np.sqrt(a[:, j] @ a[:, j])
        a[:, j] /= r[j, j]
    right = a.T @ b
    x = np.zeros(p, a.dtype)
    for j in reversed(range(p)):
        x[j] = (right[j] - r[j, j + 1 :] @ x[j + 1 :]) / r[j, j]
    return x


@pytest.mark.parametrize("gap", [1e-4, 1e-6, 1e-8])
def test_nearly_dependent_columns_keep_six_digits(gap):
    rng = np.random.default_rng(1)
    X, _ = drawn()
    X = np.column_stack([X, X[:, 0] + gap * rng.normal(size=len(X))])
    y = (rng.random(len(X)) < 1 / (1 + np.exp(-(X[:, 0] - 0.5 * X[:, 1] + 2)))).astype(int)
    expected = long_newton(X, y).astype(float)
    model = LogisticRegression(C=np.inf).fit(X, y)
    assert not np.isnan(model.summary().coef).any()
    assert_allclose(model.coef_[0], expected[1:], rtol=1e-6)
    assert_allclose(model.intercept_[0], expected[0], rtol=1e-6)


def test_tests_of_nearly_dependent_columns_are_those_of_refits():
    X, y = drawn()
    X = np.column_stack([X, X[:, 0] + 1e-6 * X[:, 1] ** 2])
    table = np.asarray(LogisticRegression(C=np.inf).fit(X, y).drop1()["Deviance"])
    refits = [LogisticRegression(C=np.inf).fit(np.delete(X, j, axis=1), y).summary().deviance for j in range(4)]
    assert_allclose(table[1:], refits, rtol=1e-7)


def test_tests_do_not_depend_on_which_of_all_answers_was_asked_for():
    X, y = drawn()
    X = np.column_stack([X, X[:, 0] + X[:, 1]])
    shortest, first = (
        LogisticRegression(C=np.inf, aliased="minimum-norm").fit(X, y),
        LogisticRegression(C=np.inf).fit(X, y),
    )
    assert_allclose(shortest.summary().deviance, first.summary().deviance, rtol=1e-10)
    assert_allclose(shortest.drop1()["Deviance"], first.drop1()["Deviance"], rtol=1e-7)


def test_with_a_ridge_no_column_is_left_out():
    X, y = drawn()
    model = LogisticRegression().fit(np.column_stack([X, X[:, 0]]), y)
    assert_allclose(model.coef_[0, 0], model.coef_[0, 3])
    assert model.coef_[0, 0] != 0


def test_dependence_is_found_in_sparse_rows_and_in_a_scan(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    X, y = drawn()
    more = np.column_stack([X, X[:, 0] + X[:, 2]])
    expected = LogisticRegression(C=np.inf).fit(more, y)
    found = LogisticRegression(C=np.inf).fit(sparse.csr_array(more), y)
    assert_allclose(found.coef_, expected.coef_, rtol=1e-6, atol=1e-12)
    parquet.write_table(pa.table({**{f"x{j}": more[:, j] for j in range(4)}, "y": y}), tmp_path / "t.parquet")
    found = LogisticRegression(C=np.inf).fit(scan(tmp_path / "t.parquet", target="y", batch_rows=64))
    assert_allclose(found.coef_, expected.coef_, rtol=1e-6, atol=1e-12)
    assert np.isnan(found.summary().coef).tolist() == [False, False, False, False, True]


def test_a_dependence_that_only_rows_of_weight_zero_break_is_one():
    X, y = drawn()
    more = np.column_stack([X, X[:, 0]])
    more[:5, 3] += 1
    w = np.ones(len(X))
    w[:5] = 0
    assert LogisticRegression(C=np.inf).fit(more, y, w).coef_[0, 3] == 0


@pytest.mark.parametrize("intercept", [True, False])
def test_the_rank_is_that_of_the_columns(intercept):
    X, y = drawn()
    rows = RowPasses(open_rows(np.column_stack([X[:, 0], np.ones(300), X[:, 1], X[:, 0] - X[:, 1]]), y))
    rank = column_rank(rows, intercept=intercept, minimum_norm=False)
    assert rank.aliased.tolist() == [False, intercept, False, True]
    assert rank.coordinates is None


@pytest.mark.parametrize("seed", range(12))
def test_a_dependent_column_does_not_hide_an_independent_one_after_it(seed):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(4, 12)), 14
    X = rng.normal(size=(n, p))
    for j in range(2, p, 3):
        X[:, j] = X[:, j - 1] + X[:, j - 2]
    kept = []
    for j in range(p):
        if np.linalg.matrix_rank((X - X.mean(axis=0))[:, [*kept, j]], tol=1e-8) > len(kept):
            kept.append(j)
    rank = column_rank(RowPasses(open_rows(X, np.arange(n) % 2)), intercept=True, minimum_norm=False)
    assert np.flatnonzero(~rank.aliased).tolist() == kept


def test_single_precision_sums_are_dependent_as_far_as_single_precision_tells():
    X, y = drawn()
    more = np.column_stack([X, X[:, 0] + X[:, 2]]).astype(np.float32)
    model = LogisticRegression(C=np.inf).fit(more, y)
    assert model.coef_[0, 3] == 0
    assert_allclose(model.coef_[0, :3], LogisticRegression(C=np.inf).fit(X, y).coef_[0], rtol=1e-4)


@pytest.mark.parametrize("unit", [1e4, 1e8])
def test_the_shortest_answer_leaves_columns_in_small_units_alone(unit):
    X, y = drawn()
    units = np.array([1.0, unit, 1 / unit])
    plain = LogisticRegression(C=np.inf).fit(X, y)
    model = LogisticRegression(C=np.inf, aliased="minimum-norm").fit(np.column_stack([X * units, X[:, 0]]), y)
    half = plain.coef_[0, 0] / 2
    assert_allclose(model.coef_[0] * [*units, 1], [half, *plain.coef_[0, 1:], half], rtol=1e-7)


@pytest.mark.parametrize("unit", [1.0, 1e5, 1e8])
def test_wide_rows_with_a_long_column_keep_the_short_ones(unit):
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(30, 80)), np.arange(30) % 2
    X[:, 1] += y
    X[:, 0] *= unit
    wide, long = LogisticRegression().fit(X, y), LogisticRegression(solver="newton")
    # The same rows twice at half the weight are more than the columns.
    long.fit(np.vstack([X] * 3), np.tile(y, 3), np.full(90, 1 / 3))
    assert (wide.solver_, long.solver_) == ("svd-newton", "newton")
    assert_allclose(wide.coef_ * [unit, *[1] * 79], long.coef_ * [unit, *[1] * 79], rtol=1e-5, atol=1e-7)


def test_fragile_columns_get_coordinates_that_are_orthonormal():
    X, y = drawn()
    X = np.column_stack([X, X[:, 0] + 1e-7 * X[:, 1] ** 2])
    rank = column_rank(RowPasses(open_rows(X, y)), intercept=True, minimum_norm=False)
    assert not rank.aliased.any()
    z = (X - rank.coordinates.shift) @ rank.coordinates.basis
    assert_allclose(z.T @ z / len(X), np.eye(4), atol=1e-7)


def test_independence_is_seen_from_the_curvature():
    assert looks_independent(np.diag([1e-20, 1.0, 1e20]))
    assert looks_independent(np.empty((0, 0)))
    assert not looks_independent(np.ones((2, 2)))
    assert not looks_independent(np.diag([1.0, 0.0]))
    assert not looks_independent(np.diag([1.0, np.nan]))


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("hold", [np.asarray, sparse.csr_array])
def test_the_space_of_the_rows_holds_the_rows(intercept, hold):
    x = np.random.default_rng(2).normal(size=(8, 30)) + 3
    coordinates, z = row_space(Block(hold(x), np.zeros(8, np.int32), np.zeros(1)), intercept=intercept)
    assert z.shape[1] == (7 if intercept else 8)
    assert_allclose(coordinates.basis.T @ coordinates.basis, np.eye(z.shape[1]), atol=1e-10)
    assert_allclose((x - coordinates.shift) @ coordinates.basis, z, atol=1e-10)
    assert_allclose(z @ coordinates.basis.T + coordinates.shift, x, atol=1e-10)


def test_more_columns_than_rows_without_a_penalty_leave_the_later_columns_out():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(12, 20)), np.arange(12) % 2
    with pytest.warns(UserWarning, match="completely separated"):
        model = LogisticRegression(C=np.inf).fit(X, y)
    assert_array_equal(model.coef_[0, 11:], 0.0)
    assert model.score(X, y) == 1.0


def test_a_column_that_only_the_smaller_sample_finds_constant_is_not_looked_for_in_all_rows(monkeypatch):
    X, y = drawn(n=400_000)
    rows = RowPasses(open_rows(X, y))
    work = fit.Work(*X.shape, functions=1, stored=X.size)
    sample = look(rows, work.sample_rows("newton")).sample
    few = look(RowPasses(open_rows(sample.x, sample.codes)), len(sample) // 8).sample
    marked = np.setdiff1d(sample.x[:, 0], few.x[:, 0])[:200]
    X = np.column_stack([X, np.isin(X[:, 0], marked)])
    monkeypatch.setattr(fit, "column_rank", None)
    model = LogisticRegression(C=np.inf).fit(X, y)
    assert np.isfinite(model.summary().std_error).all()
