"""Losses of a whole grid over folds, and the setting chosen from them."""

from __future__ import annotations

import numpy as np
import pytest

from discrim.block import Block
from discrim.errors import ParameterError
from discrim.families.gaussian.grid import GaussianGrid
from discrim.families.recipe import Shape, Turned
from discrim.families.tuning import choose, fold_losses, table_of
from discrim.statistics import ClassMoments, Depth
from discrim.statistics.folds import Folds

GRID = GaussianGrid(np.array([0.0, 0.4, 1.0]), np.array([0.0, 0.6, 1.0]))


def data(n=120, p=5, k=3, seed=2):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, k, n).astype(np.int32)
    x = rng.normal(size=(n, p)) * (1 + 0.5 * codes[:, None]) + rng.normal(size=(k, p))[codes]
    return x, codes, rng.permutation(n) % 4, rng.uniform(0.5, 2, n)


def training_moments(x, codes, fold, w, k):
    """By brute force, one statistic a fold."""
    found = []
    for f in range(fold.max() + 1):
        parts = []
        for j in range(k):
            rows = (fold != f) & (codes == j)
            mean = np.average(x[rows], axis=0, weights=w[rows]) if rows.any() else np.zeros(x.shape[1])
            parts.append((w[rows].sum(), rows.sum(), mean, (x[rows] - mean).T @ (w[rows, None] * (x[rows] - mean))))
        weight, count, mean, scatter = (np.array(column) for column in zip(*parts, strict=True))
        found.append(ClassMoments(np.arange(k), weight, count, mean, scatter, Depth.FULL))
    return found


def losses(statistics, x, codes, fold, grid=GRID, w=None):
    """Error and log loss (alphas x gammas x folds), and the weights of the folds."""
    block = Block(x, codes, np.arange(len(statistics[0].classes)), w)
    folds = Folds(fold.astype(np.int32), (None,) * len(statistics))
    error, log_loss, weight = fold_losses(grid, statistics, Shape(Turned(x.shape[1])), block, folds)
    return error.reshape(3, 3, -1), log_loss.reshape(3, 3, -1), weight


def chosen(error, log_loss, n_test, selection="min"):
    """The numbers of the chosen alpha and gamma, and the table."""
    table = table_of(error.reshape(9, -1), log_loss.reshape(9, -1), n_test)
    surfaces = {name: values.reshape(3, 3) for name, values in table.items()}
    return *divmod(choose(table, selection, GRID), 3), surfaces


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_losses_equal_refitting_every_setting_in_every_fold(weighted, given):
    x, codes, fold, w = data()
    w = w if weighted else np.ones(len(x))
    moments = training_moments(x, codes, fold, w, 3)
    fixed = np.array([0.5, 0.2, 0.3]) if given else None
    grid = GaussianGrid(GRID.alphas, GRID.gammas, priors=fixed)
    error, log_loss, n_test = losses(moments, x, codes, fold, grid, w if weighted else None)
    for f in range(4):
        test = fold == f
        n_k, mean, scatter = moments[f].weight, moments[f].mean, moments[f].scatter
        priors = fixed if given else n_k / n_k.sum()
        assert n_test[f] == pytest.approx(w[test].sum())
        for a, alpha in enumerate(GRID.alphas):
            for g, gamma in enumerate(GRID.gammas):
                density = np.empty((test.sum(), 3))
                for k in range(3):
                    sigma = alpha * scatter[k] / n_k[k] + (1 - alpha) * scatter.sum(axis=0) / n_k.sum()
                    sigma = gamma * sigma + (1 - gamma) * np.trace(sigma) / 5 * np.eye(5)
                    d = x[test] - mean[k]
                    square = np.sum(d * np.linalg.solve(sigma, d.T).T, axis=1)
                    density[:, k] = priors[k] * np.exp(-square / 2) / np.sqrt(np.linalg.det(sigma))
                posterior = density / density.sum(axis=1, keepdims=True)
                own = posterior[np.arange(test.sum()), codes[test]]
                wrong = posterior.argmax(axis=1) != codes[test]
                assert error[a, g, f] == pytest.approx(np.average(wrong, weights=w[test]), abs=1e-12)
                assert log_loss[a, g, f] == pytest.approx(np.average(-np.log(own), weights=w[test]), rel=1e-9)


def test_a_class_missing_from_a_training_part_costs_its_rows_a_finite_loss():
    x, codes, fold, w = data()
    codes[codes == 2] = 0
    codes[fold == 0] = np.where(np.arange((fold == 0).sum()) < 3, 2, codes[fold == 0])
    known = training_moments(x, np.where(codes == 2, 1, codes), fold, w, 2)
    error, log_loss, _ = losses([s.including(np.arange(3)) for s in known], x, codes, fold)
    assert (error[..., 0] >= 3 / (fold == 0).sum()).all()
    assert np.isfinite(log_loss).all()


def test_equal_classes_tie_and_the_first_is_predicted():
    x, codes, fold, _ = data(k=2)
    codes[:] = np.arange(len(x)) % 2
    one = training_moments(x, np.zeros_like(codes), fold, np.ones(len(x)), 1)
    twins = [
        ClassMoments(
            np.arange(2), *(np.repeat(a, 2, axis=0) for a in (s.weight, s.rows, s.mean, s.scatter)), Depth.FULL
        )
        for s in one
    ]
    error, log_loss, _ = losses(twins, x, codes, fold)
    share = [codes[fold == f].mean() for f in range(4)]
    np.testing.assert_allclose(error, np.broadcast_to(share, error.shape))
    np.testing.assert_allclose(log_loss, np.log(2))


def test_an_empty_fold_counts_for_nothing():
    x, codes, fold, w = data()
    moments = training_moments(x, codes, fold, w, 3)
    plain, padded = (losses(m, x, codes, fold) for m in (moments, [*moments, moments[0]]))
    assert padded[2].tolist() == [*plain[2].tolist(), 0.0]
    first, second = chosen(*plain), chosen(*padded)
    assert first[:2] == second[:2]
    for name, surface in first[2].items():
        np.testing.assert_allclose(second[2][name], surface, rtol=1e-12)


def surfaces(error, log_loss=None):
    """A 3 x 3 surface in four folds of unequal size whose fold errors spread by 0.1 around the mean."""
    error = np.asarray(error, dtype=float)
    n_test = np.array([10.0, 20.0, 10.0, 20.0])
    folds = error[..., None] + np.array([0.1, 0.1, -0.1, -0.1]) * np.array([1.0, 0.5, 1.0, 0.5])
    loss = np.zeros((3, 3)) if log_loss is None else np.asarray(log_loss, dtype=float)
    return folds, np.repeat(loss[..., None], 4, axis=-1), n_test


def test_the_surface_is_weighted_by_fold_sizes():
    error, log_loss, n_test = surfaces(np.arange(9).reshape(3, 3) / 10)
    _, _, table = chosen(error, log_loss, n_test)
    np.testing.assert_allclose(table["mean_error"], np.arange(9).reshape(3, 3) / 10, atol=1e-15)
    rows = np.repeat(error, n_test.astype(int), axis=-1)
    expected = np.sqrt(((rows - rows.mean(axis=-1, keepdims=True)) ** 2).mean(axis=-1) / 3)
    np.testing.assert_allclose(table["std_error"], expected)


def test_the_smallest_error_wins_then_the_log_loss_then_the_stronger_regularisation():
    error = [[0.5, 0.5, 0.5], [0.5, 0.2, 0.2], [0.2, 0.5, 0.2]]
    assert chosen(*surfaces(error))[:2] == (1, 1)
    log_loss = [[0, 0, 0], [0, 0.7, 0.6], [0.6, 0, 0.7]]
    assert chosen(*surfaces(error, log_loss))[:2] == (1, 2)


def test_one_standard_error_takes_the_most_regularised_setting_that_is_close_enough():
    error = np.array([[0.5, 0.5, 0.24], [0.23, 0.5, 0.5], [0.5, 0.2, 0.5]])
    assert chosen(*surfaces(error), "min")[:2] == (2, 1)
    assert chosen(*surfaces(error), "one-se")[:2] == (0, 2)
    error[0, 2] = 0.3
    assert chosen(*surfaces(error), "one-se")[:2] == (1, 0)


def test_a_setting_that_fails_in_one_fold_is_not_chosen():
    error, log_loss, n_test = surfaces([[0.5, 0.4, 0.1]] * 3)
    error[:, 2, 1] = np.nan
    a, g, table = chosen(error, log_loss, n_test)
    assert (a, g) == (0, 1)
    assert np.isnan(table["mean_error"][:, 2]).all()


def test_no_feasible_setting_is_an_error_that_says_what_to_do():
    error, log_loss, n_test = surfaces(np.full((3, 3), np.nan))
    with pytest.raises(ParameterError, match=r"No setting of alpha and gamma .* Add values of gamma below 1"):
        chosen(error, log_loss, n_test)
